"""A run whose agents live in processes of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.api.requests import Place, listeners_of, place_for, plan_of
from decentral.api.runs import Run, name_of
from decentral.arenas.arena import Places
from decentral.arenas.run import HOMES, run_arena
from decentral.arenas.terms import Terms
from decentral.experiments.config import MemberRequest, resolve
from decentral.settings import build


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
) -> Run:
    """What `train` does, with the world in this process and every agent in one of its own.

    `terms` are those of the arena: `reward_delay`, `reward_loss`, `save_every`, `restarts`, `wait`. Every message of
    each agent is written into the directory `log_messages`, where one is given.
    """
    config = resolve(algorithm_name, environment_name, algorithm, environment, plan_of(training, seeds, steps, seed))
    own, place = build(Terms, terms or {}, "arena"), place_for(out, f"{name_of(config)}-arena")
    places = Places(place / HOMES, None if log_messages is None else Path(log_messages))
    return Run(run_arena(config, own, places, place, listeners_of(progress, ())).path)
