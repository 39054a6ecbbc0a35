"""An agent's percepts, actions and values in greedy episodes, with which its bundle is compared."""

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import Algorithm, Memory, Models
from decentral.algorithms.q_learning import Scene, last_actions, roll
from decentral.environments.host.interface import HostEnvironment
from decentral.errors import Refused
from decentral.runs.host import rollout_for
from decentral.runs.trained import Trained
from decentral.training.evaluation import greedy_episodes
from decentral.training.host.loop import host_greedy_episodes
from decentral.training.presence import present_in
from decentral.training.rollout import Trajectory, hand_out
from decentral.training.setup import TrainingSetup
from decentral.types import AgentSpec, Episode


@dataclass(frozen=True)
class Recording:
    """Greedy episodes of a team, as one of its agents experienced them."""

    episodes: Episode  # [B, ...]
    values: np.ndarray  # by the agent itself: of every action [B, T, actions], or of a Gaussian [B, T, 2, actions]
    returns: np.ndarray  # [B]

    def without_padding(self, spec: AgentSpec, whose: str) -> "Recording":
        """The recording in the agent's own sizes and until it left; refused if it perceived or did more than them."""
        size, count = spec.observation_size, spec.actions.count
        observations, available = self.episodes.percepts.observation, self.episodes.percepts.available
        actions = self.episodes.actions
        if actions.ndim > 2:  # continuous: [B, T, numbers]
            beyond, actions = actions[..., count:], actions[..., :count]
        else:
            beyond = actions >= count
        if observations[..., size:].any() or available[..., count:].any() or beyond.any():
            raise Refused(f"{whose} must perceive {size} numbers and have {count} actions, as its spaces say, got more")
        own = observations[..., :size], available[..., :count], actions, self._present()
        episodes = eqx.tree_at(
            lambda old: (old.percepts.observation, old.percepts.available, old.actions, old.happened),
            self.episodes,
            own,
        )
        return Recording(episodes, self.values[..., :count], self.returns)

    def _present(self) -> np.ndarray:
        """The steps that happened while the agent was there [B, T]."""
        count = len(self.episodes.happened)
        return np.stack([present_in(jax.tree.map(lambda leaf, at=at: leaf[at], self.episodes)) for at in range(count)])


def record(trained: Trained, seed: int, place: int, count: int) -> Recording:
    """Play `count` greedy episodes with the team of a seed, and record those of one agent."""
    lane = trained.seeds.index(seed)

    acting_models = jax.tree.map(lambda leaf: leaf[lane], trained.by_squad)
    key = jax.random.fold_in(jax.random.key(seed), 4)
    algorithm, models = trained.agent(seed, place)
    with jax.default_matmul_precision("highest"):
        played = _played(trained.config.setup, acting_models, count, key)
        episodes = jax.tree.map(lambda leaf: leaf[:, place], jax.vmap(hand_out)(played))
        read = replace(episodes, percepts=trained.perceive(episodes.percepts, place))
        values = _VALUES(algorithm, models, read)
    episodes = jax.tree.map(np.asarray, episodes)
    return Recording(episodes, np.asarray(values), np.asarray(played.rewards).sum(axis=-1))


def _played(setup: TrainingSetup, acting_models: tuple[Models, ...], count: int, key: Key[Array, ""]) -> Trajectory:
    """Greedy episodes of one team [B, ...], in a compiled environment or in a host environment."""
    if not isinstance(setup.environment, HostEnvironment):
        return jax.jit(partial(greedy_episodes, setup.team, setup.compiled_environment, episodes=count, key=key))(
            acting_models
        )
    with closing(rollout_for(setup)) as rollout:
        alone = jax.tree.map(lambda leaf: leaf[None], acting_models)
        played = host_greedy_episodes(rollout, setup, alone, count, key)
    return jax.tree.map(lambda leaf: leaf[0], played)


def values_in(algorithm: Algorithm, models: Models, episode: Episode) -> Float[Array, "T *policy actions"]:
    """The values that an agent acts on at every step of an episode, without exploring."""
    models = jax.tree.map(jnp.asarray, models)
    steps = episode.rewards.shape[0]
    percepts, last = jax.tree.map(lambda leaf: leaf[:steps], (episode.percepts, last_actions(episode)))
    dice = roll(jax.random.key(0), steps)

    def step(memory: Memory, inputs: tuple) -> tuple[Memory, Array]:
        percept, last_action, die = inputs
        values, memory = algorithm.values(models, memory, Scene(percept, last_action, jnp.zeros(()), die))
        return memory, values

    return jax.lax.scan(step, algorithm.start(models), (percepts, last, dice))[1]


_VALUES = jax.jit(jax.vmap(values_in, (None, None, 0)))  # compiled once for all agents of a kind
