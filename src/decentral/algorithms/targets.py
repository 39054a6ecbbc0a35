"""What value learners learn towards, and how errors count: targets of one step, of several or of all; squares or Huber.

Multi-step targets follow the rewards of the steps that were played, with no correction for how the agent has changed
since, as in PyMARL and Rainbow. Nothing follows a step that ended the task; where time cut an episode off, targets end
with the value of the last percept.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.algorithms.gradient import GradientLearner
from decentral.algorithms.q_learning import last_steps, masked_mean, sums_ahead, td_target
from decentral.settings import Refused, setting, setting_fields
from decentral.types import Episode, Metrics

EPISODE_ERROR = "episode_error"  # the name under which losses tell it
MIXED_RETURNS = "lambda of TD(lambda): targets mix returns of all lengths (0: n_step)"
MOST_PRIORITIES = 2**13  # episodes of a prioritised replay


class TDTargets(eqx.Module):
    """How a target is made from rewards and from the values of what follows each step."""

    discount: Float[Array, ""] | float
    n_step: int = eqx.field(static=True, default=1)
    td_lambda: float = eqx.field(static=True, default=0.0)

    def __call__(self, episode: Episode, following: Float[Array, "T *B"]) -> Float[Array, "T *B"]:
        """The target of every step; `following` is the value of the percept after it."""
        if self.td_lambda > 0:
            return lambda_returns(episode, self.discount, following, self.td_lambda)
        target = td_target(episode, self.discount, following)
        if self.n_step == 1:
            return target
        following = jax.lax.stop_gradient(following)

        def one_step_more(_: Array, target: Array) -> Array:
            return td_target(episode, self.discount, next_or_following(episode, target, following))

        return jax.lax.fori_loop(1, min(self.n_step, following.shape[0]), one_step_more, target)


def lambda_returns(
    episode: Episode, discount: Float[Array, ""] | float, following: Float[Array, "T *B"], td_lambda: float
) -> Float[Array, "T *B"]:
    """G_t = r_t + gamma ((1 - lambda) following_t + lambda G_{t+1}), from the last step backwards."""
    mixing = jnp.where(last_steps(episode), 0.0, td_lambda)
    discounts = jnp.where(episode.terminated, 0.0, discount)
    return sums_ahead(episode.rewards + discounts * (1 - mixing) * jax.lax.stop_gradient(following), discounts * mixing)


def next_or_following(
    episode: Episode, targets: Float[Array, "T *B"], following: Float[Array, "T *B"]
) -> Float[Array, "T *B"]:
    """The target of the next step; after the last one, the value of what follows it."""
    after = jnp.concatenate([targets[1:], following[-1:]])
    return jnp.where(last_steps(episode), following, after)


def error_loss(errors: Float[Array, "*batch"], huber: float) -> Float[Array, "*batch"]:
    """The squares of errors; beyond `huber`, if it is above 0, tangents of the square: 2 huber |error| - huber^2."""
    if huber == 0:
        return jnp.square(errors)
    size = jnp.abs(errors)
    return jnp.where(size <= huber, jnp.square(errors), huber * (2 * size - huber))


class Priorities(eqx.Module):
    """How large the errors of an agent's episodes were when it last learned from them, by the episode's number."""

    numbers: Int[Array, " slots"]  # of the episode in each slot, its number modulo their count; -1: none
    errors: Float[Array, " slots"]


class ValueSettings(GradientLearner):
    """What all learners of action values can be told about their targets, errors and heads."""

    heading: ClassVar[str] = "Values"

    cannot: ClassVar[dict[str, str]] = {}  # settings that the method can't honour, and why

    n_step: int = setting(1, "rewards of how many steps a target counts before it bootstraps", at_least=1)
    td_lambda: float = setting(0.0, MIXED_RETURNS, at_least=0, at_most=1, static=True)
    huber: float = setting(
        0.0, "errors beyond this count linearly, not squared (0: all are squared)", at_least=0, static=True
    )
    duelling: bool = setting(False, "values as the sum of the state's value and the actions' advantages")

    prioritised: float = setting(
        0.0,
        "alpha of prioritised replay: an episode is drawn by its mean error to this power (0: all alike)",
        at_least=0,
        at_most=1,
        static=True,
    )
    prioritised_beta: float = setting(
        0.4, "beta, how far errors are weighted down for being drawn more often", at_least=0, at_most=1
    )

    def check_together(self) -> None:
        if self.td_lambda > 0 and self.n_step > 1:
            raise Refused(f"n_step must be 1 unless td_lambda is 0, got {self.n_step}")
        defaults = {field.name: field.default for field in setting_fields(type(self))}
        for name, why in type(self).cannot.items():
            if (value := getattr(self, name)) != defaults[name]:
                allowed = str(defaults[name]).lower()
                raise Refused(f"{name} must be {allowed} for this method, got {str(value).lower()}: {why}")

    @property
    def targets(self) -> TDTargets:
        """How targets are made from rewards and from what follows each step."""
        return TDTargets(self.discount, self.n_step, self.td_lambda)

    def error_loss(
        self, errors: Float[Array, "*batch"], weights: Float[Array, "*batch"] | None = None
    ) -> Float[Array, "*batch"]:
        """How much each error of a value counts; `weights` are those of the episodes, if they have any."""
        losses = error_loss(errors, self.huber)
        return losses if weights is None else weights * losses

    def episode_errors(self, errors: Float[Array, "B T"], counted: Bool[Array, "B T"]) -> Metrics:
        """The mean size of each episode's errors, from which a prioritised replay draws; nothing for any other."""
        if self.prioritised == 0:
            return {}
        return {EPISODE_ERROR: jax.lax.stop_gradient(jax.vmap(masked_mean)(jnp.abs(errors), counted))}

    def initial_priorities(self) -> Priorities | tuple[()]:
        if self.prioritised == 0:
            return ()
        return Priorities(jnp.full(MOST_PRIORITIES, -1), jnp.zeros(MOST_PRIORITIES))
