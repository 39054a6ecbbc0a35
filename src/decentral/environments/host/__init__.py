"""Environments that are stepped in Python, in this process or in others. `HostEnvironment` is the class to extend."""

from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Stage, Step

__all__ = ["BrokenOff", "HostEnvironment", "Percepts", "Stage", "Step"]
