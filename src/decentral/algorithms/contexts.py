"""Dynamics-aware contexts (Section 4.2): what an agent infers from its window about how its environment behaves now."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.networks.dynamics import Decoder, Encoder, first_layer_of_windows, steps_of_windows
from decentral.types import Episode


class Contexts(eqx.Module):
    """The contexts of the steps of an episode, in learning."""

    chosen: Float[Array, "T *B contexts"]  # c_t, as the values learn with it
    probabilities: Float[Array, "T *B contexts"]  # what it was drawn from


class ContextModel(eqx.Module):
    """The encoder q(c | window) and the two decoders f_s(s, a, c) and f_r(s, a, c)."""

    encoder: Encoder
    state_decoder: Decoder
    reward_decoder: Decoder
    window: int = eqx.field(static=True)  # k, in transitions

    def infer(self, episode: Episode, length: int | None = None) -> Float[Array, "T *B contexts"]:
        """The logits of q(c_t | window ending at t) for every step; of windows of `length` transitions, if told."""
        if length is None or length == self.window:
            observations = episode.percepts.observation
            hidden = first_layer_of_windows(self.encoder.first, observations, what_was_between(episode), self.window)
            return self.encoder.logits(hidden)
        transitions = flagged_transitions(episode)
        before = [jnp.zeros_like(transitions)] * (self.window - length)
        return self.encoder(jnp.concatenate([*before, *steps_of_windows(transitions, length)], axis=-1))

    def state_loss(
        self,
        episodes: Episode,
        contexts: Float[Array, "T B contexts"],
        weights: Float[Array, "T B"],
        window: int,
        of_change: bool,
    ) -> Float[Array, ""]:
        """The sum over windows of weight times |s' - f_s(s, a, c)|^2; `of_change`: of s' - s rather than s'."""
        inputs, wanted = decoder_inputs(episodes), wanted_states(episodes, of_change)
        return self.state_decoder.window_loss(inputs, contexts, wanted, weights, window)

    def reward_loss(
        self, episodes: Episode, contexts: Float[Array, "T B contexts"], weights: Float[Array, "T B"], window: int
    ) -> Float[Array, ""]:
        """The sum over windows of weight times (r - f_r(s, a, c))^2."""
        inputs, wanted = decoder_inputs(episodes), episodes.rewards[..., None]
        return self.reward_decoder.window_loss(inputs, contexts, wanted, weights, window)

    def step_errors(
        self, episode: Episode, contexts: Float[Array, "T *B contexts"], of_change: bool
    ) -> Float[Array, "T *B"]:
        """(r - f_r(s, a, c))^2 + the mean over features of (s' - f_s(s, a, c))^2, of single steps."""
        inputs = decoder_inputs(episode)
        state = jnp.square(wanted_states(episode, of_change) - self.state_decoder(inputs, contexts))
        reward = jnp.square(episode.rewards - self.reward_decoder(inputs, contexts)[..., 0])
        return jnp.mean(state, axis=-1) + reward


def wanted_states(episodes: Episode, of_change: bool) -> Float[Array, "T *B features"]:
    """What the state's decoder should say: s', or if `of_change` s' - s."""
    observations = episodes.percepts.observation
    before, after = observations[:-1], observations[1:]
    return after - before if of_change else after


def transition_size(observation_size: int, num_actions: int) -> int:
    """How many numbers describe one transition to the encoder."""
    return 2 * observation_size + num_actions + 2


def flagged_transitions(episode: Episode) -> Float[Array, "T *B transition"]:
    """(s, a, r, s', 1) of every step: the last entry tells a step from the zeros before an episode's start."""
    observations, between = episode.percepts.observation, what_was_between(episode)
    parts = [observations[:-1], between, observations[1:], jnp.ones_like(between[..., :1])]
    return jnp.concatenate(parts, axis=-1)


def what_was_between(episode: Episode) -> Float[Array, "T *B others"]:
    """(a, r) of every step."""
    return jnp.concatenate([action_features(episode), episode.rewards[..., None]], axis=-1)


def decoder_inputs(episode: Episode) -> Float[Array, "T *B inputs"]:
    """(s, a) of every step."""
    return jnp.concatenate([episode.percepts.observation[:-1], action_features(episode)], axis=-1)


def action_features(episode: Episode) -> Float[Array, "T *B actions"]:
    """The agent's own actions as features: one-hot if discrete, the number itself if continuous."""
    if jnp.issubdtype(episode.actions.dtype, jnp.floating):
        return episode.actions[..., None]
    return jax.nn.one_hot(episode.actions, episode.percepts.available.shape[-1])


def averaged(counts: Bool[Array, "T B"], window: int, features: int) -> Float[Array, "T B"]:
    """Weights that make a mean over the windows that count, over features and over the steps that a window holds."""
    held = jnp.minimum(1 + numbers_of_steps(counts), window)
    return summed(counts, window, features) / (held * features)


def summed(counts: Bool[Array, "T B"], window: int, features: int) -> Float[Array, "T B"]:
    """Weights that make a mean over the windows that count, of the sums over features and steps, as printed."""
    return counts / jnp.maximum(jnp.sum(counts), 1)


def numbers_of_steps(like: Array) -> Int[Array, "T *ones"]:
    """0, 1, 2 and so on along the first axis of an array, the time, with as many axes as it has."""
    return jnp.arange(like.shape[0]).reshape(-1, *[1] * (like.ndim - 1))


def kl_to_uniform(logits: Float[Array, "*batch contexts"]) -> Float[Array, "*batch"]:
    """KL(q || uniform) = sum_j q_j log(m q_j)."""
    log_q = jax.nn.log_softmax(logits, axis=-1)
    return jnp.sum(jnp.exp(log_q) * (log_q + jnp.log(logits.shape[-1])), axis=-1)
