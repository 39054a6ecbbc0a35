"""Play an episode, and hand each agent what it may keep of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.base import Memory, Models, Statistics
from decentral.algorithms.q_learning import Dice, Scene
from decentral.environments.base import Environment, Randomness, Script, State, begin, changes_of_kind
from decentral.settings import Refused
from decentral.training.episode_kernel import TeamPolicy, for_kernel, play_in_kernel
from decentral.training.squads.base import Squad
from decentral.training.stepping import Carry, take_all_steps, until_all_are_over, with_last
from decentral.training.team import Team
from decentral.types import Episode, Percept

Draws = Any  # a player's random draws, one entry per step


@dataclass(frozen=True)
class Player:
    """A policy of the whole team: initial memories, random draws per step, and a way to choose."""

    memories: Memory
    draws: Draws  # [T, ...]
    choose: Callable[[Memory, Percept, Array, Draws], tuple[Array, Memory]]
    policy: TeamPolicy | None = None  # the same, if it is a team


class Trajectory(eqx.Module):
    """One episode of the whole team. Only `hand_out` may read it for learning."""

    percepts: Percept  # [P, N, ...]
    actions: Array  # [T, N], or of continuous numbers [T, N, numbers]
    rewards: Float[Array, " T"]
    terminated: Bool[Array, " T"]
    happened: Bool[Array, " T"]
    facts: dict[str, Array]  # [T], for analysis alone
    own_rewards: Float[Array, "T N"] | None = None  # where the environment gives every agent its own


def play(environment: Environment, player: Player, key: Key[Array, ""]) -> Trajectory:
    """One episode from the start to its time limit; steps after an early end are padding."""

    def choose(state: State, memories: Memory, last_actions: Array, draws: Draws) -> tuple[Array, Memory]:
        return player.choose(memories, environment.perceive(state), last_actions, draws)

    return _play_episode(environment, player.memories, player.draws, choose, key, player.policy)


def play_script(environment: Environment, script: Script, key: Key[Array, ""]) -> Trajectory:
    """One episode of a policy that sees the whole state, which no agent does."""

    def choose(state: State, memory: Any, last_actions: Array, draws: None) -> tuple[Array, Any]:
        return script.choose(state, memory)

    return _play_episode(environment, script.start(), None, choose, key)


def _play_episode(
    environment: Environment,
    memories: Any,
    draws: Draws,
    choose: Callable[[State, Any, Array, Draws], tuple[Array, Any]],
    key: Key[Array, ""],
    policy: TeamPolicy | None = None,
) -> Trajectory:
    """One episode in which `choose` acts for all agents; a `policy` that does the same may take a kernel.

    The loop keeps states and actions only: percepts and outcomes of all steps are computed from them afterwards.
    An episode that is over stands still, so its record does not depend on how long the others beside it last. Once all
    are over, no more steps are computed.
    """
    state, randomness = begin(environment, key)
    state, kind = jax.tree.map(jnp.asarray, state), environment.spec.actions
    nobody_acted = jnp.full((environment.num_agents, *kind.shape), kind.nothing, kind.dtype)

    def step(carry: Carry, drawn: tuple) -> tuple[Carry, Bool[Array, ""]]:
        state, memories, last_actions = carry
        step_randomness, draws = drawn
        actions, memories = choose(state, memories, kind.features(last_actions), draws)
        following, outcome = environment.step_with(state, actions, step_randomness)
        following = jax.tree.map(jnp.asarray, following)
        for change in changes_of_kind(state, following):
            raise Refused(change)
        return (following, memories, actions.astype(kind.dtype)), outcome.terminated

    start, draws = (state, memories, nobody_acted), (randomness, draws)
    for_one_kernel = None if policy is None else for_kernel(environment, policy, state, randomness)
    if for_one_kernel is not None:
        every, actions = play_in_kernel(for_one_kernel)
    elif environment.may_end_early:
        every, actions = until_all_are_over(step, start, draws, environment.time_limit, key)
    else:
        every, actions = take_all_steps(step, start, draws)
    before, after = jax.tree.map(lambda state: state[:-1], every), jax.tree.map(lambda state: state[1:], every)
    outcomes = jax.vmap(environment.recompute_outcome)(before, actions, randomness, after)
    happened = jnp.cumsum(outcomes.terminated) - outcomes.terminated == 0
    return Trajectory(
        percepts=jax.vmap(environment.perceive)(every),
        actions=actions,
        rewards=jnp.where(happened, outcomes.reward, 0.0),
        terminated=outcomes.terminated & happened,
        happened=happened,
        facts=outcomes.facts,
        own_rewards=None if outcomes.own_rewards is None else jnp.where(happened[:, None], outcomes.own_rewards, 0.0),
    )


def retrace(environment: Environment, actions: Array, key: Key[Array, ""]) -> State:
    """The states before each step of the episode that was played with these actions and this key, and after the last.

    Steps that did not happen are taken here too: ignore the states after the end of the episode.
    """

    def step(state: State, chosen: tuple[Array, Randomness]) -> tuple[State, State]:
        return environment.step_with(state, *chosen)[0], state

    state, randomness = begin(environment, key)
    final, states = jax.lax.scan(step, state, (actions, randomness))
    return with_last(states, final)


def hand_out(trajectory: Trajectory) -> Episode:
    """The privacy gate: each agent's own percepts and actions, and the shared reward, or its own reward [N, T].

    This is the only function on the way to learning that holds the joint action. Agent i's part of what it returns
    depends on the other agents' actions through the percepts and the reward alone.
    """
    agents = trajectory.actions.shape[1]

    def shared(of_all: Array) -> Array:
        return jnp.broadcast_to(of_all, (agents, *of_all.shape))

    def per_agent(of_each: Array) -> Array:
        return jnp.moveaxis(of_each, 1, 0)

    return Episode(
        percepts=jax.tree.map(per_agent, trajectory.percepts),
        actions=per_agent(trajectory.actions),
        rewards=shared(trajectory.rewards) if trajectory.own_rewards is None else per_agent(trajectory.own_rewards),
        terminated=shared(trajectory.terminated),
        happened=shared(trajectory.happened),
    )


def team_player(
    team: Team,
    acting_models: tuple[Models, ...],
    statistics: tuple[Statistics, ...],
    epsilons: tuple[Float[Array, ""], ...],
    dice: tuple[Dice, ...],
) -> Player:
    """The team as a player: every agent acts by its own networks and dice. All arguments are by squad."""

    def choose(memories: Memory, percepts: Percept, last_actions: Array, dice: Any) -> tuple[Array, Memory]:
        def act(
            squad: Squad, acting_model: Models, statistics: Statistics, memory: Memory, *scene: Any
        ) -> tuple[Array, Memory]:
            (percept, last_action), epsilon, die = scene
            each = jnp.broadcast_to(epsilon, (len(squad.places),))
            return squad.act(acting_model, statistics, memory, Scene(percept, last_action, each, die))

        shared = team.split_by_squad((percepts, last_actions))
        chosen = team.each(act, acting_models, statistics, memories, shared, epsilons, dice)
        return team.in_order(tuple(actions for actions, _ in chosen)), tuple(memory for _, memory in chosen)

    memories = team.each(lambda squad, models: squad.start(models), acting_models)
    return Player(memories, dice, choose, TeamPolicy(team, acting_models, epsilons, dice))


def greedy_player(team: Team, acting_models: tuple[Models, ...], length: int, key: Key[Array, ""]) -> Player:
    """The team as a player that does not explore."""
    return team_player(team, acting_models, *greedily(team), unbiased_dice(team, length, key))


def greedily(team: Team) -> tuple[tuple[None, ...], tuple[Float[Array, ""], ...]]:
    """The statistics and the exploration, by squad, of a team that does not explore."""
    return tuple(None for _ in team.squads), tuple(jnp.zeros(()) for _ in team.squads)


def unbiased_dice(team: Team, length: int, key: Key[Array, ""]) -> tuple[Dice, ...]:
    """Dice for every agent of a team, by squad [length, n], from one key."""
    keys = team.split_by_squad(jax.random.split(key, sum(len(squad.places) for squad in team.squads)))
    return team.each(lambda squad, keys: squad.roll(keys, length), keys)


def random_player(environment: Environment, key: Key[Array, ""]) -> Player:
    """Agents that draw uniformly among their available actions."""
    keys = jax.random.split(key, (environment.time_limit, environment.num_agents))

    def choose(memories: Memory, percepts: Percept, last_actions: Array, keys: Any) -> tuple[Array, Memory]:
        return jax.vmap(environment.spec.actions.sample)(percepts.available, keys), memories

    return Player((), keys, choose)
