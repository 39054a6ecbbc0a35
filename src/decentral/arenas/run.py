"""A run in an arena: all its seeds, one after the other, with records, progress and agents as every run has them."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from decentral.agents.agent import check_room
from decentral.arenas.arena import Arena, Places, births, learned, opened
from decentral.arenas.episode import Played
from decentral.arenas.terms import Terms
from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.config import Config
from decentral.experiments.health import Divergence
from decentral.experiments.runner import Listener, Planned, describe, test_steps
from decentral.records import RunDirectory
from decentral.settings import Refused, as_data, build
from decentral.training.loop import Trainee
from decentral.training.plan import Plan

HOMES = "homes"  # in the run's directory


def run_arena(config: Config, terms: Terms, places: Places, out: Path, listeners: list[Listener]) -> RunDirectory:
    """Train every seed with each agent in a process of its own, and leave everything in `out`."""
    plan = config.trainee.plan
    _check(config)  # this and what follows refuse before anything is written
    _check_free(places.messages)
    for birth in births(config, terms, plan.seed):
        check_room(birth.wiring)
    keep_compiled_programs()
    directory = RunDirectory.create(out)
    describe(Planned(config, out), arena=as_data(terms))
    diverged: list[dict[str, Any]] = []
    with directory.alone():
        for seed in range(plan.seed, plan.seed + plan.seeds):
            diverged += _run_seed(_of_seed(config, seed), terms, places, directory, listeners)
        directory.finish(diverged)
    return directory


def _run_seed(
    config: Config, terms: Terms, places: Places, directory: RunDirectory, listeners: list[Listener]
) -> list[dict[str, Any]]:
    """One seed from its first episode to its last test; where its numbers stopped being numbers."""
    seed, begun = config.trainee.plan.seed, time.perf_counter()
    try:
        for listener in listeners:
            listener.started([Planned(config, directory.path)], "the world is here, each agent in a process of its own")
        with opened(config, terms, seed, places) as arena:
            row = Training(arena, directory, listeners, begun).finish()
        diverged = []
        for place in range(len(config.members)):
            parameters = learned(places, seed, place)
            directory.write_agent(seed, place, parameters)
            diverged += _divergences(parameters, row, place)
        for listener in listeners:
            for found in diverged:
                listener.noted(str(found))
            listener.finished([[row]], time.perf_counter() - begun)
        return [found.as_data() for found in diverged]
    finally:
        for listener in listeners:
            listener.closed()


class Training:
    """An arena on its way: tested and told of between episodes."""

    def __init__(self, arena: Arena, directory: RunDirectory, listeners: list[Listener], begun: float):
        self.arena, self.directory, self.listeners, self.begun = arena, directory, listeners, begun
        self.deaths = [0] * len(arena.seats)
        self.returns: list[float] = []  # of episodes since the last test

    def finish(self) -> dict[str, Any]:
        """Go on to the end; the record of the last test."""
        self._note(", ".join(f"agent {seat.place}: {seat.line.name}" for seat in self.arena.seats))
        row: dict[str, Any] = {}
        for step in test_steps(self.arena.config.trainee.plan):
            if row and self.arena.steps >= step:
                continue  # an episode is longer than the interval
            while self.arena.steps < step:
                self.returns.append(self.arena.play().total)
                self._look_round()
            row = self._test()
        return row

    def _look_round(self) -> None:
        """Tell how far it is, and who has died."""
        for listener in self.listeners:
            listener.advanced(self.arena.steps)
        for seat in self.arena.seats:
            for death in seat.deaths[self.deaths[seat.place] :]:
                self._note(f"agent {seat.place} is gone ({death}) and is started again; the others go on")
            self.deaths[seat.place] = len(seat.deaths)

    def _test(self) -> dict[str, Any]:
        row = _record(self.arena, self.arena.test(), self.returns)
        self.returns = []
        self.directory.append_metrics([row])
        self.directory.append_time(row["step"], time.perf_counter() - self.begun)
        for listener in self.listeners:
            listener.tested([[row]])
        return row

    def _note(self, line: str) -> None:
        for listener in self.listeners:
            listener.noted(line)


def _record(arena: Arena, tests: list[Played], returns: list[float]) -> dict[str, Any]:
    """What a test came to, and the training since the last one. What updates measured stays with the agents."""
    scores = np.asarray([played.total for played in tests], np.float32)
    plan, names = arena.config.trainee.plan, arena.world.reports
    row = {
        "seed": arena.seed,
        "step": arena.steps,
        "episode": arena.episodes,
        "test_return_mean": float(scores.mean()),
        "test_return_std": float(scores.std()),
        **{f"test_{name}": float(np.mean([played.reports[name] for played in tests])) for name in names},
        "epsilon": round(float(plan.epsilon(jnp.asarray(arena.steps))), 6),
        "missed_episodes": [seat.missed for seat in arena.seats],
    }
    return row | ({"train_return_mean": float(np.mean(returns))} if returns else {})


def _divergences(parameters: dict[str, np.ndarray], row: dict[str, Any], place: int) -> list[Divergence]:
    """The first array of an agent that is not sound; minus infinity is, for tables of optimists begin with it."""
    bad = [name for name, array in parameters.items() if np.any(np.isnan(array) | np.isposinf(array))]
    return [Divergence(row["seed"], row["step"], f"online.{bad[0]}", place)] if bad else []


def _of_seed(config: Config, seed: int) -> Config:
    """The same run, of one of its seeds alone."""
    was = config.trainee
    plan = build(Plan, as_data(was.plan) | {"seeds": 1, "seed": seed}, "training")
    return replace(config, trainee=Trainee(was.team, was.environment, plan))


def _check(config: Config) -> None:
    """Refuse what agents in processes of their own can't do."""
    plan = config.trainee.plan
    if plan.sharing:
        raise Refused("training.sharing must be false in an arena, got true: its agents share nothing")
    if not config.strictness.decentralised:
        raise Refused(f"algorithm must be decentralised for an arena, got {config.algorithm_name}, which is not")
    for key in ("num_environments", "workers"):
        if getattr(plan, key) != 1:
            raise Refused(f"training.{key} must be 1 in an arena, got {getattr(plan, key)}")
    if plan.diagnostics:
        raise Refused("training.diagnostics must be false in an arena, got true: they look into all agents")
    for place, member in enumerate(config.members):
        if member.source is not None:
            raise Refused(f"agents.{place} must be one that learns in an arena, got {member.kind}")
        if member.clock.joins_at:
            raise Refused(f"agents.{place}.joins_at must be 0 in an arena, got {member.clock.joins_at}")


def _check_free(messages: Path | None) -> None:
    """Refuse to write messages where something lies already."""
    try:
        taken = messages is not None and messages.exists() and any(messages.iterdir())
    except OSError as error:
        raise Refused(f"log-messages must be a directory, got {messages} ({error.strerror})") from None
    if taken:
        raise Refused(f"log-messages must be an empty or a new directory, got {messages}, which holds files")
