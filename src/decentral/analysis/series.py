"""One number of a run at every test: any metric that it recorded, what it is plotted against, and smoothing."""

from collections.abc import Sequence

import numpy as np

from decentral.analysis.results import Curves, load_measures
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.records.lines import RETURN
from decentral.records.same_steps import at_steps, reached_by_all

X_AXES = ("steps", "episodes", "time")
COUNTS = ("seed", "step", "seconds")  # of a record: where it stands, not what it measured


def metric_names(run: Curves) -> list[str]:
    """All that can be plotted of a run: its return, what its environment reports, and the rest of its records."""
    rows = RunDirectory(run.path).read_metrics()
    taken = {*COUNTS, RETURN, *(f"test_{name}" for name in run.reports)}
    recorded = dict.fromkeys(key for row in rows for key in row if key not in taken)
    return ["return", *run.reports, *recorded]


def metric_called(run: Curves, name: str) -> str:
    """The metric that is meant: its name in the records, such as test_win_rate, stands for it too."""
    short = "return" if name == RETURN else name.removeprefix("test_")
    return short if short in ("return", *run.reports) else name


def check_metrics(runs: Sequence[Curves], names: Sequence[str]) -> None:
    """Refuse a metric that one of the runs has not recorded."""
    for run in runs if names else ():
        known = metric_names(run)
        for name in names:
            if metric_called(run, name) not in known:
                raise Refused(f"metric must be one of {', '.join(known)}, got {name!r:.60} for {run.path}")


def load_metric(run: Curves, name: str, x: str = "steps") -> np.ndarray:
    """A metric of every seed at the same places of an axis, those of `load_axis` [seeds, tests]. NaN: unknown.

    It is the mean over agents if each has its own.
    """
    if x == "steps" and name == "return":
        return run.returns
    if x == "steps" and name in run.reports:
        return run.reports[name]
    own = _own_places(run, x)
    return at_steps(reached_by_all(own), own, _recorded(run, name))


def load_axis(run: Curves, x: str) -> np.ndarray:
    """Where every test stands [tests]: environment steps, episodes, or seconds of training, that all seeds reached."""
    return run.steps if x == "steps" else reached_by_all(_own_places(run, x))


def _recorded(run: Curves, name: str) -> np.ndarray:
    """A metric of every seed at its own tests [seeds, tests]."""
    key = RETURN if name == "return" else f"test_{name}" if name in run.reports else name
    table = load_measures(run, [key]).get(key)
    if table is None:  # recorded, but never a number
        return np.full(run.returns.shape, np.nan)
    of_agents = table.reshape(len(table), len(run.seeds), -1)
    known = np.isfinite(of_agents)
    total = np.where(known, of_agents, 0.0).sum(axis=-1)
    count = known.sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).T


def _own_places(run: Curves, x: str) -> np.ndarray:
    """Where every test of every seed stands [seeds, tests]. Seeds that train side by side share the clock."""
    if x == "steps":
        return _recorded(run, "step")
    if x == "episodes":
        episodes = _recorded(run, "episode")
        if not np.isfinite(episodes).all():
            raise Refused(f"x must be steps or time for {run.path}, which recorded no episodes, got 'episodes'")
        return episodes
    seconds = [*RunDirectory(run.path).seconds_by_step.values()]  # one for each test
    if len(seconds) < len(run.steps):
        raise Refused(f"x must be steps or episodes for {run.path}, which recorded no times, got 'time'")
    return np.tile(seconds[: len(run.steps)], (len(run.seeds), 1))


def smoothed(values: np.ndarray, tests: int) -> np.ndarray:
    """The mean over each test and those before it, `tests` in all [seeds, tests]: none knows what comes after it."""
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    total, count = (np.cumsum(table, axis=-1, dtype=float) for table in (filled, known))
    for table in (total, count):
        table[..., tests:] -= table[..., :-tests].copy()
    return np.where(known, total / np.maximum(count, 1), np.nan)
