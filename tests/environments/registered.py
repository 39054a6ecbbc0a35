"""Environments for Gymnasium's registry: importing this module registers them."""

from enum import Enum
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, Tuple


class Foragers(gymnasium.Env):
    """Two unequal agents; each is rewarded by its own action. Over after 3 steps."""

    observation_space = Tuple((Box(-9, 9, (2,), np.float32), Box(-9, 9, (3,), np.float32)))
    action_space = Tuple((Discrete(2), Discrete(4)))
    sent: ClassVar[list[Any]] = []

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return (np.zeros(2, np.float32), np.ones(3, np.float32)), {}

    def step(self, actions):
        self.steps += 1
        self.sent.append(actions)
        seen = tuple(np.full(size, self.steps, np.float32) for size in (2, 3))
        return seen, [float(action) for action in actions], self.steps == 3, False, {}


class Action(Enum):
    """What an agent can do, as level-based foraging and the robotic warehouse list it beside their classes."""

    NONE = 0
    NORTH = 1
    SOUTH = 2
    PICK_UP = 3


class CutOff(Foragers):
    """Every agent has flags of its own, and time runs out."""

    def step(self, actions):
        seen, rewards, over, _, info = super().step(actions)
        return seen, rewards, [False, False], [over, over], info


class Silent(Foragers):
    """One observation for two agents."""

    def step(self, actions):
        return (np.zeros(2, np.float32),), [0.0, 0.0], False, False, {}


class HalfTuple(Foragers):
    observation_space = Box(-9, 9, (2,), np.float32)


for kind in (Foragers, CutOff, Silent, HalfTuple):
    gymnasium.register(f"{kind.__name__}-v0", entry_point=kind, max_episode_steps=3, order_enforce=False)
