"""`decentral list`: all names that the other commands take."""

from decentral.api import listing
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_names
from decentral.screen import Screen


def list_command(words: list[str]) -> None:
    """Print every name with a line about it."""
    parser_for("list").parse_all(words)
    console, known = Screen(), listing()
    print_names(console, "algorithms, fully decentralised", known.algorithms)
    print_names(console, "references, not decentralised (they train on all agents' data)", known.references)
    print_names(console, "shared parameters, not decentralised", known.sharing)
    print_names(console, "algorithms of your own", known.own_algorithms)
    print_names(console, "environments", known.environments)
    print_names(console, "environments from elsewhere", known.environments_from_elsewhere)
