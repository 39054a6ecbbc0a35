"""Porters on a torus, from two to hundreds: its rules, what is known of its returns, a script and its pictures."""

from decentral.environments.porters.environment import Porters

__all__ = ["Porters"]
