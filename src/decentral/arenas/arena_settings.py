"""The settings of an arena: how rewards arrive, how long agents may take, and what happens when one dies."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from decentral.settings import Settings, setting


class ArenaSettings(Settings):
    """The same for every agent. When an agent learns is set per agent: `update_period`."""

    reward_delay: int = setting(
        0,
        "steps by which every reward comes late, across the ends of episodes; 0 is told before",
        at_least=0,
        at_most=1000,
    )
    reward_loss: float = setting(
        0.0, "probability that a reward is lost on its way to an agent, which is told 0 instead", at_least=0, at_most=1
    )
    save_every: int = setting(100, "own episodes after which an agent saves itself", at_least=1)
    restarts: int = setting(3, "how often each agent is started again after its process has ended", at_least=0)
    wait: bool = setting(
        False, "wait for an agent that is started again; if not, its place is played at random until it is back"
    )
    patience: float = setting(
        60.0, "seconds that an agent may take over one message; one that takes longer is killed", above=0, at_most=1e6
    )
    patience_at_start: float = setting(
        600.0,
        "the same for one that starts and compiles: until it has learned for the first time since it was started",
        above=0,
        at_most=1e6,
    )


@dataclass
class RewardLine:
    """Rewards in transit. Those that are late at the end of an episode arrive in the next one."""

    delay: int  # steps
    loss: float  # probability
    rng: np.random.Generator
    underway: deque[float] = field(default_factory=deque)

    def pass_on(self, reward: float) -> float:
        """The reward that arrives in a step whose reward is `reward`."""
        self.underway.append(reward)
        arrived = self.underway.popleft() if len(self.underway) > self.delay else 0.0
        return 0.0 if self.rng.random() < self.loss else arrived
