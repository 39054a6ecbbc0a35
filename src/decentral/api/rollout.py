"""Greedy episodes of a trained team as NumPy arrays, to look at and to compute with."""

from decentral.api.arguments import check_whole, open_run
from decentral.api.places import PathLike
from decentral.inspection.rollouts import AgentRollout, Rollout, rollout_of
from decentral.runs.trained import Trained

__all__ = ["AgentRollout", "Rollout", "rollout"]


def rollout(
    run: PathLike,
    /,
    *,
    episodes: int = 8,
    seed: int | None = None,
    environment_seed: int = 0,
    environment: str | None = None,
    algorithm: str | None = None,
) -> Rollout:
    """Play fresh greedy episodes with a trained team, and keep all that its agents perceived, valued and did.

    `seed` is one of the run's, the first unless told otherwise. `environment_seed` is that of the environments that the
    team meets: the same as the `seed` of `evaluate`. Where the run's environment or algorithm is code of yours, name it
    again: what a file names is never run.
    """
    check_whole(episodes=episodes, seed=seed, environment_seed=environment_seed)
    trained = Trained.load(open_run(run, environment, algorithm))
    return rollout_of(trained, trained.seeds[0] if seed is None else seed, episodes, environment_seed)
