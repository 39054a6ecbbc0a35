"""`decentral oracle`: what is known exactly of predator-prey."""

from decentral.api import oracle
from decentral.api.choices import PENALTIES
from decentral.cli.parser import number, parser_for
from decentral.terminal import say


def oracle_command(words: list[str]) -> None:
    """Print a line per penalty, each as soon as it is solved."""
    parser = parser_for("oracle")
    parser.add_argument("--penalty", metavar="P", nargs="+", default=PENALTIES, help="default: the paper's four")
    args = parser.parse_all(words)
    say("penalty  optimal  random")
    for penalty in args.penalty:
        [known] = oracle(penalty=number("penalty", penalty))
        say(f"{known.penalty:7g}  {known.optimal:7.2f}  {known.random:6.2f}")
