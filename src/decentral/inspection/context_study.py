"""Context learning without values: DAC's encoder and decoders learn from an agent that acts at random."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.dac.context_model import ContextLearner, ContextModel
from decentral.algorithms.optimisers import clipped_optimiser
from decentral.environments.base import Environment
from decentral.networks.layers import draw
from decentral.runs.caches import keep_compiled_programs
from decentral.settings import as_data
from decentral.training.rollout import hand_out, play, random_player
from decentral.types import AgentSpec, Episode, Metrics, time_first


class ContextModelState(eqx.Module):
    """One agent's context model while it learns."""

    model: ContextModel
    optimiser: Any
    key: Key[Array, ""]  # its random stream


def init_model_state(learner: ContextLearner, spec: AgentSpec, key: Key[Array, ""]) -> ContextModelState:
    """A context model as a new DAC agent has it."""
    key_build, key_life = jax.random.split(key)
    model = draw(learner.build_context_model(spec), key_build)
    return ContextModelState(model, clipped_optimiser(learner).init(model), key_life)


def train_context_model(
    learner: ContextLearner,
    model_state: ContextModelState,
    episodes: Episode,
    batch: int,
    updates: Int[Array, ""] | int,
) -> tuple[ContextModelState, Metrics]:
    """`updates` steps along the gradient of L_V, each on `batch` of the episodes, drawn with replacement.

    Returns the metrics of the last update too. How the updates are cut into calls makes no difference.
    """
    count = episodes.rewards.shape[0]

    def update(model_state: ContextModelState) -> tuple[ContextModelState, Metrics]:
        key_batch, key_sample, key_life = jax.random.split(model_state.key, 3)
        chosen = jax.random.randint(key_batch, (batch,), 0, count)
        drawn = jax.tree.map(lambda kept: kept[chosen], episodes)
        gradient, metrics = jax.grad(loss, has_aux=True, argnums=1)(learner, model_state.model, drawn, key_sample)
        step, optimiser = clipped_optimiser(learner).update(gradient, model_state.optimiser, model_state.model)
        return ContextModelState(optax.apply_updates(model_state.model, step), optimiser, key_life), metrics

    shapes = jax.eval_shape(lambda: update(model_state)[1])
    nothing = {name: jnp.zeros(shape.shape, shape.dtype) for name, shape in shapes.items()}
    return jax.lax.fori_loop(0, updates, lambda _, carry: update(carry[0]), (model_state, nothing))


def loss(
    learner: ContextLearner, model: ContextModel, episodes: Episode, key: Key[Array, ""]
) -> tuple[Float[Array, ""], Metrics]:
    """L_V = L_REC + beta L_KL of a batch of episodes [B, T]."""
    _, total, metrics = learner.find_contexts(model, time_first(episodes), key)
    return total, metrics


def most_likely_contexts(model: ContextModel, episodes: Episode) -> Int[Array, "B T"]:
    """The context that is most likely at every step."""
    return jnp.argmax(jax.vmap(model.infer)(episodes), axis=-1)


PARTS = 10  # of a study, between which progress is reported

Modes = Int[Array, "E T"]


@dataclass(frozen=True)
class ContextStudy:
    """What to learn from, how long, and on how many fresh episodes contexts are inspected; the same for all seeds."""

    learner: ContextLearner
    environment: Environment  # of one agent, whose facts name the hidden mode of every step
    updates: int
    episodes: int = 500  # to learn from, drawn once
    batch_episodes: int = 8
    fresh_episodes: int = 20
    seeds: int = 5
    seed: int = 0

    def as_data(self) -> dict[str, Any]:
        """Everything that determines the study, as plain data."""
        numbers = ("updates", "episodes", "batch_episodes", "fresh_episodes", "seeds", "seed")
        return {
            "learner": as_data(self.learner),
            "environment": as_data(self.environment),
            **{name: getattr(self, name) for name in numbers},
        }

    def run(self, say: Callable[[str], None]) -> tuple[np.ndarray, np.ndarray]:
        """Learn, all seeds in one compiled program; then the contexts and the modes of fresh episodes [S, E, T]."""
        keep_compiled_programs()
        seeds = jnp.arange(self.seed, self.seed + self.seeds)
        students, episodes, fresh, modes = jax.jit(jax.vmap(self._begin))(seeds)
        learn = jax.jit(
            jax.vmap(partial(train_context_model, self.learner), (0, 0, None, None)), static_argnums=2, donate_argnums=0
        )
        begun, done = time.perf_counter(), 0
        while done < self.updates:
            count = min(-(-self.updates // PARTS), self.updates - done)
            students, metrics = learn(students, episodes, self.batch_episodes, count)
            done += count
            error, used = (np.asarray(metrics[name]).mean() for name in ("state_error", "contexts_used"))
            passed = time.perf_counter() - begun
            say(f"update {done:,} of {self.updates:,}  error {error:.3f}  contexts used {used:.2f}  {passed:.0f} s")
        contexts = jax.jit(jax.vmap(most_likely_contexts))(students.model, fresh)
        return np.asarray(contexts), np.asarray(modes)

    def _begin(self, seed: Int[Array, ""]) -> tuple[ContextModelState, Episode, Episode, Modes]:
        keys = jax.random.split(jax.random.key(seed), 3)
        episodes, _ = self._play_randomly(keys[0], self.episodes)
        fresh, modes = self._play_randomly(keys[1], self.fresh_episodes)
        return init_model_state(self.learner, self.environment.spec, keys[2]), episodes, fresh, modes

    def _play_randomly(self, key: Key[Array, ""], count: int) -> tuple[Episode, Modes]:
        """Episodes of random actions, and the mode of every step, which the agent does not see."""

        def play_one(key: Key[Array, ""]) -> tuple[Episode, Int[Array, " T"]]:
            key_act, key_environment = jax.random.split(key)
            trajectory = play(self.environment, random_player(self.environment, key_act), key_environment)
            return jax.tree.map(lambda of_all: of_all[0], hand_out(trajectory)), trajectory.facts["mode"]

        return jax.vmap(play_one)(jax.random.split(key, count))
