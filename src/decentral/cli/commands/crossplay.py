"""`decentral crossplay`: agents who never met play together."""

from decentral.api import crossplay
from decentral.cli.parser import parser_for, whole
from decentral.cli.plain_flags import add_naming, naming
from decentral.cli.tables import print_crossplay
from decentral.screen import Screen


def crossplay_command(words: list[str]) -> None:
    """Let the runs' agents meet, print the matrix, and say where it was written."""
    parser = parser_for("crossplay")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="directories of finished runs on one environment")
    parser.add_argument("--episodes", default="32", metavar="N", help="episodes per pair of teams (default: 32)")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the environments (default: 0)")
    parser.add_argument(
        "--out", metavar="DIR", help="where crossplay.json and crossplay.png go (default: new, under runs)"
    )
    add_naming(parser)
    args = parser.parse_all(words)
    episodes, seed = whole("episodes", args.episodes), whole("seed", args.seed)
    met = crossplay(args.runs, episodes=episodes, seed=seed, out=args.out, **naming(args))
    console = Screen()
    print_crossplay(console, met)
    console.say(f"written to {met.data} and {met.plot.name}")
