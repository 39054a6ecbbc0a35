"""A run whose agents live in processes of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.api.requests import Place, listeners_of, place_for, plan_of
from decentral.api.runs import Run, name_of
from decentral.arenas.run import ArenaRequest, resume_arena, run_arena
from decentral.arenas.terms import Terms
from decentral.configs.config import MemberRequest, resolve
from decentral.records import RunDirectory
from decentral.runs.checkpointing.schedule import Saving
from decentral.settings import Refused, build


def arena(
    algorithm_name: str | Sequence[MemberRequest],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    terms: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    out: Place | None = None,
    log_messages: Place | None = None,
    progress: bool = True,
    checkpoints: dict[str, Any] | None = None,
    resume: bool = False,
) -> Run:
    """What `train` does, with the environment in this process and every agent in one of its own.

    `terms` are those of the arena: `reward_delay`, `reward_loss`, `save_every`, `restarts`, `wait`, `patience` and
    `patience_at_start`. Every message of each agent is written into the directory `log_messages`, where one is given.
    `checkpoints` says how often the whole arena is saved: `interval` in seconds, `keep`. With `resume` an arena of the
    same configuration that lies in `out` goes on.
    """
    config = resolve(algorithm_name, environment_name, algorithm, environment, plan_of(training, seeds, steps, seed))
    own = build(Terms, terms or {}, "arena")
    saving = build(Saving, checkpoints or {}, "checkpoints")
    if resume and out is None:
        raise Refused("out must be given with resume: it is the run to go on with")
    place = place_for(out, f"{name_of(config)}-arena")
    request = ArenaRequest(config, own, place, None if log_messages is None else Path(log_messages))
    listeners = listeners_of(progress, ())
    if resume and RunDirectory(place).has_begun:
        return Run(resume_arena(RunDirectory(place), request.messages, listeners, saving, request).path)
    return Run(run_arena(request, listeners, saving).path)
