"""The parts of a context model: sliding windows over transitions, an encoder of windows, decoders of single steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.networks.layers import Linear, sum_of_rows, times
from decentral.networks.reconstruction import weighted_errors


def steps_of_windows(steps: Float[Array, "T ..."], length: int) -> list[Float[Array, "T ..."]]:
    """The windows of the last `length` steps up to each step: all their first steps, all their second ones, and so on.

    The oldest step of a window comes first. Before the first step of an episode it holds zeros.
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


def contexts_used(contexts: Float[Array, "*batch contexts"], counted: Bool[Array, "*batch"]) -> Float[Array, ""]:
    """How many contexts are in use: the exponential of the entropy of their shares."""
    shares = sum_of_rows(jnp.where(counted[..., None], contexts, 0.0)) / jnp.maximum(jnp.sum(counted), 1)
    return jnp.exp(-jnp.sum(shares * jnp.log(jnp.maximum(shares, 1e-9))))


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
        """The logits, from the output of the first layer."""
        return self.second(jax.nn.relu(hidden))


class Decoder(eqx.Module):
    """f(s, a, c): predicts a quantity of a step from its state, its action and a context."""

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
        """The prediction for each step under its own context."""
        return self.second(jax.nn.relu(self.from_step(steps) + self.from_context(contexts)))

    def window_loss(
        self,
        steps: Float[Array, "T B inputs"],
        contexts: Float[Array, "T B contexts"],
        targets: Float[Array, "T B outputs"],
        weights: Float[Array, "T B"],
        length: int,
    ) -> Float[Array, ""]:
        """The weighted sum over windows of the squared errors of their steps, each under the context of its window.

        The first layer is linear, so its two terms are computed once per step and once per window.
        """
        return weighted_errors(
            length, self.from_step(steps), self.from_context(contexts), self.second, targets, weights
        )


def first_layer_of_windows(
    layer: Linear, observations: Float[Array, "P *B features"], between: Float[Array, "T *B others"], window: int
) -> Float[Array, "T *B width"]:
    """layer(the last `window` transitions up to each step), each (s, between, s', 1); zeros before the first.

    An observation ends one transition and starts the next, so both of their weights are added up first. The bias is
    added to the weight of the newest transition's last entry, which is 1 in every window.
    """
    size = observations.shape[-1]
    weight = layer.weight.reshape(layer.weight.shape[0], window, -1)
    starts, ends = weight[..., :size], weight[..., -size - 1 : -1]
    of_observations = jnp.pad(starts, ((0, 0), (0, 1), (0, 0))) + jnp.pad(ends, ((0, 0), (1, 0), (0, 0)))
    flags = weight[..., -1:] + jnp.pad(layer.bias[:, None, None], ((0, 0), (window - 1, 0), (0, 0)))
    others = jnp.concatenate([weight[..., size : -size - 1], flags], axis=-1)
    percepts = [step[1:] for step in steps_of_windows(observations, window + 1)]
    steps = jnp.concatenate([between, jnp.ones_like(between[..., :1])], axis=-1)
    windows = jnp.concatenate([*percepts, *steps_of_windows(steps, window)], axis=-1)
    flat = [part.reshape(part.shape[0], -1) for part in (of_observations, others)]
    hidden = times(jnp.concatenate(flat, axis=-1), windows)
    return hidden - _before_the_first(ends, observations[0], hidden)


def _before_the_first(
    ends: Float[Array, "width window features"], first: Float[Array, "*B features"], like: Float[Array, "T *B width"]
) -> Float[Array, "T *B width"]:
    """What the first percept adds as the end of a transition before the first, in the windows that reach that far."""
    too_much = jnp.einsum("...s,hks->k...h", first, ends[:, -2::-1])[: like.shape[0]]
    return jnp.pad(too_much, ((0, like.shape[0] - too_much.shape[0]), *[(0, 0)] * (like.ndim - 1)))
