"""Learn contexts alone: DAC's encoder and decoders on episodes that were lived before; no values, nobody acts."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.contexts import ContextModel
from decentral.algorithms.dac import DAC
from decentral.algorithms.gradient import clipped_rmsprop
from decentral.networks.layers import draw
from decentral.types import AgentSpec, Episode, Metrics, time_first


class Student(eqx.Module):
    """One agent's context model while it learns."""

    model: ContextModel
    optimiser: Any
    key: Key[Array, ""]  # its stream of chance


def newborn(learner: DAC, spec: AgentSpec, key: Key[Array, ""]) -> Student:
    """A context model as a DAC agent is born with it."""
    key_build, key_life = jax.random.split(key)
    model = draw(learner.build_context_model(spec), key_build)
    return Student(model, clipped_rmsprop(learner).init(model), key_life)


def study(
    learner: DAC, student: Student, episodes: Episode, batch: int, updates: Int[Array, ""] | int
) -> tuple[Student, Metrics]:
    """`updates` steps along the gradient of L_V, each on `batch` of the episodes, drawn with replacement.

    Returns the metrics of the last update too. How the updates are cut into calls makes no difference.
    """
    count = episodes.rewards.shape[0]

    def update(student: Student) -> tuple[Student, Metrics]:
        key_batch, key_sample, key_life = jax.random.split(student.key, 3)
        chosen = jax.random.randint(key_batch, (batch,), 0, count)
        drawn = jax.tree.map(lambda kept: kept[chosen], episodes)
        gradient, metrics = jax.grad(loss, has_aux=True, argnums=1)(learner, student.model, drawn, key_sample)
        step, optimiser = clipped_rmsprop(learner).update(gradient, student.optimiser, student.model)
        return Student(optax.apply_updates(student.model, step), optimiser, key_life), metrics

    shapes = jax.eval_shape(lambda: update(student)[1])
    nothing = {name: jnp.zeros(shape.shape, shape.dtype) for name, shape in shapes.items()}
    return jax.lax.fori_loop(0, updates, lambda _, now: update(now[0]), (student, nothing))


def loss(learner: DAC, model: ContextModel, episodes: Episode, key: Key[Array, ""]) -> tuple[Float[Array, ""], Metrics]:
    """L_V = L_REC + beta L_KL of a batch of episodes [B, T]."""
    episodes = time_first(episodes)
    _, total, metrics = learner.find_contexts(model, episodes, learner.has_window(episodes), key)
    return total, metrics


def most_likely_contexts(model: ContextModel, episodes: Episode) -> Int[Array, "B T"]:
    """The context that is most likely at every step."""
    return jnp.argmax(jax.vmap(model.infer)(episodes), axis=-1)
