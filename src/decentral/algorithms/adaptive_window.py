"""Windows as long as they help: of a few lengths, the one whose contexts have predicted the agent's last steps best."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from decentral.algorithms.contexts import ContextModel, numbers_of_steps
from decentral.networks.dynamics import steps_of_windows
from decentral.types import Episode


def lengths(window: int) -> list[int]:
    """The lengths to choose from, the longest first: the whole window, half of it, the last transition."""
    return sorted({window, max(window // 2, 1), 1}, reverse=True)


def infer_by_fit(
    model: ContextModel, episode: Episode, of_change: bool
) -> tuple[Float[Array, "T *B contexts"], Int[Array, "T *B"]]:
    """The logits of q(c_t | the window of the length that fits best), and which of the lengths that is."""
    each = jnp.stack([model.infer(episode, length) for length in lengths(model.window)], axis=-2)
    errors = jax.vmap(lambda logits: errors_of_foresight(model, episode, logits, of_change), -2, -1)(each)
    best = best_lately(jax.lax.stop_gradient(errors), model.window)
    return jnp.sum(each * jax.nn.one_hot(best, each.shape[-2])[..., None], axis=-2), best


def errors_of_foresight(
    model: ContextModel, episode: Episode, logits: Float[Array, "T *B contexts"], of_change: bool
) -> Float[Array, "T *B"]:
    """How wrongly each step is predicted under the likeliest context of the step before; 0 for the first step."""
    contexts = jax.nn.one_hot(jnp.argmax(logits, axis=-1), logits.shape[-1])
    before = jnp.concatenate([jnp.zeros_like(contexts[:1]), contexts[:-1]])
    errors = model.step_errors(episode, before, of_change)
    return errors * (numbers_of_steps(errors) > 0)


def best_lately(errors: Float[Array, "T *B lengths"], span: int) -> Int[Array, "T *B"]:
    """The column with the smallest sum over the last `span` steps; the first of those that are equal."""
    return jnp.argmin(sum(steps_of_windows(errors, span)), axis=-1)
