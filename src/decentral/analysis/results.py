"""The results of a run, read from its directory: its learning curves, and everything else in its records."""

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from decentral.environments.payoffs import payoff_name
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.records.columns import Columns, LastTest, parse_columns, read_columns, tables_of
from decentral.records.lines import LARGEST, RETURN
from decentral.records.same_steps import at_steps, reached_by_all

LONGEST_NAME = 300  # letters of an algorithm's or an environment's: those of code have the name of its module
MARKED = " (not decentralised)"  # beside the name of a run whose agents learn from more than their own data
LONGEST_VALUE = 40  # letters of a setting in the name of a run


@dataclass(frozen=True)
class SeedTests:
    """The tests of a run as they were recorded, each seed's at its own steps; all arrays are [seeds, tests]."""

    seeds: list[int]
    steps: np.ndarray
    returns: np.ndarray
    reports: dict[str, np.ndarray]


@dataclass(frozen=True)
class Curves:
    """The test returns of all seeds of one run at the same steps, and what its environment reports of tests besides."""

    path: Path
    config: dict[str, Any]
    seeds: list[int]
    steps: np.ndarray  # [tests]
    returns: np.ndarray  # [seeds, tests]
    reports: dict[str, np.ndarray] = field(default_factory=dict)  # [seeds, tests], by name
    last_only: bool = False  # of its tests the last alone was read, as one of many runs

    def whole(self) -> "Curves":
        """All tests, read now where only the last was."""
        return load_curves_quickly(RunDirectory(self.path), self.config) if self.last_only else self

    @property
    def algorithm(self) -> str:
        return self.config["algorithm"]["name"]

    @property
    def environment(self) -> str:
        return self.config["environment"]["name"]

    @property
    def references(self) -> dict[str, float]:
        return self.config.get("references", {})

    @property
    def team_return(self) -> str:
        """What the return is made of where every agent has its own reward; empty where all share one."""
        return self.config.get("team_return", "")

    @property
    def decentralised(self) -> bool:
        """Whether each agent learned from its own data alone; true for a run that does not say."""
        return self.config.get("strictness", {}).get("decentralised", True)


def in_last_third(steps: np.ndarray) -> np.ndarray:
    """Which tests lie in the last third of training [tests]."""
    return steps * 3 >= steps[-1] * 2


def late_returns(run: Curves) -> np.ndarray:
    """The return of each seed, mean over the tests in the last tenth of training [seeds]."""
    return run.returns[:, run.steps * 10 >= run.steps[-1] * 9].mean(axis=1)


Panel = dict[str, Curves]  # curves that are shown together, by name


def load_curves(directory: RunDirectory) -> Curves:
    """The curves of a run, finished or not: the tests that every seed has done. All of its records are checked."""
    curves = _curves(directory, read_config(directory), parse_columns)
    directory.check_unchanged(*(directory.path / name for name in ("config.json", "metrics.jsonl")))
    return curves


def load_curves_quickly(directory: RunDirectory, config: dict[str, Any]) -> Curves:
    """The same for one of many, whose configuration was read before: what else its records hold is not looked at."""
    return _curves(directory, config, read_columns)


def last_test_curves(path: Path, config: dict[str, Any], last: LastTest) -> Curves:
    """The curves of a run of which the last test alone was read."""
    returns = np.asarray([*last.returns.values()], dtype=float)[:, None]
    returns = np.where(np.isfinite(returns), returns, np.nan)
    return Curves(path, config, [*last.returns], np.asarray([float(last.step)]), returns, last_only=True)


def load_tests(directory: RunDirectory) -> SeedTests:
    """The tests of a run that every seed has done, for what asks how each seed did where it stood by itself."""
    return _tests(directory, read_config(directory), parse_columns)


def _curves(directory: RunDirectory, config: dict[str, Any], read: Callable[..., Columns]) -> Curves:
    tests = _tests(directory, config, read)
    steps = reached_by_all(tests.steps)
    returns = at_steps(steps, tests.steps, tests.returns)
    reports = {name: at_steps(steps, tests.steps, values) for name, values in tests.reports.items()}
    return Curves(directory.path, config, tests.seeds, steps, returns, reports)


def _tests(directory: RunDirectory, config: dict[str, Any], read: Callable[..., Columns]) -> SeedTests:
    try:
        reports = {name: f"test_{name}" for name in config.get("reports", [])}
        columns = read(directory, [*reports.values()])
    except (KeyError, TypeError) as error:
        raise Refused(f"{directory.path / 'metrics.jsonl'} has a record that makes no sense ({error})") from None
    tables = tables_of(columns)
    if not tables["seed"].size:
        raise Refused(f"{directory.path} has no records: the run has not been tested yet")
    seeds = [int(seed) for seed in tables["seed"][:, 0]]
    by_name = {name: tables[key] for name, key in reports.items()}
    return SeedTests(seeds, tables["step"], tables[RETURN], by_name)


def read_config(directory: RunDirectory) -> dict[str, Any]:
    """The configuration of a run, checked to have what tables and plots need."""
    config = directory.read_json("config.json")
    _check_config(config, directory.path / "config.json")
    return config


def _check_config(config: dict[str, Any], file: Path) -> None:
    """Refuse a configuration that lacks what tables and plots need."""
    for group in ("algorithm", "environment", "training"):
        if not isinstance(config.get(group), dict):
            raise Refused(f"{file}: {group} must be an object, got {config.get(group)!r:.80}")
    for group in ("algorithm", "environment"):
        name = config[group].get("name")
        if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= LONGEST_NAME):
            raise Refused(f"{file}: {group}.name must be a line of text, got {name!r:.80}")
    if not _is_number(config["training"].get("steps", 0)):
        raise Refused(f"{file}: training.steps must be a number, got {config['training']['steps']!r:.80}")
    known = config.get("references", {})
    if not isinstance(known, dict) or not all(map(_is_name, known)) or not all(map(_is_number, known.values())):
        raise Refused(f"{file}: references must be an object of numbers, got {known!r:.80}")
    reports = config.get("reports", [])
    if not isinstance(reports, list) or not all(map(_is_name, reports)) or len(set(reports)) < len(reports):
        raise Refused(f"{file}: reports must be a list of different names, got {reports!r:.80}")
    team_return = config.get("team_return", "")
    if not (isinstance(team_return, str) and team_return.isprintable() and len(team_return) <= LONGEST_NAME):
        raise Refused(f"{file}: team_return must be a line of text, got {team_return!r:.80}")
    strictness = config.get("strictness", {})
    if not isinstance(strictness, dict) or not isinstance(strictness.get("decentralised", True), bool):
        raise Refused(
            f"{file}: strictness must be an object whose decentralised is true or false, got {strictness!r:.80}"
        )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < LARGEST


def _is_name(text: Any) -> bool:
    """Of a return that is known exactly, or of what an environment reports."""
    return isinstance(text, str) and re.fullmatch(r"\w[\w .-]{0,40}", text) is not None


def shared_references(runs: list[Curves]) -> dict[str, float]:
    """The returns that are known exactly and on which all runs agree, but for rounding on different machines."""
    first, *others = [run.references for run in runs]
    return {
        name: value
        for name, value in first.items()
        if all(math.isclose(other.get(name, math.inf), value, rel_tol=1e-4) for other in others)
    }


def shared_reports(runs: list[Curves]) -> list[str]:
    """What the environments of all runs report of tests besides returns."""
    return [name for name in runs[0].reports if all(name in run.reports for run in runs)]


def labels(runs: list[Curves]) -> list[str]:
    """A name for each run, as a legend shows it: one that is not decentralised says so."""
    return [name if run.decentralised else name + MARKED for name, run in zip(names(runs), runs, strict=True)]


def names(runs: list[Curves]) -> list[str]:
    """A name for each run: its algorithm, and where that is not enough its environment and the settings that differ."""
    algorithms, kinds = [run.algorithm for run in runs], [(run.algorithm, run.environment) for run in runs]
    several = Counter(algorithm for algorithm, _ in {*kinds})  # environments of each algorithm
    told = {
        "algorithm": _differing_keys(algorithms, [run.config["algorithm"] for run in runs]),
        # those of another environment are others anyway
        "environment": _differing_keys(kinds, [run.config["environment"] for run in runs]),
        "training": _differing_keys(algorithms, [run.config["training"] for run in runs]),
    }
    run_names = []
    for run, kind in zip(runs, kinds, strict=True):
        where = f" on {run.environment}" if several[run.algorithm] > 1 else ""
        details = [
            _in_name(key, value)
            for group, differing in told.items()
            if (chosen := differing[kind if group == "environment" else run.algorithm])
            for key, value in run.config[group].items()
            if key in chosen and key != "seeds"  # figures and tables say these by themselves
        ]
        run_names.append(", ".join([run.algorithm + where, *details]))
    unique = len(set(run_names)) == len(run_names)
    return run_names if unique else [f"{name} ({run.path})" for name, run in zip(run_names, runs, strict=True)]


def shortened(text: str, longest: int) -> str:
    """A long text by its beginning and its end, where names of one algorithm differ."""
    half = longest // 2 - 1
    return text if len(text) <= longest else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"


def _in_name(key: str, value: Any) -> str:
    """A setting in the name of a run: a payoff by the name of its game, if it has one."""
    return f"{key}={shortened((key == 'payoff' and payoff_name(value)) or str(value), LONGEST_VALUE)}"


def _differing_keys(groups: Sequence[Hashable], settings: list[dict[str, Any]]) -> dict[Hashable, set[str]]:
    """The settings in which the runs of each group differ: `groups` says to which one each run belongs."""
    first: dict[Hashable, dict[str, Any]] = {}
    differing: dict[Hashable, set[str]] = {group: set() for group in groups}
    for group, own in zip(groups, settings, strict=True):
        other = first.setdefault(group, own)
        differing[group] |= {
            key
            for key, value in own.items()
            if (theirs := other.get(key)) is not value and not (type(theirs) is type(value) and theirs == value)
        }  # 1, 1.0 and True are read differently
        if other.keys() != own.keys():
            differing[group] |= {key for key in other.keys() - own.keys() if other[key] is not None}
    return differing


def flat_settings(config: dict[str, Any]) -> dict[str, Any]:
    """Every setting of a run by its full name, such as `algorithm.window`."""
    groups = ("algorithm", "environment", "training")
    return {f"{group}.{key}": value for group in groups for key, value in config[group].items()}


def load_measures(run: Curves, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of the named numbers that a run has: at every test [tests, seeds x agents], NaN where one is missing.

    A number of the team as a whole counts as that of one agent. The tests of each seed are at its own steps.
    """
    by_seed: dict[int, list[dict[str, Any]]] = {seed: [] for seed in run.seeds}
    for row in RunDirectory(run.path).read_metrics():
        by_seed[row["seed"]].append(row)
    tests = list(zip(*by_seed.values(), strict=False))  # those that every seed has done
    tables = {name: _measured_table([[_numbers(run, name, row) for row in test] for test in tests]) for name in names}
    return {name: table for name, table in tables.items() if np.isfinite(table).any()}


def _measured_table(tests: list[list[list[float]]]) -> np.ndarray:
    """The numbers of all seeds of a test in one row, as many of each; where a seed has fewer, NaN takes their place."""
    widest = max(len(numbers) for test in tests for numbers in test)
    filled = [[numbers + [np.nan] * (widest - len(numbers)) for numbers in test] for test in tests]
    return np.asarray([list(chain.from_iterable(test)) for test in filled])


def _numbers(run: Curves, name: str, row: dict[str, Any]) -> list[float]:
    """What a record says of one number: of each agent, of the team, or nothing."""
    values = row[name] if isinstance(row.get(name), list) else [row.get(name)]
    if not all(value is None or isinstance(value, int | float) for value in values):
        raise Refused(f"{run.path / 'metrics.jsonl'}: {name} must be numbers, got {row[name]!r:.80}")
    return [float(value) if value is not None and math.isfinite(value) else np.nan for value in values]
