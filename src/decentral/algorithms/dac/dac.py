"""DAC as published (Section 4, Appendix C): values given a context, and optimism over contexts.

`context_model.py` infers the contexts, `settings.py` has what the paper leaves open. Where the paper's values have the
state s, these have the agent's memory h. Each step is a method of its own, so that an extension can replace it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.base import Values
from decentral.algorithms.dac.context_model import ContextLearner, ContextModel, Contexts, likeliest
from decentral.algorithms.q_learning import (
    Dice,
    Scene,
    best_next_value,
    episode_inputs,
    last_steps,
    mask_unavailable,
    masked_mean,
    one_hot_actions,
    roll,
    scene_inputs,
)
from decentral.algorithms.value_learner import ContextValue, Hidden
from decentral.networks.backend import gathered
from decentral.networks.heads import CONTEXT_HEADS, ContextHead, HyperNet
from decentral.networks.images import trunk_for
from decentral.networks.trunk import unroll_both
from decentral.types import AgentSpec, Episode, Metrics, time_first

StepValues = Float[Array, "T *B actions"]
EveryContext = Float[Array, "*rows contexts actions"]
Terms = dict[str, Array]  # by name, for every step [T, *B, ...]


class DACModels(eqx.Module):
    """Everything one DAC agent learns."""

    value: ContextValue  # theta
    context: ContextModel  # omega


class NextStep(eqx.Module):
    """Hidden states and values of the online and the target network at t + 1."""

    head: ContextHead
    target_head: ContextHead
    hidden: Float[Array, "T *B hidden"]
    target_hidden: Float[Array, "T *B hidden"]
    inferred: tuple[StepValues, StepValues]  # Q(h_{t+1}, ., c_{t+1})

    def every(self) -> tuple[EveryContext, EveryContext]:
        """Both networks' values under each context."""
        return self.head.every(self.hidden), self.target_head.every(self.target_hidden)


class DAC(ContextLearner):
    """Dynamics-Aware Context: learn values given an inferred context, act on the best context."""

    # Networks and acting

    def build(self, spec: AgentSpec) -> DACModels:
        trunk = trunk_for(spec.observation_size + spec.actions.count, self.trunk_design, spec.image)
        head = CONTEXT_HEADS[self.head](self.hidden, self.contexts, spec.actions.count)
        if isinstance(head, HyperNet) and self.hyper_start == "context":
            # `build` describes networks: its leaves are the bounds from which initial weights are drawn
            head = jax.tree.map(lambda init_bound: jnp.full_like(init_bound, self.contexts**-0.5), head)
        return DACModels(ContextValue(trunk, head), self.build_context_model(spec))

    def start(self, models: DACModels) -> Hidden:
        return models.value.trunk.start()

    def values(self, models: DACModels, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        """q(h, .) of Eq. (14): with probability epsilon (0 in a test) a random context's values, else phi."""
        memory = models.value.trunk.step(memory, scene_inputs(scene))
        hidden = models.value.trunk.output(memory)
        every = models.value.head.every(hidden)
        return self.explore_in(every, self.phi(models, hidden, every), scene.epsilon, scene.dice), memory

    def acts_by(self, models: DACModels) -> ContextValue | None:
        return models.value

    def values_from(self, outputs: EveryContext, epsilon: Float[Array, ""], dice: Dice) -> Values:
        return self.explore_in(outputs, jnp.max(outputs, axis=-2), epsilon, dice)

    def explore_in(self, every: EveryContext, phi: Values, epsilon: Float[Array, ""], dice: Dice) -> Values:
        """With probability epsilon a random context's values, else phi."""
        if not self.explore_contexts:
            return phi
        drawn = jax.nn.one_hot(jnp.floor(dice.context * self.contexts), every.shape[-2])
        values = jnp.sum(jnp.broadcast_to(drawn[:, None], every.shape) * every, axis=-2)
        return jnp.where(dice.explore_context < epsilon, values, phi)

    def phi(
        self, models: DACModels, hidden: Float[Array, "*rows hidden"], every: EveryContext
    ) -> Float[Array, "*rows actions"]:
        """The optimistic marginal value phi(h, .) = max_c Q(h, ., c), Eq. (11); `every` is Q(h, ., c) for each c."""
        return jnp.max(self.candidate_values(models, hidden, every), axis=-2)

    def candidate_values(
        self, models: DACModels, hidden: Float[Array, "*rows hidden"], every: EveryContext
    ) -> EveryContext:
        """Q(h, ., c) for the contexts that phi maximises over: here, all of them."""
        return every

    def roll(self, key: Key[Array, ""], length: int) -> Dice:
        dice = roll(key, length)
        if self.context_coin == "step":
            return dice
        same = jax.tree.map(lambda rolled: jnp.full_like(rolled, rolled[0]), dice)
        return Dice(dice.explore_action, dice.action, same.explore_context, same.context)

    def contexts_in(self, models: DACModels, episode: Episode) -> Float[Array, "T contexts"] | None:
        likely = likeliest(self.infer(models.context, episode))
        return jnp.where(self.has_window(episode)[:, None], likely, 0.0)

    # Learning (Algorithm 1)

    def losses(
        self, online: DACModels, target: DACModels, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        """L_C + L_REC + beta L_KL on a batch of the agent's own episodes, for one step on their sum, and metrics."""
        episodes = gathered(time_first(episodes))
        contexts, context_loss, metrics = self.contexts_to_learn_with(online, target, episodes, key)
        terms = self.td_terms(online, target, episodes, contexts)
        value_loss, value_metrics = self.value_loss(online, terms)
        return value_loss + context_loss, metrics | value_metrics

    def contexts_to_learn_with(
        self, online: DACModels, target: DACModels, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Contexts, Float[Array, ""], Metrics]:
        """The contexts of a batch, the context model's loss and its metrics: from the one encoder there is."""
        return self.find_contexts(online.context, episodes, key)

    def td_terms(self, online: DACModels, target: DACModels, episode: Episode, contexts: Contexts) -> Terms:
        """The TD error of Eq. (10), sign turned, and terms of the metrics, for every step of an episode or a batch.

        The error is Q(h_t, a_t, c_t) - (r + gamma Q'(h_{t+1}, argmax Q(h_{t+1}, ., c_{t+1}), c_{t+1})).
        """
        inputs, last = episode_inputs(episode), last_steps(episode)
        hidden, target_hidden = unroll_both(online.value.trunk, target.value.trunk, inputs)
        inferred = at_every_percept(contexts.chosen, last)
        values, target_values = online.value.head(hidden, inferred), target.value.head(target_hidden, inferred)
        taken = jnp.sum(values[:-1] * one_hot_actions(episode), axis=-1)
        next_inferred = (values[1:], target_values[1:])
        following = NextStep(online.value.head, target.value.head, hidden[1:], target_hidden[1:], next_inferred)
        available = episode.percepts.available[:-1]
        return ({} if episode.weights is None else {"weights": episode.weights}) | {
            "hidden": hidden[:-1],
            "available": available,
            "counted": self.has_window(episode) & ~self.lacks_next_context(episode),
            "taken": taken,
            "greedy": jnp.max(mask_unavailable(values[:-1], available), axis=-1),
            "error": taken - self.targets(episode, self.bootstrap_value(following, online, episode, contexts)),
        }

    def bootstrap_value(
        self, following: NextStep, online: DACModels, episode: Episode, contexts: Contexts
    ) -> Float[Array, "T *B"]:
        """max_a' Q(h_{t+1}, a', c_{t+1}) of Eq. (10); with `double_q` the online network chooses a'."""
        values = self.next_action_values(following, online, episode, contexts)
        if self.last_context == "optimistic":
            best, last = self.next_phi(following, online), last_steps(episode)[..., None]
            values = (jnp.where(last, best[0], values[0]), jnp.where(last, best[1], values[1]))
        return best_next_value(*values, episode.percepts.available[1:], self.double_q)

    def next_action_values(
        self, following: NextStep, online: DACModels, episode: Episode, contexts: Contexts
    ) -> tuple[StepValues, StepValues]:
        """Q(h_{t+1}, ., c_{t+1}) of the online and of the target network, in the inferred context."""
        return following.inferred

    def next_phi(self, following: NextStep, online: DACModels) -> tuple[StepValues, StepValues]:
        """phi(h_{t+1}, .) of both networks; if `double_q`, the online network chooses the contexts of both."""
        every, target_every = following.every()
        ranked = self.candidate_values(online, following.hidden, every if self.double_q else target_every)
        best = jax.nn.one_hot(jnp.argmax(ranked, axis=-2), self.contexts, axis=-2)
        return jnp.max(ranked, axis=-2), jnp.sum(target_every * best, axis=-2)

    def lacks_next_context(self, episode: Episode) -> Bool[Array, "T *B"]:
        """The steps left out of L_C because the context after them is unknown."""
        cut_off = last_steps(episode) & ~episode.terminated
        return cut_off if self.last_context == "masked" else jnp.zeros_like(cut_off)

    def value_loss(self, online: DACModels, terms: Terms) -> tuple[Float[Array, ""], Metrics]:
        """L_C, Eq. (10): the mean squared TD error over the steps that count (or Huber's); and metrics."""
        counted = terms["counted"]
        loss = masked_mean(self.error_loss(terms["error"], terms.get("weights")), counted)
        phi = self.best_phi(online, terms["hidden"][..., :1, :], terms["available"][..., :1, :])
        return loss, {
            "loss": loss,
            "td_error_abs": masked_mean(jnp.abs(terms["error"]), counted),
            "q_taken_mean": masked_mean(terms["taken"], counted),
            "q_greedy_mean": masked_mean(terms["greedy"], counted),
            "q_optimistic_mean": masked_mean(phi, counted[..., :1]),  # of one episode: phi is costly
            **(self.episode_errors(terms["error"].T, counted.T) if self.prioritised > 0 else {}),
        }

    def best_phi(
        self, models: DACModels, hidden: Float[Array, "*T hidden"], available: Bool[Array, "*T actions"]
    ) -> Float[Array, "*T"]:
        """The value of the best available action by phi."""
        phi = self.phi(models, hidden, models.value.head.every(hidden))
        return jnp.max(mask_unavailable(phi, available), axis=-1)


def of_next_step(of_steps: Float[Array, "T *B features"], last: Bool[Array, "T *B"]) -> Float[Array, "T *B features"]:
    """Shift features of steps to those of the next step; the last step of an episode keeps its own."""
    following = jnp.concatenate([of_steps[1:], of_steps[-1:]])
    return jnp.where(last[..., None], of_steps, following)


def at_every_percept(
    of_steps: Float[Array, "T *B features"], last: Bool[Array, "T *B"]
) -> Float[Array, "P *B features"]:
    """The features of the step that starts at each percept; the percept after the last step repeats that step's."""
    return jnp.concatenate([of_steps[:1], of_next_step(of_steps, last)])
