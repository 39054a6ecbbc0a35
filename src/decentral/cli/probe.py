"""`decentral probe`: how hard an environment is for policies that need no training."""

from rich.console import Console

from decentral.cli.flags import add_flags, overrides
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_probe
from decentral.environments import ENVIRONMENTS
from decentral.environments.names import environment_class
from decentral.experiments.probe import probe
from decentral.settings import build


def probe_command(words: list[str]) -> None:
    """Play an environment at random and by the policies written for it, and print a table."""
    named = len(words) > 0 and not words[0].startswith("-")
    parser = parser_for("probe", *words[:1] if named else (), usage="decentral probe ENVIRONMENT [--episodes N] ...")
    if not named:
        parser.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {', '.join(ENVIRONMENTS)}")
    parser.add_argument("--episodes", default="128", metavar="N", help="episodes of each policy (default: 128)")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of their chance (default: 0)")
    if not named:
        parser.parse_all(words)
        parser.error("ENVIRONMENT comes first")
    kind = environment_class(words[0])
    add_flags(parser, "environment", kind())
    found = parser.parse_all(words[1:])
    world = build(kind, overrides(found, "environment", kind), "environment")
    episodes = whole("episodes", found.episodes)
    print_probe(Console(), words[0], episodes, probe(world, episodes, whole("seed", found.seed)))
