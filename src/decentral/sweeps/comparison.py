"""Train several algorithms on one environment, each in turn; finished runs are not repeated."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from decentral.configs.config import Config, resolve
from decentral.configs.registry import algorithm_class
from decentral.records import RunDirectory
from decentral.runs.checkpointing.schedule import UNTIL_FINISHED
from decentral.runs.listeners.base import Listener
from decentral.runs.planned import PlannedRun, planned_together
from decentral.runs.resume import finished_runs
from decentral.runs.runner import run
from decentral.settings import Refused, setting_fields

SEEDS = 5  # by default: one seed says nothing about another


def train_all(
    names: Sequence[str],
    environment: str,
    algorithm_settings: dict[str, Any] | None,
    environment_settings: dict[str, Any] | None,
    training_settings: dict[str, Any] | None,
    out: Path,
    listeners: Callable[[], list[Listener]],
    tell: Callable[[str], None],
) -> list[RunDirectory]:
    """Train each algorithm into out/NAME, with new listeners for each.

    A finished run of the same configuration is taken as it is, an interrupted one is resumed. Everything is checked
    before the first one begins.
    """
    configs = resolve_all(names, environment, algorithm_settings, environment_settings, training_settings)
    for line in told_of_some(known_settings({name: name for name in names}), algorithm_settings or {}):
        tell(line)
    planned = [PlannedRun(config, out / config.algorithm_name) for config in configs]
    with planned_together(planned):
        return [
            finished or run(planned_run.config, planned_run.out, listeners(), UNTIL_FINISHED, resume=True)
            for planned_run, finished in zip(planned, finished_runs(planned), strict=True)
        ]


def resolve_all(
    names: Sequence[str],
    environment: str,
    algorithm_settings: dict[str, Any] | None = None,
    environment_settings: dict[str, Any] | None = None,
    training_settings: dict[str, Any] | None = None,
) -> list[Config]:
    """The configurations of several algorithms; each takes those of the algorithm settings that it has."""
    if isinstance(names, str):
        raise Refused(f"ALGORITHMS must be a list of names, got {names!r:.60}")
    if not names:
        raise Refused("ALGORITHMS must name at least one algorithm, got none")
    if repeated := [name for name in names if list(names).count(name) > 1]:
        raise Refused(f"ALGORITHMS must name each algorithm once, got {repeated[0]} twice")
    plan = {"seeds": SEEDS} | (training_settings or {})
    each = dealt_out(known_settings({name: name for name in names}), algorithm_settings or {})
    return [resolve(name, environment, each[name], environment_settings, plan) for name in names]


def known_settings(algorithms: Mapping[str, str]) -> dict[str, set[str]]:
    """The settings that several methods have, each by the name of its algorithm."""
    return {name: {field.name for field in setting_fields(algorithm_class(of))} for name, of in algorithms.items()}


def dealt_out(known: dict[str, set[str]], settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """To each method those of the settings that it has."""
    for key in settings:
        if not any(key in names for names in known.values()):
            raise Refused(f"unknown setting algorithm.{key}: none of {', '.join(known)} has it")
    return {
        name: {key: value for key, value in settings.items() if key in has_these} for name, has_these in known.items()
    }


def told_of_some(known: dict[str, set[str]], settings: dict[str, Any]) -> list[str]:
    """For each setting that not all methods have, a line that says which have it."""
    having = {key: [name for name, names in known.items() if key in names] for key in settings}
    return [f"algorithm.{key} is set for {', '.join(some)}" for key, some in having.items() if len(some) < len(known)]
