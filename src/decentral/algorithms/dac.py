"""DAC (Section 4): contexts inferred from the agent's own windows, values given a context, optimism over contexts."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.ahead import Ahead, at_every_percept, one_step_on
from decentral.algorithms.attainable import ContextPrior, likely_enough, surprise
from decentral.algorithms.base import AgentState, Values
from decentral.algorithms.context_learner import ContextLearner
from decentral.algorithms.context_value import ContextValue, optimistic_marginal_value
from decentral.algorithms.contexts import ContextModel, Contexts
from decentral.algorithms.gradient import GradientLearner, clipped_rmsprop, one_optimiser_per_part
from decentral.algorithms.q_learning import (
    Dice,
    Scene,
    best_next_value,
    episode_inputs,
    mask_unavailable,
    masked_mean,
    one_hot_actions,
    risen,
    roll,
    scene_inputs,
    td_target,
)
from decentral.algorithms.sampled import few_contexts
from decentral.algorithms.value_learner import Hidden
from decentral.networks.backend import gathered
from decentral.networks.heads import CONTEXT_HEADS, HyperNet
from decentral.networks.trunk import Trunk
from decentral.types import AgentSpec, Episode, Metrics, time_first


class DACModels(eqx.Module):
    """Everything one DAC agent learns."""

    value: ContextValue  # theta
    context: ContextModel | None = None  # omega; none where contexts have another source
    prior: ContextPrior | None = None


class DAC(ContextLearner):
    """Dynamics-Aware Context: values given an inferred context, and the best context at the time of acting."""

    def build(self, spec: AgentSpec) -> DACModels:
        trunk = Trunk(spec.observation_size + spec.actions.count, self.hidden)
        head = CONTEXT_HEADS[self.head](self.hidden, self.contexts, spec.actions.count)
        if isinstance(head, HyperNet) and self.hyper_start == "context":
            head = jax.tree.map(lambda half_width: jnp.full_like(half_width, self.contexts**-0.5), head)
        learned = self.context_prior == "learned"
        prior = ContextPrior(self.hidden, self.contexts, spec.actions.count) if learned else None
        context = self.build_context_model(spec) if self.context_source == "encoder" else None
        return DACModels(ContextValue(trunk, head), context, prior)

    def start(self, models: DACModels) -> Hidden:
        return models.value.trunk.start()

    def values(self, models: DACModels, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        memory = models.value.trunk.step(memory, scene_inputs(scene))
        if self.max_over == "sampled":
            return self.sampled_values(models, memory, scene), memory
        every = models.value.head.every(memory)
        optimistic = optimistic_marginal_value(every, self.attainable_contexts(models.prior, memory))
        if not self.explore_contexts:
            return optimistic, memory
        drawn = jax.nn.one_hot(jnp.floor(scene.dice.context * self.contexts), self.contexts)
        return jnp.where(scene.dice.explore_context < scene.epsilon, drawn @ every, optimistic), memory

    def sampled_values(self, models: DACModels, memory: Hidden, scene: Scene) -> Values:
        """As `values`, with a maximum over a few contexts: no others are computed."""
        some = partial(models.value.head.some, memory)
        optimistic = self.sampled_phi(models.prior, memory, some)
        if not self.explore_contexts:
            return optimistic
        drawn = jnp.floor(scene.dice.context * self.contexts).astype(jnp.int32)
        return jnp.where(scene.dice.explore_context < scene.epsilon, some(drawn[None])[0], optimistic)

    def sampled_phi(
        self, prior: ContextPrior | None, memory: Hidden, some: Callable[[Int[Array, " few"]], Array]
    ) -> Values:
        """phi over a few contexts, of those the attainable ones; `some` gives the values under them."""
        log_p = None if prior is None else prior(memory)
        few = few_contexts(memory, log_p, self.contexts, self.sampled_contexts)
        among = None if prior is None or log_p is None else likely_enough(log_p[few], self.delta(prior))
        return optimistic_marginal_value(some(few), among)

    def contexts_in(self, models: DACModels, episode: Episode) -> Float[Array, "T contexts"] | None:
        return self.likeliest_contexts(models.context, episode)

    def losses(
        self, online: DACModels, target: DACModels, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        episodes = gathered(time_first(episodes))
        modelled = self.has_window(episodes)
        contexts, context_loss, metrics = self.find_contexts(online.context, episodes, modelled, key)
        judge = partial(self.judge, online, target, episodes)
        seen = jax.vmap(judge)(contexts) if self.context_source == "ensemble" else judge(contexts)
        valued = jnp.broadcast_to(modelled & ~self.is_unanswered(episodes), seen["error"].shape)
        value_loss = masked_mean(jnp.square(seen["error"]), valued)
        loss = value_loss + context_loss
        if online.prior is not None:
            prior_loss = masked_mean(seen["surprise"], modelled)
            loss = loss + prior_loss
            metrics |= {"prior_loss": prior_loss, "contexts_attainable": masked_mean(seen["attainable"], modelled)}
        metrics |= {name: masked_mean(seen[name], valued) for name in ("phi_gap", "bonus") if name in seen}
        values = {f"q_{name}_mean": masked_mean(seen[name], valued) for name in ("taken", "greedy")}
        hidden, available = seen["hidden"][..., :1, :], episodes.percepts.available[:-1, :1]
        phi = self.highest_phi(online, hidden, jnp.broadcast_to(available, (*hidden.shape[:-1], available.shape[-1])))
        return loss, metrics | values | {
            "loss": value_loss,
            "td_error_abs": masked_mean(jnp.abs(seen["error"]), valued),
            "q_optimistic_mean": masked_mean(phi, valued[..., :1]),  # of one episode, for phi costs much
        }

    def highest_phi(
        self, models: DACModels, hidden: Float[Array, "*T hidden"], available: Bool[Array, "*T actions"]
    ) -> Float[Array, "*T"]:
        """The value of the best available action by phi."""
        phi = optimistic_marginal_value(models.value.head.every(hidden), self.attainable_contexts(models.prior, hidden))
        return jnp.max(mask_unavailable(phi, available), axis=-1)

    def judge(self, online: DACModels, target: DACModels, episode: Episode, contexts: Contexts) -> Metrics:
        """What one episode says of the networks, by name [T], or what many say that lie side by side [T, B].

        Among it Q(h_t, a_t, c_t), and how far it is from r + gamma Q'(h_{t+1}, argmax Q(h_{t+1}, ., c_{t+1}), c_{t+1}).
        """
        inputs, actions = episode_inputs(episode), one_hot_actions(episode)
        hidden, slow_hidden = online.value.trunk.unroll(inputs), target.value.trunk.unroll(inputs)
        inferred = at_every_percept(contexts.chosen, last_steps(episode))
        values, slow_values = online.value.head(hidden, inferred), target.value.head(slow_hidden, inferred)
        here, available = values[:-1], episode.percepts.available[:-1]
        taken = jnp.sum(here * actions, axis=-1)
        one_on = (values[1:], slow_values[1:])
        ahead = Ahead(online.value.head, target.value.head, hidden[1:], slow_hidden[1:], inferred=one_on)
        following = self.following(ahead, online.prior, episode, contexts)
        seen = {
            "hidden": hidden[:-1],
            "taken": taken,
            "error": taken - td_target(episode, self.discount, following),
            "greedy": jnp.max(mask_unavailable(here, available), axis=-1),
        }
        if self.explore_bonus != "none" and online.context is not None:
            errors = online.context.step_errors(episode, contexts.chosen, self.predict == "change")
            seen["bonus"] = self.bonus_weight * jax.lax.stop_gradient(errors)
            seen["error"] -= seen["bonus"]  # the target is higher by it
        if self.max_over == "sampled":
            every = online.value.head.every(hidden[:-1])
            phi = optimistic_marginal_value(every, self.attainable_contexts(online.prior, hidden[:-1]))
            of_few = jnp.vectorize(
                lambda memory, values: self.sampled_phi(online.prior, memory, lambda few: values[few]),
                signature="(h),(c,a)->(a)",
            )
            seen["phi_gap"] = jnp.mean(jnp.abs(phi - of_few(hidden[:-1], every)), axis=-1)
        if online.prior is not None:
            seen |= self.judge_prior(online.prior, hidden[:-1], contexts.chosen, actions)
        return seen

    def judge_prior(
        self,
        prior: ContextPrior,
        hidden: Float[Array, "*T hidden"],
        contexts: Float[Array, "*T contexts"],
        actions: Float[Array, "*T actions"],
    ) -> Metrics:
        """How much each context surprised the prior, and how many contexts were attainable by the action taken."""
        log_p = prior(hidden if self.prior_trains_trunk else jax.lax.stop_gradient(hidden))
        attainable = likely_enough(log_p, self.delta(prior))
        return {
            "surprise": surprise(log_p, jax.lax.stop_gradient(contexts), actions),
            "attainable": jnp.sum(attainable * actions[..., None, :], axis=(-2, -1)),
        }

    def following(
        self, ahead: Ahead, prior: ContextPrior | None, episode: Episode, contexts: Contexts
    ) -> Float[Array, "T *B"]:
        """What each step is followed by, before the discount."""
        last = last_steps(episode)
        if self.next_context == "optimistic":
            values, slow_values = ahead.optimistic(self.attainable_contexts(prior, ahead.hidden), self.double_q)
        elif self.next_context == "expected":
            seen_after = one_step_on(contexts.probabilities, last)[..., None]
            values, slow_values = ahead.expected(seen_after if prior is None else jnp.exp(prior(ahead.hidden)))
        else:
            values, slow_values = ahead.inferred
        if self.last_context == "optimistic":
            best = ahead.optimistic(self.attainable_contexts(prior, ahead.hidden), self.double_q)
            values, slow_values = (
                jnp.where(last[..., None], phi, told) for phi, told in zip(best, (values, slow_values), strict=True)
            )
        return best_next_value(values, slow_values, episode.percepts.available[1:], self.double_q)

    def attainable_contexts(
        self, prior: ContextPrior | None, hidden: Float[Array, "*rows hidden"]
    ) -> Bool[Array, "*rows contexts actions"] | None:
        """The contexts that phi takes its maximum over, for each action; none named: all of them."""
        if prior is None:
            return None
        return likely_enough(prior(hidden), self.delta(prior))

    def delta(self, prior: ContextPrior) -> Float[Array, ""]:
        """The share of the likeliest context's probability that a context must have now to be attainable."""
        return self.attainable * risen(self.attainable_start, self.attainable_ramp, prior.episodes)

    def is_unanswered(self, episode: Episode) -> Bool[Array, "T *B"]:
        """The steps that are left out because nothing tells the context after them."""
        cut_off = last_steps(episode) & ~episode.terminated
        return cut_off if self.last_context == "masked" else jnp.zeros_like(cut_off)

    def roll(self, key: Key[Array, ""], length: int) -> Dice:
        dice = roll(key, length)
        if self.context_coin == "step":
            return dice
        same = jax.tree.map(lambda rolled: jnp.full_like(rolled, rolled[0]), dice)
        return Dice(dice.explore_action, dice.action, same.explore_context, same.context)

    def after_episodes(self, agent: AgentState, episodes: int) -> AgentState:
        """As other learners; and a learned prior counts the episodes, by which delta rises."""
        if agent.online.prior is not None:
            lived = agent.online.prior.episodes + episodes
            agent = eqx.tree_at(lambda a: a.online.prior.episodes, agent, lived)
        return GradientLearner.after_episodes(self, agent, episodes)

    def optimiser(self) -> optax.GradientTransformation:
        if self.optimisers == "one":
            return clipped_rmsprop(self)
        there = {"context": self.context_source == "encoder", "prior": self.context_prior == "learned"}
        return one_optimiser_per_part(self, "value", *(part for part, is_there in there.items() if is_there))


def last_steps(episode: Episode) -> Bool[Array, "T *B"]:
    """The last step that happened in an episode."""
    following = jnp.concatenate([episode.happened[1:], jnp.zeros_like(episode.happened[:1])])
    return episode.happened & ~following
