"""What is known exactly of predator-prey."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from decentral.api.places import several
from decentral.configs.presets import PENALTIES
from decentral.environments.predator_prey.solver import (
    BYTES_OF_AN_OUTCOME,
    MOVES,
    hunt_returns,
    num_outcomes,
    num_states,
)
from decentral.environments.registry import PredatorPrey
from decentral.errors import Refused
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.memory import in_words
from decentral.settings import build

MOST_OUTCOMES = 200_000_000  # ten minutes and 7 GB for each penalty
SECONDS_BETWEEN_LINES = 10.0

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ExactReturns:
    """The returns of the best joint policy and of uniformly random play, at one penalty."""

    penalty: float
    optimal: float
    random: float


def oracle(
    *, penalty: float | Sequence[float] = PENALTIES, environment: dict[str, Any] | None = None
) -> list[ExactReturns]:
    """Solve predator-prey at one penalty or at several, the paper's four unless told otherwise.

    `environment` holds other settings of it, such as its size. A large one takes long: ten minutes and 7 GB for three
    predators on 5 x 5 cells.
    """
    return [*solutions(several(penalty), environment or {}, lambda line: None)]


def solutions(penalties: Sequence[float], environment: dict[str, Any], tell: Tell) -> Iterator[ExactReturns]:
    """Each as soon as it is there; `tell` is told what is solved before it is, and how far long solutions are."""
    hunts = [_solvable({**environment, "penalty": penalty}) for penalty in penalties]
    if hunts:
        tell(_size_in_words(hunts))
    keep_compiled_programs()
    for hunt in hunts:
        known = hunt_returns(hunt, _Progress(hunt, tell))
        yield ExactReturns(hunt.penalty, known["optimal"], known["random"])


def _solvable(settings: dict[str, Any]) -> PredatorPrey:
    hunt = build(PredatorPrey, settings, "environment")
    outcomes = num_outcomes(hunt.size, hunt.num_predators)
    if outcomes > MOST_OUTCOMES:
        raise Refused(
            f"environment must have at most {MOST_OUTCOMES:,} outcomes to be solved (two predators on 10 x 10 cells, "
            f"three on 5 x 5), got {outcomes:.2g}: num_predators {hunt.num_predators} and size {hunt.size}"
        )
    return hunt


def _size_in_words(hunts: Sequence[PredatorPrey]) -> str:
    """One line for all, which differ in their penalties alone."""
    size, predators = hunts[0].size, hunts[0].num_predators
    penalties = ", ".join(f"{hunt.penalty:g}" for hunt in hunts)
    outcomes = num_outcomes(size, predators)
    return (
        f"solving {predators} predators on {size} x {size} cells at P = {penalties}: "
        f"{num_states(size, predators):,} states, {MOVES**predators:,} joint actions, {outcomes:,} outcomes"
        f"{' each' if len(hunts) > 1 else ''}; some {in_words(BYTES_OF_AN_OUTCOME * outcomes)} of memory"
    )


class _Progress:
    """Tells how far a solution is, if it takes long."""

    def __init__(self, hunt: PredatorPrey, tell: Tell):
        self.hunt, self.tell = hunt, tell
        self.first: tuple[int, float] | None = None  # steps that were solved first, compiling included, and when
        self.last = time.monotonic()

    def __call__(self, solved: int) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = solved, now
        elif solved < self.hunt.length and now - self.last >= SECONDS_BETWEEN_LINES:
            steps, then = self.first
            left = (self.hunt.length - solved) * (now - then) / (solved - steps)
            self.last = now
            done = f"{solved} of {self.hunt.length} steps solved"
            self.tell(f"P = {self.hunt.penalty:g}: {done}, {timedelta(seconds=round(left))} left")
