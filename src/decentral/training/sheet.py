"""The record of one episode in a world that lives in Python, written while it is played."""

from typing import Any

import numpy as np

from decentral.environments.host import HostEnvironment, Percepts, Step

Written = dict[str, Any]  # arrays by name, and by name those of the facts


class Sheet:
    """Room for one episode of a whole team: T steps and P = T + 1 percepts."""

    def __init__(self, environment: HostEnvironment):
        steps, agents, spec = environment.time_limit, environment.num_agents, environment.spec
        self.observation = np.zeros((steps + 1, agents, spec.observation_size), np.float32)
        self.available = np.zeros((steps + 1, agents, spec.actions.count), bool)
        self.actions = np.zeros((steps, agents), np.int32)
        self.rewards = np.zeros(steps, np.float32)
        self.terminated = np.zeros(steps, bool)
        self.happened = np.zeros(steps, bool)
        self.facts = {name: np.zeros(steps, np.float32) for name in environment.fact_names}
        self.taken = 0
        self.over = False

    @property
    def percepts(self) -> Percepts:
        """What the team perceives now."""
        return Percepts(self.observation[self.taken], self.available[self.taken])

    def begin(self, percepts: Percepts) -> None:
        """Write down what is perceived before the first step."""
        self.observation[0], self.available[0] = percepts

    def add(self, actions: np.ndarray, step: Step) -> None:
        """Write down a step. The last one, by the task, the world's time or the limit, is followed by padding."""
        now = self.taken
        self.actions[now], self.rewards[now] = actions, step.reward
        self.terminated[now], self.happened[now] = step.terminated, True
        for name, fact in step.facts.items():
            self.facts[name][now] = fact
        self.taken += 1
        self.observation[self.taken], self.available[self.taken] = step.percepts
        self.over = step.terminated or step.truncated or self.taken == len(self.rewards)
        if self.over:
            self._pad()

    def _pad(self) -> None:
        """What was perceived last goes on, and so does an action that was available then."""
        last, now = self.percepts, self.taken
        self.observation[now + 1 :], self.available[now + 1 :] = last
        self.actions[now:] = last.available.argmax(axis=1)

    def written(self) -> Written:
        """All of it, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray | dict)}
