"""Train several algorithms on one environment, each in turn; what is already finished is not done again."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from decentral.experiments.config import Config, resolve
from decentral.experiments.members import algorithm_class
from decentral.experiments.runner import Listener, run
from decentral.records import RunDirectory
from decentral.settings import Refused, setting_fields

SEEDS = 5  # unless told otherwise: one seed says nothing about another


def train_all(
    names: Sequence[str],
    environment: str,
    algorithm_settings: dict[str, Any] | None,
    environment_settings: dict[str, Any] | None,
    training_settings: dict[str, Any] | None,
    out: Path,
    listeners: Callable[[], list[Listener]],
) -> list[RunDirectory]:
    """Train each algorithm into out/NAME, told to listeners of its own.

    A finished run of the same configuration is taken as it is. Everything is checked before the first one begins.
    """
    configs = resolve_all(names, environment, algorithm_settings, environment_settings, training_settings)
    finished = {config.algorithm_name: _finished(out / config.algorithm_name, config) for config in configs}
    return [
        finished[config.algorithm_name] or run(config, out / config.algorithm_name, listeners()) for config in configs
    ]


def resolve_all(
    names: Sequence[str],
    environment: str,
    algorithm_settings: dict[str, Any] | None = None,
    environment_settings: dict[str, Any] | None = None,
    training_settings: dict[str, Any] | None = None,
) -> list[Config]:
    """The configurations of several algorithms; each takes those of the algorithm settings that it has."""
    if not names:
        raise Refused("ALGORITHMS must name at least one algorithm, got none")
    if repeated := [name for name in names if list(names).count(name) > 1]:
        raise Refused(f"ALGORITHMS must name each algorithm once, got {repeated[0]} twice")
    known = {name: {field.name for field in setting_fields(algorithm_class(name))} for name in names}
    for key in algorithm_settings or {}:
        if not any(key in fields for fields in known.values()):
            raise Refused(f"unknown setting algorithm.{key}: none of {', '.join(names)} has it")
    plan = {"seeds": SEEDS} | (training_settings or {})
    return [
        resolve(name, environment, _own(algorithm_settings, known[name]), environment_settings, plan) for name in names
    ]


def _own(settings: dict[str, Any] | None, known: set[str]) -> dict[str, Any]:
    return {key: value for key, value in (settings or {}).items() if key in known}


def _finished(place: Path, config: Config) -> RunDirectory | None:
    """The finished run of a configuration; nothing where none has begun. Any other content is refused."""
    if not place.is_dir() or not any(place.iterdir()):
        return None
    directory = RunDirectory.open(place)
    if difference := _difference(directory.read_json("config.json"), config.as_data()):
        raise Refused(f"out must hold runs of the same configuration, got {place} with {difference}: take another out")
    if not _has_all_agents(directory, config):
        raise Refused(f"out must hold finished runs, got {place}, which is not: remove it to train it anew")
    return directory


def _difference(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The first entry in which a stored configuration is not the one wanted, in words; empty where there is none."""
    for group, own in wanted.items():
        stored = found.get(group)
        if not isinstance(own, dict) or not isinstance(stored, dict):
            if stored != own:
                return f"{group} {stored!r:.60} instead of {own!r:.60}"
            continue
        for key in own | stored:
            if stored.get(key) != own.get(key):
                return f"{group}.{key} {stored.get(key)!r:.60} instead of {own.get(key)!r:.60}"
    return ""


def _has_all_agents(directory: RunDirectory, config: Config) -> bool:
    """Whether every agent of every seed was written, as a run does last."""
    plan = config.trainee.plan
    try:
        for seed in range(plan.seed, plan.seed + plan.seeds):
            for agent in range(config.trainee.environment.num_agents):
                directory.read_agent(seed, agent)
    except Refused:
        return False
    return True
