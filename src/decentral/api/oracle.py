"""What is known exactly of predator-prey."""

from collections.abc import Sequence
from dataclasses import dataclass

from decentral.api.places import several
from decentral.configs.presets import PENALTIES
from decentral.environments.registry import PredatorPrey
from decentral.runs.caches import keep_compiled_programs
from decentral.settings import build


@dataclass(frozen=True)
class ExactReturns:
    """The returns of the best joint policy and of uniformly random play, at one penalty."""

    penalty: float
    optimal: float
    random: float


def oracle(*, penalty: float | Sequence[float] = PENALTIES) -> list[ExactReturns]:
    """Solve predator-prey at one penalty or at several, the paper's four unless told otherwise."""
    keep_compiled_programs()
    return [_solved(one) for one in several(penalty)]


def _solved(penalty: float) -> ExactReturns:
    hunt = build(PredatorPrey, {"penalty": penalty}, "environment")
    known = hunt.references()
    return ExactReturns(hunt.penalty, known["optimal"], known["random"])
