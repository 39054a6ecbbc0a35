"""Run one or several configurations side by side: compiled chunks of turns; between them tests, records, progress."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from decentral.configs.config import Config
from decentral.errors import DiskFull, Failed, Interrupted
from decentral.records import RunDirectory
from decentral.runs.acting import first_teams, save_agents
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.checkpointing.restore import ResumePoint, note_resumption
from decentral.runs.checkpointing.room import room_statement
from decentral.runs.checkpointing.schedule import CheckpointSchedule, Saving
from decentral.runs.lanes import LaneBatch
from decentral.runs.listeners.base import Listener, LooksInside
from decentral.runs.memory import memory_statement
from decentral.runs.metric_rows import rows_of_test
from decentral.runs.pace import Pace
from decentral.runs.placement import use_every_core
from decentral.runs.planned import PlannedRun, resumable_if_full, write_description
from decentral.runs.shapes import check_one_shape
from decentral.runs.signals import Signals
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup


def run(
    config: Config, out: Path, listeners: list[Listener], saving: Saving = Saving(), resume: bool = False
) -> RunDirectory:
    """Train all seeds of a configuration and leave everything in `out`."""
    return run_together([PlannedRun(config, out)], listeners, saving, resume)[0]


def run_together(
    runs: Sequence[PlannedRun],
    listeners: list[Listener],
    saving: Saving = Saving(),
    resume: bool = False,
    deadline: float = math.inf,
) -> list[RunDirectory]:
    """Train all seeds of configurations of one shape in one program; each configuration leaves a run.

    `resume`: runs that have begun resume from their checkpoints and end as if they had not been interrupted.
    `deadline`: when to save and stop as on a signal, by `time.monotonic`.
    """
    check_one_shape([planned.config for planned in runs])
    setups = [planned.config.setup for planned in runs]
    directories = [RunDirectory(planned.out) for planned in runs]
    lanes = sum(setup.plan.seeds for setup in setups)
    begun = [planned for planned in runs if resume and RunDirectory(planned.out).has_begun]
    fresh = [planned for planned in runs if not any(planned is other for other in begun)]
    with ExitStack() as stack:
        for planned in begun:  # locked from here on: what is found must be what is resumed
            stack.enter_context(RunDirectory(planned.out).alone())
        start = ResumePoint.find(directories, lanes) if resume else ResumePoint(directories, lanes, [], [])
        use_every_core(start.devices)
        keep_compiled_programs()
        template = LaneBatch.describe(*setups, episodes=(start.turn or 0) * setups[0].plan.num_environments)
        memory = memory_statement(setups[0], template)
        _create(fresh, stack)
        stack.enter_context(resumable_if_full(runs))
        for listener in listeners:
            stack.callback(listener.closed)
        notes = (*start.notes, *start.differences(), *_meanings(setups[0]))
        notes += (*room_statement(directories, saving, setups[0], template),)
        for listener in listeners:
            listener.started(runs, memory)
            for line in notes:
                listener.noted(line)
        signals = stack.enter_context(Signals(deadline))
        # The lanes first: a checkpoint may be refused while it is read, and nothing has been changed yet.
        lane_batch = stack.enter_context(closing(start.lane_batch(setups, template)))
        lane_batch.prepare()
        for planned in begun:
            note_resumption(RunDirectory(planned.out), planned.config, start.step)
        start.discard_newer_files()
        Training(runs, setups, start, lane_batch, saving, listeners).run_until_done(signals)
    return directories


def _meanings(setup: TrainingSetup) -> list[str]:
    """What numbers mean that are made in an unusual way."""
    made_of = setup.environment.team_return
    return [f"agents learn from their own rewards; the return is {made_of}"] if made_of else []


def _create(runs: Sequence[PlannedRun], stack: ExitStack) -> None:
    """Create new runs and their descriptions; none of them if one of the directories is taken."""
    for planned in runs:
        stack.enter_context(RunDirectory.created_alone(planned.out))
    for planned in runs:
        write_description(planned)


class Training:
    """The training of a batch of lanes: tested, saved and reported between chunks of turns."""

    def __init__(
        self,
        runs: Sequence[PlannedRun],
        setups: list[TrainingSetup],
        start: ResumePoint,
        lane_batch: LaneBatch,
        saving: Saving,
        listeners: list[Listener],
    ):
        self.runs, self.setups, self.lane_batch, self.listeners = runs, setups, lane_batch, listeners
        self.directories = start.directories
        self.checkpoints, self.health = (
            CheckpointSchedule(start.directories, saving, start.turn),
            start.health(lane_batch),
        )
        self.begun, self.seconds_before = time.perf_counter(), start.seconds
        self.tested = start.turn is not None  # lanes are saved only after the tests that are due
        self.lacked_room = False  # for the last checkpoint that was due

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self.begun

    def run_until_done(self, signals: Signals) -> None:
        """Train to the end, or until a signal asks to stop."""
        pace = Pace()
        if signals.asked and self.checkpoints.saved_turn in (
            None,
            self.lane_batch.turn,
        ):  # nothing new to save, and nothing compiled yet
            raise self._interrupted()
        for step in evaluation_steps(self.lane_batch.setup.plan):
            if self.tested and self.lane_batch.steps.min() >= step:
                continue  # tested already, or a turn is longer than the interval
            while left := self.lane_batch.turns_until(step):
                pace.advance(self.lane_batch, left)
                self._report_and_check(signals)
                if self.lane_batch.turns_until(step):
                    self._save_if_due(signals)
            self._test()
            self._save_if_due(signals)
        # Without a final checkpoint the last one serves until all files are written.
        lack = self._save() if self.checkpoints.saving.final else ""
        save_agents(self.directories, self.lane_batch)
        self.checkpoints.finish(self.lane_batch, self.health)
        rows = [directory.read_metrics()[-self.lane_batch.setup.plan.seeds :] for directory in self.directories]
        for listener in self.listeners:
            for line in (*map(str, self.health.found.values()), *self._never_learned(), *self._no_final(lack)):
                listener.noted(line)
            listener.finished(rows, self.seconds)

    def _never_learned(self) -> list[str]:
        """A line if the run was too short for a single update."""
        plan, turns = self.lane_batch.setup.plan, self.lane_batch.turn
        if turns > plan.warmup_turns:
            return []
        played = turns * plan.num_environments
        return [f"no agent learned: an update takes batch_episodes {plan.batch_episodes}, and {played} were played"]

    def _no_final(self, lack: str) -> list[str]:
        """A line if there was no room for the final checkpoint."""
        if not lack:
            return []
        step = self.checkpoints.resume_step
        further = "it can't be trained further" if step is None else f"training it further goes back to step {step:,}"
        return [f"{lack}: the run is finished without its final one, and {further}"]

    def _report_and_check(self, signals: Signals) -> None:
        for listener in self.listeners if not signals.asked else []:  # the terminal may have gone
            listener.advanced(int(self.lane_batch.steps.min()))
        for divergence in self.health.look(self.lane_batch):
            self._note(f"{divergence}; other seeds go on")

    def _test(self) -> None:
        rows = rows_of_test(self.setups, self.lane_batch)
        for directory, records in zip(self.directories, rows, strict=True):
            directory.append_metrics(records)
            directory.append_time(records[0]["step"], self.seconds)
        self.tested = True
        try:
            for listener in self.listeners:
                if isinstance(listener, LooksInside):
                    listener.look(
                        rows[0][0]["step"], first_teams([planned.config for planned in self.runs], self.lane_batch)
                    )
                listener.tested(rows)
        except Failed:  # somebody else's code: what was learned so far must not be lost
            if lack := self.checkpoints.save(self.lane_batch, self.health, self.seconds):
                self._note(f"{lack}: {self._resuming}")
            raise

    def _save_if_due(self, signals: Signals) -> None:
        if not (signals.asked or self.checkpoints.is_due):
            return
        lack = self._save()
        if signals.asked:
            raise self._interrupted_unsaved(lack) if lack else self._interrupted()
        if lack and not self.lacked_room:
            self._note(f"{lack}: training goes on and tries again later; until then {self._resuming}")
        if self.lacked_room and not lack:
            self._note(f"there is room again: saved at step {int(self.lane_batch.steps.min()):,}")
        self.lacked_room = bool(lack)

    def _save(self) -> str:
        """Save all runs, and tell the listeners, unless this turn is saved already; returns what room is lacking."""
        if self.checkpoints.saved_turn == self.lane_batch.turn:
            return ""
        lack = self.checkpoints.save(self.lane_batch, self.health, self.seconds)
        for listener in self.listeners if not lack else []:
            listener.saved(int(self.lane_batch.steps.min()))
        return lack

    def _note(self, line: str) -> None:
        for listener in self.listeners:
            listener.noted(line)

    def _interrupted_unsaved(self, lack: str) -> DiskFull:
        unsaved = f"interrupted at step {int(self.lane_batch.steps.min()):,} and not saved"
        return DiskFull(f"{lack}: {unsaved}, {self._resuming}", self.runs[0].resume_command)

    @property
    def _resuming(self) -> str:
        """What resuming does now, in words."""
        step = self.checkpoints.resume_step
        return "resuming starts over" if step is None else f"resuming goes back to step {step:,}"

    def _interrupted(self) -> Interrupted:
        return Interrupted(int(self.lane_batch.steps.min()), self.runs[0].resume_command)


def evaluation_steps(plan: Plan) -> Iterator[int]:
    """The steps at which a test is due: at the start, at each interval and at the end."""
    yield from range(0, plan.steps, plan.test_interval)
    yield plan.steps
