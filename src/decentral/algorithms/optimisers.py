"""The optimiser of an agent's gradient: clipping, RMSprop or Adam, and how the learning rate falls."""

from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from decentral.algorithms.base import Algorithm
from decentral.settings import setting


class OptimiserSettings(Algorithm):
    """How gradients are followed. The defaults are PyMARL's."""

    heading: ClassVar[str] = "Optimiser"

    optimiser: Literal["rmsprop", "adam", "adamw"] = setting("rmsprop", "how gradients become steps")
    learning_rate: float = setting(5e-4, "alpha, the step size of the optimiser", above=0)
    learning_rate_schedule: Literal["constant", "linear", "cosine"] = setting(
        "constant", "how the learning rate falls over the agent's updates"
    )
    schedule_updates: float = setting(50_000.0, "updates over which it falls", above=0)
    schedule_end: float = setting(0.0, "share of the learning rate that is left then", at_least=0, at_most=1)
    rms_decay: float = setting(0.99, "decay of RMSprop's mean of squared gradients", at_least=0, below=1)
    rms_epsilon: float = setting(
        1e-5, "added to the root in the denominator of RMSprop and Adam, as in PyTorch", above=0
    )
    adam_beta1: float = setting(0.9, "decay of Adam's mean of gradients", at_least=0, below=1)
    adam_beta2: float = setting(0.999, "decay of Adam's mean of squared gradients", at_least=0, below=1)
    weight_decay: float = setting(0.01, "lambda of adamw: weights shrink by alpha lambda in an update", at_least=0)
    clip: float = setting(10.0, "largest norm of the agent's gradient; longer ones are scaled down to it", above=0)


def clipped_optimiser(learner: OptimiserSettings) -> optax.GradientTransformation:
    """Clip the agent's gradient, then step as PyTorch's RMSprop, Adam or AdamW does; on one flat vector, for speed."""
    clip, rate = optax.clip_by_global_norm(learner.clip), learning_rate(learner)
    if learner.optimiser == "rmsprop":
        rmsprop = optax.rmsprop(rate, decay=learner.rms_decay, eps=learner.rms_epsilon, eps_in_sqrt=False)
        return optax.flatten(optax.chain(clip, rmsprop))
    adam = optax.scale_by_adam(learner.adam_beta1, learner.adam_beta2, learner.rms_epsilon)
    step = optax.scale_by_learning_rate(rate)
    if learner.optimiser == "adam":
        return optax.flatten(optax.chain(clip, adam, step))
    decay = optax.add_decayed_weights(learner.weight_decay, weights_of_layers)
    return optax.chain(optax.flatten(optax.chain(clip, adam)), decay, step)


def gradient_norm(gradient: Any) -> Float[Array, ""]:
    """The norm of an agent's gradient as one flat vector: computed once if the optimiser clips the same."""
    return optax.global_norm(ravel_pytree(gradient)[0])


def learning_rate(learner: OptimiserSettings) -> Any:
    """The step size, or what it is at each of the agent's own updates."""
    if learner.learning_rate_schedule == "constant":
        return learner.learning_rate
    fall = {"linear": lambda done: 1 - done, "cosine": lambda done: 0.5 * (1 + jnp.cos(jnp.pi * done))}
    left = fall[learner.learning_rate_schedule]

    def at(updates: Int[Array, ""]) -> Float[Array, ""]:
        done = jnp.minimum(updates / learner.schedule_updates, 1.0)
        return learner.learning_rate * (learner.schedule_end + (1 - learner.schedule_end) * left(done))

    return at


def weights_of_layers(models: Any) -> Any:
    """Marks what AdamW shrinks: the weights of layers, but no biases, scales and counters."""
    return jax.tree.map_with_path(
        lambda path, _: jax.tree_util.keystr(path, simple=True, separator=".").endswith("weight"), models
    )


def one_optimiser_per_part(learner: OptimiserSettings, *parts: str) -> optax.GradientTransformation:
    """Clipping and an optimiser for each named part of the models separately."""
    each = {part: clipped_optimiser(learner) for part in parts}
    return optax.multi_transform(each, lambda models: jax.tree.map_with_path(lambda path, _: path[0].name, models))
