"""A run in an arena: all its seeds, one after the other, with the records, progress and agents of any run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from decentral.agents.agent import check_room
from decentral.arenas.arena import agent_setups, learned, opened
from decentral.arenas.arena_settings import ArenaSettings
from decentral.arenas.arena_state import ArenaState
from decentral.arenas.homes import Places
from decentral.arenas.saving import ArenaCheckpoints, check_logged, find_start, state_at
from decentral.arenas.training import ArenaTraining
from decentral.configs.config import Config
from decentral.records import RunDirectory
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.checkpointing.restore import ResumePoint, note_resumption
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.divergence import Divergence
from decentral.runs.listeners.base import Listener
from decentral.runs.planned import PlannedRun, write_description
from decentral.runs.resume import difference, is_finished
from decentral.runs.signals import Signals
from decentral.settings import Refused, as_data, build
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup

HOMES = "homes"  # in the run's directory


@dataclass(frozen=True)
class ArenaRequest:
    """What to train, on which terms, and where the run goes."""

    config: Config
    terms: ArenaSettings
    out: Path
    messages: Path | None = None  # where they are logged

    @property
    def places(self) -> Places:
        return Places(self.out / HOMES, self.messages)


def run_arena(request: ArenaRequest, listeners: list[Listener], saving: Saving = Saving()) -> RunDirectory:
    """Train every seed with each agent in its own process, and leave everything in a new directory."""
    config, terms = request.config, request.terms
    _check(config)  # this and what follows refuse before anything is written
    _check_idle(request.out)
    _check_free(request.messages)
    for agent_setup in agent_setups(config, terms, config.setup.plan.seed):
        check_room(agent_setup.agent_config)
    with RunDirectory.created_alone(request.out) as directory:
        write_description(PlannedRun(config, request.out), arena=as_data(terms))
        return _run_seeds(request, ResumePoint([directory], 1, [], []), listeners, saving)


def resume_arena(
    directory: RunDirectory,
    messages: Path | None,
    listeners: list[Listener],
    saving: Saving,
    expected: ArenaRequest | None = None,
) -> RunDirectory:
    """Resume an arena from its checkpoint; it ends as if never interrupted. Refused if it is not the `expected` one."""
    data = directory.read_json("config.json")
    if not isinstance(data.get("arena"), dict):
        raise Refused(f"out must hold a run of an arena, got {directory.path}, which is of decentral train")
    request = ArenaRequest(
        Config.from_data(data), build(ArenaSettings, data["arena"], "arena"), directory.path, messages
    )
    if expected is not None and (differing := difference(_as_data(request), _as_data(expected))):
        raise Refused(f"out must hold a run of the same configuration, got {directory.path} with {differing}")
    if is_finished(directory, request.config):
        return directory
    _check(request.config)
    with directory.alone():
        start = find_start(directory, request.places)
        if start.turn is not None:
            check_logged(state_at(directory, start.turn), messages)
        note_resumption(directory, request.config, start.step)
        return _run_seeds(request, start, listeners, saving)


def _run_seeds(request: ArenaRequest, start: ResumePoint, listeners: list[Listener], saving: Saving) -> RunDirectory:
    """Run every seed from where it is to its last test."""
    (directory,), plan = start.directories, request.config.setup.plan
    fresh = ArenaState(plan.seed, 0, request.messages is not None)
    state = fresh if start.turn is None else state_at(directory, start.turn)
    start.discard_newer_files()
    keep_compiled_programs()
    checkpoints = ArenaCheckpoints(directory, request.places, saving)
    checkpoints.diverged += [Divergence.from_data(data) for info in start.moments for data in info.diverged]
    notes, seconds = [*start.notes, *start.differences()], start.seconds
    with Signals() as signals:
        while state.seed < plan.seed + plan.seeds:
            with _announced(request, state.seed, listeners, notes):
                state = _finish_seed(request, state, checkpoints, listeners, signals, seconds)
            notes, seconds = [], 0.0
        checkpoints.finish()
    return directory


@contextmanager
def _announced(request: ArenaRequest, seed: int, listeners: list[Listener], notes: list[str]) -> Iterator[None]:
    """Tell listeners that a seed starts and, in the end, that it is closed."""
    try:
        for listener in listeners:
            planned = PlannedRun(_of_seed(request.config, seed), request.out)
            listener.started([planned], "the environment is here, each agent in a process of its own")
            for line in notes:
                listener.noted(line)
        yield
    finally:
        for listener in listeners:
            listener.closed()


def _finish_seed(
    request: ArenaRequest,
    state: ArenaState,
    checkpoints: ArenaCheckpoints,
    listeners: list[Listener],
    signals: Signals,
    seconds: float,
) -> ArenaState:
    """Run one seed to its last test; returns the initial state of the next one."""
    config = _of_seed(request.config, state.seed)
    with opened(config, request.terms, state, request.places, unless=lambda: signals.asked) as arena:
        training = ArenaTraining(arena, state, checkpoints, listeners, seconds)
        training.finish(signals)
    row = checkpoints.directory.read_metrics()[-1]
    diverged = []
    for place in range(len(config.members)):
        parameters = learned(request.places, state.seed, place)
        checkpoints.directory.write_agent(state.seed, place, parameters)
        diverged += _divergences(parameters, row, place, config.setup.environment.agent_names[place])
    checkpoints.diverged += diverged
    for listener in listeners:
        for divergence in diverged:
            listener.noted(str(divergence))
        listener.finished([[row]], training.seconds)
    following = ArenaState(state.seed + 1, state.before + arena.episodes + 1, state.logged)
    if following.seed < request.config.setup.plan.seed + request.config.setup.plan.seeds:
        checkpoints.save(following, training.seconds)
    return following


def _as_data(request: ArenaRequest) -> dict[str, Any]:
    return request.config.as_data() | {"arena": as_data(request.terms)}


def _divergences(parameters: dict[str, np.ndarray], row: dict[str, Any], place: int, name: str) -> list[Divergence]:
    """The first array of an agent with NaN or +inf; minus infinity is allowed: optimistic tables start with it."""
    bad = [name for name, array in parameters.items() if np.any(np.isnan(array) | np.isposinf(array))]
    return [Divergence(row["seed"], row["step"], f"online.{bad[0]}", place, name)] if bad else []


def _of_seed(config: Config, seed: int) -> Config:
    """The configuration with only one of its seeds."""
    was = config.setup
    plan = build(Plan, as_data(was.plan) | {"seeds": 1, "seed": seed}, "training")
    return replace(config, setup=TrainingSetup(was.team, was.environment, plan))


def _check(config: Config) -> None:
    """Refuse what agents in separate processes can't do."""
    plan = config.setup.plan
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
        if member.schedule.joins_at:
            raise Refused(f"agents.{place}.joins_at must be 0 in an arena, got {member.schedule.joins_at}")


def _check_idle(out: Path) -> None:
    """Refuse a directory in which another process trains, before that process's files cause other complaints."""
    if out.is_dir():
        with RunDirectory(out).alone():
            pass


def _check_free(messages: Path | None) -> None:
    """Refuse to write messages into a directory that is not empty."""
    try:
        taken = messages is not None and messages.exists() and any(messages.iterdir())
    except OSError as error:
        raise Refused(f"log-messages must be a directory, got {messages} ({error.strerror})") from None
    if taken:
        raise Refused(f"log-messages must be an empty or a new directory, got {messages}, which holds files")
