"""One learner by itself, for somebody else's control loop."""

from decentral.agents.agent import Agent

__all__ = ["Agent"]
