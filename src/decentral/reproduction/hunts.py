"""Training runs in predator-prey as the targets run and tabulate them: curves, final returns, other measures."""

from collections.abc import Iterable, Sequence

import numpy as np

from decentral.analysis.results import Curves, Panel, in_last_third
from decentral.configs.config import Config, resolve
from decentral.deviation import mean_and_spread
from decentral.reproduction.target import Data, Scale, markdown_table


def final_of(run: Curves) -> str:
    """The final return, mean and standard deviation over seeds."""
    return mean_and_spread(run.returns[:, -1])


def last_third_of(run: Curves) -> str:
    """The mean return of the tests in the last third of training, mean and standard deviation over seeds."""
    return mean_and_spread(run.returns[:, in_last_third(run.steps)].mean(axis=1))


def learned(run: Curves) -> bool:
    """Does a run end with at least half of the optimal return?"""
    return bool(run.returns[:, -1].mean() >= 0.5 * run.references["optimal"])


Columns = dict[str, tuple[str, str]]  # a measure, what it is called, and how it is written


def titles_of(columns: Columns) -> list[str]:
    """The headings of the columns."""
    return [title for title, _ in columns.values()]


def cells_of(measures: Data, columns: Columns) -> list[str]:
    """Means over seeds and agents; empty where a run does not measure something."""
    return [form.format(np.mean(measures[name])) if name in measures else "" for name, (_, form) in columns.items()]


QUICK_PLAN: Data = {"steps": 10_000, "epsilon_steps": 5_000, "test_interval": 2_000}
FULL_PLAN: Data = {"seed": 5, "test_interval": 50_000, "diagnostics": True}  # choices had been made on seeds 0 to 4
QUICK_PENALTIES = (0.5,)  # for a target of many programs


def hunts(name: str, settings: Sequence[Data], penalties: Sequence[float], visible: bool, scale: Scale) -> list[Config]:
    """At each penalty, each of several settings of a method; by the paper's plan, tested less often, or a short one."""
    plan = {"seeds": scale.seeds} | (FULL_PLAN if scale.is_full else QUICK_PLAN)
    environments = [{"penalty": penalty, "observe_teammate": visible} for penalty in penalties]
    return [
        resolve(name, "predator-prey", chosen, environment, plan) for environment in environments for chosen in settings
    ]


def penalty_of(run: Curves) -> float:
    """The penalty P of a run's environment."""
    return run.config["environment"]["penalty"]


def columns_of(penalties: Iterable[float]) -> list[str]:
    """The titles of the columns of a figure."""
    return [f"P = {penalty:g}" for penalty in penalties]


def references_of(panel: Panel) -> list[str]:
    """The optimal and the random return of the environment that all runs of a panel share."""
    known = next(iter(panel.values())).references
    return [f"{known[name]:.2f}" for name in ("optimal", "random")]


def finals_table(kind: str, rows: dict[str, list[Panel]]) -> str:
    """Final returns, a line for each row and penalty; the first panel has all names."""
    names = list(next(iter(rows.values()))[0])
    lines = []
    for row, panels in rows.items():
        for panel in panels:
            penalty = penalty_of(next(iter(panel.values())))
            finals = [final_of(panel[name]) if name in panel else "" for name in names]
            lines.append([row, f"{penalty:g}", *finals, *references_of(panel)])
    return markdown_table([kind, "P", *names, "optimal", "random"], lines)
