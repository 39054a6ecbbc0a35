"""An agent at its best for an episode: it neither explores nor remembers, and its own life stays as it is."""

from typing import Any

from decentral.agents.life import Life, Look, choose, enter_exhibition
from decentral.percepts import as_available, as_observation
from decentral.training.separate import Separate
from decentral.types import AgentSpec


class Exhibition:
    """One greedy episode beside an agent's life."""

    def __init__(self, squad: Separate, spec: AgentSpec, life: Life, number: int):
        self._squad, self._spec = squad, spec
        self._life = enter_exhibition(squad, life, number)
        self._last_action, self._step = -1, 0

    def act(self, observation: Any, available: Any = None) -> int:
        """The best action where this is perceived."""
        seen = as_observation(observation, self._spec.observation_size)
        look = Look(seen, as_available(available, self._spec.actions.count), self._last_action, self._step)
        self._last_action, self._life = choose(self._squad, self._life, look, greedy=True)
        self._step += 1
        return self._last_action
