"""The line on which rewards reach one agent: late by so many steps, and some of them never."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np


@dataclass
class RewardLine:
    """Rewards in transit. Those of an episode that ends meanwhile arrive in the next one."""

    delay: int  # steps
    loss: float  # probability
    chance: np.random.Generator
    underway: deque[float] = field(default_factory=deque)

    def pass_on(self, reward: float) -> float:
        """What the agent is told in a step that pays `reward`."""
        self.underway.append(reward)
        arrived = self.underway.popleft() if len(self.underway) > self.delay else 0.0
        return 0.0 if self.chance.random() < self.loss else arrived
