"""`decentral resume`: resume a run from its last checkpoint."""

from pathlib import Path

from decentral.api import load, resume
from decentral.api.choices import Saving
from decentral.cli.exits import exit_if_diverged
from decentral.cli.flags import add_flags, add_live_flag, add_track_flag, overrides
from decentral.cli.parser import parser_for, whole
from decentral.cli.plain_flags import add_naming, naming
from decentral.terminal import say


def resume_command(words: list[str]) -> None:
    """Find the run, resume it, and show its progress."""
    parser = parser_for("resume")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a run, finished or not")
    parser.add_argument("--steps", metavar="N", help="train further than planned: environment steps per seed")
    parser.add_argument("--log-messages", metavar="DIR", help="where the messages of an arena are logged, if they are")
    add_live_flag(parser)
    add_track_flag(parser)
    add_flags(parser, "checkpoints", Saving())
    add_naming(parser)
    args = parser.parse_all(words)
    steps = None if args.steps is None else whole("steps", args.steps)
    before = load(args.run).directory.finished_files
    saving = overrides(args, "checkpoints", Saving)
    run = resume(
        args.run,
        steps=steps,
        track=args.track,
        live=args.live,
        checkpoints=saving,
        log_messages=args.log_messages,
        **naming(args),
    )
    if before and run.directory.finished_files == before:
        say(f"{args.run} is finished: nothing to do")
    exit_if_diverged(run)
