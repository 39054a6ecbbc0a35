"""`decentral check-battles`: the simulated battles beside recorded ones, and recordings to compare with."""

from pathlib import Path
from typing import Any

from rich.table import Table

from decentral.api import BattleCheck, check_battles, record_battles
from decentral.api.choices import BATTLES, SMAC_PREFIX
from decentral.cli.flags import add_flags, overrides
from decentral.cli.parser import number, parser_for, whole
from decentral.cli.tables import wide_console
from decentral.screen import Screen
from decentral.terminal import say


def check_battles_command(words: list[str]) -> None:
    """Compare the simulator with a recording, or make one."""
    parser = parser_for("check-battles")
    parser.add_argument("file", metavar="FILE", type=Path, help="a recording (docs/environments/battles.md)")
    parser.add_argument("--episodes", default="256", metavar="N", help="episodes of it, at the most (default: 256)")
    parser.add_argument("--variants", action="store_true", help="try every other value of the settings that are open")
    parser.add_argument(
        "--record", metavar="MAP", help=f"make FILE: play MAP, or {SMAC_PREFIX}MAP in the game, by script"
    )
    parser.add_argument(
        "--random", default="0.3", metavar="X", help="share of random actions of --record (default: 0.3)"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="seed of all random numbers (default: 0)")
    add_flags(parser, "environment", BATTLES["3m"]())
    args = parser.parse_all(words)
    options: dict[str, Any] = {
        "episodes": whole("episodes", args.episodes),
        "seed": whole("seed", args.seed),
        "environment": overrides(args, "environment", BATTLES["3m"]),
    }
    if args.record is not None:
        made = record_battles(args.file, args.record, random=number("random", args.random), **options)
        say(f"{args.file}: {made.last.sum()} episodes, {len(made.last):,} steps")
        return
    print_check(wide_console(), check_battles(args.file, variants=args.variants, **options))


def print_check(console: Screen, check: BattleCheck) -> None:
    """Everything that was found, in tables."""
    console.say(f"{check.map_name}, recorded by {check.origin}: {check.summary}")
    table = _table("what was read off", "what", "recorded", "ours", "verdict")
    for reading in check.readings:
        table.add_row(reading.what, reading.recorded, reading.ours, reading.verdict)
    console.print(table)
    table = _table(
        "one step from every recorded state: mean error per unit", "what", "ours", "chance", "nothing changes"
    )
    for error in check.errors:
        table.add_row(error.what, *(f"{value:.4f}" for value in (error.ours, error.chance, error.still)))
    console.print(table)
    if check.trials:
        print_trials(console, check)


def print_trials(console: Screen, check: BattleCheck) -> None:
    """How well other settings fit, and which ones the recording speaks for."""
    table = _table("other settings, one at a time: error, where nothing changes has 1", "setting", "error", "more", "")
    table.add_row(check.trials[0].setting, f"{check.trials[0].error:.4f}")
    for trial in check.trials[1:]:
        more = f"{trial.worse:+.4f} ± {trial.uncertainty:.4f}"
        table.add_row(f"{trial.setting} {_plain(trial.value)}", f"{trial.error:.4f}", more, trial.verdict)
    console.print(table)
    decided = ", ".join(f"{name} {' or '.join(map(_plain, values))}" for name, values in check.spoken_for.items())
    undecided = ", ".join(check.undecided)
    console.say(f"the recording fits: {decided or 'nothing'}; undecided: {undecided or 'nothing'}")


def _plain(value: Any) -> str:
    return str(value).lower()


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
