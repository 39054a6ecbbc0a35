"""Small parallel worlds as PettingZoo's are, made without it."""

import numpy as np


class Discrete:
    def __init__(self, n, start=0):
        self.n, self.start = n, start

    def contains(self, value):
        return self.start <= value < self.start + self.n


class Box:
    def __init__(self, *shape):
        self.shape = shape

    def contains(self, value):
        return np.shape(value) == self.shape


class Pixels(Box):
    dtype, high = np.dtype(np.uint8), 255


class Dict:
    def __init__(self, **spaces):
        self.spaces = spaces

    def contains(self, value):
        return all(space.contains(value[name]) for name, space in self.spaces.items())


class MultiDiscrete:
    def __init__(self, *nvec, start=None):
        self.nvec = np.asarray(nvec)
        self.start = np.zeros(len(nvec), int) if start is None else np.asarray(start)

    def contains(self, value):
        return bool(((self.start <= value) & (value < self.start + self.nvec)).all())


class MultiBinary:
    def __init__(self, n):
        self.n = n

    def contains(self, value):
        return np.shape(value) == (self.n,) and bool(np.isin(value, (0, 1)).all())


class Tuple:
    def __init__(self, *spaces):
        self.spaces = spaces

    def contains(self, value):
        return all(space.contains(part) for space, part in zip(self.spaces, value, strict=True))


class Text:
    """No numbers."""


class Zoo:
    """A tall agent and a small one. The small one leaves after two steps; the tall one's time is up after four.

    The tall one sees a box of two by two, the small one which of three steps it is. Rewards are the actions' sum.
    """

    possible_agents = ("tall", "small")
    spaces = {"tall": (Box(2, 2), Discrete(3, start=5)), "small": (Discrete(3), Discrete(2))}  # noqa: RUF012
    steps = 4

    def observation_space(self, name):
        return self.spaces[name][0]

    def action_space(self, name):
        return self.spaces[name][1]

    def observe(self, names):
        each = {"tall": np.full((2, 2), self.taken), "small": min(self.taken, 2)}
        return {name: each[name] for name in names}

    def reset(self, seed=None, options=None):
        self.seed, self.taken, self.agents, self.sent = seed, 0, list(self.possible_agents), []
        return self.observe(self.agents), {name: {} for name in self.agents}

    def step(self, actions):
        names, self.taken = self.agents, self.taken + 1
        self.sent.append(actions)
        ended = {name: name == "small" and self.taken == 2 for name in names}
        cut = dict.fromkeys(names, self.taken == self.steps)
        self.agents = [name for name in names if not (ended[name] or cut[name])]
        return self.observe(names), self.rewards(names), ended, cut, self.infos(names)

    def infos(self, names):
        return {name: {"action_mask": [1, 0, 1][: self.action_space(name).n]} for name in names}

    def rewards(self, names):
        return dict.fromkeys(names, float(self.taken))

    def close(self):
        pass


class Greedy(Zoo):
    """Every agent has a reward of its own."""

    def rewards(self, names):
        return {name: {"tall": 1.0, "small": 4.0}[name] for name in names}


class Telling(Zoo):
    """Infos tell how many steps each agent has taken, at the second step what that one is worth, and a word."""

    def step(self, actions):
        *rest, infos = super().step(actions)
        for name, info in infos.items():
            info |= {"taken": self.taken + (name == "small"), "word": "hm"}
        if self.taken == 2:
            infos["tall"]["success"] = True
        return *rest, infos


class Masked(Zoo):
    """Both see which actions they can take beside what they see; all is over after four steps."""

    possible_agents = ("one",)
    spaces = {"one": (Dict(observation=Box(1), action_mask=Box(2)), Discrete(2))}  # noqa: RUF012

    def observe(self, names):
        return {"one": {"observation": [self.taken], "action_mask": [0, 1]}}


class Outside(Zoo):
    """The small one sees what is not in its space."""

    def observe(self, names):
        return super().observe(names) | ({"small": 3} if "small" in names else {})


class Overstaying(Zoo):
    """Whoever has ended stays."""

    def step(self, actions):
        there = list(self.agents)
        told = super().step(actions)
        self.agents = there
        return told


class Wordy(Zoo):
    """Actions of an unknown kind."""

    spaces = {"tall": (Box(2, 2), Text()), "small": (Box(1), Discrete(2))}  # noqa: RUF012


class Odd(Zoo):
    """Observations of an unknown kind."""

    spaces = {"tall": (Dict(left=Box(1), right=Text()), Discrete(2)), "small": (Box(1), Discrete(2))}  # noqa: RUF012


class Storehouse(Zoo):
    """One agent who sees things of every kind and turns two wheels at once: the first 0 or 1, the second 5, 6 or 7."""

    possible_agents = ("keeper",)
    place = Dict(
        doors=Discrete(2, start=1),
        cards=MultiDiscrete(2, 3),
        lamps=MultiBinary(2),
        pair=Tuple(Box(), Dict(shelf=Box(1, 2))),
        action_mask=Box(6),
    )
    spaces = {"keeper": (place, MultiDiscrete(2, 3, start=[0, 5]))}  # noqa: RUF012
    mask = (1, 1, 1, 0, 1, 1)
    seen = {"doors": 2, "cards": [1, 0], "lamps": [0, 1], "pair": (0.5, {"shelf": [[7, 8]]})}  # noqa: RUF012

    def observe(self, names):
        return {"keeper": {**self.seen, "action_mask": self.mask}}

    def infos(self, names):
        return {}


class Crane(Storehouse):
    """Too many wheels."""

    spaces = {"keeper": (Storehouse.place, MultiDiscrete(*[2] * 11))}  # noqa: RUF012


class Camera(Zoo):
    """One agent with a camera of 4 x 5 pixels in two colours; the picture grows brighter. Two steps."""

    possible_agents = ("pilot",)
    spaces = {"pilot": (Pixels(4, 5, 2), Discrete(2))}  # noqa: RUF012
    steps = 2

    def observe(self, names):
        picture = np.arange(40, dtype=np.uint8).reshape(4, 5, 2) + 100 * self.taken
        return {"pilot": picture.astype(np.uint8)}

    def infos(self, names):
        return {}


class Turns(Zoo):
    """A world in which agents act in turns."""

    def agent_iter(self):
        return iter(self.possible_agents)


def broken():
    raise KeyError("no such thing")


NUMBER = 3


class Trio(Zoo):
    """Three agents, no two of which see as much or choose among as many. Episodes of three steps, of random numbers.

    The guard leaves after two steps. The lifter's numbers and actions have names, the guard's actions have.
    """

    possible_agents = ("scout", "lifter", "guard")
    spaces = {  # noqa: RUF012
        "scout": (Box(4), Discrete(3)),
        "lifter": (Box(7), Discrete(5)),
        "guard": (Box(5), Discrete(2, start=6)),
    }
    observation_names = {"lifter": ("load", "lift", *"abcde")}  # noqa: RUF012
    action_names = {"lifter": ("rest", "up", "down", "left", "right"), "guard": ("watch", "sleep")}  # noqa: RUF012
    steps = 3

    def observe(self, names):
        return {name: self.randomness.normal(size=self.spaces[name][0].shape) for name in names}

    def reset(self, seed=None, options=None):
        self.randomness, self.taken, self.agents = np.random.default_rng(seed), 0, list(self.possible_agents)
        return self.observe(self.agents), {name: {} for name in self.agents}

    def step(self, actions):
        names, self.taken = self.agents, self.taken + 1
        assert all(self.action_space(name).contains(action) for name, action in actions.items())
        ended = {name: name == "guard" and self.taken == 2 for name in names}
        cut = dict.fromkeys(names, self.taken == self.steps)
        self.agents = [name for name in names if not (ended[name] or cut[name])]
        masks = {name: np.arange(self.action_space(name).n) != self.taken - 1 for name in names}
        rewards = dict.fromkeys(names, float(actions["lifter"] == 2))
        infos = {name: {"action_mask": masks[name], "lifted": rewards[name]} for name in names}
        return self.observe(names), rewards, ended, cut, infos


class Earners(Trio):
    """The same three, each with a reward of its own: 1 for its last action."""

    def step(self, actions):
        seen, _, *rest = super().step(actions)
        spaces = {name: self.action_space(name) for name in actions}
        last = {name: float(actions[name] == own.start + own.n - 1) for name, own in spaces.items()}
        return seen, last, *rest


class Restless(Earners):
    """The same three, in episodes of one step, two or three."""

    def reset(self, seed=None, options=None):
        answer = super().reset(seed, options)
        self.steps = 1 + int(self.randomness.integers(3))
        return answer


class Yard(Earners):
    """The same three; the scout sees a place and a door.

    Asked for it, it draws a picture of 12 x 8 pixels that grows brighter.
    """

    spaces = {**Trio.spaces, "scout": (Dict(place=Box(2), door=Discrete(2)), Discrete(3))}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def observe(self, names):
        seen = super().observe([name for name in names if name != "scout"])
        place = self.randomness.normal(size=2)
        return {name: seen.get(name, {"place": place, "door": self.taken % 2}) for name in names}

    def render(self):
        return np.full((8, 12, 3), 60 * self.taken, np.uint8)
