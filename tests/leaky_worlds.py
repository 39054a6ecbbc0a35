"""A world that tells an agent what the other did, in one of many ways."""

import numpy as np

from decentral.environments.host.interface import HostEnvironment, Percepts, Stage, Step
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete


class Yard(HostEnvironment):
    """Two agents walk on a line for twelve steps, blown about, and see where both are; three numbers more say nothing.

    After six steps the first agent is out: it stays where it is. How it is told what the second one does is a setting.
    """

    kind: str = setting("none", "how the second agent's action is told")

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=6, actions=Discrete(3))

    @property
    def time_limit(self):
        return 12

    def open(self):
        return YardStage(self.kind)


class YardStage(Stage):
    def __init__(self, kind):
        self.kind = kind

    def reset(self, seed):
        self.chance = np.random.default_rng(seed)
        self.places, self.noise = self.chance.integers(0, 40, 2), self.chance.normal()
        self.past = [np.zeros(2, int)] * 8
        self.taken = 0
        return self.percepts()

    def step(self, actions):
        self.taken += 1
        self.past = [*self.past[1:], np.asarray(actions)]
        moves = actions - 1 + self.chance.integers(-1, 2)
        moves[0] *= self.taken < 6
        self.places = np.clip(self.places + moves, 0, 40)
        self.noise = self.chance.normal()
        told = self.past[-1][1]
        reward = float(self.places[0] == self.places[1])
        reward += 1e-5 * told * (self.kind == "in the low digits of the reward")
        early = self.kind == "in the end of the episode" and self.taken >= 3 and told == 2
        return Step(self.percepts(), reward, bool(early or self.taken == 12))

    def percepts(self):
        seen = np.zeros((2, 6))
        seen[:, :3] = [[*self.places, self.taken], [*self.places[::-1], self.taken]]
        seen[:, 3] = self.noise
        available = np.ones((2, 3), bool)
        told, late = self.past[-1][1], self.past[-4][1]
        match self.kind:
            case "as it is":
                seen[0, 3] = told
            case "one-hot":
                seen[0, 3:] = np.eye(3)[told]
            case "scaled and shifted":
                seen[0, 3] = 7 - 0.25 * told
            case "with noise":
                seen[0, 3] += told
            case "one step late":
                seen[0, 3] = self.past[-2][1]
            case "three steps late":
                seen[0, 4] = late
            case "six steps late":
                seen[0, 4] = self.past[-7][1]
            case "in the low digits of an observation":
                seen[0, 1] += 1e-3 * told
            case "in what is available":
                available[0, 2] = told != 2
            case "the sum of all actions":
                seen[0, 4] = self.past[-1].sum()
            case "at some steps only":
                seen[0, 4] = told if self.taken % 3 == 0 else 0
            case "once the agent is out":
                seen[0, 4] = told if self.taken >= 6 else 0
            case "multiplied by another number":
                seen[0, 3] *= told
            case "encrypted with what only they know":
                seen[0, 4] = (told + self.taken * 7 // 3 + self.places.sum()) % 3
        return Percepts(seen, available)

    def close(self):
        pass
