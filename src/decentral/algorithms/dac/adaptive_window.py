"""Adaptive windows: the length, out of a few, whose contexts predicted the agent's last steps best."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from decentral.algorithms.dac.context_model import (
    ContextModel,
    action_features,
    decoder_inputs,
    likeliest,
    state_targets,
    step_numbers,
)
from decentral.networks.dynamics import steps_of_windows
from decentral.types import Episode


def lengths(window: int) -> list[int]:
    """The lengths to choose from, the longest first: the whole window, half of it, the last transition."""
    return sorted({window, max(window // 2, 1), 1}, reverse=True)


def infer_by_fit(
    model: ContextModel, episode: Episode, of_change: bool
) -> tuple[Float[Array, "T *B contexts"], Int[Array, "T *B"]]:
    """The logits of q(c_t | the window of the length that fits best), and which of the lengths that is."""
    each = jnp.stack([infer_from(model, episode, length) for length in lengths(model.window)], axis=-2)
    errors = jax.vmap(lambda logits: prediction_errors(model, episode, logits, of_change), -2, -1)(each)
    best = best_recently(jax.lax.stop_gradient(errors), model.window)
    return jnp.sum(each * jax.nn.one_hot(best, each.shape[-2])[..., None], axis=-2), best


def infer_from(model: ContextModel, episode: Episode, length: int) -> Float[Array, "T *B contexts"]:
    """The logits of q(c_t | the last `length` transitions), with zeros in place of older ones."""
    if length == model.window:
        return model.infer(episode)
    transitions = flagged_transitions(episode)
    before = [jnp.zeros_like(transitions)] * (model.window - length)
    return model.encoder(jnp.concatenate([*before, *steps_of_windows(transitions, length)], axis=-1))


def flagged_transitions(episode: Episode) -> Float[Array, "T *B transition"]:
    """(s, a, r, s', 1) of every step: the 1 distinguishes a step from the padding before an episode's start."""
    observations, rewards = episode.percepts.observation, episode.rewards[..., None]
    parts = [observations[:-1], action_features(episode), rewards, observations[1:], jnp.ones_like(rewards)]
    return jnp.concatenate(parts, axis=-1)


def prediction_errors(
    model: ContextModel, episode: Episode, logits: Float[Array, "T *B contexts"], of_change: bool
) -> Float[Array, "T *B"]:
    """The error of predicting each step under the likeliest context of the step before; 0 for the first step."""
    contexts = likeliest(logits)
    before = jnp.concatenate([jnp.zeros_like(contexts[:1]), contexts[:-1]])
    errors = step_errors(model, episode, before, of_change)
    return errors * (step_numbers(errors) > 0)


def step_errors(
    model: ContextModel, episode: Episode, contexts: Float[Array, "T *B contexts"], of_change: bool
) -> Float[Array, "T *B"]:
    """(r - f_r(s, a, c))^2 plus the mean over features of (s' - f_s(s, a, c))^2, for every step."""
    inputs = decoder_inputs(episode)
    state = jnp.square(state_targets(episode, of_change) - model.state_decoder(inputs, contexts))
    reward = jnp.square(episode.rewards - model.reward_decoder(inputs, contexts)[..., 0])
    return jnp.mean(state, axis=-1) + reward


def best_recently(errors: Float[Array, "T *B lengths"], span: int) -> Int[Array, "T *B"]:
    """The column with the smallest sum over the last `span` steps; of equal ones, the first."""
    return jnp.argmin(sum(steps_of_windows(errors, span)), axis=-1)
