"""Dynamics-aware contexts (Sections 4.2 and 4.3): the encoder, the two decoders, and the loss that trains them.

An agent infers a context c_t from its own last k transitions: a label of how its environment behaves at present.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.dac.settings import OpenChoices
from decentral.algorithms.q_learning import draw_by_step, masked_mean
from decentral.networks.dynamics import Decoder, Encoder, contexts_used, first_layer_of_windows, straight_through_sample
from decentral.types import AgentSpec, Episode, Metrics, time_first


class Contexts(eqx.Module):
    """The contexts of an episode's steps, as used in learning."""

    chosen: Float[Array, "T *B contexts"]  # c_t, which the values learn with
    probabilities: Float[Array, "T *B contexts"]  # q(c_t | tau), from which c_t was drawn
    of_target: Float[Array, "T *B contexts"] | None = None  # c_t by the target copy of the encoder, if it has one


class ContextModel(eqx.Module):
    """The encoder q(c | tau) and the two decoders f_s(s, a, c) and f_r(s, a, c)."""

    encoder: Encoder
    state_decoder: Decoder
    reward_decoder: Decoder
    window: int = eqx.field(static=True)  # k, in transitions

    def infer(self, episode: Episode) -> Float[Array, "T *B contexts"]:
        """The logits of q(c_t | tau_{t-k+1:t}) for every step; tau is the window of Eq. (5).

        A transition is (s, a, r, s', 1): the last entry distinguishes it from the padding before an episode's start.
        """
        between = jnp.concatenate([action_features(episode), episode.rewards[..., None]], axis=-1)
        hidden = first_layer_of_windows(self.encoder.first, episode.percepts.observation, between, self.window)
        return self.encoder.logits(hidden)

    def state_loss(
        self,
        episodes: Episode,
        contexts: Float[Array, "T B contexts"],
        weights: Float[Array, "T B"],
        window: int,
        of_change: bool,
    ) -> Float[Array, ""]:
        """The sum over windows of weight times sum_h |s_{h+1} - f_s(s_h, a_h, c_t)|^2, the first half of Eq. (13)."""
        inputs, targets = decoder_inputs(episodes), state_targets(episodes, of_change)
        return self.state_decoder.window_loss(inputs, contexts, targets, weights, window)

    def reward_loss(
        self, episodes: Episode, contexts: Float[Array, "T B contexts"], weights: Float[Array, "T B"], window: int
    ) -> Float[Array, ""]:
        """The sum over windows of weight times sum_h (r_h - f_r(s_h, a_h, c_t))^2, the second half of Eq. (13)."""
        inputs, targets = decoder_inputs(episodes), episodes.rewards[..., None]
        return self.reward_decoder.window_loss(inputs, contexts, targets, weights, window)


class ContextLearner(OpenChoices):
    """The half of DAC that infers contexts and learns to do so; `DAC` adds the values."""

    def build_context_model(self, spec: AgentSpec) -> ContextModel:
        """A description of the encoder and the two decoders."""
        state, action = spec.observation_size, spec.actions.count
        transition = 2 * state + action + 2  # s, a, r, s' and a flag
        return ContextModel(
            Encoder(self.window * transition, self.encoder_width, self.contexts),
            Decoder(state + action, self.contexts, self.decoder_width, state),
            Decoder(state + action, self.contexts, self.decoder_width, 1),
            self.window,
        )

    def find_contexts(
        self, model: ContextModel, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Contexts, Float[Array, ""], Metrics]:
        """The contexts that the values learn with, the loss L_V of the context model, and metrics.

        Episodes and contexts have time first: [T, B, ...].
        """
        logits, counted = self.infer(model, episodes), self.has_window(episodes)
        sample = self.sample_contexts(logits, key)
        state_error, reward_error = self.reconstruction_losses(model, episodes, sample, counted)
        loss, metrics = self.context_loss(logits, sample, state_error, reward_error, counted)
        return self.contexts_for_values(logits, sample), loss, metrics

    def has_window(self, episode: Episode) -> Bool[Array, "T *B"]:
        """The steps that have a window to learn from."""
        if self.window_start == "padded":
            return episode.happened
        return episode.happened & (step_numbers(episode.happened) >= self.window - 1)

    def infer(self, model: ContextModel, episode: Episode) -> Float[Array, "T *B contexts"]:
        """The logits of q(c_t | tau) for every step."""
        return model.infer(episode)

    def sample_contexts(
        self, logits: Float[Array, "T B contexts"], key: Key[Array, ""]
    ) -> Float[Array, "T B contexts"]:
        """c_t ~ q(c_t | tau), drawn by Gumbel-Softmax so that the encoder can be trained through it."""
        steps, batch, contexts = logits.shape
        gumbel = time_first(draw_by_step(jax.random.gumbel, key, (batch, steps, contexts)))
        return straight_through_sample(logits, gumbel, self.temperature, self.hard)

    def reconstruction_losses(
        self, model: ContextModel, episodes: Episode, sample: Float[Array, "T B contexts"], counted: Bool[Array, "T B"]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The state's and the reward's share of L_REC, Eq. (13); averaged, or summed as printed."""
        of_state = self.window_weights(counted, self.window, episodes.percepts.observation.shape[-1])
        of_reward = self.window_weights(counted, self.window, 1)
        state_error = model.state_loss(episodes, sample, of_state, self.window, self.predict == "change")
        return state_error, model.reward_loss(episodes, sample, of_reward, self.window)

    def window_weights(self, counted: Bool[Array, "T B"], length: int, features: int) -> Float[Array, "T B"]:
        """The weight of each window's errors in L_REC."""
        return {"averaged": mean_weights, "summed": sum_weights}[self.reconstruction](counted, length, features)

    def context_loss(
        self,
        logits: Float[Array, "T B contexts"],
        sample: Float[Array, "T B contexts"],
        state_error: Float[Array, ""],
        reward_error: Float[Array, ""],
        counted: Bool[Array, "T B"],
    ) -> tuple[Float[Array, ""], Metrics]:
        """L_V = L_REC + beta L_KL (Section 4.3; the reward's share may have a weight), and metrics."""
        divergence = masked_mean(kl_to_uniform(logits), counted)
        loss = state_error + self.reward_weight * reward_error + self.kl_weight * divergence
        used = contexts_used(sample, counted)
        return loss, {"state_error": state_error, "reward_error": reward_error, "kl": divergence, "contexts_used": used}

    def contexts_for_values(
        self, logits: Float[Array, "*batch contexts"], sample: Float[Array, "*batch contexts"]
    ) -> Contexts:
        """c_t as the values learn with it. By default the gradient stops here, as L_C is a loss of theta alone."""
        probabilities = jax.nn.softmax(logits, axis=-1)
        kinds = {"sample": sample, "mode": likeliest(logits), "probabilities": probabilities}
        chosen = kinds[self.value_context]
        return Contexts(chosen if self.value_trains_encoder else jax.lax.stop_gradient(chosen), probabilities)


def kl_to_uniform(logits: Float[Array, "*batch contexts"]) -> Float[Array, "*batch"]:
    """L_KL = KL(q || uniform) = sum_j q_j log(m q_j), Eq. (12)."""
    log_q = jax.nn.log_softmax(logits, axis=-1)
    return jnp.sum(jnp.exp(log_q) * (log_q + jnp.log(logits.shape[-1])), axis=-1)


def likeliest(logits: Float[Array, "*batch contexts"]) -> Float[Array, "*batch contexts"]:
    """The most likely context, one-hot."""
    return jax.nn.one_hot(jnp.argmax(logits, axis=-1), logits.shape[-1])


def decoder_inputs(episode: Episode) -> Float[Array, "T *B inputs"]:
    """(s, a) of every step."""
    return jnp.concatenate([episode.percepts.observation[:-1], action_features(episode)], axis=-1)


def state_targets(episodes: Episode, of_change: bool) -> Float[Array, "T *B features"]:
    """What f_s should predict: s', or if `of_change` s' - s."""
    before, after = episodes.percepts.observation[:-1], episodes.percepts.observation[1:]
    return after - before if of_change else after


def action_features(episode: Episode) -> Float[Array, "T *B actions"]:
    """The agent's own actions as features: one-hot if discrete, the number itself if continuous."""
    if jnp.issubdtype(episode.actions.dtype, jnp.floating):
        return episode.actions
    return jax.nn.one_hot(episode.actions, episode.percepts.available.shape[-1])


def mean_weights(counted: Bool[Array, "T B"], window: int, features: int) -> Float[Array, "T B"]:
    """Weights for a mean over the counted windows, over features and over the steps in a window."""
    held = jnp.minimum(1 + step_numbers(counted), window)
    return sum_weights(counted, window, features) / (held * features)


def sum_weights(counted: Bool[Array, "T B"], window: int, features: int) -> Float[Array, "T B"]:
    """Weights for a mean over the counted windows of the sums over features and steps, as printed in the paper."""
    return counted / jnp.maximum(jnp.sum(counted), 1)


def step_numbers(like: Array) -> Int[Array, "T *ones"]:
    """0, 1, 2, ... along the first axis, time, of an array with as many axes as `like`."""
    return jnp.arange(like.shape[0]).reshape(-1, *[1] * (like.ndim - 1))
