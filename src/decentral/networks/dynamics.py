"""The context model: sliding windows over what happened, an encoder of windows, decoders of single steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layers import Linear
from decentral.networks.reconstruction import weighted_errors


def steps_of_windows(steps: Float[Array, "T ..."], length: int) -> list[Float[Array, "T ..."]]:
    """The windows of the last `length` steps up to each step: their first steps, their second ones, and so on.

    A window holds zeros before the first step. The oldest step comes first.
    """
    padded = jnp.concatenate([jnp.zeros((length - 1, *steps.shape[1:])), steps])
    return [padded[offset : offset + steps.shape[0]] for offset in range(length)]


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

    def __call__(self, windows: Float[Array, "*T inputs"]) -> Float[Array, "*T contexts"]:
        return self.logits(self.first(windows))

    def logits(self, hidden: Float[Array, "*T width"]) -> Float[Array, "*T contexts"]:
        """What is made of the first layer's units."""
        return self.second(jax.nn.relu(hidden))


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
        steps: Float[Array, "T B inputs"],
        contexts: Float[Array, "T B contexts"],
        wanted: Float[Array, "T B outputs"],
        weights: Float[Array, "T B"],
        length: int,
    ) -> Float[Array, ""]:
        """The weighted sum over windows of the squared errors of their steps, each under the context of its window.

        The first layer is linear, so its two shares are computed once per step and once per window.
        """
        return weighted_errors(length, self.from_step(steps), self.from_context(contexts), self.second, wanted, weights)
