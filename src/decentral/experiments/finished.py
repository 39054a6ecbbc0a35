"""Runs that lie where a training would go: finished ones are taken as they are, others go on, all else is left."""

from collections.abc import Sequence
from typing import Any

from decentral.experiments.config import Config, completed
from decentral.experiments.runner import Planned
from decentral.records import RunDirectory
from decentral.records.checkpoints import Checkpoints
from decentral.records.run_directory import UNBORN
from decentral.settings import Refused


def finished_runs(planned: Sequence[Planned]) -> list[RunDirectory | None]:
    """The finished run of each; nothing where none has begun or it can go on. Any other content is refused."""
    found = [_begun(run) for run in planned]
    return [
        directory if directory is not None and is_finished(directory, run.config) else None
        for run, directory in zip(planned, found, strict=True)
    ]


def is_finished(directory: RunDirectory, config: Config) -> bool:
    """Whether a run of this configuration has come to its end. One that says so but lacks agents is refused."""
    complete = _has_all_agents(directory, config)
    if directory.is_finished and not complete:
        raise Refused(f"out must hold whole runs, got {directory.path}, which is broken: remove it to train it anew")
    return complete and (
        directory.is_finished or not Checkpoints.of(directory).turns()
    )  # earlier versions did not say so


def _begun(run: Planned) -> RunDirectory | None:
    """The run of the same configuration that lies there, finished or not."""
    if not run.out.is_dir() or {entry.name for entry in run.out.iterdir()} <= {UNBORN}:
        return None
    directory = RunDirectory.open(run.out)
    if found := difference(completed(directory.read_json("config.json")), run.config.as_data()):
        raise Refused(f"out must hold runs of the same configuration, got {run.out} with {found}: take another out")
    return directory


def difference(found: dict[str, Any], wanted: dict[str, Any]) -> str:
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
    """Whether every agent of every seed was written."""
    plan = config.trainee.plan
    try:
        for seed in range(plan.seed, plan.seed + plan.seeds):
            for agent in range(config.trainee.environment.num_agents):
                directory.read_agent(seed, agent)
    except Refused:
        return False
    return True
