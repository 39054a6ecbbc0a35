"""The exit code of a command whose runs have diverged seeds."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decentral.api import Run

DIVERGED = 3  # the exit code of a run that finished, but not all seeds are sound


def exit_if_diverged(*runs: "Run") -> None:
    """Exit with a special code if seeds of finished runs diverged; which ones was printed before."""
    if any(run.diverged for run in runs):
        raise SystemExit(DIVERGED)
