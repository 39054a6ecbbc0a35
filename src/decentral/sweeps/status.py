"""Where the units of a sweep stand, read from their files alone: no JAX is imported, and no setting resolved."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from decentral.errors import Refused
from decentral.plain_files import read_json, read_plain
from decentral.records import RunDirectory, durable
from decentral.records.columns import read_last_test
from decentral.sweeps.attempts import Attempt, attempts_of, file_of

PLANS = "units"  # the directory of the units' configurations, attempts, and of what their processes print
PLAN = "plan.json"  # there: all units, and the digest of the file that asked for them
TABLE = "results.csv"
MOST_BYTES = 2**26  # of a plan, or of a file of settings
# In the order of what needs attention first.
STATES = ("unreadable", "failed", "lost", "stopped", "running", "waiting", "finished")
ENDED_WELL = (0, 3)  # exit codes of a run that has come to its end, all seeds sound or not


@dataclass(frozen=True)
class PlannedUnit:
    """A unit by its name, and what it trains."""

    name: str
    algorithm: str
    environment: str


@dataclass(frozen=True)
class UnitStatus:
    """The status of a unit: its state, the last test's step and every seed's return there, and what else is to say."""

    name: str
    algorithm: str
    environment: str
    state: str
    step: int
    returns: dict[int, float]  # by seed; empty before the first test
    note: str = ""  # where it runs, from where it was resumed, or why it has failed


def status_of(unit: PlannedUnit, out: Path) -> UnitStatus:
    """The status of a unit whose run lies under `out`. What can't be read is said and stops nothing."""
    directory, log = RunDirectory(out / unit.name), out / PLANS / f"{unit.name}.log"
    attempts = attempts_of(log)
    state = _state(directory, attempts, log)
    try:
        last = read_last_test(directory)
    except Refused as refusal:
        return UnitStatus(**asdict(unit), state="unreadable", step=0, returns={}, note=str(refusal))
    step, returns = (0, {}) if last is None else (last.step, last.returns)
    note = "" if state in ("finished", "waiting") else _note(directory, state, attempts, log)
    return UnitStatus(**asdict(unit), state=state, step=step, returns=returns, note=note)


def _state(directory: RunDirectory, attempts: list[Attempt], log: Path) -> str:
    if directory.has_begun and directory.is_finished:
        return "finished"
    if directory.in_use:
        return "running"
    if not attempts:  # of a sweep of an earlier version
        begun = directory.has_begun or (log.is_file() and log.stat().st_size > 0)
        return "stopped" if begun else "waiting"
    last = attempts[-1]
    if last.code is None:
        return "running" if last.is_alive() else "lost"
    return "stopped" if last.code in (*ENDED_WELL, RUN_AGAIN) else "failed"


CLOCKS = 2.0  # seconds by which the clocks of machines may differ
RUN_AGAIN = 75  # the exit code of a run that was asked to stop and has saved


def _note(directory: RunDirectory, state: str, attempts: list[Attempt], log: Path) -> str:
    """What is known of a unit that is not finished, in a few words."""
    words = []
    if attempts and state in ("running", "lost"):
        words.append(f"on {attempts[-1].host}")
    if state == "failed":
        words.append(f"exit code {attempts[-1].code}, see {PLANS}/{log.name}")
    if len(attempts) > 1:
        words.append(f"attempt {len(attempts)}")
        words.append(_resumption(directory, attempts[-1].began))
    return ", ".join(word for word in words if word)


def _resumption(directory: RunDirectory, began: float) -> str:
    """Whether an attempt has gone on from a checkpoint or begun anew, as its run records it; empty before it does."""
    file = directory.path / "versions.json"
    try:
        if os.stat(file).st_mtime < began - CLOCKS:
            return ""
        noted = directory.read_json(file.name).get("resumed")
        step = noted[-1]["step"] if noted else 0
    except (OSError, Refused, KeyError, TypeError):  # it has not begun, or makes no sense
        return ""
    return f"resumed from step {step:,}" if type(step) is int and step > 0 else "started again"


def write_plan(units: Sequence[PlannedUnit], file: Path, out: Path) -> None:
    """Note all units of a sweep, so that looking at it does not mean resolving all their settings again."""
    content = {"sha256": _digest(file), "units": [[unit.name, unit.algorithm, unit.environment] for unit in units]}
    try:
        (out / PLANS).mkdir(parents=True, exist_ok=True)
        durable.replace_file(out / PLANS / PLAN, (json.dumps(content) + "\n").encode())
    except OSError as error:
        raise Refused(f"out must be a directory that can be written, got {out / PLANS} ({error.strerror})") from None


def read_plan(file: Path, out: Path) -> list[PlannedUnit] | None:
    """The units that were noted when the sweep of this very file was started; None where it was not, or has changed."""
    plan = out / PLANS / PLAN
    if not plan.is_file() or not file.is_file():
        return None
    content = read_json(plan, MOST_BYTES)
    if not isinstance(content, dict) or content.get("sha256") != _digest(file):
        return None
    units = content.get("units")
    if not isinstance(units, list) or not all(_is_unit(entry) for entry in units):
        raise Refused(f"{plan} makes no sense: remove it")
    return [PlannedUnit(*entry) for entry in units]


def prepared_units(out: Path) -> dict[PlannedUnit, dict[str, Any]]:
    """The units of the sweep or search in a directory, by the configurations written for them, with these."""
    units = {}
    for file in sorted((out / PLANS).glob("*.json")):
        if file.name == PLAN:
            continue
        try:
            config = read_json(file, MOST_BYTES)
            unit = PlannedUnit(file.stem, config["algorithm"]["name"], config["environment"]["name"])
        except (Refused, KeyError, TypeError):  # it is being written
            unit, config = PlannedUnit(file.stem, "", ""), {}
        units[unit] = config
    return units


def signs_of_life(unit: PlannedUnit, out: Path) -> float | None:
    """When a unit was last tested, or, before that, last seen, in seconds since 1970; None before it has begun."""
    for file in (out / unit.name / "metrics.jsonl", file_of(out / PLANS / f"{unit.name}.log")):
        with suppress(OSError):
            return os.stat(file).st_mtime
    return None


def _is_unit(entry: Any) -> bool:
    """A name is that of a directory beside the plan, not a way out of it."""
    texts = isinstance(entry, list) and len(entry) == 3 and all(isinstance(text, str) for text in entry)
    return texts and entry[0] not in ("", ".", "..") and "/" not in entry[0] and "\0" not in entry[0]


def _digest(file: Path) -> str:
    return hashlib.sha256(read_plain(file, MOST_BYTES, follow=True)).hexdigest()


def write_table(statuses: Sequence[UnitStatus], out: Path) -> Path:
    """A line for every seed of every unit that was tested, in `results.csv`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["run", "algorithm", "environment", "state", "seed", "step", "return"])
    for status in statuses:
        names = (status.name, status.algorithm, status.environment)
        for seed, value in sorted(status.returns.items()):
            table.writerow([*names, status.state, seed, status.step, value])
    durable.replace_file(out / TABLE, text.getvalue().encode())
    return out / TABLE
