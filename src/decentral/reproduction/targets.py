"""All targets, by name. To add one: a file with a `Target`, and a line here."""

from decentral.reproduction.ablation import Ablation
from decentral.reproduction.appendix_a import AppendixA
from decentral.reproduction.controls import Controls
from decentral.reproduction.extensions import Extensions
from decentral.reproduction.matrix_game import MatrixGameCurves
from decentral.reproduction.predator_prey import PredatorPreyCurves
from decentral.reproduction.reading_results import ReadingsComparison
from decentral.reproduction.smac import SmacCurves
from decentral.reproduction.switching_wind import SwitchingWindContexts
from decentral.reproduction.table_1 import TableOne
from decentral.reproduction.target import Target
from decentral.settings import Refused

TARGETS: dict[str, Target] = {
    "table-1": TableOne(),
    "switching-wind": SwitchingWindContexts(),
    "matrix-game": MatrixGameCurves(),
    "predator-prey": PredatorPreyCurves(),
    "smac": SmacCurves(),
    "ablation": Ablation(),
    "controls": Controls(),
    "extensions": Extensions(),
    "readings": ReadingsComparison(),
    "appendix-a": AppendixA(),
}


def target_of(name: str) -> Target:
    """The target of a name."""
    if name not in TARGETS:
        raise Refused(f"unknown target {name!r}: choose one of {', '.join(TARGETS)}")
    return TARGETS[name]
