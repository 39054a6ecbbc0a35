"""Listeners that show progress: a live bar on a terminal, plain lines elsewhere; at the end a table."""

import time
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from decentral.configs.config import Config
from decentral.deviation import spread_of
from decentral.errors import printable
from decentral.records import RunDirectory
from decentral.records.columns import read_last_results
from decentral.runs.listeners.base import Listener
from decentral.runs.metric_rows import Rows
from decentral.runs.planned import PlannedRun
from decentral.screen import Screen
from decentral.training.plan import Plan

MOST_SHOWN = 10  # seeds, or runs


def watcher() -> Listener:
    """The listener that suits where the output goes."""
    console = Screen()
    return Bar(console) if console.is_terminal else Lines(console)


def announce(line: str) -> None:
    """Show a line as it is, between runs."""
    Screen().say(line)


class Lines:
    """One plain line per test."""

    def __init__(self, console: Screen):
        self.console = console
        self.runs: Sequence[PlannedRun]
        self.speed = Speed()

    @property
    def plan(self) -> Plan:
        return self.runs[0].config.setup.plan

    @property
    def place(self) -> Path:
        """The directory of all the runs."""
        return self.runs[0].out if len(self.runs) == 1 else self.runs[0].place

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None:
        self.runs = runs
        several = f"{len(runs)} runs side by side, " if len(runs) > 1 else ""
        seeds = f"{self.plan.seeds} seed{'s' if self.plan.seeds > 1 else ''}{' each' if several else ''}"
        self._say(f"{_title(runs[0].config)}: {several}{seeds}, {self.plan.steps:,} steps each -> {self.place}")
        self._say(memory)

    def noted(self, line: str) -> None:
        self._say(line)

    def advanced(self, steps: int) -> None:
        self.speed.reached(steps)

    def tested(self, rows: list[Rows]) -> None:
        step, total = _reached(rows), self.plan.steps
        pace = (
            f"  {self.speed.words}, {_duration(self.speed.seconds_for(total - step))} left" if self.speed.known else ""
        )
        self._say(f"step {step:,} of {total:,}  {_scores(self.runs[0].config, rows)}{pace}")

    def saved(self, step: int) -> None:
        pass

    def finished(self, rows: list[Rows], seconds: float) -> None:
        title = _title(self.runs[0].config)
        self._say(f"\n{title}: greedy test after {_reached(rows):,} steps, {_duration(seconds)}")
        if len(rows) == 1:
            self.console.print(_summary(_at_same_steps(self.runs[0], rows[0]), _reports(self.runs[0].config)))
        self._say(f"written to {self.place}")

    def closed(self) -> None:
        pass

    def _say(self, line: str) -> None:
        self.console.say(line)


class Speed:
    """Environment steps per second of each seed, over the last chunks but the slowest, which had to compile."""

    def __init__(self) -> None:
        self.notes: deque[tuple[float, int]] = deque(maxlen=20)

    @property
    def known(self) -> bool:
        return len(self.notes) > 2

    @property
    def per_second(self) -> float:
        chunks = [(last - first, now - begun) for (begun, first), (now, last) in pairwise(self.notes)]
        steps, seconds = zip(*sorted(chunks, key=lambda chunk: chunk[0] / chunk[1])[1:], strict=True)
        return sum(steps) / sum(seconds)

    @property
    def words(self) -> str:
        return f"{self.per_second:,.0f} steps/s" if self.known else "compiling"

    def reached(self, steps: int) -> None:
        """Note that all seeds have reached this step."""
        self.notes.append((time.perf_counter(), steps))

    def seconds_for(self, steps: int) -> float:
        return max(steps, 0) / self.per_second


class Bar:
    """A live progress bar: steps, steps per second, time left, the last test's return per seed."""

    def __init__(self, console: Screen):
        self.lines = Lines(console)
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} steps"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[returns]}", markup=False),
            console=console,
        )

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None:
        self.lines.started(runs, memory)
        self.task = self.progress.add_task(
            printable(runs[0].config.algorithm_name), total=self.lines.plan.steps, speed="compiling", returns=""
        )
        self.progress.start()

    def noted(self, line: str) -> None:
        self.lines.noted(line)

    def advanced(self, steps: int) -> None:
        self.lines.advanced(steps)
        reached = min(steps, self.lines.plan.steps)
        self.progress.update(self.task, completed=reached, speed=self.lines.speed.words)

    def tested(self, rows: list[Rows]) -> None:
        self.progress.update(self.task, returns=printable(_scores(self.lines.runs[0].config, rows)))

    def saved(self, step: int) -> None:
        pass

    def finished(self, rows: list[Rows], seconds: float) -> None:
        self.progress.stop()
        self.lines.finished(rows, seconds)

    def closed(self) -> None:
        self.progress.stop()


def _title(config: Config) -> str:
    return f"{config.algorithm_name} on {config.environment_name}"


def _reached(rows: list[Rows]) -> int:
    """The step that all seeds have reached: where episodes differ in length, some are ahead."""
    return min(row["step"] for of_run in rows for row in of_run)


def _reports(config: Config) -> list[str]:
    """What the environment reports about every test besides returns."""
    return list(config.setup.environment.reports)


def _scores(config: Config, rows: list[Rows]) -> str:
    """The last test's return, and after it what the environment reports besides."""
    reported = [f"  {name.replace('_', ' ')} {_values(rows, f'test_{name}')}" for name in _reports(config)]
    return "".join([f"return {_values(rows, 'test_return_mean')}", *reported])


def _values(rows: list[Rows], key: str) -> str:
    """A value of the last test: of each seed of one run, or the mean of each of several runs; in short if many."""
    means = [_mean(of_run, key) for of_run in rows] if len(rows) > 1 else [row[key] for row in rows[0]]
    if len(means) <= MOST_SHOWN:
        return " ".join(f"{value:.2f}" for value in means)
    if len(rows) > 1:
        return f"{min(means):.2f} to {max(means):.2f} (means of {len(means)} runs)"
    return f"{_mean(rows[0], key):.2f} (mean of {len(means)} seeds)"


def _mean(rows: Rows, key: str) -> float:
    return sum(row[key] for row in rows) / len(rows)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


def _at_same_steps(run: PlannedRun, rows: Rows) -> Rows:
    """The last test of all seeds; where they differ in their steps, at the one that all have reached."""
    if len({row["step"] for row in rows}) == 1:
        return rows
    last = read_last_results(RunDirectory(run.out), _keys(_reports(run.config)))
    return [dict(zip(last, values, strict=True)) for values in zip(*last.values(), strict=True)]


def _keys(reports: list[str]) -> list[str]:
    """What the table at the end shows of a record."""
    return ["test_return_mean", "test_return_std", *(f"test_{name}" for name in reports)]


def _summary(rows: Rows, reports: list[str]) -> Table:
    table = Table()
    for heading in ("seed", "return", "spread", *(name.replace("_", " ") for name in reports)):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(f"{row['seed']:.0f}", *(f"{row[key]:.2f}" for key in _keys(reports)))
    returns = np.asarray([row["test_return_mean"] for row in rows])
    table.add_section()
    reported = (f"{_mean(rows, f'test_{name}'):.2f}" for name in reports)
    table.add_row("all", f"{returns.mean():.2f}", spread_of(returns), *reported)
    return table
