"""Predator-prey on a grid: its rules, its exact solution and its pictures."""

from decentral.environments.predator_prey.environment import PredatorPrey

__all__ = ["PredatorPrey"]
