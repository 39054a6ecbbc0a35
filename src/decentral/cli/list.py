"""`decentral list`: all names that the other commands take."""

from decentral.algorithms import ALGORITHMS
from decentral.centralised import CENTRALISED
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_forms, print_names
from decentral.configs.registry import FORMS as ALGORITHM_FORMS
from decentral.environments.registry import ENVIRONMENTS, FORMS
from decentral.screen import Screen

SHARING = {
    "--training.sharing true": "one network for all agents, as in PyMARL: with every gradient method, vdn and qmix"
}


def list_command(words: list[str]) -> None:
    """Print every name with a line about it."""
    parser_for("list").parse_all(words)
    console = Screen()
    print_names(console, "algorithms, fully decentralised", ALGORITHMS)
    print_names(console, "references, not decentralised (they train on all agents' data)", CENTRALISED)
    print_forms(console, "shared parameters, not decentralised", SHARING)
    print_forms(console, "algorithms of your own", ALGORITHM_FORMS)
    print_names(console, "environments", ENVIRONMENTS)
    print_forms(console, "environments from elsewhere", FORMS)
