"""DAC (Section 4): contexts inferred from the agent's own windows, values given a context, optimism over contexts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.base import Values
from decentral.algorithms.context_value import ContextValue, optimistic_marginal_value
from decentral.algorithms.contexts import ContextModel, averaged, kl_to_uniform, summed, transition_size
from decentral.algorithms.dac_settings import DACSettings
from decentral.algorithms.gradient import clipped_rmsprop, one_optimiser_per_part
from decentral.algorithms.q_learning import (
    Dice,
    Scene,
    best_next_value,
    draw_by_step,
    episode_inputs,
    masked_mean,
    one_hot_actions,
    roll,
    scene_inputs,
    td_target,
)
from decentral.algorithms.value_learner import Hidden
from decentral.networks.dynamics import Decoder, Encoder, straight_through_sample
from decentral.networks.heads import CONTEXT_HEADS, HyperNet
from decentral.networks.trunk import Trunk
from decentral.types import AgentSpec, Episode, Metrics


class DACModels(eqx.Module):
    """Everything one DAC agent learns."""

    value: ContextValue  # theta
    context: ContextModel  # omega


class DAC(DACSettings):
    """Dynamics-Aware Context: values given an inferred context, and the best context at the time of acting."""

    def build(self, spec: AgentSpec) -> DACModels:
        trunk = Trunk(spec.observation_size + spec.actions.count, self.hidden)
        head = CONTEXT_HEADS[self.head](self.hidden, self.contexts, spec.actions.count)
        if isinstance(head, HyperNet) and self.hyper_start == "context":
            head = jax.tree.map(lambda half_width: jnp.full_like(half_width, self.contexts**-0.5), head)
        return DACModels(ContextValue(trunk, head), self.build_context_model(spec))

    def build_context_model(self, spec: AgentSpec) -> ContextModel:
        """The encoder and the two decoders, described."""
        state, action = spec.observation_size, spec.actions.count
        window_size = self.window * transition_size(state, action)
        return ContextModel(
            Encoder(window_size, self.encoder_width, self.contexts),
            Decoder(state + action, self.contexts, self.decoder_width, state),
            Decoder(state + action, self.contexts, self.decoder_width, 1),
            self.window,
        )

    def start(self, models: DACModels) -> Hidden:
        return models.value.trunk.start()

    def values(self, models: DACModels, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        memory = models.value.trunk.step(memory, scene_inputs(scene))
        every = models.value.head.every(memory)
        optimistic = optimistic_marginal_value(every)
        if not self.explore_contexts:
            return optimistic, memory
        drawn = jax.nn.one_hot(jnp.floor(scene.dice.context * self.contexts), self.contexts)
        return jnp.where(scene.dice.explore_context < scene.epsilon, drawn @ every, optimistic), memory

    def losses(
        self, online: DACModels, target: DACModels, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        gumbel = draw_by_step(jax.random.gumbel, key, (*episodes.rewards.shape, self.contexts))
        logits = jax.vmap(online.context.infer)(episodes)
        sample = straight_through_sample(logits, gumbel, self.temperature, self.hard)
        contexts = self.contexts_for_values(logits, sample)
        taken, error = jax.vmap(self.td_errors, (None, None, 0, 0))(online.value, target.value, episodes, contexts)
        modelled = jax.vmap(self.has_window)(episodes)
        valued = modelled & ~jax.vmap(self.is_unanswered)(episodes)
        value_loss = masked_mean(jnp.square(error), valued)
        context_loss, metrics = self.context_losses(online.context, episodes, logits, sample, modelled)
        return value_loss + context_loss, metrics | {
            "loss": value_loss,
            "td_error_abs": masked_mean(jnp.abs(error), valued),
            "q_taken_mean": masked_mean(taken, valued),
        }

    def context_losses(
        self,
        model: ContextModel,
        episodes: Episode,
        logits: Float[Array, "B T contexts"],
        sample: Float[Array, "B T contexts"],
        modelled: Bool[Array, "B T"],
    ) -> tuple[Float[Array, ""], Metrics]:
        """L_V = L_REC + beta L_KL, over the steps whose window counts."""
        gather = averaged if self.reconstruction == "averaged" else summed
        features = episodes.percepts.observation.shape[-1]
        state = model.state_loss(episodes, sample, gather(modelled, self.window, features), self.predict == "change")
        reward = model.reward_loss(episodes, sample, gather(modelled, self.window, 1))
        divergence = masked_mean(kl_to_uniform(logits), modelled)
        return state + self.reward_weight * reward + self.kl_weight * divergence, {
            "state_error": state,
            "reward_error": reward,
            "kl": divergence,
            "contexts_used": contexts_used(sample, modelled),
        }

    def contexts_for_values(
        self, logits: Float[Array, "*batch contexts"], sample: Float[Array, "*batch contexts"]
    ) -> Float[Array, "*batch contexts"]:
        """c_t as the value function sees it."""
        mode = jax.nn.one_hot(jnp.argmax(logits, axis=-1), self.contexts)
        contexts = {"sample": sample, "mode": mode, "probabilities": jax.nn.softmax(logits, axis=-1)}[
            self.value_context
        ]
        return contexts if self.value_trains_encoder else jax.lax.stop_gradient(contexts)

    def td_errors(
        self, online: ContextValue, target: ContextValue, episode: Episode, contexts: Float[Array, "T contexts"]
    ) -> tuple[Float[Array, " T"], Float[Array, " T"]]:
        """Q(h_t, a_t, c_t), and how far it is from r + gamma Q'(h_{t+1}, argmax Q(h_{t+1}, ., c_{t+1}), c_{t+1})."""
        inputs = episode_inputs(episode)
        hidden, target_hidden = online.trunk.unroll(inputs), target.trunk.unroll(inputs)
        values = online.head(hidden[:-1], contexts)
        taken = jnp.sum(values * one_hot_actions(episode), axis=-1)
        after = jnp.concatenate([contexts[1:], contexts[-1:]])
        if self.last_context == "previous":
            after = jnp.where(last_steps(episode)[:, None], contexts, after)
        next_online = online.head(hidden[1:], after)
        next_target = target.head(target_hidden[1:], after)
        if self.last_context == "optimistic":
            cut = last_steps(episode)[:, None]
            next_online = jnp.where(cut, optimistic_marginal_value(online.head.every(hidden[1:])), next_online)
            best = optimistic_marginal_value(target.head.every(target_hidden[1:]))
            next_target = jnp.where(cut, best, next_target)
        following = best_next_value(next_online, next_target, episode.percepts.available[1:], self.double_q)
        return taken, taken - td_target(episode, self.discount, following)

    def has_window(self, episode: Episode) -> Bool[Array, " T"]:
        """The steps that have a window to learn from."""
        if self.window_start == "padded":
            return episode.happened
        return episode.happened & (jnp.arange(episode.happened.shape[0]) >= self.window - 1)

    def is_unanswered(self, episode: Episode) -> Bool[Array, " T"]:
        """The steps that are left out because nothing tells the context after them."""
        cut_off = last_steps(episode) & ~episode.terminated
        return cut_off if self.last_context == "masked" else jnp.zeros_like(cut_off)

    def roll(self, key: Key[Array, ""], length: int) -> Dice:
        dice = roll(key, length)
        if self.context_coin == "step":
            return dice
        same = jax.tree.map(lambda rolled: jnp.full_like(rolled, rolled[0]), dice)
        return Dice(dice.explore_action, dice.action, same.explore_context, same.context)

    def optimiser(self) -> optax.GradientTransformation:
        if self.optimisers == "one":
            return clipped_rmsprop(self)
        return one_optimiser_per_part(self, "value", "context")


def last_steps(episode: Episode) -> Bool[Array, " T"]:
    """The last step that happened in an episode."""
    following = jnp.concatenate([episode.happened[1:], jnp.zeros_like(episode.happened[:1])])
    return episode.happened & ~following


def contexts_used(contexts: Float[Array, "*batch contexts"], counted: Bool[Array, "*batch"]) -> Float[Array, ""]:
    """How many contexts are in use: the exponential of the entropy of their shares."""
    shares = jax.vmap(masked_mean, (-1, None))(contexts, counted)
    return jnp.exp(-jnp.sum(shares * jnp.log(jnp.maximum(shares, 1e-9))))
