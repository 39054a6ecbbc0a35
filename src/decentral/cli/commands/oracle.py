"""`decentral oracle`: what is known exactly of predator-prey."""

from decentral.api.arguments import environment_of
from decentral.api.choices import PENALTIES
from decentral.api.oracle import solutions
from decentral.cli.flags import add_flags, overrides
from decentral.cli.parser import number, parser_for
from decentral.terminal import say


def oracle_command(words: list[str]) -> None:
    """Say what is solved, then print a line per penalty, each as soon as it is there."""
    parser = parser_for("oracle", usage="decentral oracle [--penalty P [P ...]] [--environment.X ...]")
    parser.add_argument("--penalty", metavar="P", nargs="+", default=PENALTIES, help="default: the paper's four")
    _, hunt = environment_of("predator-prey", {})
    add_flags(parser, "environment", hunt)
    args = parser.parse_all(words)
    settings = overrides(args, "environment", type(hunt))
    penalties = [settings.pop("penalty")] if "penalty" in settings else args.penalty
    heading = "penalty  optimal  random"
    for known in solutions([number("penalty", penalty) for penalty in penalties], settings, say):
        if heading:
            say(heading)
        heading = ""
        say(f"{known.penalty:7g}  {known.optimal:7.2f}  {known.random:6.2f}")
