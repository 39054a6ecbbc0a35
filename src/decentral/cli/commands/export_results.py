"""`decentral export-results`: the tests of runs, for the tools of marl-eval."""

from pathlib import Path

from decentral.api import export_results
from decentral.cli.parser import parser_for
from decentral.terminal import say


def export_results_command(words: list[str]) -> None:
    """Write the file and say where it lies."""
    parser = parser_for("export-results")
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="directories of runs")
    parser.add_argument(
        "--label", metavar="TEXT", action="append", help="the algorithm's name for a RUN, once for each, in their order"
    )
    parser.add_argument("--out", metavar="FILE", default="marl-eval.json", help="JSON file (default: marl-eval.json)")
    args = parser.parse_all(words)
    say(f"written to {export_results(args.runs, label=args.label, out=args.out)}")
