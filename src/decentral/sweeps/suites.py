"""Suites: sets of tasks, each with a random and a best known return, on which methods are compared by one score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decentral.configs.config import resolve
from decentral.configs.registry import ALGORITHM_FORM, EVERY_ALGORITHM, is_name_of_code
from decentral.errors import Refused, did_you_mean
from decentral.runs.planned import PlannedRun
from decentral.sweeps.comparison import SEEDS, dealt_out, known_settings

SettingValues = dict[str, Any]


@dataclass(frozen=True)
class KnownReturn:
    """A return that scores are measured by, and where it comes from."""

    value: float
    source: str


@dataclass(frozen=True)
class Task:
    """An environment with settings and a plan; where no return is given, the environment knows it exactly."""

    name: str  # a valid file name
    environment: str
    settings: SettingValues = field(default_factory=dict)
    training: SettingValues = field(default_factory=dict)
    best: KnownReturn | None = None
    random: KnownReturn | None = None

    @property
    def given(self) -> dict[str, tuple[float, str]]:
        """The ends of its score that the suite gives, with their sources."""
        ends = {"random": self.random, "best": self.best}
        return {end: (known.value, known.source) for end, known in ends.items() if known is not None}


@dataclass(frozen=True)
class Method:
    """An algorithm with settings that are the same on every task; its presets fill in the others."""

    algorithm: str
    settings: SettingValues = field(default_factory=dict)


# Methods that are more than an algorithm's name.
VARIANTS = {
    "forgiving-iql": Method("iql", {"forgive": 10_000.0, "forgive_fade": 10_000.0}),
    "earning-iql": Method("iql", {"forgive_beyond": 1.5}),
    "optimistic-dac": Method("dac", {"next_context": "optimistic"}),
    "forgiving-dac": Method(
        "dac",
        {"next_context": "optimistic", "forgive": 10_000.0, "forgive_fade": 10_000.0, "forgive_contexts": False},
    ),
    "earning-dac": Method("dac", {"next_context": "optimistic", "forgive_beyond": 1.5, "forgive_contexts": False}),
}

HUNT: SettingValues = {"test_interval": 50_000}
FIGHT: SettingValues = {"steps": 1_000_000, "test_interval": 50_000}
HIDDEN_BEST = {  # hidden-planner.json: no optimum is known for agents that do not see each other
    penalty: KnownReturn(value, "a planner with exact chances, 4,000 episodes")
    for penalty, value in {0.0: 31.66, 0.3: 26.77, 0.5: 24.05, 1.0: 17.26}.items()
}
THREE_SOLVED = "exact: decentral oracle --penalty 0.5 --environment.num-predators 3"
EVERY_ENEMY_DEAD = KnownReturn(20.0, "every enemy dead; regenerated shields can add a little")


def _hunt(penalty: float, visible: bool, size: int = 5) -> Task:
    settings = {"penalty": penalty, "observe_teammate": visible} | ({"size": size} if size != 5 else {})
    best = None if visible else HIDDEN_BEST[penalty]
    board = f"-{size}x{size}" if size != 5 else ""
    return Task(f"{'visible' if visible else 'hidden'}-P{penalty:g}{board}", "predator-prey", settings, HUNT, best)


def _battle(name: str, random: float) -> Task:
    chance = KnownReturn(random, "64 episodes of random actions")
    return Task(name, name, {}, FIGHT, EVERY_ENEMY_DEAD, chance)


SUITES = {
    "coordination": (
        *(_hunt(penalty, visible) for visible in (True, False) for penalty in HIDDEN_BEST),
        *(Task(game, "matrix-game", {"payoff": game}) for game in ("climbing", "penalty")),
        Task(
            "three-predators",
            "predator-prey",
            {"penalty": 0.5, "observe_teammate": True, "num_predators": 3},
            HUNT,
            best=KnownReturn(41.67, THREE_SOLVED),
            random=KnownReturn(-13.27, THREE_SOLVED),
        ),
        Task("porters", "porters", {}, {"steps": 500_000, "epsilon_steps": 200_000, "test_interval": 10_000}),
        _battle("5m_vs_6m", 1.50),
        _battle("2s3z", 4.21),
    ),
    "held-out": (  # no setting of a method was chosen on any of these
        *(_hunt(penalty, visible=True) for penalty in (0.2, 0.75)),
        *(_hunt(0.5, visible=True, size=size) for size in (4, 6)),
        Task("penalty-k30", "matrix-game", {"payoff": "penalty:k=-30"}),
        *(
            Task(f"{game}-three", "matrix-game", {"payoff": f"{game}:agents=3"})
            for game in ("paper", "climbing", "penalty")
        ),
    ),
}


def tasks_of(suite: str, only: Sequence[str] | None = None) -> list[Task]:
    """The tasks of a suite, or those of these names."""
    if suite not in SUITES:
        raise Refused(f"suite must be one of {', '.join(SUITES)}, got {suite!r:.60}")
    tasks = {task.name: task for task in SUITES[suite]}
    if only is None:
        return [*tasks.values()]
    if not only or isinstance(only, str):
        raise Refused(f"only must be a list of at least one task, got {only!r:.60}")
    for name in only:
        if name not in tasks:
            raise Refused(f"only must name tasks of the suite, {', '.join(tasks)}, got {name!r:.60}")
    return [task for task in tasks.values() if task.name in only]


def is_method(name: str) -> bool:
    """Does a name stand for a method?"""
    return name in EVERY_ALGORITHM or name in VARIANTS or is_name_of_code(name)


def method_of(name: str) -> Method:
    """What a name stands for: a variant, or an algorithm as it is."""
    if not is_method(name):
        known = [*EVERY_ALGORITHM, *VARIANTS]
        every = ", ".join([*known, ALGORITHM_FORM])
        raise Refused(f"unknown method {name!r:.120}:{did_you_mean(name, known)} choose one of {every}")
    return VARIANTS.get(name) or Method(name)


def settings_of_methods(methods: Sequence[str]) -> dict[str, set[str]]:
    """The settings that each method has, by its name."""
    return known_settings({name: method_of(name).algorithm for name in methods})


def planned_runs(
    tasks: Sequence[Task], methods: Sequence[str], plan: SettingValues, out: Path, settings: SettingValues | None = None
) -> list[PlannedRun]:
    """Every method on every task, each into OUT/TASK/METHOD, task by task.

    If `plan` says how many steps, exploration falls over the first half of them. `settings` go to all methods that have
    them, in place of their own.
    """
    if not methods or isinstance(methods, str):
        raise Refused(f"METHODS must be a list of at least one method, got {methods or 'none'!r:.60}")
    if repeated := [name for name in methods if list(methods).count(name) > 1]:
        raise Refused(f"METHODS must name each method once, got {repeated[0]} twice")
    own = {"seeds": SEEDS} | plan
    if "steps" in plan:
        own |= {"epsilon_steps": max(1, plan["steps"] // 2), "test_interval": max(1, plan["steps"] // 10)}
    each = dealt_out(settings_of_methods(methods), settings or {})
    runs = []
    for task in tasks:
        for name in methods:
            method = method_of(name)
            its_own = method.settings | each[name]
            config = resolve(method.algorithm, task.environment, its_own, task.settings, task.training | own)
            runs.append(PlannedRun(config, out / task.name / name.replace(":", "-"), out))
    return runs
