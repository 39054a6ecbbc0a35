"""Listeners that show a run's progress: a live bar on a terminal, plain lines elsewhere; a table at the end."""

import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from decentral.experiments.config import Config
from decentral.experiments.runner import Listener

MOST_SEEDS_SHOWN = 10


def watcher() -> Listener:
    """The listener that suits where the output goes."""
    console = Console()
    return Bar(console) if console.is_terminal else Lines(console)


class Lines:
    """One plain line per test."""

    def __init__(self, console: Console):
        self.console = console
        self.config: Config
        self.out: Path
        self.speed = Speed()

    def started(self, config: Config, out: Path, memory: str) -> None:
        self.config, self.out = config, out
        plan = config.trainee.plan
        seeds = f"{plan.seeds} seed{'s' if plan.seeds > 1 else ''}"
        self._say(f"{_title(config)}: {seeds}, {plan.steps:,} steps each -> {out}")
        self._say(memory)

    def advanced(self, steps: int) -> None:
        self.speed.reached(steps)

    def tested(self, rows: list[dict[str, Any]]) -> None:
        step, total = rows[0]["step"], self.config.trainee.plan.steps
        pace = (
            f"  {self.speed.words}, {_duration(self.speed.seconds_for(total - step))} left" if self.speed.known else ""
        )
        self._say(f"step {step:,} of {total:,}  return {_returns(rows)}{pace}")

    def finished(self, rows: list[dict[str, Any]]) -> None:
        self._say(
            f"\n{_title(self.config)}: greedy test after {rows[0]['step']:,} steps, {_duration(rows[0]['seconds'])}"
        )
        self.console.print(_summary(rows))
        self._say(f"written to {self.out}")

    def closed(self) -> None:
        pass

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, soft_wrap=True)


class Speed:
    """Environment steps per second of each seed, over the last chunks, so that the time to compile fades away."""

    def __init__(self) -> None:
        self.notes: deque[tuple[float, int]] = deque(maxlen=20)

    @property
    def known(self) -> bool:
        return len(self.notes) > 1

    @property
    def per_second(self) -> float:
        (begun, first), (now, last) = self.notes[0], self.notes[-1]
        return (last - first) / (now - begun)

    @property
    def words(self) -> str:
        return f"{self.per_second:,.0f} steps/s" if self.known else "compiling"

    def reached(self, steps: int) -> None:
        """Take note that all seeds have come this far."""
        self.notes.append((time.perf_counter(), steps))

    def seconds_for(self, steps: int) -> float:
        return max(steps, 0) / self.per_second


class Bar:
    """A live progress bar: steps, steps per second, time left, the last test's return per seed."""

    def __init__(self, console: Console):
        self.lines = Lines(console)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} steps"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[returns]}"),
            console=console,
        )

    def started(self, config: Config, out: Path, memory: str) -> None:
        self.lines.started(config, out, memory)
        total = config.trainee.plan.steps
        self.task = self.progress.add_task(config.algorithm_name, total=total, speed="compiling", returns="")
        self.progress.start()

    def advanced(self, steps: int) -> None:
        self.lines.advanced(steps)
        reached = min(steps, self.lines.config.trainee.plan.steps)
        self.progress.update(self.task, completed=reached, speed=self.lines.speed.words)

    def tested(self, rows: list[dict[str, Any]]) -> None:
        self.progress.update(self.task, returns=f"return {_returns(rows)}")

    def finished(self, rows: list[dict[str, Any]]) -> None:
        self.progress.stop()
        self.lines.finished(rows)

    def closed(self) -> None:
        self.progress.stop()


def _title(config: Config) -> str:
    return f"{config.algorithm_name} on {config.environment_name}"


def _returns(rows: list[dict[str, Any]]) -> str:
    """The last test's return of each seed, or their mean where they are many."""
    returns = [row["test_return_mean"] for row in rows]
    if len(returns) > MOST_SEEDS_SHOWN:
        return f"{sum(returns) / len(returns):.2f} (mean of {len(returns)} seeds)"
    return " ".join(f"{value:.2f}" for value in returns)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


def _summary(rows: list[dict[str, Any]]) -> Table:
    table = Table()
    for heading in ("seed", "return", "spread"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(str(row["seed"]), f"{row['test_return_mean']:.2f}", f"{row['test_return_std']:.2f}")
    returns = np.asarray([row["test_return_mean"] for row in rows])
    table.add_section()
    table.add_row("all", f"{returns.mean():.2f}", f"{returns.std():.2f}")
    return table
