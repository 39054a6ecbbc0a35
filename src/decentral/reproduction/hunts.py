"""Trainings in predator-prey as the targets run and tabulate them: a panel of curves for each penalty."""

from collections.abc import Iterable, Sequence

from decentral.analysis.results import Curves, Panel
from decentral.experiments.config import Config, resolve
from decentral.reproduction.markdown import markdown_table
from decentral.reproduction.returns import final_of
from decentral.reproduction.target import Data, Scale

QUICK_PLAN: Data = {"steps": 10_000, "epsilon_steps": 5_000, "test_interval": 2_000}
FULL_PLAN: Data = {"seed": 5, "test_interval": 50_000, "diagnostics": True}  # choices had been made on seeds 0 to 4
QUICK_PENALTIES = (0.5,)  # for a target of many programs


def hunts(name: str, settings: Sequence[Data], penalties: Sequence[float], visible: bool, scale: Scale) -> list[Config]:
    """At each penalty, each of several settings of a method; by the paper's plan, tested less often, or a short one."""
    plan = {"seeds": scale.seeds} | (FULL_PLAN if scale.is_full else QUICK_PLAN)
    worlds = [{"penalty": penalty, "observe_teammate": visible} for penalty in penalties]
    return [resolve(name, "predator-prey", own, world, plan) for world in worlds for own in settings]


def penalty_of(run: Curves) -> float:
    """P of the world that a run was in."""
    return run.config["environment"]["penalty"]


def columns_of(penalties: Iterable[float]) -> list[str]:
    """What the columns of a figure are called."""
    return [f"P = {penalty:g}" for penalty in penalties]


def references_of(panel: Panel) -> list[str]:
    """The optimal and the random return of the world in which all runs of a panel were."""
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
