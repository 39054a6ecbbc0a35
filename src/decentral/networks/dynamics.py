"""The context model: sliding windows over what happened, an encoder of windows, decoders of single steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layers import Linear
from decentral.networks.reconstruction import weighted_errors


def windows(steps: Float[Array, "T features"], length: int) -> Float[Array, "T K features"]:
    """For each step, the last `length` steps up to it, the oldest first; zeros before the first."""
    count = steps.shape[0]
    padded = jnp.concatenate([jnp.zeros((length - 1, *steps.shape[1:])), steps])
    return jnp.stack([padded[offset : offset + count] for offset in range(length)], axis=1)


def straight_through_sample(
    logits: Float[Array, "*batch contexts"],
    gumbel: Float[Array, "*batch contexts"],
    temperature: Float[Array, ""] | float,
    hard: bool,
) -> Float[Array, "*batch contexts"]:
    """A Gumbel-Softmax sample, given its noise; if `hard`, one-hot in value and soft in derivative."""
    soft = jax.nn.softmax((logits + gumbel) / temperature, axis=-1)
    if not hard:
        return soft
    one_hot = jax.nn.one_hot(jnp.argmax(soft, axis=-1), soft.shape[-1])
    return one_hot + soft - jax.lax.stop_gradient(soft)


class Encoder(eqx.Module):
    """q(c | window): a window, flattened, to the logits of a categorical over contexts."""

    first: Linear
    second: Linear

    def __init__(self, inputs: int, width: int, contexts: int):
        self.first = Linear(inputs, width)
        self.second = Linear(width, contexts)

    def __call__(self, windows: Float[Array, "*T K features"]) -> Float[Array, "*T contexts"]:
        return self.second(jax.nn.relu(self.first(windows.reshape(*windows.shape[:-2], -1))))


class Decoder(eqx.Module):
    """f(s, a, c): predicts something of a step from its state, its action and a context."""

    from_step: Linear
    from_context: Linear
    second: Linear

    def __init__(self, inputs: int, contexts: int, width: int, outputs: int):
        self.from_step = Linear(inputs, width)
        self.from_context = Linear(contexts, width)
        self.second = Linear(width, outputs)

    def __call__(
        self, steps: Float[Array, "*T inputs"], contexts: Float[Array, "*T contexts"]
    ) -> Float[Array, "*T outputs"]:
        """What is predicted of each step under its own context."""
        return self.second(jax.nn.relu(self.from_step(steps) + self.from_context(contexts)))

    def window_loss(
        self,
        steps: Float[Array, "B T inputs"],
        contexts: Float[Array, "B T contexts"],
        wanted: Float[Array, "B T outputs"],
        weights: Float[Array, "B T"],
        length: int,
    ) -> Float[Array, ""]:
        """The weighted sum over windows of the squared errors of their steps, each under the context of its window.

        The first layer is linear, so its two shares are computed once per step and once per window.
        """
        return weighted_errors(
            length,
            self.from_step(time_first(steps)),
            self.from_context(time_first(contexts)),
            self.second,
            time_first(wanted),
            time_first(weights),
        )


def time_first(of_batch: Float[Array, "B T *rest"]) -> Float[Array, "T B *rest"]:
    """Steps before episodes: then a shift in time moves whole blocks."""
    return jnp.swapaxes(of_batch, 0, 1)
