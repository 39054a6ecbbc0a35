"""Runs that lie where a training would go: those that are finished are taken as they are, all else is left alone."""

from collections.abc import Sequence
from typing import Any

from decentral.experiments.config import Config
from decentral.experiments.runner import Planned
from decentral.records import RunDirectory
from decentral.settings import Refused


def finished_runs(planned: Sequence[Planned]) -> list[RunDirectory | None]:
    """The finished run of each; nothing where none has begun. Any other content is refused."""
    found = [_begun(run) for run in planned]
    both = list(zip(planned, found, strict=True))
    unfinished = [
        str(run.out) for run, directory in both if directory is not None and not _has_all_agents(directory, run.config)
    ]
    if unfinished:
        which, them = ("which is not", "it") if len(unfinished) == 1 else ("which are not", "them")
        raise Refused(
            f"out must hold finished runs, got {' '.join(unfinished)}, {which}: remove {them} to train {them} anew"
        )
    return found


def _begun(run: Planned) -> RunDirectory | None:
    """The run of the same configuration that lies there, finished or not."""
    if not run.out.is_dir() or not any(run.out.iterdir()):
        return None
    directory = RunDirectory.open(run.out)
    if difference := _difference(directory.read_json("config.json"), run.config.as_data()):
        raise Refused(
            f"out must hold runs of the same configuration, got {run.out} with {difference}: take another out"
        )
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
