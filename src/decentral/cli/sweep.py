"""`decentral sweep`: every combination of listed settings, in as few programs as their shapes allow."""

from typing import Any

from decentral.api import sweep
from decentral.cli.flags import add_flags, add_flags_of_several, listed_overrides
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_sweep, wide_console
from decentral.environments import ENVIRONMENTS
from decentral.experiments.comparison import resolve_all
from decentral.experiments.members import EVERY_ALGORITHM
from decentral.settings import Refused
from decentral.training.plan import Plan

USAGE = "decentral sweep ALGORITHM,... ENVIRONMENT [--SETTING VALUE,...] [--seeds N] [--steps N] [--out DIR]"
EPILOG = (
    "Every setting takes one value or several with commas, such as --penalty 0,0.3 --learning-rate 0.0005,0.001; "
    "write --cooling=-0.1,-0.01 where the first begins with a minus."
)


def sweep_command(words: list[str]) -> None:
    """Train the grid that the flags span, and print a line for every run."""
    _check_beginning(words)
    names, environment = words[0].split(","), words[1]
    configs = resolve_all(names, environment)
    parser = parser_for("sweep", *words[:2], usage=USAGE, epilog=EPILOG)
    parser.add_argument("--out", metavar="DIR", help="where the runs go (default: a new directory under runs)")
    parser.add_argument("--tensorboard", action="store_true", help="write TensorBoard event files too")
    learners = {config.algorithm_name: config.members[0].algorithm for config in configs}
    add_flags_of_several(parser, "algorithm", learners, bare=True)
    add_flags(parser, "environment", configs[0].trainee.environment, bare=True)
    add_flags(parser, "training", configs[0].trainee.plan, bare=True)
    found = parser.parse_all(words[2:])
    if found.out == "":
        raise Refused("out must be a directory, got ''")
    algorithm: dict[str, Any] = {}
    for name in names:
        algorithm |= listed_overrides(found, "algorithm", EVERY_ALGORITHM[name])
    swept = sweep(
        names,
        environment,
        algorithm=algorithm,
        environment=listed_overrides(found, "environment", ENVIRONMENTS[environment]),
        training=listed_overrides(found, "training", Plan),
        out=found.out,
        tensorboard=found.tensorboard,
    )
    console = wide_console()
    print_sweep(console, swept)
    console.print(f"written to {swept.path}", highlight=False, soft_wrap=True)


def _check_beginning(words: list[str]) -> None:
    """Explain the command where the words that must come first do not."""
    if len(words) >= 2 and not any(word.startswith("-") for word in words[:2]):
        return
    general = parser_for("sweep", usage=USAGE)
    general.add_argument("algorithms", metavar="ALGORITHM,...", help=f"one or several of {', '.join(EVERY_ALGORITHM)}")
    general.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {', '.join(ENVIRONMENTS)}")
    general.epilog = f"{EPILOG} decentral sweep ALGORITHM,... ENVIRONMENT --help lists all settings."
    if {"-h", "--help"} & set(words):
        general.parse_all(["--help"])
    general.error("ALGORITHM,... and ENVIRONMENT come first")
