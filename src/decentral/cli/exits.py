"""How a command ends that has trained runs of which not all seeds are sound."""

from decentral.api import Run

DIVERGED = 3  # the exit code of a run that finished, but not all seeds are sound


def exit_if_diverged(*runs: Run) -> None:
    """End with a code of its own where seeds of finished runs diverged; which ones was said already."""
    if any(run.diverged for run in runs):
        raise SystemExit(DIVERGED)
