"""What the command line prints of one thing: names, evaluations, probes, findings, cross-play and learned values."""

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from decentral.deviation import spread_of
from decentral.errors import printable
from decentral.screen import Screen

if TYPE_CHECKING:  # JAX comes with them
    from decentral.api import CrossPlay, EnvironmentCheck, Evaluation, Probe, ValueTable

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
    table = Table(title=evaluated.caption, title_justify="left")
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
    print_references(console, references)
    if evaluated.difference:
        console.say(evaluated.difference)


def print_episodes(console: Screen, run: str, evaluated: "Evaluation") -> None:
    """The returns of the episodes of a run that can be watched."""
    console.say(f"returns of greedy episodes of {run}")
    if evaluated.difference:
        console.say(evaluated.difference)
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
    print_references(console, probed.references)


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


def print_references(console: Screen, references: dict[str, float]) -> None:
    """The returns that an environment knows, exactly or as a bound."""
    if references:
        known = ", ".join(f"{name} {value:.2f}" for name, value in references.items())
        console.say(f"known: {known}")
