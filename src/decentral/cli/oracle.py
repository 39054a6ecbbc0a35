"""`decentral oracle`: what is known exactly of predator-prey."""

from decentral.cli.numbers import number
from decentral.cli.parser import parser_for
from decentral.configs.presets import PENALTIES
from decentral.environments.registry import PredatorPrey
from decentral.runs.caches import keep_compiled_programs
from decentral.settings import build
from decentral.terminal import say


def oracle_command(words: list[str]) -> None:
    """Print a line per penalty."""
    parser = parser_for("oracle")
    parser.add_argument("--penalty", metavar="P", nargs="+", default=PENALTIES, help="default: the paper's four")
    found = parser.parse_all(words)
    keep_compiled_programs()
    say("penalty  optimal  random")
    for penalty in found.penalty:
        hunt = build(PredatorPrey, {"penalty": number("penalty", penalty)}, "environment")
        known = hunt.references()
        say(f"{hunt.penalty:7g}  {known['optimal']:7.2f}  {known['random']:6.2f}")
