"""A policy over continuous actions: Gaussian numbers, squashed by tanh into -1 to 1, each independent of the others.

Numbers that an agent of a padded team lacks are unavailable: they are 0, and nothing counts them.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from decentral.algorithms.q_learning import Dice
from decentral.bounds import LARGEST

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
NODES, _UNSCALED = np.polynomial.hermite_e.hermegauss(16)
NODE_WEIGHTS = _UNSCALED / _UNSCALED.sum()  # of the standard Gaussian at those nodes

Numbers = Float[Array, "*batch actions"]


class SquashedGaussian(eqx.Module):
    """a = tanh(u), u drawn from N(mean, std^2)."""

    mean: Float[Array, "*batch actions"]
    log_std: Float[Array, "*batch actions"]
    available: Bool[Array, "*batch actions"]

    def log_probability(self, actions: Numbers) -> Float[Array, "*batch"]:
        """log pi(a) = sum of log N(u; mean, std) - log(1 - tanh(u)^2), with u = artanh(a)."""
        before = unsquashed(actions)
        standard = (before - self.mean) * jnp.exp(-self.log_std)
        return self._sum(-0.5 * jnp.square(standard) - self.log_std - LOG_ROOT_TWO_PI - log_slope(before))

    def entropy(self) -> Float[Array, "*batch"]:
        """In nats, over -1 to 1: at most log 2 for each number. The mean of log(1 - tanh(u)^2) is a quadrature."""
        spots = self.mean[..., None] + jnp.exp(self.log_std)[..., None] * _along(NODES, self.mean)
        slopes = jnp.sum(log_slope(spots) * _along(NODE_WEIGHTS, self.mean), axis=-1)
        return self._sum(0.5 + LOG_ROOT_TWO_PI + self.log_std + slopes)

    def divergence(self, new: "SquashedGaussian") -> Float[Array, "*batch"]:
        """KL(self || new): squashing both policies in the same way does not change it."""
        moved = jnp.square(self.mean - new.mean) + jnp.exp(2 * self.log_std)
        each = new.log_std - self.log_std + 0.5 * moved * jnp.exp(-2 * new.log_std) - 0.5
        return jnp.maximum(self._sum(each), 0.0)

    def variation(self, new: "SquashedGaussian", actions: Numbers) -> Float[Array, "*batch"]:
        """|new(a) / self(a) - 1| / 2: its mean over actions drawn from this policy is their total variation."""
        return 0.5 * jnp.abs(jnp.exp(new.log_probability(actions) - self.log_probability(actions)) - 1)

    def drawn(self, dice: Dice) -> Float[Array, " actions"]:
        """An action, by the dice of one step."""
        return self._squashed(self.mean + jnp.exp(self.log_std) * normal_numbers(dice, self.mean.shape[-1]))

    def best(self) -> Float[Array, " actions"]:
        """The squashed mean, which greedy play takes."""
        return self._squashed(self.mean)

    def distance(self, dice: Dice | None, action: Float[Array, " actions"]) -> Float[Array, ""]:
        """How far an action is from the one that the dice draw; without dice, from the best one."""
        chosen = self.best() if dice is None else self.drawn(dice)
        return jnp.max(jnp.where(self.available, jnp.abs(chosen - action), 0.0), axis=-1)

    def readable(self) -> Float[Array, " actions"]:
        """What people are shown: the squashed mean."""
        return self.best()

    def _squashed(self, before: Numbers) -> Numbers:
        return jnp.where(self.available, jnp.clip(jnp.tanh(before), -LARGEST, LARGEST), 0.0)

    def _sum(self, of_each: Numbers) -> Float[Array, "*batch"]:
        return jnp.sum(jnp.where(self.available, of_each, 0.0), axis=-1)


def unsquashed(actions: Numbers) -> Numbers:
    """The inverse of tanh, in which actions at a bound stand a little inside of it."""
    return jnp.arctanh(jnp.clip(actions, -LARGEST, LARGEST))


def log_slope(before: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """log(1 - tanh(u)^2), exact where tanh is almost 1: 2 (log 2 - u - softplus(-2 u))."""
    return 2 * (math.log(2) - before - jax.nn.softplus(-2 * before))


def normal_numbers(dice: Dice, count: int) -> Float[Array, " count"]:
    """Standard normal numbers from two of the dice of a step, whose bits are the key of a generator."""
    bits = jax.lax.bitcast_convert_type(jnp.stack([dice.action, dice.context]), jnp.uint32)
    return jax.random.normal(jax.random.wrap_key_data(bits, impl="threefry2x32"), (count,))


def _along(numbers: np.ndarray, like: Numbers) -> Float[Array, "*ones nodes"]:
    return jnp.asarray(numbers, jnp.float32).reshape(*(1 for _ in like.shape), -1)
