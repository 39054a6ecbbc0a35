"""Worlds, by name. Each is a frozen module of settings with `reset`, `perceive` and `step`."""

from decentral.environments.base import Environment
from decentral.environments.battles import BATTLES
from decentral.environments.matrix_game import MatrixGame
from decentral.environments.predator_prey import PredatorPrey
from decentral.environments.switching_wind import SwitchingWind

ENVIRONMENTS: dict[str, type[Environment]] = {
    "matrix-game": MatrixGame,
    "predator-prey": PredatorPrey,
    "switching-wind": SwitchingWind,
    **BATTLES,
}
