"""What is known exactly of predator-prey."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from decentral.api.places import several
from decentral.configs.presets import PENALTIES
from decentral.environments.predator_prey.environment import LARGEST_SOLVED_GRID
from decentral.environments.registry import PredatorPrey
from decentral.errors import Refused
from decentral.runs.caches import keep_compiled_programs
from decentral.settings import build


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

    `environment` holds other settings of it, such as its size.
    """
    keep_compiled_programs()
    return [_solved({**(environment or {}), "penalty": one}) for one in several(penalty)]


def _solved(settings: dict[str, Any]) -> ExactReturns:
    hunt = build(PredatorPrey, settings, "environment")
    known = hunt.references()
    if not known:
        raise Refused(
            f"environment must have 2 predators and at most {LARGEST_SOLVED_GRID} x {LARGEST_SOLVED_GRID} cells to be "
            f"solved, got num_predators {hunt.num_predators} and size {hunt.size}"
        )
    return ExactReturns(hunt.penalty, known["optimal"], known["random"])
