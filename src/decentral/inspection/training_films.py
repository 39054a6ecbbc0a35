"""Episodes of a team that is still learning, filmed now and then in a host environment that renders."""

import time
from contextlib import suppress
from typing import Any

from decentral.environments.host.interface import HostEnvironment
from decentral.errors import Failed, Refused
from decentral.inspection.learned_summary import timeline
from decentral.runs.host import rollout_for
from decentral.runs.trained import Trained
from decentral.training.host.rollout import HostRollout
from decentral.training.setup import TrainingSetup

MOST_TIME = 0.05  # the share of the time since training began that films may take


class TrainingFilms:
    """The latest episode of a run in training, on a stage of its own, which stays open until the end.

    It is one more instance of the environment, in this process: closing it early could take from the others what they
    share, such as a display.
    """

    def __init__(self) -> None:
        self.summary: dict[str, Any] = {}  # `timeline`, or in `missing` why there is none
        self._rollout: HostRollout | None = None
        self._begun, self._spent = time.perf_counter(), 0.0

    def look(self, step: int, trained: Trained) -> None:
        """Film an episode after so many steps of training, unless films have taken too much of the time already."""
        begun = time.perf_counter()
        setup = trained.config.setup
        if self._spent > MOST_TIME * (begun - self._begun) or "missing" in self.summary or not _can_be_filmed(setup):
            return
        try:
            self._rollout = self._rollout or rollout_for(setup, filming=True)
            self.summary = {"timeline": timeline(trained, self._rollout, f", after {step:,} steps")}
        except (Refused, Failed) as trouble:  # the training itself may well go on
            self.summary = {"missing": [f"No episode could be played for the timeline: {trouble}."]}
            self.close()
        self._spent += time.perf_counter() - begun

    def close(self) -> None:
        """Close the environment."""
        if self._rollout is not None:
            with suppress(Refused, Failed):
                self._rollout.close()
            self._rollout = None


def _can_be_filmed(setup: TrainingSetup) -> bool:
    return isinstance(setup.environment, HostEnvironment) and setup.environment.time_limit > 1
