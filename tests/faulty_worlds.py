"""Worlds that break one rule each."""

import itertools

import jax.numpy as jnp
import numpy as np

from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Stage, Step
from decentral.environments.matrix_game import Percept
from decentral.environments.registry import MatrixGame
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete

OPENED = itertools.count()


class Walk(HostEnvironment):
    """Two agents walk on a line and see where both are; a task of five steps. Its fault can be chosen."""

    fault: str = setting("none", "which rule it breaks")
    never_early: bool = setting(False, "does it say that it never ends early?")

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=3, actions=Discrete(3))

    @property
    def time_limit(self):
        return 8

    @property
    def may_end_early(self):
        return not self.never_early

    def open(self):
        if self.fault == "closed":
            raise OSError("nobody is at home")
        return WalkStage(self.fault)


class WalkStage(Stage):
    def __init__(self, fault):
        self.fault, self.opened, self.resets = fault, next(OPENED), 0

    def reset(self, seed):
        self.resets += 1
        self.chance = np.random.default_rng(seed)
        self.places, self.taken, self.last = self.chance.integers(0, 50, 2), 0, np.zeros(2, int)
        return self.percepts()

    def step(self, actions):
        self.taken, self.last = self.taken + 1, np.asarray(actions)
        heard = np.asarray(actions) * [1, 0] if self.fault == "deaf" else actions
        self.places = self.places + heard - 1 + self.chance.integers(0, 2)
        length = 2 if self.fault == "tires" and self.resets > 20 and self.resets % 2 else 5
        if self.taken > length and self.fault == "tires":
            raise KeyError("nobody is left")
        reward, over = float(self.places[0] == self.places[1]), self.taken == length
        if self.fault == "raises" and self.taken == 2:
            raise KeyError("way")
        if self.fault == "breaks off":
            raise BrokenOff("the line is dead")
        told = Step(self.percepts(), reward, over)
        wrong = {
            "endless reward": told._replace(reward=float("inf")),
            "no flag": told._replace(terminated=int(over)),
            "never ends": told._replace(terminated=False),
            "tuple": tuple(told),
        }
        return wrong.get(self.fault, told)

    def percepts(self):
        seen = np.stack([np.append(self.places, self.taken), np.append(self.places[::-1], self.taken)]).astype(float)
        available = np.ones((2, 3), bool)
        if self.fault == "shape":
            seen = seen[:, :2]
        if self.fault == "not finite" and self.taken == 3:
            seen[1, 0] = np.nan
        if self.fault == "stuck" and self.taken == 2:
            available[1] = False
        if self.fault == "half a mask" and self.taken == 2:
            available = available * [[1], [0.5]]
        if self.fault == "blind":
            seen[:] = 0
        if self.fault == "copy":
            seen[0, 2] = self.last[1]
        if self.fault == "copy in the mask":
            available[0, 2] = self.last[1] != 2
        if self.fault == "remembers":
            seen[0, 2] = self.resets
        if self.fault == "new stage":
            seen[0, 2] = self.opened
        return Percepts(seen, available)

    def close(self):
        pass


class Gossip(MatrixGame):
    """A compiled game whose percepts hold the joint action."""

    @property
    def spec(self):
        return AgentSpec(2, Discrete(3))

    def reset(self, key):
        return jnp.zeros(2, jnp.int32)

    def perceive(self, state):
        return Percept(jnp.broadcast_to(state.astype(jnp.float32)[None], (2, 2)), jnp.ones((2, 3), bool))

    def step(self, state, actions, key):
        return actions.astype(jnp.int32), super().step(jnp.zeros((), jnp.int32), actions, key)[1]


class Growing(MatrixGame):
    """A compiled game whose state changes its type."""

    def step(self, state, actions, key):
        after, outcome = super().step(state, actions, key)
        return after.astype(jnp.float32), outcome
