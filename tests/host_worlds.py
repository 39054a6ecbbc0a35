"""Small worlds stepped in Python."""

import sys

import numpy as np

from decentral.environments.host.compiled import SteppedStage
from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Stage, Step
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete
from tests.worlds import Fuse


class Hosted(HostEnvironment):
    """The fuse, a compiled world, stepped in Python by the same keys."""

    limit: int = setting(2, "steps at the most", at_least=1)
    longest: float = setting(3.0, "the longest fuse", at_least=1)

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=2, actions=Discrete(2))

    @property
    def time_limit(self):
        return self.limit

    def open(self):
        return SteppedStage(Fuse(limit=self.limit, longest=self.longest))


class Counting(HostEnvironment):
    """Two agents count the steps of episodes of three; a step pays 1 if both choose alike.

    The trouble of one episode can be chosen: that of the number `in_episode` on each stage, at its second step.
    """

    trouble: str = setting("none", "what happens")
    in_episode: int = setting(1, "when it happens", at_least=0)
    restarts: bool = setting(False, "may it be restarted?")

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=2, actions=Discrete(3))

    @property
    def time_limit(self):
        return 4

    @property
    def fact_names(self):
        return ("alike",)

    @property
    def may_restart(self):
        return self.restarts

    def open(self):
        return CountingStage(self.trouble, self.in_episode)


class CountingStage(Stage):
    def __init__(self, trouble, in_episode):
        self.trouble, self.in_episode = trouble, in_episode
        self.episode = -1
        print("this goes to nobody who counts bytes")

    def percepts(self):
        observation = np.full((2, 2), [self.taken, self.seed % 7], np.float64)
        return Percepts(observation, np.asarray([[1, 1, 0], [1, 1, 0]]))

    def reset(self, seed):
        self.episode, self.taken, self.seed = self.episode + 1, 0, seed
        return self.percepts()

    def step(self, actions):
        self.taken += 1
        told = Step(self.percepts(), float(actions[0] == actions[1]), self.taken == 3, False, {"alike": 1.0})
        if self.taken == 2 and self.episode == self.in_episode:
            return self.in_trouble(told)
        return told

    def in_trouble(self, told):
        observation, available = told.percepts
        if self.trouble == "break off":
            raise BrokenOff("the line went dead")
        if self.trouble == "raise":
            raise ZeroDivisionError("no way out\nat all")
        if self.trouble == "exit":
            sys.exit(0)
        if self.trouble == "truncate":
            return told._replace(truncated=True)
        wrong = {
            "shape": told._replace(percepts=Percepts(observation[:1], available)),
            "nan": told._replace(percepts=Percepts(observation * np.nan, available)),
            "stuck": told._replace(percepts=Percepts(observation, available * np.asarray([[1], [0]]))),
            "reward": told._replace(reward=float("inf")),
            "ended": told._replace(terminated=None),
            "facts": told._replace(facts={}),
            "tuple": tuple(told),
        }
        return wrong.get(self.trouble, told)

    def close(self):
        if self.trouble.startswith("/"):
            with open(self.trouble, "a") as file:
                file.write("closed\n")
