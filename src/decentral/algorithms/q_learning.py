"""The equations that value learners share: network inputs, exploration, TD targets and masked means."""

import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.types import Episode, Percept, kind_of

UNAVAILABLE = -9999999.0  # PyMARL's value of an action that can't be taken


class Dice(eqx.Module):
    """All the randomness of one choice: four numbers of the agent's own, uniform in [0, 1)."""

    explore_action: Float[Array, "*T"]
    action: Float[Array, "*T"]
    explore_context: Float[Array, "*T"]
    context: Float[Array, "*T"]


class Scene(eqx.Module):
    """Everything that one choice of action depends on, besides the models and the memory."""

    percept: Percept
    last_action: Float[Array, "*agents actions"]  # the agent's own, as features; zeros at the start of an episode
    epsilon: Float[Array, "*agents"]  # the exploration of the training plan at this time; 0 in a test
    dice: Dice


def roll(key: Key[Array, ""], length: int) -> Dice:
    """The random numbers of a whole episode, drawn before it starts."""
    return Dice(*jax.random.uniform(key, (4, length)))


def draw_by_step(
    draw: Callable[[Key[Array, ""], tuple[int]], Array], key: Key[Array, ""], shape: tuple[int, ...]
) -> Float[Array, "B T ..."]:
    """Random numbers for every step of a batch, in the order of steps: a shorter batch gets the first of a longer one.

    So an update can be cut to any length without changing its randomness. The draw is flat, which compiles fast.
    """
    batch, steps, *rest = shape
    return jnp.moveaxis(draw(key, (math.prod(shape),)).reshape(steps, batch, *rest), 0, 1)


def network_inputs(percept: Percept, last_action: Float[Array, "*batch actions"]) -> Float[Array, "*batch inputs"]:
    """The inputs of a network: the observation and the agent's own last action (zeros at the start)."""
    return jnp.concatenate([percept.observation, last_action], axis=-1)


def scene_inputs(scene: Scene) -> Float[Array, " inputs"]:
    """The inputs of a network at one step."""
    return network_inputs(scene.percept, scene.last_action)


def episode_inputs(episode: Episode) -> Float[Array, "P *B inputs"]:
    """The network's inputs at every percept of an episode."""
    return network_inputs(episode.percepts, last_actions(episode))


def last_actions(episode: Episode) -> Float[Array, "P *B actions"]:
    """The agent's own action before every percept, as features; zeros before the first."""
    taken = action_features(episode)
    return jnp.concatenate([jnp.zeros_like(taken[:1]), taken])


def action_features(episode: Episode) -> Float[Array, "T *B actions"]:
    """The agent's own actions as networks read them: one-hot, or the numbers of continuous ones."""
    return kind_of(episode.actions, episode.percepts.available).features(episode.actions)


def one_hot_actions(episode: Episode) -> Float[Array, "T *B actions"]:
    """The agent's own actions, one-hot."""
    return jax.nn.one_hot(episode.actions, episode.percepts.available.shape[-1])


def mask_unavailable(
    values: Float[Array, "*batch actions"], available: Bool[Array, "*batch actions"]
) -> Float[Array, "*batch actions"]:
    """The values, with unavailable actions set so low that they are never the best."""
    return jnp.where(available, values, UNAVAILABLE)


def epsilon_greedy(
    values: Float[Array, " actions"], available: Bool[Array, " actions"], epsilon: Float[Array, ""], dice: Dice
) -> Int[Array, ""]:
    """With probability epsilon a uniformly drawn available action, else the best available one."""
    order = jnp.cumsum(available, axis=-1)
    drawn = 1 + jnp.floor(dice.action * jnp.sum(available, axis=-1)).astype(order.dtype)
    scores = jnp.where(dice.explore_action < epsilon, order >= drawn, mask_unavailable(values, available))
    return jnp.argmax(scores, axis=-1)  # of equal scores the first


def best_next_value(
    online: Float[Array, "*T actions"],
    target: Float[Array, "*T actions"],
    available: Bool[Array, "*T actions"],
    double_q: bool,
) -> Float[Array, "*T"]:
    """The target network's value of the best available action, which the online network chooses if `double_q`."""
    chooser = online if double_q else target
    best = jnp.argmax(mask_unavailable(chooser, available), axis=-1)
    return jnp.sum(target * jax.nn.one_hot(best, target.shape[-1]), axis=-1)


def td_target(
    episode: Episode, discount: Float[Array, ""] | float, following: Float[Array, "*T"]
) -> Float[Array, "*T"]:
    """r + discount * following; nothing follows a step that ended the task."""
    return jax.lax.stop_gradient(episode.rewards + discount * jnp.where(episode.terminated, 0.0, following))


def values_and_targets(
    online: Float[Array, "P *B actions"],
    target: Float[Array, "P *B actions"],
    episode: Episode,
    targets: Callable[[Episode, Float[Array, "T *B"]], Float[Array, "T *B"]],
    double_q: bool,
) -> tuple[Float[Array, "T *B"], Float[Array, "T *B"]]:
    """Q(h_t, a_t) and its target, r + gamma Q'(h_{t+1}, argmax Q(h_{t+1}, .)), from the values at every percept.

    `targets` makes the target from the value of what follows each step: a `TDTargets`.
    """
    taken = jnp.sum(online[:-1] * one_hot_actions(episode), axis=-1)
    following = best_next_value(online[1:], target[1:], episode.percepts.available[1:], double_q)
    return taken, targets(episode, following)


def sums_ahead(terms: Float[Array, "T *B"], shares: Float[Array, "T *B"]) -> Float[Array, "T *B"]:
    """x_t = terms_t + shares_t x_{t+1} for every step; nothing follows the last.

    In every round each step comes to count twice as many as before: a loop over steps would keep a GPU waiting. What
    padding follows an episode makes no difference, bit for bit.
    """
    reach = 1
    while reach < len(terms):
        terms, shares = terms + shares * _later(terms, reach), shares * _later(shares, reach)
        reach *= 2
    return terms


def _later(of_steps: Float[Array, "T *B"], reach: int) -> Float[Array, "T *B"]:
    """What stands so many steps later; zeros after the last."""
    return jnp.concatenate([of_steps[reach:], jnp.zeros_like(of_steps[:reach])])


def last_steps(episode: Episode) -> Bool[Array, "T *B"]:
    """Marks the last step that happened in an episode."""
    following = jnp.concatenate([episode.happened[1:], jnp.zeros_like(episode.happened[:1])])
    return episode.happened & ~following


def linear_ramp(
    start: Float[Array, ""] | float, ramp: Float[Array, ""] | float, episodes: Int[Array, ""] | Float[Array, ""]
) -> Float[Array, ""]:
    """A linear ramp: 0 during the first `start` episodes, then rising to 1 over the next `ramp`."""
    return jnp.clip((episodes + 1 - start) / jnp.maximum(ramp, 1), 0, 1)


def masked_mean(values: Float[Array, "*batch"], counts: Bool[Array, "*batch"]) -> Float[Array, ""]:
    """The mean over the entries that count; 0 if none does."""
    return jnp.sum(jnp.where(counts, values, 0.0)) / jnp.maximum(jnp.sum(counts), 1)
