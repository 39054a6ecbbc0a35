"""Run an exported agent with NumPy alone: no JAX, nothing of the rest of the library.

from decentral.runtime import load

agent = load("bundle")
state = agent.start()
action, state = agent.act(observation, available, state)
"""

from decentral.runtime.agent import ExportedAgent, State, load

__all__ = ["ExportedAgent", "State", "load"]
