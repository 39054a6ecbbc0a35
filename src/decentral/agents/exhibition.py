"""An agent at its best for an episode: it neither explores nor remembers, and its own life stays as it is."""

from typing import Any

from decentral.agents.circumstances import Wiring
from decentral.agents.life import Life, Look, choose, enter_exhibition


class Exhibition:
    """One greedy episode beside an agent's life."""

    def __init__(self, wiring: Wiring, life: Life, number: int):
        self._wiring = wiring
        self._life = enter_exhibition(wiring.squad, life, number)
        self._last_action, self._step = -1, 0

    def act(self, observation: Any, available: Any = None) -> int:
        """The best action where this is perceived."""
        seen, options = self._wiring.observation(observation), self._wiring.available(available)
        look = Look(seen, options, self._last_action, self._step)
        self._last_action, self._life = choose(self._wiring.squad, self._life, look, greedy=True)
        self._step += 1
        return self._last_action
