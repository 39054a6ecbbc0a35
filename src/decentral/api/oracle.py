"""What is known exactly of predator-prey."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from decentral.api.places import several
from decentral.configs.presets import PENALTIES
from decentral.environments.predator_prey.solver import hunt_returns, num_outcomes
from decentral.environments.registry import PredatorPrey
from decentral.errors import Refused
from decentral.runs.caches import keep_compiled_programs
from decentral.settings import build

MOST_OUTCOMES = 200_000_000  # ten minutes and 7 GB for each penalty


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
    keep_compiled_programs()
    return [_solved({**(environment or {}), "penalty": one}) for one in several(penalty)]


def _solved(settings: dict[str, Any]) -> ExactReturns:
    hunt = build(PredatorPrey, settings, "environment")
    outcomes = num_outcomes(hunt.size, hunt.num_predators)
    if outcomes > MOST_OUTCOMES:
        raise Refused(
            f"environment must have at most {MOST_OUTCOMES:,} outcomes to be solved (two predators on 10 x 10 cells, "
            f"three on 5 x 5), got {outcomes:.2g}: num_predators {hunt.num_predators} and size {hunt.size}"
        )
    known = hunt_returns(hunt)
    return ExactReturns(hunt.penalty, known["optimal"], known["random"])
