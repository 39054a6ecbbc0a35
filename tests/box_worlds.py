"""Small parallel worlds of PettingZoo's kind whose agents act in boxes, made without it."""

import numpy as np

from tests.environments.zoo import Box, Discrete


class Bounded(Box):
    """A box with bounds, which can tell what lies in it."""

    def __init__(self, low, high, dtype=np.float32):
        self.low, self.high, self.dtype = np.asarray(low, dtype), np.asarray(high, dtype), np.dtype(dtype)
        super().__init__(*self.low.shape)

    def contains(self, value):
        fits = isinstance(value, np.ndarray) and value.dtype == self.dtype and value.shape == self.shape
        return fits and bool(((self.low <= value) & (value <= self.high)).all())

    def __repr__(self):
        return f"Box({self.low.tolist()}, {self.high.tolist()}, {self.shape}, {self.dtype})"


class Reach:
    """An arm of three joints in two rows and a gripper of one: each is paid for being close to its goal.

    The gripper leaves after `stays` steps.
    """

    possible_agents = ("arm", "gripper")
    boxes = {  # noqa: RUF012
        "arm": Bounded([[-2.0, 0.0, 10.0]], [[2.0, 0.1, 20.0]]),
        "gripper": Bounded([0.3], [0.7], np.float64),
    }
    goals = {"arm": np.asarray([[1.0, 0.05, 12.0]]), "gripper": np.asarray([0.4])}  # noqa: RUF012
    steps, stays = 3, 3

    def observation_space(self, name):
        return Box(2) if name == "arm" else Box(1)

    def action_space(self, name):
        return self.boxes[name]

    def observe(self, names):
        return {name: np.full(2 if name == "arm" else 1, 1.0 + self.taken) for name in names}

    def reset(self, seed=None, options=None):
        self.taken, self.agents = 0, list(self.possible_agents)
        return self.observe(self.agents), {name: {} for name in self.agents}

    def step(self, actions):
        names, self.taken = self.agents, self.taken + 1
        for name, action in actions.items():
            if not self.boxes[name].contains(action):
                raise ValueError(f"{name} acted outside of {self.boxes[name]}: {action!r}")
        spans = {name: box.high.astype(float) - box.low for name, box in self.boxes.items()}
        lost = [np.square((actions[name] - self.goals[name]) / spans[name]).sum() for name in names]
        ended = {name: name == "gripper" and self.taken == self.stays < self.steps for name in names}
        cut = dict.fromkeys(names, self.taken == self.steps)
        self.agents = [name for name in names if not (ended[name] or cut[name])]
        return self.observe(names), dict.fromkeys(names, -float(np.sum(lost))), ended, cut, {name: {} for name in names}

    def close(self):
        pass


class Leaving(Reach):
    """The gripper leaves after the first step."""

    stays = 1


class Half(Reach):
    """The gripper chooses one of two."""

    def action_space(self, name):
        return self.boxes[name] if name == "arm" else Discrete(2)


class Unbounded(Reach):
    """The gripper's box has no end."""

    boxes = Reach.boxes | {"gripper": Bounded([0.0], [np.inf])}


class Whole(Reach):
    """The gripper's box is of whole numbers."""

    boxes = Reach.boxes | {"gripper": Bounded([0], [3], np.int32)}
