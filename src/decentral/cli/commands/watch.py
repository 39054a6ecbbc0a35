"""`decentral watch`: an episode of a run's trained agents, to look at."""

from pathlib import Path

from decentral.api import evaluate, watch
from decentral.api.choices import EPISODES
from decentral.cli.elsewhere import parse_for_run
from decentral.cli.parser import parser_for, whole
from decentral.cli.tables import print_episodes
from decentral.screen import Screen
from decentral.terminal import say


def watch_command(words: list[str]) -> None:
    """Film an episode and say where it was written, or list the episodes."""
    parser = parser_for("watch")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument("beside", metavar="RUN", type=Path, nargs="?", help="a second one, shown beside it")
    parser.add_argument("--seed", metavar="N", help="a seed of the run (default: its first)")
    parser.add_argument(
        "--episode", default="0", metavar="N", help=f"which of the {EPISODES} episodes of evaluate (default: 0)"
    )
    parser.add_argument("--list", action="store_true", help="print the returns of all these episodes instead")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="where page and GIF go (default: RUN/watch; for two runs, or other settings, new under runs)",
    )
    args, there = parse_for_run(parser, words)
    if args.list:
        for run in filter(None, (args.run, args.beside)):
            print_episodes(Screen(), str(run), evaluate(run, **there))
        return
    seed, episode = None if args.seed is None else whole("seed", args.seed), whole("episode", args.episode)
    shown = watch(args.run, args.beside, seed=seed, episode=episode, out=args.out, **there)
    say(f"written to {shown.page} and {shown.gif.name}")
