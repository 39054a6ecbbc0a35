"""The lanes of one or several setups, one per seed of each, and the compiled programs that advance them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from decentral.environments.base import Oracle
from decentral.environments.host.interface import HostEnvironment
from decentral.runs.caches import compiler_options
from decentral.runs.host import rollout_for
from decentral.runs.kept import KeptProgram, keep_metrics, known_metrics
from decentral.runs.memory import capacity, check_growth
from decentral.runs.placement import Placement
from decentral.runs.shapes import side_by_side
from decentral.training.diagnostics import Diagnosis
from decentral.training.evaluation import Scores
from decentral.training.host.loop import host_evaluate, host_turns
from decentral.training.loop import Lane, MetricShapes, Tally, begin, evaluate_lane, metric_shapes, turns
from decentral.training.replay import Replay, with_room
from decentral.training.setup import TrainingSetup

Findings = dict[str, Bool[Array, "..."]]


def nonfinite(lane: Lane) -> tuple[Bool[Array, ""], Findings]:
    """Whether anything is NaN or +inf, and for each array, by its name, whether it contains any.

    Arrays of a squad are reported per agent [n]. Minus infinity is allowed: optimistic tables start with it.
    """
    findings: Findings = {"rewards": _is_bad(lane.tally.returns)}
    for squad, agents in enumerate(lane.agents):
        apart = agents.target_age.ndim > 0  # a joined squad is one learner
        for path, leaf in jax.tree_util.tree_flatten_with_path(agents)[0]:
            if jnp.issubdtype(leaf.dtype, jnp.floating):
                name = jax.tree_util.keystr(path, simple=True, separator=".")
                bad = _is_bad(leaf)
                findings[f"{squad}.{name}"] = jnp.any(bad, axis=tuple(range(1 if apart else 0, leaf.ndim)))
    return jnp.any(jnp.stack([jnp.any(bad) for bad in findings.values()])), findings


def _is_bad(array: Array) -> Bool[Array, "..."]:
    return jnp.isnan(array) | jnp.isposinf(array)


def with_more_room(lanes: Lane, capacity: int) -> Lane:
    """Lanes whose agents have room for so many episodes."""
    replays = tuple(with_room(ring, capacity) if isinstance(ring, Replay) else ring for ring in lanes.replays)
    return eqx.tree_at(lambda old: old.replays, lanes, replays)


@dataclass
class LaneBatch:
    """All lanes [S], setup after setup and seed after seed, advanced by compiled functions.

    More lanes may follow, which fill up the last device: nothing that leaves this class tells of them.
    """

    setup: TrainingSetup  # its float leaves have a lane axis if it stands for several setups
    seeds: np.ndarray
    lanes: Lane  # and those that fill up
    warmup_turns: int  # still to be played before there is enough to learn from
    programs: "Programs"
    oracle: Oracle | None = None  # with a lane axis if the setup has one

    @staticmethod
    def start(*setups: TrainingSetup, placement: Placement | None = None, lanes: Lane | None = None) -> "LaneBatch":
        """All seeds of setups of one shape: new lanes, or the given ones.

        Without a `placement` the best one is used.
        """
        setup, seeds, programs = _prepare(setups, placement)
        with programs.placed():
            if lanes is None:
                lanes = programs.begin(setup, seeds, known_metrics(setup))
            else:
                lanes = programs.placement.put(filled_up(lanes, programs.placement.padding(len(lanes.steps))))
            oracle = programs.oracle(setup) if setup.plan.diagnostics else None
        own = seeds[: len(setups) * setup.plan.seeds]
        lane_batch = LaneBatch(setup, own, lanes, 0, programs, oracle)
        lane_batch.warmup_turns = max(0, setup.plan.warmup_turns - lane_batch.turn)
        return lane_batch

    @staticmethod
    def describe(*setups: TrainingSetup, episodes: int = 0) -> Lane:
        """The shapes of all lanes once so many episodes were played. The trace is reused when they start."""
        setup, seeds, programs = _prepare(setups)
        metrics = known_metrics(setup)
        with programs.placed():
            lanes = jax.eval_shape(partial(programs.begin, metrics=metrics), setup, seeds)
        if metrics is None:
            of_one = jax.eval_shape(partial(jax.tree.map, lambda leaf: leaf[0]), lanes.tally.metrics)
            keep_metrics(setup, metric_shapes(of_one))
        own = jax.eval_shape(partial(_first, len(setups) * setup.plan.seeds), lanes)
        return jax.eval_shape(partial(with_more_room, capacity=setup.capacity_after(episodes)), own)

    def prepare(self) -> None:
        """Make the program that learns ready in the background, if that is worth while and it will be needed."""
        if self.turns_until(self.setup.plan.steps) > self.warmup_turns:
            self.programs.prepare_learning(self.setup, self.lanes, 1)

    def advance(self, count: int) -> None:
        """Play and, once there is enough to learn from, learn for `count` turns."""
        self._make_room(count)
        idle = min(self.warmup_turns, count)
        self.warmup_turns -= idle
        if idle:
            self._take_turns(idle, False)
        if count > idle:
            self._take_turns(count - idle, True)

    def _take_turns(self, count: int, learning: bool) -> None:
        with self.programs.placed():
            self.lanes = self.programs.turns(self.setup, self.lanes, count, learning=learning)

    def _make_room(self, turns: int) -> None:
        """Let the replays grow if the episodes of the next turns might not fit."""
        now, together = capacity(self.lanes), self.setup.plan.num_environments
        if now is None or now >= self.setup.replay_capacity:
            return
        then = self.setup.capacity_after((self.turn + turns) * together)
        if then > now:
            check_growth(self.lanes, self.programs.placement, now, then)
            with self.programs.placed():
                self.lanes = self.programs.with_more_room(self.lanes, then)

    def test(self) -> tuple[Scores, Diagnosis | None, Tally]:
        """The scores [S, episodes] of a greedy test, its diagnosis if planned, and the tally since the last one."""
        with self.programs.placed():
            every = filled_up(self.seeds, self.programs.placement.padding(len(self.seeds)))
            *measured, self.lanes = self.programs.evaluate_lane(self.setup, self.lanes, every, self.oracle)
        scores, diagnosis, tally = _first(len(self.seeds), jax.device_get(measured))
        return scores, diagnosis, tally

    def close(self) -> None:
        """Close the environment."""
        self.programs.close()

    def nonfinite(self) -> tuple[np.ndarray, Findings]:
        """Which lanes contain NaN or +inf [S]; and where, still on the device."""
        with self.programs.placed():
            lanes, details = self.programs.nonfinite(self.lanes)
        return np.asarray(lanes)[: len(self.seeds)], details

    @property
    def turn(self) -> int:
        """The number of turns that every lane has taken."""
        return int(self.lanes.episodes[0]) // self.setup.plan.num_environments

    @property
    def shares(self) -> list[range]:
        """The lanes of each setup."""
        size = self.setup.plan.seeds
        return [range(first, first + size) for first in range(0, len(self.seeds), size)]

    @property
    def steps(self) -> np.ndarray:
        return np.asarray(self.lanes.steps)[: len(self.seeds)]

    def turns_until(self, step: int) -> int:
        """The fewest turns in which the slowest lane can reach `step`; 0 once all have."""
        per_turn = self.setup.environment.time_limit * self.setup.plan.num_environments
        return max(0, -(-(step - int(self.steps.min())) // per_turn))


def _prepare(
    setups: Sequence[TrainingSetup], placement: Placement | None = None
) -> tuple[TrainingSetup, np.ndarray, "Programs"]:
    """One setup that stands for all, the seed of every lane, and the programs that advance them."""
    plan = setups[0].plan
    seeds = np.tile(plan.seed + np.arange(plan.seeds), len(setups))
    setup, several = side_by_side(setups, plan.seeds), len(setups) > 1
    if isinstance(setups[0].environment, HostEnvironment):
        return setup, seeds, host_programs(setups[0], several)
    placement = placement or Placement.of(setup, len(seeds))
    more = placement.padding(len(seeds))
    return filled_up(setup, more) if several else setup, filled_up(seeds, more), programs(placement, several)


def filled_up(lanes: Any, more: int) -> Any:
    """Lanes, or what has a lane axis, with so many copies of the last one."""
    return lanes if not more else jax.tree.map(lambda leaf: _with_copies(leaf, more), lanes)


def _with_copies(leaf: Any, more: int) -> Any:
    joined = np if isinstance(leaf, np.ndarray) else jnp
    return joined.concatenate([leaf, *[leaf[-1:]] * more])


def _first(count: int, lanes: Any) -> Any:
    """The first lanes of all."""
    return jax.tree.map(lambda leaf: leaf[:count], lanes)


@dataclass(frozen=True)
class Programs:
    """The programs of a run, compiled for its placement."""

    begin: Callable[..., Any]
    turns: Callable[..., Any]
    evaluate_lane: Callable[..., Any]
    oracle: Callable[..., Any]
    nonfinite: Callable[..., Any]
    with_more_room: Callable[..., Any]
    placed: Callable[[], AbstractContextManager]
    placement: Placement
    close: Callable[[], None] = lambda: None
    counts: Callable[[], dict[str, int]] = dict  # further entries of a record
    prepare_learning: Callable[..., None] = lambda *_: None  # in the background


@cache
def programs(placement: Placement, several: bool) -> Programs:
    """The programs of a placement, for one setup or for several.

    They are cached, so that a second run of the same kind compiles nothing.
    """
    mesh = placement.mesh
    lanes = None if mesh is None else placement.of_lanes(mesh)
    every_lane, setup_axis, options = placement.over_lanes, 0 if several else None, compiler_options()

    def begin_all(setup: TrainingSetup, seeds: Int[Array, " S"], metrics: MetricShapes | None) -> Lane:
        return every_lane(partial(begin, metrics=metrics), (setup_axis, 0))(setup, seeds)

    placed = nullcontext if mesh is None or placement.apart else partial(jax.set_mesh, mesh)

    def kept(
        name: str, function: Callable[..., Any], shardings: Any, parts: Callable[..., Any], whole: Callable[..., Any]
    ) -> KeptProgram:
        traced = jax.jit(function, donate_argnums=1, out_shardings=shardings, compiler_options=options)
        return KeptProgram(name, f"{placement} {several}", function, parts, whole, traced, options, placed)

    def turns_of_all(name: str, learning: bool) -> KeptProgram:
        of_all = every_lane(partial(turns, learning=learning), (setup_axis, 0, None))
        return kept(name, of_all, lanes, lambda after: ((), after), lambda before, _, after: after)

    playing, with_learning = turns_of_all("playing", False), turns_of_all("learning", True)
    tested = every_lane(evaluate_lane, (setup_axis, 0, 0, setup_axis))
    return Programs(
        jax.jit(begin_all, static_argnames="metrics", out_shardings=lanes),
        lambda *arguments, learning: (with_learning if learning else playing)(*arguments),
        kept("testing", tested, (None, None, None, lanes), _test_in_parts, _test_as_whole),
        jax.jit(
            partial(jax.lax.map, TrainingSetup.oracle) if several else TrainingSetup.oracle,
            compiler_options=options,
        ),  # needs much memory while it is computed
        jax.jit(jax.vmap(nonfinite)),
        jax.jit(with_more_room, static_argnums=1, out_shardings=lanes),
        placed,
        placement,
        prepare_learning=with_learning.prepare,
    )


def _test_in_parts(result: tuple[Scores, Diagnosis | None, Tally, Lane]) -> tuple[Any, Lane]:
    scores, diagnosis, tally, lanes = result
    return (vars(scores), None if diagnosis is None else vars(diagnosis), jax.tree.leaves(tally)), lanes


def _test_as_whole(before: Lane, measured: Any, after: Lane) -> tuple[Scores, Diagnosis | None, Tally, Lane]:
    scores, diagnosis, sums = measured
    tally = jax.tree.unflatten(jax.tree.structure(before.tally), sums)
    return Scores(**scores), None if diagnosis is None else Diagnosis(**diagnosis), tally, after


def host_programs(setup: TrainingSetup, several: bool) -> Programs:
    """The same for a host environment: its episodes are played in Python, all else is compiled.

    The environment is opened when the first episode is played. Settings of the environment are the same for all
    setups.
    """
    rollout, setup_axis = rollout_for(setup), 0 if several else None
    return replace(
        programs(Placement(), several),
        turns=partial(host_turns, rollout, setup_axis),
        prepare_learning=lambda *_: None,
        evaluate_lane=partial(host_evaluate, rollout, setup_axis),
        close=rollout.close,
        counts=lambda: {"dropped_episodes": rollout.dropped},
    )
