"""What the command line prints of many runs: comparisons, suites, sweeps, searches and directories, a line for each."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from decentral.api.compare_runs import TextTable, table_of
from decentral.api.list_runs import age
from decentral.api.sweep_status import STATES
from decentral.deviation import mean_and_spread
from decentral.errors import printable
from decentral.screen import Screen

if TYPE_CHECKING:  # JAX comes with them, and a list of runs is not to wait for it
    from decentral.api import RunStatus, SuiteComparison, Sweep
    from decentral.api.compare_runs import ComparisonRow
    from decentral.api.compare_suite import Task
    from decentral.api.search import Trial
    from decentral.api.sweep_status import UnitStatus

MOST_ROWS = 50  # of a table, unless more are asked for


def print_comparison(
    console: Screen, rows: "list[ComparisonRow]", references: dict[str, float], most: int = MOST_ROWS
) -> None:
    """The final tests of several runs, one line each. Of too many the best are shown, by their interquartile mean."""
    every = len(rows)
    if every > most:
        rows = sorted(rows, key=lambda row: -row.summary.iqm)[:most]
    table = table_of(rows, references)
    console.print(_as_printed(table))
    _say_folded(console, every, most, "the best")
    if table.note:
        console.say(table.note)


def print_suite(console: Screen, compared: "SuiteComparison") -> None:
    """The scores of methods, one line each, the best mean first; then what the scores are measured by."""
    for table in compared.tables:
        console.print(_as_printed(table))


def print_tasks(console: Screen, tasks: "Sequence[Task]") -> None:
    """The tasks of a suite, and what their scores are measured by."""
    table = Table(title=f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}", title_justify="left")
    for heading in ("task", "environment", "settings", "random", "best known"):
        table.add_column(heading, overflow="fold")
    for task in tasks:
        settings = ", ".join(f"{key} {str(value).lower()}" for key, value in task.settings.items())
        ends = [f"{end.value:g} ({end.source})" if end else "exact" for end in (task.random, task.best)]
        table.add_row(task.name, task.environment, settings, *ends)
    console.print(table)


def print_sweep(console: Screen, swept: "Sweep", most: int = MOST_ROWS) -> None:
    """The final test of every run of a sweep, the program that trained it, and the exact returns of its environment."""
    runs, reports = swept.curves, swept.reports
    known = [name for name in runs[0].references if all(name in run.references for run in runs)]
    table = Table(title="greedy test at the end, mean ± standard deviation over seeds", title_justify="left")
    table.add_column("run", overflow="fold")
    for heading in ("program", "steps", "seeds", "return", *(name.replace("_", " ") for name in reports), *known):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, run in list(zip(swept.programs, runs, strict=True))[:most]:
        table.add_row(
            run.path.name,
            str(number),
            f"{run.steps[-1]:,.0f}",
            str(len(run.seeds)),
            *(mean_and_spread(values[:, -1]) for values in (run.returns, *(run.reports[name] for name in reports))),
            *(f"{run.references[name]:.2f}" for name in known),
        )
    console.print(table)
    _say_folded(console, len(runs), most, "the first", f"decentral runs {swept.path} --rows 0")


def print_standings(console: Screen, standings: "list[UnitStatus]", most: int = MOST_ROWS) -> None:
    """The progress of every run of a sweep, and its last test. Of too many, those that are not finished come first."""
    everything, every = standings, len(standings)
    if every > most:
        standings = sorted(standings, key=lambda one: (STATES.index(one.state), -_mean(one)))[:most]
    notes = any(one.note for one in standings)
    table = Table(title="the last test, mean ± standard deviation over seeds", title_justify="left")
    table.add_column("run", overflow="fold")
    table.add_column("state")
    for heading in ("step", "seeds", "return"):
        table.add_column(heading, justify="right", no_wrap=True)
    if notes:
        table.add_column("note", overflow="fold")
    for one in standings:
        returns = np.asarray([*one.returns.values()])
        tested = [f"{one.step:,}", str(returns.size), mean_and_spread(returns)] if returns.size else [""] * 3
        table.add_row(*map(printable, (one.name, one.state)), *tested, *([printable(one.note)] if notes else []))
    console.print(table)
    if every > most:
        say_states(console, [one.state for one in everything])
    _say_folded(console, every, most, "those that are not finished, then the best")


def say_states(console: Screen, states: Sequence[str]) -> None:
    """How many runs are in each state, the most frequent first."""
    counts = ", ".join(f"{number:,} {state}" for state, number in Counter(states).most_common())
    console.say(f"{len(states):,} runs: {counts}")


def _mean(one: "UnitStatus") -> float:
    """The mean return of a unit, for an order; what has none, or none that is finite, comes last."""
    mean = float(np.mean([*one.returns.values()])) if one.returns else -np.inf
    return mean if np.isfinite(mean) else -np.inf


def _say_folded(console: Screen, every: int, most: int, which: str, rest: str = "--rows 0") -> None:
    """Say that a table does not show everything, and what shows the rest."""
    if every > most:
        console.say(f"{most:,} of {every:,} lines: {which}; all of them: {rest}")


def print_runs(console: Screen, runs: "Sequence[RunStatus]", now: float, most: int = MOST_ROWS) -> None:
    """Where every run of a directory stands, with its last test and how long ago that was.

    Of too many, those that are not finished come first, then those that changed last.
    """
    shown = runs
    if len(runs) > most:
        shown = sorted(runs, key=lambda run: (run.state == "finished", -run.changed))[:most]
    table = Table(title="the last test, mean ± standard deviation over seeds", title_justify="left")
    table.add_column("run", overflow="fold")
    for heading in ("state", "algorithm", "environment"):
        table.add_column(heading, overflow="fold")
    for heading in ("step", "seeds", "return", "age"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in shown:
        state = run.state + (f", {run.diverged} diverged" if run.diverged else "")
        table.add_row(*map(printable, (run.name, state)), *_progress(run), age(now - run.changed))
    console.print(table)
    for run in shown:
        if run.state == "unreadable":
            console.say(f"{run.name}: {run.problem}")
    if len(runs) > most:
        say_states(console, [run.state for run in runs])
    _say_folded(console, len(runs), most, "those that are not finished, then the newest")


def _progress(run: "RunStatus") -> list[str]:
    if run.last is None:
        return ["", "", "", "", run.problem if run.state != "unreadable" else ""]
    step = f"{run.step:,}" + ("" if run.planned is None else f" of {run.planned:,}")
    return [*map(printable, (run.algorithm, run.environment)), step, str(run.final.size), run.result]


def print_trials(console: Screen, trials: "Sequence[Trial]", shown: int = 10) -> None:
    """The best trials of a search, the best first."""
    from decentral.api.search import name_of

    numbered = [(trial.worth, number, trial) for number, trial in enumerate(trials) if trial.worth is not None]
    best = sorted(numbered, key=lambda one: (-one[0], one[1]))[:shown]
    table = Table(title="mean return over seeds and the last third of training, the best first", title_justify="left")
    table.add_column("trial")
    for group, key in trials[0].values:
        table.add_column(f"{group}.{key}", justify="right", overflow="fold")
    table.add_column("return", justify="right", no_wrap=True)
    for worth, number, trial in best:
        table.add_row(name_of(number), *(_brief(value) for value in trial.values.values()), f"{worth:.2f}")
    console.print(table)


def _brief(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _as_printed(table: TextTable) -> Table:
    printed = Table(title=table.caption, title_justify="left")
    for place, heading in enumerate(table.headings):
        is_number = place >= table.texts
        printed.add_column(
            heading,
            justify="right" if is_number else "left",
            no_wrap=place > 0,
            overflow="ellipsis" if place else "fold",
        )
    for row in table.rows:
        printed.add_row(*row)
    return printed
