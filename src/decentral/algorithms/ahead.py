"""What DAC expects of the time after a step: the values of all actions there, whatever the context will be."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.algorithms.context_value import optimistic_marginal_value
from decentral.networks.heads import ContextHead

Values = Float[Array, "T *B actions"]
EveryContext = Float[Array, "T *B contexts actions"]


class Ahead(eqx.Module):
    """The time after each step of an episode, as an agent's online network and its target network remember it.

    Everything answers with the values by which the next action is chosen, and the target network's, which it is worth.
    """

    head: ContextHead
    slow_head: ContextHead
    hidden: Float[Array, "T *B hidden"]
    slow_hidden: Float[Array, "T *B hidden"]
    inferred: tuple[Values, Values]  # Q(h_{t+1}, ., c_{t+1})

    def expected(self, shares: Float[Array, "T *B contexts #actions"]) -> tuple[Values, Values]:
        """sum_c p(c) Q(h_{t+1}, ., c), where contexts may have other shares p(c) for other actions."""
        every, slow = self.every()
        return jnp.sum(shares * every, axis=-2), jnp.sum(shares * slow, axis=-2)

    def optimistic(self, among: Bool[Array, "T *B contexts actions"] | None, double_q: bool) -> tuple[Values, Values]:
        """phi(h_{t+1}, .); if `double_q`, the target's values in the contexts that the online network finds best."""
        every, slow = self.every()
        phi = optimistic_marginal_value(every, among)
        return phi, in_best_context(slow, every if double_q else slow, among)

    def every(self) -> tuple[EveryContext, EveryContext]:
        """Both networks' values under each context."""
        return self.head.every(self.hidden), self.slow_head.every(self.slow_hidden)


def in_best_context(
    valued: EveryContext, judge: EveryContext, among: Bool[Array, "T *B contexts actions"] | None
) -> Values:
    """What each action is worth in the context, among those named for it, in which the judge finds it best."""
    best = jnp.argmax(judge if among is None else jnp.where(among, judge, -jnp.inf), axis=-2)
    return jnp.sum(valued * jax.nn.one_hot(best, valued.shape[-2], axis=-2), axis=-2)


def one_step_on(of_steps: Float[Array, "T *B features"], last: Bool[Array, "T *B"]) -> Float[Array, "T *B features"]:
    """What belongs to the following step; the last step of an episode keeps its own."""
    following = jnp.concatenate([of_steps[1:], of_steps[-1:]])
    return jnp.where(last[..., None], of_steps, following)


def at_every_percept(
    of_steps: Float[Array, "T *B features"], last: Bool[Array, "T *B"]
) -> Float[Array, "P *B features"]:
    """What belongs to the step from each percept on; the percept after the last step has that step's own."""
    return jnp.concatenate([of_steps[:1], one_step_on(of_steps, last)])
