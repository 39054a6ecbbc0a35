"""A single learner, for use in another program's control loop."""

from decentral.agents.agent import Agent

__all__ = ["Agent"]
