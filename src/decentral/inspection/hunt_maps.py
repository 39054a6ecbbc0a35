"""A predator's values in every cell, with the prey and the other predators in fixed places."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from decentral.algorithms.base import Algorithm, Models
from decentral.algorithms.q_learning import Dice, Scene
from decentral.environments.predator_prey.environment import Hunt, PredatorPrey
from decentral.inspection.values import action_value_name
from decentral.runs.trained import Trained
from decentral.training.diagnostics import readable

LARGEST_MAP = 12  # most rows whose numbers can still be read
MOVES = ("up", "left", "stay", "right", "down")
ARROWS = ("↑", "←", "•", "→", "↓")


def hunt_maps(trained: Trained, hunt: PredatorPrey) -> dict[str, Any]:
    """Every agent's values of the five moves in every cell, of every seed, at the first step of an episode."""
    prey = (hunt.size // 2) * (hunt.size + 1)  # in the middle
    others = posts(hunt.size, prey)[: hunt.num_predators - 1]
    taken = {prey: "prey"} | (dict.fromkeys(others, "other") if hunt.observe_teammate else {})
    where = "beside it, marked other" if hunt.observe_teammate else "not perceived, so they may stand anywhere"
    agents = [
        {
            "name": hunt.agent_names[place],
            "symbol": action_value_name(member.algorithm),
            "values": _values(
                hunt, member.algorithm, trained.acting_models[place], place, jnp.asarray([*others, prey])
            ),
        }
        for place, member in enumerate(trained.config.members)
    ]
    return {
        "seeds": trained.seeds,
        "size": hunt.size,
        "taken": taken,
        "moves": MOVES,
        "arrows": ARROWS,
        "agents": agents,
        "meaning": "The largest of the Q-values (phi for DAC, probabilities of a policy) on which the first choice of"
        " an episode is made, in every cell where the agent may stand. The prey stands in the middle;"
        f" the other predators are {where}.",
    }


def posts(size: int, prey: int) -> list[int]:
    """The places of the other predators: first beside the prey, then row by row."""
    row, column = divmod(prey, size)
    distance = {cell: abs(cell // size - row) + abs(cell % size - column) for cell in range(size**2)}
    return sorted((cell for cell in distance if cell != prey), key=lambda cell: (distance[cell] != 1, cell))


def _values(
    hunt: PredatorPrey, algorithm: Algorithm, acting_models: Models, place: int, fixed: Int[Array, " others_and_prey"]
) -> list[Any]:
    """[S][cells][moves], to four digits."""
    cells = jnp.arange(hunt.size**2)
    in_cells = jax.vmap(partial(_values_at, hunt, algorithm), (None, 0, None, None))
    of_seeds = jax.jit(jax.vmap(in_cells, (0, None, None, None)), static_argnums=2)
    values = of_seeds(acting_models, cells, place, fixed)
    return [[[float(f"{value:.4g}") for value in moves] for moves in seed] for seed in np.asarray(values).tolist()]


def _values_at(
    hunt: PredatorPrey,
    algorithm: Algorithm,
    acting_model: Models,
    cell: Int[Array, ""],
    place: int,
    fixed: Int[Array, " others_and_prey"],
) -> Float[Array, " moves"]:
    entities = jnp.concatenate([fixed[:place], cell[None], fixed[place:]])
    percept = jax.tree.map(lambda of_all: of_all[place], hunt.perceive(Hunt(entities)))
    zero = jnp.zeros(())
    scene = Scene(percept, jnp.zeros(len(MOVES)), zero, Dice(zero, zero, zero, zero))
    values, _ = algorithm.values(acting_model, algorithm.start(acting_model), scene)
    return readable(algorithm, values, percept)
