"""What a test measures besides returns: values against returns, contexts against partners, play against the oracle.

All of it is measured from outside, for analysis only: no agent sees any of it.
"""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.algorithms.actor_critic import ActorCritic
from decentral.algorithms.base import Algorithm, Memory, Models
from decentral.algorithms.policies import Outputs, policy_from
from decentral.algorithms.q_learning import Dice, Scene, action_features, last_actions, mask_unavailable, masked_mean
from decentral.environments.base import Oracle
from decentral.training.rollout import Trajectory, hand_out
from decentral.training.squads.base import Squad
from decentral.training.team import Team
from decentral.types import Episode, Metrics, Percept


class Diagnosis(eqx.Module):
    """The measures of one test."""

    agents: tuple[Metrics, ...]  # by squad: [n]
    team: Metrics


def diagnose(team: Team, acting_models: tuple[Models, ...], oracle: Oracle | None, played: Trajectory) -> Diagnosis:
    """The diagnosis of a team from its greedy episodes [E, ...]; `acting_models` are by squad."""
    episodes = jax.vmap(hand_out, out_axes=1)(played)
    actions = jax.vmap(jax.vmap(action_features))(episodes)

    def measure(squad: Squad, acting_models: Models, episodes: Episode) -> Metrics:
        episodes = replace(episodes, percepts=squad.read(episodes.percepts))
        return _value_metrics(squad, acting_models, episodes) | _context_metrics(
            squad, acting_models, episodes, actions
        )

    measured = team.each(measure, acting_models, team.split_by_squad(episodes))
    return Diagnosis(measured, {} if oracle is None else {"oracle_agreement": agreement(oracle, played)})


def promised_and_achieved(
    algorithm: Algorithm, models: Models, episode: Episode
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """V(h_0) of one agent, and sum_t gamma^t r_t + gamma^T V(h_T); no V(h_T) after a step that ended the task.

    T counts the steps that happened: an environment may cut an episode short without ending the task.
    """
    values, length = greedy_values(algorithm, models, episode), episode.rewards.shape[0]
    discounts = jnp.power(algorithm.discount, jnp.arange(length + 1.0))
    earned = jnp.sum(discounts[:-1] * episode.rewards)
    last = jnp.sum(episode.happened)
    left = jnp.where(jnp.any(episode.terminated), 0.0, discounts[last] * values[last])
    return values[0], earned + left


def greedy_values(algorithm: Algorithm, models: Models, episode: Episode) -> Float[Array, " P"]:
    """V(h) at every percept of an episode: the largest of the values of actions, or what a critic says."""
    if isinstance(algorithm, ActorCritic):
        return algorithm.state_values(models, episode)
    return jnp.max(action_values(algorithm, models, episode), axis=-1)


def action_values(algorithm: Algorithm, models: Models, episode: Episode) -> Float[Array, "P actions"]:
    """The values that a greedy choice is made on, at every percept of an episode; UNAVAILABLE where it has none.

    Those of a policy are probabilities.
    """
    return values_and_memories(algorithm, models, episode)[0]


def values_and_memories(
    algorithm: Algorithm, models: Models, episode: Episode
) -> tuple[Float[Array, "P actions"], Memory]:
    """The same, and the memory after every percept [P, ...]."""
    zero = jnp.zeros(())
    greedily = (zero, Dice(zero, zero, zero, zero))  # no exploration, so the dice are never used

    def perceive(memory: Memory, inputs: tuple) -> tuple[Memory, tuple[Array, Memory]]:
        percept, last_action = inputs
        values, memory = algorithm.values(models, memory, Scene(percept, last_action, *greedily))
        shown = readable(algorithm, values, percept)
        return memory, (mask_unavailable(shown, percept.available), memory)

    return jax.lax.scan(perceive, algorithm.start(models), (episode.percepts, last_actions(episode)))[1]


def readable(algorithm: Algorithm, values: Outputs, percept: Percept) -> Float[Array, " actions"]:
    """The values of actions as people read them: of a policy, probabilities or, if continuous, the best action."""
    if isinstance(algorithm, ActorCritic):
        return policy_from(values, percept.available).readable()
    return values


def shared_bits(counts: Float[Array, "contexts actions"]) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The mutual information of a joint histogram in bits, and its share of the actions' entropy, 0 if that is 0."""
    joint = counts / jnp.maximum(jnp.sum(counts), 1)
    of_contexts, of_actions = (_entropy(jnp.sum(joint, axis=axis)) for axis in (1, 0))
    bits = jnp.maximum(of_contexts + of_actions - _entropy(joint), 0.0)
    return bits, jnp.where(of_actions > 0, bits / jnp.where(of_actions > 0, of_actions, 1.0), 0.0)


def agreement(oracle: Oracle, played: Trajectory) -> Float[Array, ""]:
    """The share of the steps of episodes [E, T] at which the oracle approves of the joint action."""
    before = jax.tree.map(lambda every: every[:, :-1], played.percepts)
    approved = jax.vmap(jax.vmap(oracle.approves))(before, played.actions)
    return masked_mean(jnp.where(approved, 1.0, 0.0), played.happened)


def _value_metrics(squad: Squad, acting_models: Models, episodes: Episode) -> Metrics:
    """Means over the episodes [n, E, ...] of each agent of a squad; nothing where agents value nothing themselves."""
    if isinstance(squad.algorithm, ActorCritic) and not squad.algorithm.own_critic:
        return {}
    of_one = jax.vmap(promised_and_achieved, (None, None, 0))
    start, achieved = squad.of_each(partial(of_one, squad.algorithm), acting_models, episodes)
    measured = {"value_start": start, "value_achieved": achieved, "value_gap": start - achieved}
    return {name: jnp.mean(values, axis=1) for name, values in measured.items()}


def _context_metrics(
    squad: Squad, acting_models: Models, episodes: Episode, actions: Float[Array, "agents episodes T actions"]
) -> Metrics:
    """How much each agent's contexts tell about its partners' actions at the same steps: means over partners."""
    contexts = squad.of_each(jax.vmap(squad.algorithm.contexts_in, (None, 0)), acting_models, episodes)
    if contexts is None or len(actions) < 2:
        return {}
    counts = jnp.einsum("netc,peta->npca", contexts, actions)
    bits, share = jax.vmap(jax.vmap(shared_bits))(counts)
    is_partner = jnp.asarray(squad.places)[:, None] != jnp.arange(len(actions))[None, :]
    mean = jax.vmap(masked_mean)
    return {"context_partner_bits": mean(bits, is_partner), "context_partner_share": mean(share, is_partner)}


def _entropy(shares: Float[Array, "..."]) -> Float[Array, ""]:
    """In bits."""
    return -jnp.sum(shares * jnp.log2(jnp.where(shares > 0, shares, 1.0)))
