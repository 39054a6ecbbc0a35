"""What the command line prints: tables of algorithms, evaluations, comparisons and learned values."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from decentral.api.sweep_status import STATES
from decentral.deviation import mean_and_spread, spread_of
from decentral.errors import printable
from decentral.screen import Screen

if TYPE_CHECKING:  # JAX comes with them, and a list of runs is not to wait for it
    from decentral.api import (
        CrossPlay,
        EnvironmentCheck,
        Evaluation,
        Probe,
        RunStatus,
        SuiteComparison,
        Sweep,
        ValueTable,
    )
    from decentral.api.compare_runs import ComparisonRow
    from decentral.api.compare_suite import Task
    from decentral.api.search import Trial
    from decentral.api.sweep_status import UnitStatus

MOST_ROWS = 50  # of a table, unless more are asked for
FILE_WIDTH = 120  # of a table that goes into a file


def wide_console() -> Screen:
    """Where tables of many columns are printed."""
    console = Screen()
    if not console.is_terminal:
        console.width = max(console.width, FILE_WIDTH)
    return console


def print_names(console: Screen, title: str, meanings: dict[str, str]) -> None:
    """Names, or what names look like, each with its meaning."""
    console.print(title, style="bold")
    width = max(21, *(len(name) + 1 for name in meanings))
    for name, meaning in meanings.items():
        console.say(f"  {name:<{width}}{meaning}")


def print_evaluation(console: Screen, evaluated: "Evaluation") -> None:
    """The results of fresh episodes, per seed."""
    seeds, returns, reports = evaluated.seeds, evaluated.returns, evaluated.scores.reports
    references = evaluated.references
    made_of = f"; the return is {evaluated.team_return}" if evaluated.team_return else ""
    table = Table(title=f"{returns.shape[1]} greedy episodes per seed{made_of}", title_justify="left")
    for heading in ("seed", "return", "spread over episodes", *(name.replace("_", " ") for name in reports)):
        table.add_column(heading, justify="right")
    for lane, (seed, seed_returns) in enumerate(zip(seeds, returns, strict=True)):
        reported = (f"{values[lane].mean():.2f}" for values in reports.values())
        table.add_row(str(seed), f"{seed_returns.mean():.2f}", spread_of(seed_returns), *reported)
    table.add_section()
    of_seeds = returns.mean(axis=1)
    reported = (f"{values.mean():.2f}" for values in reports.values())
    spread = "1 seed" if len(seeds) == 1 else f"{spread_of(of_seeds)} over seeds"
    table.add_row("all", f"{of_seeds.mean():.2f}", spread, *reported)
    console.print(table)
    _print_references(console, references)


def print_episodes(console: Screen, run: str, evaluated: "Evaluation") -> None:
    """The returns of the episodes of a run that can be watched."""
    console.say(f"returns of greedy episodes of {run}")
    table = Table()
    for heading in ("episode", *(f"seed {seed}" for seed in evaluated.seeds)):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, of_seeds in enumerate(evaluated.returns.T):
        table.add_row(str(number), *(f"{value:.2f}" for value in of_seeds))
    console.print(table)


def print_probe(console: Screen, probed: "Probe") -> None:
    """The results of policies that need no training, one line each."""
    reports = next(iter(probed.policies.values())).reports
    title = f"{probed.environment}: {probed.episodes} episodes of each policy"
    table = Table(title=title, title_justify="left")
    headings = (name.replace("_", " ") for name in reports)
    for heading in ("policy", "return", "spread", *headings, "median steps", "mean steps"):
        table.add_column(heading, justify="right")
    for policy, scores in probed.policies.items():
        reported = (f"{values.mean():.3f}" for values in scores.reports.values())
        steps = (f"{np.median(scores.lengths):g}", f"{scores.lengths.mean():.1f}")
        table.add_row(policy, f"{scores.returns.mean():.2f}", spread_of(np.asarray(scores.returns)), *reported, *steps)
    console.print(table)
    _print_references(console, probed.references)


def print_findings(console: Screen, check: "EnvironmentCheck") -> None:
    """The findings about an environment, one line per rule, and a summary."""
    sizes = ", ".join(
        f"{what} {', '.join(f'{agent} {own}' for agent, own in size.items()) if isinstance(size, dict) else size}"
        for what, size in check.sizes.items()
    )
    console.say(f"{check.name}: {sizes}")
    styles = {"right": "green", "wrong": "bold red", "unclear": "yellow", "note": "dim"}
    for finding in check.findings:
        verdict = (f"{finding.verdict:<8}", styles[finding.verdict])
        console.print(Text.assemble("  ", verdict, printable(f"{finding.rule:<9}{finding.said}")), soft_wrap=True)
    console.say(f"wrong: {len(check.wrong)}" if check.wrong else "nothing wrong was found")


def print_comparison(
    console: Screen, rows: "list[ComparisonRow]", references: dict[str, float], most: int = MOST_ROWS
) -> None:
    """The final tests of several runs, one line each; steps are a column only where they differ.

    Of too many the best are shown, by their interquartile mean.
    """
    every = len(rows)
    if every > most:
        rows = sorted(rows, key=lambda row: -row.summary.iqm)[:most]
    same_steps = len({row.steps for row in rows}) == 1
    after = f" after {rows[0].steps:,} steps" if same_steps else ""
    table = Table(title=f"greedy test{after}, over seeds", title_justify="left")
    table.add_column("algorithm", overflow="fold")
    table.add_column("decentralised", no_wrap=True)
    numbers = ["seeds", "mean", "spread", "IQM", "95 % interval", *(name.replace("_", " ") for name in rows[0].reports)]
    for heading in ([] if same_steps else ["steps"]) + numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        steps = [] if same_steps else [f"{row.steps:,}"]
        reported = (mean_and_spread(np.asarray(values)) for values in row.reports.values())
        summary = _summary_cells(row)
        table.add_row(row.label, "yes" if row.decentralised else "no", *steps, *summary, *reported)
    console.print(table)
    _say_folded(console, every, most, "the best")
    _print_references(console, references)


def print_suite(console: Screen, compared: "SuiteComparison") -> None:
    """The scores of methods, one line each, the best mean first; then what the scores are measured by."""
    from decentral.api.compare_suite import BEST_COMPARED

    table = Table(title=f"{compared.suite}: 0 is random play, 1 the best return known", title_justify="left")
    table.add_column("method", overflow="fold")
    for heading in ("mean", "95 % interval", "worst", "95 % interval", "worst task", "decentralised"):
        table.add_column(heading, no_wrap=True, justify="left" if heading == "decentralised" else "right")
    for one in sorted(compared.methods, key=lambda method: -method.mean):
        pairs = ((one.mean, one.mean_interval), (one.worst, one.worst_interval))
        numbers = [cell for value, (low, high) in pairs for cell in (f"{value:.2f}", f"{low:.2f} to {high:.2f}")]
        table.add_row(one.method, *numbers, one.worst_task, "yes" if one.decentralised else "no")
    console.print(table)
    table = Table(title="scores by task, mean over seeds", title_justify="left")
    table.add_column("task", overflow="fold")
    for heading in ("random", "best known", *(one.method for one in compared.methods)):
        table.add_column(heading, justify="right")
    for scale in compared.scales:
        scores = (f"{np.mean(one.scores[scale.task]):.2f}" for one in compared.methods)
        table.add_row(scale.task, f"{scale.random:.2f}", f"{scale.best:.2f}", *scores)
    console.print(table)
    for scale in compared.scales:
        if scale.best_source == BEST_COMPARED:
            console.say(f"{scale.task}: no best return is known, so 1 is {BEST_COMPARED}")


def print_tasks(console: Screen, tasks: "Sequence[Task]") -> None:
    """The tasks of a suite, and what their scores are measured by."""
    from decentral.api.compare_suite import BEST_COMPARED

    table = Table(title=f"{len(tasks)} tasks", title_justify="left")
    for heading in ("task", "environment", "settings", "random", "best known"):
        table.add_column(heading, overflow="fold")
    for task in tasks:
        settings = ", ".join(f"{key} {str(value).lower()}" for key, value in task.settings.items())
        ends = [f"{end.value:g} ({end.source})" if end else "exact" for end in (task.random, task.best)]
        table.add_row(task.name, task.environment, settings, ends[0], ends[1] if task.best_is_known else BEST_COMPARED)
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


def age(seconds: float) -> str:
    """A time in its largest unit: `5 s`, `3 min`, `7 h`, `12 d`."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} s"


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


def print_crossplay(console: Screen, met: "CrossPlay") -> None:
    """Mean returns of every run's first agents beside every run's other agents; with its own run, seeds apart."""
    labels, between = met.labels, met.result.between
    table = Table(title=f"{met.agents[0]} of the row beside the others of the column", title_justify="left")
    for heading in ("", *labels):
        table.add_column(heading, justify="right", overflow="fold")
    for first, label in enumerate(labels):
        cells = [_crossplay_cell(between(first, second), first == second) for second in range(len(labels))]
        table.add_row(label, *cells)
    console.print(table)
    if any(between(run, run).size > 1 for run in range(len(labels))):
        console.say("beside its own run: the same seed, then other seeds (strangers)")


def _crossplay_cell(returns: np.ndarray, same_run: bool) -> str:
    if not same_run or returns.size == 1:
        return f"{returns.mean():.2f}"
    met = np.eye(len(returns), dtype=bool)
    return f"{returns[met].mean():.2f} / {returns[~met].mean():.2f}"


def _summary_cells(row: "ComparisonRow") -> list[str]:
    summary = row.summary
    numbers = ["-" if number is None else f"{number:.2f}" for number in (summary.mean, summary.spread, summary.iqm)]
    return [str(summary.seeds), *numbers, "-" if summary.low is None else f"{summary.low:.2f} to {summary.high:.2f}"]


def _print_references(console: Screen, references: dict[str, float]) -> None:
    if references:
        known = ", ".join(f"{name} {value:.2f}" for name, value in references.items())
        console.say(f"known exactly: {known}")


def print_values(console: Screen, learned: "ValueTable") -> None:
    """One agent's values as in the paper's Table 1; a context that never occurs with an action is struck out."""
    contexts = [] if learned.by_context is None else [f"c={number}" for number in range(learned.by_context.shape[1])]
    table = Table(title=f"seed {learned.seed}, {learned.name}", title_justify="left")
    table.add_column("action")
    table.add_column("phi(s,a)" if contexts else learned.symbol, justify="right")
    for heading in contexts:
        table.add_column(f"Q(s,a,{heading})", justify="right")
    for action, value in enumerate(learned.values):
        table.add_row(learned.action_names[action], f"{value:.2f}", *_cells(learned, action))
    console.print(table)


def _cells(learned: "ValueTable", action: int) -> list[Text]:
    if learned.by_context is None or learned.occurs is None:
        return []
    pairs = zip(learned.by_context[action], learned.occurs[action], strict=True)
    return [Text(f"{value:.2f}") if occurs else Text(f"({value:.2f})", "strike dim") for value, occurs in pairs]
