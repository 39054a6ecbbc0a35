"""What the comparison in simulated battles runs: a piece for each map and method, with own or shared parameters."""

from typing import Any

import numpy as np

from decentral.configs.config import Config, resolve
from decentral.records import RunDirectory
from decentral.records.same_steps import at_steps
from decentral.reproduction.pieces import complete_all, sweep_piece, train_one, training_piece
from decentral.reproduction.predator_prey import EXTENDED, WEIGHTS
from decentral.reproduction.target import Data, Done, Piece, Scale, Workplace

KEPT = {"seed_steps": "step", "win_rates": "test_win_rate"}  # besides the returns, each [seeds, tests]


def battle_tests(directory: RunDirectory) -> Data:
    """Steps and win rate of every test of every seed."""
    by_seed: dict[int, list[dict[str, Any]]] = {}
    for row in directory.read_metrics():
        by_seed.setdefault(row["seed"], []).append(row)
    tests = min(len(rows) for rows in by_seed.values())
    rows = [by_seed[seed][:tests] for seed in sorted(by_seed)]
    return {name: [[round(row[key], 4) for row in of_seed] for of_seed in rows] for name, key in KEPT.items()}


def common_steps(config: Data) -> np.ndarray:
    """The steps at which the seeds of a configuration are compared [points]."""
    plan = config["training"]
    return np.union1d(np.arange(0, plan["steps"], plan["test_interval"]), plan["steps"])


def at_common_steps(config: Data, result: Data, name: str) -> np.ndarray:
    """Every seed's test results at the same steps, interpolated linearly [seeds, points]."""
    steps, values = (np.asarray(result[key], dtype=float) for key in ("seed_steps", name))
    return at_steps(common_steps(config), steps, values)


MAPS = ("5m_vs_6m", "8m_vs_9m", "10m_vs_11m", "3s_vs_4z", "3s_vs_5z", "2s_vs_1sc", "3s5z")
SHARED_MAPS = ("5m_vs_6m", "3s_vs_5z", "3s5z")
QUICK_MAPS = ("5m_vs_6m",)
PAPER = {"dac": "DAC", "hysteretic": "Hysteretic", "i2q": "I2Q", "iql": "IQL"}
OURS = {"dac-extended": "DAC, extended", "vdn": "VDN", "qmix": "QMIX"}  # beyond the paper
METHODS = PAPER | OURS
IN_ORDER = ("iql", "dac", "hysteretic", "i2q")  # in which they are run
SETTINGS: dict[str, tuple[str, Data]] = {"dac-extended": ("dac", EXTENDED)}  # an algorithm and its settings
FULL_PLAN: Data = {"seed": 5, "test_interval": 50_000}  # choices had been made on seeds 0 to 4
QUICK_PLAN: Data = {
    "steps": 2_000,
    "epsilon_steps": 1_000,
    "test_interval": 500,
    "test_episodes": 4,
    "replay_episodes": 64,
}
WEIGHTS_PLAN: Data = {  # other seeds, a quarter of the training, half the memory: there are 15 lanes
    "seed": 100,
    "seeds": 3,
    "steps": 500_000,
    "replay_type": "float16",
}
QUICK_WEIGHTS_PLAN: Data = {"seed": 100, "seeds": 1, "steps": 1_000}
# Beside five to eight others on one H200; alone a piece takes less.
MINUTES = {"iql": 15.0, "dac": 20.0, "hysteretic": 15.0, "i2q": 18.0, "vdn": 15.0, "qmix": 16.0, "dac-extended": 22.0}
WEIGHTS_MINUTES = 4.5


def battle_pieces(scale: Scale) -> list[Piece]:
    """All pieces, in the order in which they are worth running: the paper's, shared parameters, beyond the paper."""
    maps, shared = (MAPS, SHARED_MAPS) if scale.is_full else (QUICK_MAPS, QUICK_MAPS)
    pieces = []
    for name in maps:
        pieces += [_weights(name, scale), *(_piece(name, method, False, scale) for method in IN_ORDER)]
    pieces += [_piece(name, method, True, scale) for name in shared for method in IN_ORDER]
    pieces += [_piece(name, method, False, scale) for name in maps for method in OURS]
    return pieces + [_piece(name, method, True, scale) for name in shared for method in OURS]


def piece_name(battle: str, method: str, sharing: bool) -> str:
    """The name of the piece of a map and a method; it is also a valid file name."""
    return f"{battle}-{method}-shared" if sharing else f"{battle}-{method}"


def weights_name(battle: str) -> str:
    """The name of the piece that chooses Hysteretic's weight for a map."""
    return f"{battle}-hysteretic-weights"


def weights_tried(done: Done) -> dict[float, float]:
    """Hysteretic's mean return for each weight, over seeds and the tests in the last third of a short training run."""
    tried = {}
    for config, run in zip(done.settings["configs"], done.result["runs"], strict=True):
        late = common_steps(config) * 3 >= config["training"]["steps"] * 2
        tried[config["algorithm"]["negative_weight"]] = float(at_common_steps(config, run, "returns")[:, late].mean())
    return tried


def chosen_weight(done: Done) -> float:
    """The weight with the highest return; of equals, the smallest."""
    tried = weights_tried(done)
    return max(tried, key=lambda weight: (tried[weight], -weight))


def _piece(battle: str, method: str, sharing: bool, scale: Scale) -> Piece:
    name, plan = piece_name(battle, method, sharing), _plan(scale) | {"sharing": sharing}
    if method == "hysteretic":
        return _chosen(name, battle, [_config(method, battle, {"negative_weight": weight}, plan) for weight in WEIGHTS])
    return training_piece(name, _config(method, battle, {}, plan), battle_tests, MINUTES[method])


def _weights(battle: str, scale: Scale) -> Piece:
    """Hysteretic with each of the paper's weights, for a shorter time on other seeds; all in one program."""
    plan = _plan(scale) | (WEIGHTS_PLAN if scale.is_full else QUICK_WEIGHTS_PLAN)
    configs = [_config("hysteretic", battle, {"negative_weight": weight}, plan) for weight in WEIGHTS]
    return sweep_piece(weights_name(battle), configs, battle_tests, WEIGHTS_MINUTES)


def _chosen(name: str, battle: str, configs: list[Config]) -> Piece:
    """Hysteretic with the weight that another piece chose. Its settings list all possible choices."""
    tried = weights_name(battle)

    def produce(workplace: Workplace) -> Data:
        weight = chosen_weight(workplace.results[tried])
        workplace.say(f"{name}: weight {weight:g}, chosen in {tried}")
        return train_one(name, configs[WEIGHTS.index(weight)], battle_tests, workplace) | {"weight": weight}

    settings = {"chosen_in": tried, "configs": [config.as_data() for config in configs]}
    return Piece(name, settings, produce, complete_all, needs=(tried,), minutes=MINUTES["hysteretic"])


def _config(method: str, battle: str, settings: Data, plan: Data) -> Config:
    algorithm, of_method = SETTINGS.get(method, (method, {}))
    return resolve(algorithm, battle, of_method | settings, {}, plan)


def _plan(scale: Scale) -> Data:
    return {"seeds": scale.seeds} | (FULL_PLAN if scale.is_full else QUICK_PLAN)
