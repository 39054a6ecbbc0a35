"""Run a configuration: compiled chunks of turns, and between them tests, records and progress."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.config import Config
from decentral.experiments.machine import Machine
from decentral.experiments.memory import memory_statement
from decentral.experiments.parameters import as_arrays
from decentral.experiments.placement import use_every_core
from decentral.experiments.provenance import provenance
from decentral.experiments.references import known_returns
from decentral.records import RunDirectory
from decentral.training.loop import Tally
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


def run(config: Config, out: Path, listeners: list[Listener]) -> RunDirectory:
    """Train all seeds of a configuration and leave everything in `out`."""
    use_every_core()
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
