"""`decentral check-env`: what is right and what is wrong with an environment, in plain words."""

from rich.console import Console

from decentral.cli.flags import add_flags, overrides
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_findings
from decentral.environments import ENVIRONMENTS
from decentral.environments.names import FORMS, environment_class
from decentral.experiments.examination import examine
from decentral.settings import build


def check_env_command(words: list[str]) -> None:
    """Examine an environment and print what was found; exit with 1 where something is wrong."""
    named = len(words) > 0 and not words[0].startswith("-")
    usage = "decentral check-env ENVIRONMENT [--episodes N] [--environment.X ...]"
    parser = parser_for("check-env", *words[:1] if named else (), usage=usage)
    if not named:
        every = ", ".join([*ENVIRONMENTS, *FORMS])
        parser.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {every}")
    parser.add_argument("--episodes", default="8", metavar="N", help="random episodes to play (default: 8)")
    parser.add_argument("--seed", default="0", metavar="N", help="the first episode's seed (default: 0)")
    if not named:
        parser.parse_all(words)
        parser.error("ENVIRONMENT comes first")
    kind = environment_class(words[0])
    add_flags(parser, "environment", kind())
    found = parser.parse_all(words[1:])
    world = build(kind, overrides(found, "environment", kind), "environment")
    findings = examine(world, whole("episodes", found.episodes), whole("seed", found.seed))
    print_findings(Console(), words[0], world, findings)
    if any(finding.verdict == "wrong" for finding in findings):
        raise SystemExit(1)
