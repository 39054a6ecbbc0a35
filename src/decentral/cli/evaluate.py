"""`decentral evaluate`: the returns of a run's trained agents."""

from pathlib import Path

from decentral.api import load
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_evaluation
from decentral.runs.trained import EPISODES, Trained
from decentral.screen import Screen


def evaluate_command(words: list[str]) -> None:
    """Play with what a run has learned, and print a table."""
    parser = parser_for("evaluate")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument(
        "--episodes", default=str(EPISODES), metavar="N", help=f"episodes per seed (default: {EPISODES})"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the environments they meet (default: 0)")
    add_naming(parser)
    found = parser.parse_all(words)
    take_name(found)
    run = load(found.run)
    trained = Trained.load(run.directory)
    scores = trained.score(whole("episodes", found.episodes), whole("seed", found.seed))
    print_evaluation(Screen(), trained.seeds, scores, run.curves.references)
