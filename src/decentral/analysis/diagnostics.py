"""What a run measured besides its returns, in groups that belong into one picture, with the spread over all agents."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from decentral.analysis.results import Curves, load_measures
from decentral.deviation import sample_deviation
from decentral.records.same_steps import at_steps


@dataclass(frozen=True)
class MetricGroup:
    """Numbers that belong into one picture, by name, and how each is called in it."""

    title: str
    names: dict[str, str]
    level: float | None = None  # a line that tells high from low
    by_decades: bool = False


GROUPS = (
    MetricGroup("value of a test episode", {"value_start": "promised at the start", "value_achieved": "achieved"}),
    MetricGroup("value promised less value achieved", {"value_gap": "gap"}, level=0.0),
    MetricGroup(
        "Q-values in learning",
        {
            "q_optimistic_mean": "best action, best context",
            "q_greedy_mean": "best action, inferred context",
            "q_taken_mean": "action taken",
        },
    ),
    MetricGroup("contexts in use", {"contexts_used": "in use"}),
    MetricGroup("KL divergence", {"kl": "KL"}),
    MetricGroup("reconstruction errors", {"state_error": "state", "reward_error": "reward"}, by_decades=True),
    MetricGroup("bits of a partner's action in a context", {"context_partner_bits": "bits"}),
    MetricGroup("steps on which the oracle agrees", {"oracle_agreement": "share"}, level=1.0),
)


@dataclass(frozen=True)
class Band:
    """A number at the tests that have it: mean and standard deviation over seeds and agents.

    The band of a deviation reaches no further than the numbers themselves: a share is not above 1. A single number has
    no band: NaN.
    """

    steps: np.ndarray  # [tests], as the others
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def load_bands(run: Curves, groups: Iterable[MetricGroup]) -> dict[str, Band]:
    """Those of the groups' numbers that a run has."""
    measured = load_measures(run, ["step", *(name for group in groups for name in group.names)])
    own = measured.pop("step").T  # [seeds, tests]
    return {name: _band(run.steps, _at_steps(run.steps, own, table)) for name, table in measured.items()}


def _at_steps(wanted: np.ndarray, own: np.ndarray, table: np.ndarray) -> np.ndarray:
    """What every agent measured at the steps of its seed [tests, seeds x agents], at those of all seeds."""
    agents = table.shape[1] // len(own)
    return at_steps(wanted, np.repeat(own, agents, axis=0), table.T).T


def _band(steps: np.ndarray, table: np.ndarray) -> Band:
    known = np.isfinite(table).any(axis=1)
    table = table[known]
    mean = np.nanmean(table, axis=1)
    spread = np.asarray([sample_deviation(row[np.isfinite(row)]) for row in table])
    low = np.maximum(mean - spread, np.nanmin(table, axis=1))
    return Band(steps[known], mean, low, np.minimum(mean + spread, np.nanmax(table, axis=1)))


def number_of_contexts(run: Curves) -> int | None:
    """How many contexts there are, where all agents that have any have as many."""
    agents = run.config.get("agents")
    members = [run.config["algorithm"], *(agents if isinstance(agents, list) else [])]
    counts = [member.get("contexts") for member in members if isinstance(member, dict)]
    known = {count for count in counts if isinstance(count, int)}
    return known.pop() if len(known) == 1 else None
