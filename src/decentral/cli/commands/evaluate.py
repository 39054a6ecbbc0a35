"""`decentral evaluate`: the returns of a run's trained agents."""

from pathlib import Path

from decentral.api import evaluate
from decentral.api.choices import EPISODES
from decentral.cli.elsewhere import parse_for_run
from decentral.cli.parser import parser_for, whole
from decentral.cli.tables import print_evaluation
from decentral.screen import Screen


def evaluate_command(words: list[str]) -> None:
    """Play with what a run has learned, and print a table."""
    parser = parser_for("evaluate")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument(
        "--episodes", default=str(EPISODES), metavar="N", help=f"episodes per seed (default: {EPISODES})"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the environments (default: 0)")
    args, there = parse_for_run(parser, words)
    episodes, seed = whole("episodes", args.episodes), whole("seed", args.seed)
    print_evaluation(Screen(), evaluate(args.run, episodes=episodes, seed=seed, **there))
