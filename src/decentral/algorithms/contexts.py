"""Dynamics-aware contexts (Section 4.2): what an agent infers, from its own window, about how its world now behaves."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.dynamics import Decoder, Encoder, windows
from decentral.types import Episode


class ContextModel(eqx.Module):
    """The encoder q(c | window) and the two decoders f_s(s, a, c) and f_r(s, a, c)."""

    encoder: Encoder
    state_decoder: Decoder
    reward_decoder: Decoder
    window: int = eqx.field(static=True)  # k, in transitions

    def infer(self, episode: Episode) -> Float[Array, "T contexts"]:
        """The logits of q(c_t | window ending at t), for every step of an episode."""
        return jax.vmap(self.encoder)(windows(flagged_transitions(episode), self.window))

    def state_errors(
        self, episode: Episode, contexts: Float[Array, "T contexts"], of_change: bool
    ) -> Float[Array, "T K features"]:
        """(s' - f_s(s, a, c))^2 for each step of each window; `of_change`: of s' - s rather than s'."""
        observations = episode.percepts.observation
        wanted = observations[1:] - observations[:-1] if of_change else observations[1:]
        predicted = self.state_decoder.over_windows(decoder_inputs(episode), contexts, self.window)
        return jnp.square(windows(wanted, self.window) - predicted)

    def reward_errors(self, episode: Episode, contexts: Float[Array, "T contexts"]) -> Float[Array, "T K 1"]:
        """(r - f_r(s, a, c))^2 for each step of each window."""
        predicted = self.reward_decoder.over_windows(decoder_inputs(episode), contexts, self.window)
        return jnp.square(windows(episode.rewards[:, None], self.window) - predicted)


def transition_size(observation_size: int, num_actions: int) -> int:
    """How many numbers describe one transition to the encoder."""
    return 2 * observation_size + num_actions + 2


def flagged_transitions(episode: Episode) -> Float[Array, "T transition"]:
    """(s, a, r, s', 1) of every step: the last entry tells a step from the zeros before an episode's start."""
    observations, rewards = episode.percepts.observation, episode.rewards[:, None]
    parts = [observations[:-1], action_features(episode), rewards, observations[1:], jnp.ones_like(rewards)]
    return jnp.concatenate(parts, axis=-1)


def decoder_inputs(episode: Episode) -> Float[Array, "T inputs"]:
    """(s, a) of every step."""
    return jnp.concatenate([episode.percepts.observation[:-1], action_features(episode)], axis=-1)


def action_features(episode: Episode) -> Float[Array, "T actions"]:
    """The agent's own actions as features: one-hot if discrete, the number itself if continuous."""
    if jnp.issubdtype(episode.actions.dtype, jnp.floating):
        return episode.actions[:, None]
    return jax.nn.one_hot(episode.actions, episode.percepts.available.shape[-1])


def averaged(errors: Float[Array, "T K features"]) -> Float[Array, " T"]:
    """The mean error of each window, over features and over the steps that it really holds."""
    held = _held(errors)
    return jnp.sum(jnp.mean(errors, axis=2) * held, axis=1) / jnp.sum(held, axis=1)


def summed(errors: Float[Array, "T K features"]) -> Float[Array, " T"]:
    """The sum of each window's errors, over features and over the steps that it really holds, as printed."""
    return jnp.sum(jnp.sum(errors, axis=2) * _held(errors), axis=1)


def kl_to_uniform(logits: Float[Array, "*batch contexts"]) -> Float[Array, "*batch"]:
    """KL(q || uniform) = sum_j q_j log(m q_j)."""
    log_q = jax.nn.log_softmax(logits, axis=-1)
    return jnp.sum(jnp.exp(log_q) * (log_q + jnp.log(logits.shape[-1])), axis=-1)


def _held(errors: Float[Array, "T K features"]) -> Float[Array, "T K"]:
    steps, length = errors.shape[:2]
    return jnp.asarray(jnp.arange(steps)[:, None] >= length - 1 - jnp.arange(length)[None, :], jnp.float32)
