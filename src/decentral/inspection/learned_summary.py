"""What a run's trained agents have learned, as JSON-ready data: their values, their moves, and one greedy episode."""

import base64
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from decentral.algorithms.base import Algorithm, Models
from decentral.bounds import within_bounds
from decentral.environments.host.interface import HostEnvironment
from decentral.environments.matrix_game import MatrixGame
from decentral.environments.predator_prey.environment import PredatorPrey
from decentral.errors import Failed, Refused
from decentral.inspection.films import record_host, record_on
from decentral.inspection.hunt_maps import ARROWS, LARGEST_MAP, hunt_maps
from decentral.inspection.rollouts import play_greedily
from decentral.inspection.values import ValueTable, action_value_name, value_tables
from decentral.records import RunDirectory
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import Trained, key_of_environments
from decentral.training.host.rollout import HostRollout
from decentral.training.presence import steps_present
from decentral.training.rollout import hand_out
from decentral.types import Episode

MOST_IMAGES = 200  # of an episode: more would make the page large


def timeline(trained: Trained, rollout: HostRollout | None = None, when: str = "") -> dict[str, Any]:
    """The first seed's team in the first episode of `decentral evaluate`, with the images of a host environment.

    `rollout` is one that films, where the environment is open already; `when` says of which moment the team is.
    """
    setup, seed = trained.config.setup, trained.seeds[0]
    acting_models = jax.tree.map(lambda leaf: leaf[0], trained.by_squad)
    images, trouble = [], ""
    if isinstance(setup.environment, HostEnvironment):
        recorded = (
            record_host(setup, acting_models, 0) if rollout is None else record_on(rollout, setup, acting_models, 0)
        )
        played = jax.tree.map(jnp.asarray, recorded.played)
        trouble = f" There are no images: {recorded.trouble}." if recorded.trouble else ""
        images = [base64.b64encode(picture.image).decode() for picture in recorded.pictures if picture.image]
    else:
        played = jax.tree.map(lambda leaf: leaf[0], play_greedily(setup, acting_models, 1, key_of_environments(0)))
    episodes = hand_out(played)
    count = int(np.asarray(episodes.happened[0]).sum())
    agents = [
        _agent(trained, place, jax.tree.map(lambda leaf, at=place: leaf[at], episodes), count)
        for place in range(len(trained.acting_models))
    ]
    inferred = any(agent["contexts"] is not None for agent in agents)
    return {
        "rewards": np.asarray(played.rewards)[:count].tolist(),
        "agents": agents,
        **_shown(images),
        "meaning": f"One greedy episode of seed {seed}{when}."
        + (" A context is the likeliest after the step, inferred from the agent's own window." if inferred else "")
        + trouble,
    }


def _shown(images: list[str]) -> dict[str, Any]:
    """Images of an episode, with their steps; of a long one only so many."""
    if not images:
        return {}
    steps = np.unique(np.linspace(0, len(images) - 1, min(MOST_IMAGES, len(images))).round().astype(int)).tolist()
    return {"images": [images[step] for step in steps], "image_steps": steps}


def _agent(trained: Trained, place: int, episode: Episode, count: int) -> dict[str, Any]:
    """An agent's actions, by the environment's numbers and names, and its contexts if it infers any.

    None: no action once it has left, and no context at a step without a window.
    """
    algorithm, models = trained.agent(trained.seeds[0], place)
    read = replace(episode, percepts=trained.perceive(episode.percepts, place))
    named = _CONTEXTS(algorithm, models, read)
    present = steps_present(episode, count)
    contexts = None
    if named is not None:
        by_step = np.asarray(named)[:present]
        contexts = [int(row.argmax()) if row.any() else None for row in by_step] + [None] * (count - present)
    spaces, taken = trained.config.setup.environment.agent_spaces(place), np.asarray(episode.actions)[:present]
    names = ARROWS if isinstance(trained.config.setup.environment, PredatorPrey) else spaces.action_names
    if spaces.bounds:  # where a step has no room for the numbers, a dot that tells them when pointed at
        rows = within_bounds(taken[:, : len(spaces.bounds)], spaces.bounds)
        numbers: list[Any] = ["\u2022"] * present
        legend: list[list[Any]] = []
        texts = [", ".join(f"{number:.3g}" for number in row) for row in rows]
    else:
        numbers, texts = (taken + spaces.first_action).tolist(), [names[action] for action in taken]
        legend = _legend(dict(zip(numbers, texts, strict=True)))
    return {
        "name": spaces.name,
        "actions": numbers + [None] * (count - present),
        "action_names": texts + [None] * (count - present),
        "legend": legend,
        "contexts": contexts,
    }


def _legend(named: dict[int, str]) -> list[list[Any]]:
    """Actions and their names, where the environment has any that say more than the number."""
    return [[number, name] for number, name in sorted(named.items()) if name not in (f"{number}", f"action {number}")]


def learned_summary(directory: RunDirectory) -> dict[str, Any]:
    """`tables`, `maps` and `timeline`, as far as there are any, and in `missing` why the others are not there."""
    try:
        trained = Trained.load(directory)
    except Refused as refusal:
        return {"missing": [f"Nothing can be seen inside these agents: {refusal}."]}
    keep_compiled_programs()
    environment = trained.config.setup.environment
    summary: dict[str, Any] = {"missing": []}
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(trained.acting_models)):
        summary["missing"].append(
            "The networks of these agents hold what is no finite number: their values say nothing."
        )
    elif isinstance(environment, MatrixGame):
        summary["tables"] = _tables(trained)
    elif isinstance(environment, PredatorPrey) and environment.size <= LARGEST_MAP:
        summary["maps"] = hunt_maps(trained, environment)
    else:
        summary["missing"].append(
            f"Values are shown for matrix-game, and for predator-prey up to a size of {LARGEST_MAP}: not here."
        )
    if environment.time_limit > 1:
        try:
            summary["timeline"] = timeline(trained)
        except (Refused, Failed) as trouble:  # of a host environment: the rest is still shown
            summary["missing"].append(f"No episode of this environment could be played for the timeline: {trouble}.")
    else:
        summary["missing"].append("An episode of this environment is one step long: there is no timeline to show.")
    return summary


def _tables(trained: Trained) -> dict[str, Any]:
    """Every seed's table of each agent."""
    tables = value_tables(trained)
    places = range(len(trained.acting_models))
    by_agent = [[_table(trained, table) for table in tables if table.agent == place] for place in places]
    names = trained.config.setup.environment.agent_names
    return {"seeds": trained.seeds, "names": list(names), "agents": by_agent}


def _table(trained: Trained, table: ValueTable) -> dict[str, Any]:
    by_context, occurs = table.by_context, table.occurs
    return {
        "symbol": action_value_name(trained.config.members[table.agent].algorithm),
        "actions": list(table.action_names),
        "values": table.values.tolist(),
        "by_context": None if by_context is None else by_context.tolist(),
        "occurs": None if occurs is None else occurs.tolist(),
    }


def _contexts(algorithm: Algorithm, models: Models, episode: Episode) -> Array | None:
    return algorithm.contexts_in(models, episode)


_CONTEXTS = jax.jit(_contexts)
