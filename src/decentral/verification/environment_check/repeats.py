"""Can whole episodes be compiled, and is an episode the same again with the same seed and actions?"""

from collections.abc import Iterator, Sequence

import jax
import numpy as np

from decentral.environments.base import BaseEnvironment, Environment, changes_of_kind, kind_of_array
from decentral.environments.host.interface import Percepts, Stage
from decentral.verification.environment_check.episodes import PlayedEpisode, replay, stage_of
from decentral.verification.environment_check.findings import Finding, finding_of_rule


def compiled(environment: Environment) -> Finding:
    """The state keeps its shapes and types, and an outcome has those of one reward and one end."""
    key = jax.random.key(0)
    state = jax.eval_shape(environment.reset, key)
    kind = environment.spec.actions
    actions = jax.ShapeDtypeStruct((environment.num_agents, *kind.shape), kind.dtype)
    after, outcome = jax.eval_shape(environment.step, state, actions, key)

    def faults() -> Iterator[str]:
        yield from changes_of_kind(state, after)
        for name, expected in (("reward", "float32[]"), ("terminated", "bool[]")):
            if kind_of_array(getattr(outcome, name)) != expected:
                yield f"{name} must be {expected}, got {kind_of_array(getattr(outcome, name))}"

    return finding_of_rule("compiled", faults(), "the state keeps its shapes and types from step to step")


RULE = "repeats"
MOST_REPLAYED = 3  # episodes


def not_repeated(said: str) -> Finding:
    """The finding that an episode was another one when played again."""
    return Finding(RULE, "wrong", f"{said}; all chance must come from the seed")


def repeats(environment: BaseEnvironment, stage: Stage, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Play some episodes again, on the stage where they were played and on a new one."""
    new = stage_of(environment)
    try:
        for where, again in (("on the same stage", stage), ("on a stage opened anew", new)):
            for episode in episodes[:MOST_REPLAYED]:
                if fault := difference(episode, replay(again, episode)):
                    return not_repeated(f"seed {episode.seed}, the same actions, {where}: {fault}")
    finally:
        new.close()
    alike = all(
        difference(PlayedEpisode(0, episode.start), PlayedEpisode(0, episodes[0].start)) is None for episode in episodes
    )
    seeds = "; all seeds start alike" if alike else "; seeds start differently"
    return Finding(RULE, "right", f"the same seed and actions gave the same episode, bit for bit{seeds}")


def difference(first: PlayedEpisode, again: PlayedEpisode) -> str | None:
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
