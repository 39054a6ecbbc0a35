"""Run a configuration: compiled chunks of turns, and between them tests, records and progress."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.config import Config
from decentral.experiments.memory import memory_statement
from decentral.experiments.parameters import as_arrays
from decentral.experiments.provenance import provenance
from decentral.experiments.references import known_returns
from decentral.records import RunDirectory
from decentral.training.loop import Lane, Tally, Trainee, begin, examine, turns
from decentral.training.team import Team

SECONDS_PER_CHUNK = 2.0  # how often the progress is shown


class Listener(Protocol):
    """Someone who is told how a run is going."""

    def started(self, config: Config, out: Path, memory: str) -> None: ...

    def advanced(self, steps: int) -> None: ...

    def tested(self, rows: list[dict[str, Any]]) -> None: ...

    def finished(self, rows: list[dict[str, Any]]) -> None: ...

    def closed(self) -> None:
        """The run is over, finished or not."""


@dataclass
class Machine:
    """The lanes of all seeds [S], moved by compiled functions."""

    trainee: Trainee
    seeds: np.ndarray
    lanes: Lane
    idle_turns: int  # still to be played before there is enough to learn from

    @staticmethod
    def start(trainee: Trainee) -> "Machine":
        """All seeds at their beginning."""
        seeds = _seeds(trainee)
        return Machine(trainee, seeds, _BEGIN(trainee, seeds), trainee.plan.idle_turns)

    @staticmethod
    def describe(trainee: Trainee) -> Lane:
        """The shapes of all lanes. What is traced for them is not traced again at the start."""
        return jax.eval_shape(_BEGIN, trainee, _seeds(trainee))

    def advance(self, count: int) -> None:
        """Play and, once there is enough to learn from, learn for `count` turns."""
        idle = min(self.idle_turns, count)
        self.idle_turns -= idle
        if idle:
            self.lanes = _TURNS(self.trainee, self.lanes, idle, False)
        if count > idle:
            self.lanes = _TURNS(self.trainee, self.lanes, count - idle, True)

    def test(self) -> tuple[np.ndarray, Tally]:
        """The returns [S, episodes] of a greedy test, and the tally since the last one."""
        returns, tally, self.lanes = _EXAMINE(self.trainee, self.lanes, self.seeds)
        return np.asarray(returns), jax.device_get(tally)

    @property
    def steps(self) -> np.ndarray:
        return np.asarray(self.lanes.steps)

    def turns_until(self, step: int) -> int:
        """Turns that no seed can do with fewer of before it reaches `step`; 0 once all have."""
        per_turn = self.trainee.environment.time_limit * self.trainee.plan.num_environments
        return max(0, -(-(step - int(self.steps.min())) // per_turn))


def _seeds(trainee: Trainee) -> np.ndarray:
    return trainee.plan.seed + np.arange(trainee.plan.seeds)


_BEGIN = jax.jit(jax.vmap(begin, (None, 0)))
_TURNS = jax.jit(jax.vmap(turns, (None, 0, None, None)), static_argnums=3, donate_argnums=1)
_EXAMINE = jax.jit(jax.vmap(examine, (None, 0, 0)), donate_argnums=1)


def run(config: Config, out: Path, listeners: list[Listener]) -> RunDirectory:
    """Train all seeds of a configuration and leave everything in `out`."""
    keep_compiled_programs()
    memory = memory_statement(config.trainee.plan, Machine.describe(config.trainee))
    directory = RunDirectory.create(out)
    directory.write_json("config.json", config.as_data() | {"references": known_returns(config.trainee.environment)})
    directory.write_json("versions.json", provenance())
    try:
        for listener in listeners:
            listener.started(config, out, memory)
        _train(config, directory, listeners)
    finally:
        for listener in listeners:
            listener.closed()
    return directory


def _train(config: Config, directory: RunDirectory, listeners: list[Listener]) -> None:
    clock = time.perf_counter()
    machine, pace = Machine.start(config.trainee), Pace()
    rows: list[dict[str, Any]] = []
    for step in _test_steps(config):
        if rows and min(row["step"] for row in rows) >= step:
            continue  # a turn may be longer than the interval
        while left := machine.turns_until(step):
            pace.advance(machine, left)
            for listener in listeners:
                listener.advanced(int(machine.steps.min()))
        rows = _records(config, machine, time.perf_counter() - clock)
        directory.append_metrics(rows)
        for listener in listeners:
            listener.tested(rows)
    _save_agents(directory, machine)
    for listener in listeners:
        listener.finished(rows)


def _test_steps(config: Config) -> Iterator[int]:
    """The steps at which a test is due: at the start, at each interval and at the end."""
    plan = config.trainee.plan
    yield from range(0, plan.steps, plan.test_interval)
    yield plan.steps


class Pace:
    """Cuts the turns into chunks that take about as long as the eye wants to wait."""

    def __init__(self) -> None:
        self.chunk = 1

    def advance(self, machine: Machine, left: int) -> None:
        """Move the machine by the next chunk, of at most `left` turns."""
        begun, count = time.perf_counter(), min(self.chunk, left)
        machine.advance(count)
        jax.block_until_ready(machine.lanes.steps)
        fitting = int(count * SECONDS_PER_CHUNK / (time.perf_counter() - begun))
        self.chunk = max(1, min(8 * self.chunk, fitting))


def _records(config: Config, machine: Machine, seconds: float) -> list[dict[str, Any]]:
    returns, tally = machine.test()
    plan = config.trainee.plan
    rows = []
    for lane, seed in enumerate(machine.seeds):
        step = int(machine.steps[lane])
        row = {
            "seed": int(seed),
            "step": step,
            "episode": int(machine.lanes.episodes[lane]),
            "test_return_mean": float(returns[lane].mean()),
            "test_return_std": float(returns[lane].std()),
            "epsilon": round(float(plan.epsilon(jnp.asarray(step))), 6),
            "seconds": round(seconds, 3),
        }
        rows.append(row | _train_metrics(tally, lane, config.trainee.team))
    return rows


def _train_metrics(tally: Tally, lane: int, team: Team) -> dict[str, Any]:
    """Means since the last test: of the training return, and per agent of what its updates measured."""
    metrics: dict[str, Any] = {}
    if tally.episodes[lane]:
        metrics["train_return_mean"] = float(tally.returns[lane] / tally.episodes[lane])
    if not tally.updates[lane]:
        return metrics
    size = sum(len(squad.places) for squad in team.squads)
    for squad, measured in zip(team.squads, tally.metrics, strict=True):
        for name, sums in measured.items():
            mean = sums[lane] / tally.updates[lane]
            if mean.ndim == 0:  # one learner for the whole team
                metrics[name] = [float(mean)]
                continue
            own = metrics.setdefault(name, [None] * size)
            for place, value in zip(squad.places, mean.tolist(), strict=True):
                own[place] = value
    return metrics


def _save_agents(directory: RunDirectory, machine: Machine) -> None:
    team = machine.trainee.team
    bodies = jax.device_get(team.each(lambda squad, own: squad.bodies(own), machine.lanes.agents))
    for lane, seed in enumerate(machine.seeds):
        for squad, models in zip(team.squads, bodies, strict=True):
            for number, place in enumerate(squad.places):
                own = jax.tree.map(lambda leaf, at=(lane, number): np.array(leaf[at]), models)
                directory.write_agent(int(seed), place, as_arrays(own))
