"""What can be seen of a run's trained agents, as JSON-ready data: their values, their moves, and an episode of theirs.

What a run can't give is left out, and a sentence says so.
"""

from typing import Any

import jax
import numpy as np

from decentral.environments.matrix_game import MatrixGame
from decentral.environments.predator_prey import PredatorPrey
from decentral.experiments.hunt_maps import LARGEST_MAP, hunt_maps
from decentral.experiments.timeline import timeline
from decentral.experiments.trained import Trained
from decentral.experiments.values import ValueTable, action_value_name, value_tables
from decentral.records import RunDirectory
from decentral.refusal import Failed, Refused


def look_inside(directory: RunDirectory) -> dict[str, Any]:
    """`tables`, `maps` and `timeline`, as far as there are any, and in `missing` why others are not."""
    try:
        trained = Trained.load(directory)
    except Refused as refusal:
        return {"missing": [f"Nothing can be seen inside these agents: {refusal}."]}
    world = trained.config.trainee.environment
    seen: dict[str, Any] = {"missing": []}
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(trained.bodies)):
        seen["missing"].append("The networks of these agents hold what is no finite number: their values say nothing.")
    elif isinstance(world, MatrixGame):
        seen["tables"] = _tables(trained)
    elif isinstance(world, PredatorPrey) and world.size <= LARGEST_MAP:
        seen["maps"] = hunt_maps(trained, world)
    else:
        seen["missing"].append(
            f"Values are shown of matrix-game, and of predator-prey up to a size of {LARGEST_MAP}: not of this world."
        )
    if world.time_limit > 1:
        try:
            seen["timeline"] = timeline(trained)
        except (Refused, Failed) as trouble:  # of a world that lives in Python: nothing else is lost with it
            seen["missing"].append(f"No episode of this world could be played for the timeline: {trouble}.")
    else:
        seen["missing"].append("An episode of this world is one step long: there is no timeline to show.")
    return seen


def _tables(trained: Trained) -> dict[str, Any]:
    """Every seed's table of each agent."""
    tables = value_tables(trained)
    places = range(len(trained.bodies))
    by_agent = [[_table(trained, table) for table in tables if table.agent == place] for place in places]
    return {"seeds": trained.seeds, "agents": by_agent}


def _table(trained: Trained, table: ValueTable) -> dict[str, Any]:
    by_context, occurs = table.by_context, table.occurs
    return {
        "symbol": action_value_name(trained.config.members[table.agent].algorithm),
        "values": table.values.tolist(),
        "by_context": None if by_context is None else by_context.tolist(),
        "occurs": None if occurs is None else occurs.tolist(),
    }
