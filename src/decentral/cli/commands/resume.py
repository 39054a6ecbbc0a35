"""`decentral resume`: a run goes on where it was saved."""

from pathlib import Path

from decentral.api import load, resume
from decentral.api.choices import Saving
from decentral.cli.exits import exit_if_diverged
from decentral.cli.flags import add_flags, add_live_flag, add_naming, add_track_flag, naming, overrides
from decentral.cli.parser import parser_for, whole
from decentral.terminal import say


def resume_command(words: list[str]) -> None:
    """Find the run, go on with it, and show how it goes."""
    parser = parser_for("resume")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a run, finished or not")
    parser.add_argument("--steps", metavar="N", help="train it further than it was to go: environment steps per seed")
    parser.add_argument("--log-messages", metavar="DIR", help="where the messages of an arena are logged, if they are")
    add_live_flag(parser)
    add_track_flag(parser)
    add_flags(parser, "checkpoints", Saving())
    add_naming(parser)
    found = parser.parse_all(words)
    steps = None if found.steps is None else whole("steps", found.steps)
    before = load(found.run).directory.finished_files
    saving = overrides(found, "checkpoints", Saving)
    run = resume(
        found.run,
        steps=steps,
        track=found.track,
        live=found.live,
        checkpoints=saving,
        log_messages=found.log_messages,
        **naming(found),
    )
    if before and run.directory.finished_files == before:
        say(f"{found.run} is finished: nothing to do")
    exit_if_diverged(run)
