"""`decentral check-battles`: the simulated battles beside recorded ones, and recordings to compare with."""

from pathlib import Path
from typing import Any

from rich.table import Table

from decentral.cli.flags import add_flags, overrides
from decentral.cli.numbers import number, whole
from decentral.cli.parser import parser_for
from decentral.cli.tables import wide_console
from decentral.environments.adapters.smac import PREFIX
from decentral.environments.battles import BATTLES
from decentral.environments.battles.battle import Battle
from decentral.errors import Refused
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import check_environments
from decentral.screen import Screen
from decentral.settings import build
from decentral.terminal import say
from decentral.verification.battle_check import (
    Check,
    GameRecording,
    check_new,
    episodes_of,
    read_recording,
    record,
    speaks_for,
    variants,
    write_recording,
)


def check_battles_command(words: list[str]) -> None:
    """Compare the simulator with a recording, or make one."""
    parser = parser_for("check-battles")
    parser.add_argument("file", metavar="FILE", type=Path, help="a recording (docs/environments/battles.md)")
    parser.add_argument("--episodes", default="256", metavar="N", help="episodes of it, at the most (default: 256)")
    parser.add_argument("--variants", action="store_true", help="try every other value of the settings that are open")
    parser.add_argument("--record", metavar="MAP", help=f"make FILE: play MAP, or {PREFIX}MAP in the game, by script")
    parser.add_argument(
        "--random", default="0.3", metavar="X", help="share of random actions of --record (default: 0.3)"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="seed of all chance (default: 0)")
    add_flags(parser, "environment", BATTLES["3m"]())
    found = parser.parse_all(words)
    episodes, seed = whole("episodes", found.episodes), whole("seed", found.seed)
    check_environments(episodes, seed)
    settings = overrides(found, "environment", Battle)
    keep_compiled_programs()
    if found.record is not None:
        check_new(found.file)
        made = record(found.record, settings, episodes, _share(found.random), seed)
        write_recording(found.file, made)
        say(f"{found.file}: {made.last.sum()} episodes, {len(made.last):,} steps")
        return
    recording = read_recording(found.file)
    environment = build(BATTLES[recording.map_name], settings, "environment")
    print_check(
        wide_console(),
        recording,
        Check(environment, episodes_of(environment, recording, episodes), seed),
        found.variants,
    )


def print_check(console: Screen, recording: GameRecording, check: Check, variants: bool) -> None:
    """Everything that was found, in tables."""
    console.say(f"{recording.map_name}, recorded by {recording.origin}: {check.summary()}")
    errors, more = check.steps()
    table = _table("what was read off", "what", "recorded", "ours", "verdict")
    for reading in (*check.readings(), *more):
        table.add_row(reading.what, reading.recorded, reading.ours, reading.verdict)
    console.print(table)
    table = _table(
        "one step from every recorded state: mean error per unit", "what", "ours", "chance", "nothing changes"
    )
    for error in errors:
        table.add_row(error.what, *(f"{value:.4f}" for value in (error.ours, error.chance, error.still)))
    console.print(table)
    if variants:
        print_trials(console, check)


def print_trials(console: Screen, check: Check) -> None:
    """How well other settings fit, and which ones the recording speaks for."""
    table = _table("other settings, one at a time: error, where nothing changes has 1", "setting", "error", "more", "")
    trials = list(check.trials())
    table.add_row(trials[0].setting, f"{trials[0].error:.4f}")
    for trial in trials[1:]:
        more = f"{trial.worse:+.4f} ± {trial.uncertainty:.4f}"
        table.add_row(f"{trial.setting} {_plain(trial.value)}", f"{trial.error:.4f}", more, trial.verdict)
    console.print(table)
    fitting = speaks_for(check.environment, trials)
    told = [
        f"{name} {' or '.join(map(_plain, values))}"
        for name, values in fitting.items()
        if _decided(check, name, values)
    ]
    open_still = [name for name, values in fitting.items() if not _decided(check, name, values)]
    console.say(
        f"the recording speaks for: {', '.join(told) or 'nothing'}; it can't tell: {', '.join(open_still) or 'nothing'}"
    )


def _decided(check: Check, name: str, values: list[Any]) -> bool:
    """Is any value of a setting ruled out?"""
    return len(values) < 1 + sum(tried == name for tried, _ in variants(check.environment))


def _plain(value: Any) -> str:
    return str(value).lower()


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _share(text: str) -> float:
    share = number("random", text)
    if not 0 <= share <= 1:
        raise Refused(f"random must be a number from 0 to 1, got {text}")
    return share
