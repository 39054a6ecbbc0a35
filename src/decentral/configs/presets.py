"""The paper's hyper-parameter table (Appendix D.3), as data, and how often each task is tested.

Rows common to all tasks (beta, N_max, N_batch, RMSprop, alpha, gamma, epsilon) are the defaults of the settings.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from decentral.environments.adapters.smac import PREFIX as SMAC
from decentral.environments.base import BaseEnvironment
from decentral.environments.battles import Battle
from decentral.environments.registry import MatrixGame, PredatorPrey


@dataclass(frozen=True)
class PresetRow:
    """One task's row of the table."""

    window: int  # k
    contexts: int  # m
    epsilon_steps: int  # T_epsilon
    steps: int  # T_max
    head: str
    test_interval: int  # not in the paper; SMAC's is PyMARL's


def hunt(window: int, contexts: int) -> PresetRow:
    """A row of predator-prey."""
    return PresetRow(window, contexts, 1_500_000, 3_050_000, "hyper-net", test_interval=10_000)


def battle(window: int, contexts: int) -> PresetRow:
    """A row of SMAC."""
    return PresetRow(window, contexts, 50_000, 2_050_000, "normal-net", test_interval=10_000)


TABLE = {
    "matrix-game": PresetRow(1, 4, 50_000, 50_000, "hyper-net", test_interval=1000),
    "predator-prey P=0.0": hunt(10, 10),
    "predator-prey P=0.3": hunt(10, 10),
    "predator-prey P=0.5": hunt(10, 10),
    "predator-prey P=1.0": hunt(5, 10),
    "2s_vs_1sc": battle(10, 10),
    "3s5z": battle(10, 5),
    "3s_vs_4z": battle(15, 20),
    "3s_vs_5z": battle(15, 20),
    "5m_vs_6m": battle(15, 20),
    "8m_vs_9m": battle(5, 10),
    "10m_vs_11m": battle(15, 10),
}
ANY_BATTLE = battle(10, 10)  # on maps that the paper does not have

PENALTIES = (0.0, 0.3, 0.5, 1.0)  # P, of predator-prey


def row_of(name: str, environment: BaseEnvironment) -> PresetRow | None:
    """The table's row for a task, also for a world of a user's that is made from one of these by inheritance.

    A penalty between two of the paper's gets the row of the lower one.
    """
    if isinstance(environment, PredatorPrey):
        below = max(penalty for penalty in PENALTIES if penalty <= environment.penalty)
        return TABLE[f"predator-prey P={below:.1f}"]
    if isinstance(environment, MatrixGame):
        return TABLE["matrix-game"]
    other = ANY_BATTLE if isinstance(environment, Battle) or name.startswith(SMAC) else None
    return TABLE.get(name.removeprefix(SMAC), other)


def training_preset(name: str, environment: BaseEnvironment) -> dict[str, Any]:
    """How the paper trains on a task; all algorithms share it."""
    row = row_of(name, environment)
    if row is None:
        return {}
    return {"epsilon_steps": row.epsilon_steps, "steps": row.steps, "test_interval": row.test_interval}


def preset(algorithm: str, name: str, environment: BaseEnvironment) -> dict[str, Any]:
    """The settings of an algorithm on a task: the papers' where they give them, else ours, explained in its page."""
    row = row_of(name, environment)
    if algorithm == "dac" and row is not None:
        return {"window": row.window, "contexts": row.contexts, "head": row.head}
    if isinstance(environment, MatrixGame):
        return _matrix_preset(environment).get(algorithm, {})
    if isinstance(environment, PredatorPrey):
        return _hunt_preset(environment).get(algorithm, {})
    return {}


def _matrix_preset(game: MatrixGame) -> dict[str, dict[str, Any]]:
    least, most = float(np.min(game.payoff)), float(np.max(game.payoff))
    return {
        "hysteretic": {"negative_weight": 0.01},  # Appendix D.3
        "rac": {"contexts": 4, "kl_weight": 10.0, "return_low": least, "return_high": max(most, least + 1.0)},
        "lenient": {
            "buckets": 64,
            "leniency": 20.0,
            "cooling": -0.001,
            "exploration_power": 1.0,
        },
        "bql": {"exploration": "policies", "lowering": 0.0},
        "i2q-tabular": {"states": 1024},
    }


def _hunt_preset(hunt: PredatorPrey) -> dict[str, dict[str, Any]]:
    # random play meets the prey alone 25 times in an episode, and nobody catches it more than 34 times
    lowest, highest = -25.0 * float(hunt.penalty), 34.0
    return {
        "rac": {"contexts": 15, "kl_weight": 1.0, "return_low": lowest, "return_high": highest},
        "i2q-tabular": {"states": 65_536, "successors": 64},
    }
