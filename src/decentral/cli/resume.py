"""`decentral resume`: a run goes on where it was saved."""

from pathlib import Path

from decentral.api import Run, load, resume
from decentral.cli.flags import add_flags, add_live_flag, add_track_flag, overrides
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.runs.checkpointing.schedule import Saving
from decentral.terminal import say

DIVERGED = 3  # the exit code of a run that finished, but not all seeds are sound


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
    take_name(found)
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
    )
    if before and run.directory.finished_files == before:
        say(f"{found.run} is finished: nothing to do")
    exit_if_diverged(run)


def exit_if_diverged(*runs: Run) -> None:
    """End with a code of its own where seeds of finished runs diverged; which ones was said already."""
    if any(run.diverged for run in runs):
        raise SystemExit(DIVERGED)
