"""What a training run would do, without doing it."""

from typing import Any

from decentral.api.arguments import TeamRequest, file_settings_of, plan_of, resolved
from decentral.api.places import PathLike


def show(
    algorithm_name: TeamRequest | None = None,
    environment_name: str | None = None,
    /,
    *,
    config: PathLike | None = None,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    devices: int | None = None,
) -> dict[str, Any]:
    """The resolved configuration that `train` would run if called with the same words, as data for JSON."""
    plan = plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers, devices=devices)
    groups = {"algorithm": algorithm, "environment": environment, "training": plan}
    return resolved(algorithm_name, environment_name, groups, file_settings_of(config, "show")).as_data()
