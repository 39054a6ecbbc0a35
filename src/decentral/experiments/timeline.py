"""One greedy episode of a trained team, step by step: the rewards, and each agent's actions and contexts."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.base import Models
from decentral.environments.host import HostEnvironment
from decentral.environments.predator_prey import PredatorPrey
from decentral.experiments.host import rollout_for
from decentral.experiments.hunt_maps import ARROWS
from decentral.experiments.trained import Trained, key_of_worlds
from decentral.training.evaluation import greedy_episodes
from decentral.training.host_loop import host_greedy_episodes
from decentral.training.loop import Trainee
from decentral.training.rollout import Trajectory, hand_out
from decentral.types import Episode


def timeline(trained: Trained) -> dict[str, Any]:
    """The first seed's team in the first of the worlds that `decentral evaluate` lets it meet."""
    trainee, seed = trained.config.trainee, trained.seeds[0]
    bodies = jax.tree.map(lambda leaf: leaf[0], trained.by_squad)
    episodes = hand_out(_played(trainee, bodies))
    count = int(np.asarray(episodes.happened[0]).sum())
    agents = [
        _agent(trained, place, jax.tree.map(lambda leaf, at=place: leaf[at], episodes), count)
        for place in range(len(trained.bodies))
    ]
    inferred = any(agent["contexts"] is not None for agent in agents)
    return {
        "rewards": np.asarray(episodes.rewards[0])[:count].tolist(),
        "actions": _action_names(trained),
        "agents": agents,
        "meaning": f"One greedy episode of seed {seed}."
        + (" A context is the likeliest after the step, inferred from the agent's own window." if inferred else ""),
    }


def _played(trainee: Trainee, bodies: tuple[Models, ...]) -> Trajectory:
    """The episode, in a compiled world or in one that lives in Python."""
    if not isinstance(trainee.environment, HostEnvironment):
        lived = _PLAY(trainee.team, trainee.environment, bodies, 1, key_of_worlds(0))
        return jax.tree.map(lambda leaf: leaf[0], lived)
    with closing(rollout_for(trainee, stages=1)) as rollout:
        alone = jax.tree.map(lambda leaf: leaf[None], bodies)
        lived = host_greedy_episodes(rollout, trainee, alone, 1, key_of_worlds(0))
    return jax.tree.map(lambda leaf: leaf[0, 0], lived)


def _agent(trained: Trained, place: int, episode: Episode, count: int) -> dict[str, Any]:
    """An agent's actions, and its contexts if it infers any: none at a step that has no window."""
    algorithm, models = trained.agent(trained.seeds[0], place)
    read = replace(episode, percepts=trained.perceive(episode.percepts, place))
    named = algorithm.contexts_in(jax.tree.map(jnp.asarray, models), read)
    contexts = None
    if named is not None:
        own = np.asarray(named)[:count]
        contexts = [int(row.argmax()) if row.any() else None for row in own]
    return {"actions": np.asarray(episode.actions)[:count].tolist(), "contexts": contexts}


def _action_names(trained: Trained) -> list[str]:
    world = trained.config.trainee.environment
    return list(ARROWS) if isinstance(world, PredatorPrey) else [str(at) for at in range(world.spec.actions.count)]


_PLAY = jax.jit(greedy_episodes, static_argnums=3)
