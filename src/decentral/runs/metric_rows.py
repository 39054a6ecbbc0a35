"""What a test measured, as rows of metrics.jsonl: one per seed, with a list over agents where each has a number."""

from operator import itemgetter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.runs.lanes import LaneBatch
from decentral.training.diagnostics import Diagnosis
from decentral.training.loop import Tally
from decentral.training.setup import TrainingSetup
from decentral.training.squads.frozen import Frozen
from decentral.training.team import Team
from decentral.types import Metrics

Rows = list[dict[str, Any]]  # the records of one run's test, one per seed


def rows_of_test(setups: list[TrainingSetup], lane_batch: LaneBatch) -> list[Rows]:
    """Test all lanes: the records of each run."""
    scores, diagnosis, tally = lane_batch.test()
    steps, episodes = lane_batch.steps, np.asarray(lane_batch.lanes.episodes)

    def record(setup: TrainingSetup, lane: int) -> dict[str, Any]:
        row = {
            "seed": int(lane_batch.seeds[lane]),
            "step": int(steps[lane]),
            "episode": int(episodes[lane]),
            "test_return_mean": float(scores.returns[lane].mean()),
            "test_return_std": float(scores.returns[lane].std()),
            **{f"test_{name}": float(values[lane].mean()) for name, values in scores.reports.items()},
            **exploration(setup, int(steps[lane])),
        }
        row |= lane_batch.programs.counts()
        return row | _train_metrics(tally, lane, setup.team) | _diagnostics(diagnosis, lane, setup.team)

    return [[record(setup, lane) for lane in share] for setup, share in zip(setups, lane_batch.shares, strict=True)]


def exploration(setup: TrainingSetup, step: int) -> dict[str, float]:
    """The plan's exploration at a step; nothing where no agent explores by it: those on policy draw their actions."""
    by_plan = any(not (isinstance(squad, Frozen) or squad.algorithm.on_policy) for squad in setup.team.squads)
    return {"epsilon": round(float(setup.plan.epsilon(jnp.asarray(step))), 6)} if by_plan else {}


def _train_metrics(tally: Tally, lane: int, team: Team) -> dict[str, Any]:
    """Means since the last test: of the training return, and per agent of what its updates measured."""
    metrics: dict[str, Any] = {}
    if tally.episodes[lane]:
        metrics["train_return_mean"] = float(tally.returns[lane] / tally.episodes[lane])
        if tally.own_returns is not None:
            metrics["train_return_own"] = (tally.own_returns[lane] / tally.episodes[lane]).tolist()
    if not tally.updates[lane]:
        return metrics
    means = tuple(_means(sums, lane, tally.updates[lane]) for sums in tally.metrics)
    return metrics | _by_agent(team, means)


def _means(sums: Metrics, lane: int, turns: Any) -> Metrics:
    """Means over updates: one a turn, or as many as `updates` counts; nothing of a squad that made none."""
    made = sums.get("updates")
    if made is None:
        return jax.tree.map(lambda of_lanes: of_lanes[lane] / turns, sums)
    if not made[lane].any():
        return {}
    return {name: of_lanes[lane] / np.maximum(made[lane], 1) for name, of_lanes in sums.items() if name != "updates"}


def _diagnostics(diagnosis: Diagnosis | None, lane: int, team: Team) -> dict[str, Any]:
    """What a test measured besides returns: per agent, and for the team as a whole."""
    if diagnosis is None:
        return {}
    measured = jax.tree.map(itemgetter(lane), diagnosis)
    return _by_agent(team, measured.agents) | {name: float(value) for name, value in measured.team.items()}


def _by_agent(team: Team, measured: tuple[Metrics, ...]) -> dict[str, Any]:
    """What each squad measured [n], as one list per name with an entry for every place."""
    metrics: dict[str, Any] = {}
    size = sum(len(squad.places) for squad in team.squads)
    for squad, of_squad in zip(team.squads, measured, strict=True):
        for name, values in of_squad.items():
            if values.ndim == 0:  # one learner for the whole team
                metrics[name] = [float(values)]
                continue
            of_agents = metrics.setdefault(name, [None] * size)
            for place, value in zip(squad.places, values.tolist(), strict=True):
                of_agents[place] = value
    return metrics
