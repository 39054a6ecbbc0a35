"""Train a run with each agent in its own process."""

from pathlib import Path
from typing import Any

from decentral.api.arguments import TeamRequest, file_settings_of, listeners_of, plan_of, resolved
from decentral.api.places import PathLike, place_for
from decentral.api.train import Run, name_of
from decentral.arenas.arena_settings import ArenaSettings
from decentral.arenas.run import ArenaRequest, resume_arena, run_arena
from decentral.records import RunDirectory
from decentral.runs.checkpointing.schedule import Saving
from decentral.settings import Refused, build


def arena(
    algorithm_name: TeamRequest | None = None,
    environment_name: str | None = None,
    /,
    *,
    config: PathLike | None = None,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    terms: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    devices: int | None = None,
    out: PathLike | None = None,
    log_messages: PathLike | None = None,
    progress: bool = True,
    checkpoints: dict[str, Any] | None = None,
    resume: bool = False,
) -> Run:
    """What `train` does, with the environment in this process and every agent in its own.

    `terms` are those of the arena: `reward_delay`, `reward_loss`, `save_every`, `restarts`, `wait`, `patience` and
    `patience_at_start`. Every message of each agent is written into the directory `log_messages`, where one is given.
    `checkpoints` says how often the whole arena is saved: `interval` in seconds, `keep`. With `resume` an arena of the
    same configuration that lies in `out` goes on. Everything else is as `train` has it.
    """
    plan = plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers, devices=devices)
    groups = {"algorithm": algorithm, "environment": environment, "training": plan}
    file_settings = file_settings_of(config, "arena")
    resolved_config = resolved(algorithm_name, environment_name, groups, file_settings)
    agreed = build(ArenaSettings, file_settings.arena | (terms or {}), "arena")
    saving = build(Saving, checkpoints or {}, "checkpoints")
    if resume and out is None:
        raise Refused("out must be given with resume: it is the run to resume")
    place = place_for(out, f"{name_of(resolved_config)}-arena")
    request = ArenaRequest(resolved_config, agreed, place, None if log_messages is None else Path(log_messages))
    listeners = listeners_of(progress, ())
    if resume and RunDirectory(place).has_begun:
        return Run(resume_arena(RunDirectory(place), request.messages, listeners, saving, request).path)
    return Run(run_arena(request, listeners, saving).path)
