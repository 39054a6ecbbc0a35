"""Does an episode come out the same under the same seed and actions?"""

from collections.abc import Sequence

import numpy as np

from decentral.environments.base import World
from decentral.environments.host import Percepts, Stage
from decentral.experiments.examination.episodes import Lived, replay, stage_of
from decentral.experiments.examination.findings import Finding

RULE = "repeats"
MOST_REPLAYED = 3  # episodes


def repeats(world: World, stage: Stage, episodes: Sequence[Lived]) -> Finding:
    """Play some episodes again, on the stage where they were played and on a new one."""
    new = stage_of(world)
    try:
        for where, again in (("on the same stage", stage), ("on a stage opened anew", new)):
            for lived in episodes[:MOST_REPLAYED]:
                if fault := difference(lived, replay(again, lived)):
                    said = f"seed {lived.seed}, the same actions, {where}: {fault}"
                    return Finding(RULE, "wrong", f"{said}; all chance must come from the seed")
    finally:
        new.close()
    alike = all(difference(Lived(0, lived.start), Lived(0, episodes[0].start)) is None for lived in episodes)
    seeds = "; all seeds start alike" if alike else "; seeds start differently"
    return Finding(RULE, "right", f"the same seed and actions gave the same episode, to the bit{seeds}")


def difference(first: Lived, again: Lived) -> str | None:
    """Where two episodes of the same seed and actions differ."""
    for (when, one), (_, other) in zip(first.told(), again.told(), strict=False):
        for name, ours, theirs in zip(Percepts._fields, one, other, strict=True):
            if not _same(ours, theirs):
                return f"{name} differs {when}"
    for number, (step, other) in enumerate(zip(first.steps, again.steps, strict=False), start=1):
        for name in ("reward", "terminated", "truncated"):
            if not _same(getattr(step, name), getattr(other, name)):
                return f"{name} differs at step {number}"
    return None


def _same(one: object, other: object) -> bool:
    return np.array_equal(np.asarray(one, np.float64), np.asarray(other, np.float64), equal_nan=True)
