"""A whole episode as one GPU kernel, where the environment is a few numbers and its agents act by small networks.

Step by step, a GPU spends most of the time on launching kernels. This one leaves the same record as the loop of
`stepping.py`, from the same draws. A program of it plays one episode; `vmap` adds programs.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Bool

from decentral.algorithms.base import Algorithm, Models
from decentral.algorithms.q_learning import Dice, epsilon_greedy
from decentral.algorithms.value_learner import ContextValue, ValueNetwork
from decentral.environments.base import Environment, Randomness, State, changes_of_kind
from decentral.environments.inheritance import changed_since
from decentral.networks.acting_kernel import WARPS, acting_weights, can_act_in_kernel, recurrent_weights, step_network
from decentral.training.scalars import Numbers, OnScalars, numbers_of
from decentral.training.squads.base import Squad
from decentral.training.stepping import Record
from decentral.training.team import Team
from decentral.types import Discrete, Percept

MOST_AGENTS = 2  # the weights of more don't fit the cache of a multiprocessor
MOST_NUMBERS = 64  # of the environment's own, of a state and of what is drawn for a step
MOST_OPERATIONS = 1000  # on scalars in a step of the environment; every thread carries out all of them
BEHIND_VALUES = ("start", "values", "phi", "candidate_values")  # methods that make them


@dataclass(frozen=True)
class TeamPolicy:
    """What a team acts by in an episode, by squad."""

    team: Team
    acting_models: tuple[Models, ...]
    epsilons: tuple[Array, ...]
    dice: tuple[Dice, ...]  # [T, n]


@dataclass(frozen=True)
class KernelEpisode:
    """An episode that the kernel can play."""

    policy: TeamPolicy
    perceive: OnScalars  # given the environment's arrays and the state
    step: OnScalars  # given these, the actions and what is drawn for the step
    arrays: list[Array]  # the environment's
    start: State
    drawn: list[Array]  # for all steps [T, ...]


def for_kernel(
    environment: Environment, policy: TeamPolicy, start: State, randomness: Randomness
) -> KernelEpisode | None:
    """The episode for the kernel, if it can play it: that is decided here and in `_acts_by_network`."""
    team, spec = policy.team, environment.spec
    if not vars(type(environment)).get("plays_in_kernel") or environment.may_end_early:
        return None
    if environment.num_agents > MOST_AGENTS or not isinstance(spec.actions, Discrete):
        return None
    if not all(team.each(_acts_by_network, policy.acting_models)):
        return None
    arrays, settings = eqx.partition(environment, eqx.is_array)
    drawn = jax.tree.map(lambda leaf: leaf[0], randomness)
    leaves = jax.tree.leaves((arrays, start, drawn))
    if any(leaf.dtype not in (jnp.int32, jnp.float32) or not leaf.size for leaf in leaves):
        return None
    if sum(leaf.size for leaf in leaves) > MOST_NUMBERS:
        return None

    def perceive(arrays: Environment, state: State) -> Percept:
        return eqx.combine(arrays, settings).perceive(state)

    def step(arrays: Environment, state: State, actions: Array, drawn: Randomness) -> State:
        return jax.tree.map(jnp.asarray, eqx.combine(arrays, settings).step_with(state, actions, drawn)[0])

    actions = jnp.zeros(environment.num_agents, jnp.int32)
    perceiving, stepping = OnScalars.of(perceive, arrays, start), OnScalars.of(step, arrays, start, actions, drawn)
    if perceiving is None or stepping is None or perceiving.size + stepping.size > MOST_OPERATIONS:
        return None
    if any(changes_of_kind(start, stepping.result)):  # the loop refuses them
        return None
    given = jax.tree.leaves(arrays), start, jax.tree.leaves(randomness)
    return KernelEpisode(policy, perceiving, stepping, *given)


def _acts_by_network(squad: Squad, acting_models: Models) -> bool:
    """Do its agents choose by the outputs of networks of their own that the kernel knows, and by nothing else?"""
    algorithm = squad.algorithm
    kind = type(algorithm)
    if squad.one_network or type(squad).read is not Squad.read:
        return False
    if kind.explore is not Algorithm.explore or kind.choose is not Algorithm.choose:
        return False
    if any(changed_since(kind, method, "acts_by") for method in BEHIND_VALUES):
        return False
    network = algorithm.acts_by(acting_models)
    return type(network) in (ValueNetwork, ContextValue) and can_act_in_kernel(network)


def play_in_kernel(episode: KernelEpisode, interpret: bool = False) -> Record:
    """The record of the episode."""
    policy, state = episode.policy, jax.tree.leaves(episode.start)
    team, length = policy.team, jax.tree.leaves(policy.dice)[0].shape[0]
    squads = team.each(_squad_arrays, policy.acting_models, policy.epsilons, policy.dice)

    def program(arrays: Any, start: Any, drawn: Any, squads: Any, states_out: Any, actions_out: Any) -> None:
        constants, actors = [_numbers(ref) for ref in arrays], _actors(team, squads)

        def take_step(t: Array, now: tuple) -> tuple:
            state, memories, last_actions = now
            _write(states_out, t, state)
            here = [*constants, *(numbers_of(leaf, (-1,)) for leaf in state)]
            chosen = [
                actor.act(t, *own)
                for actor, *own in zip(actors, memories, last_actions, *episode.perceive(*here), strict=True)
            ]
            actions, memories = [action for action, _ in chosen], [memory for _, memory in chosen]
            _write([actions_out], t, [actions])
            after = episode.step(*here, numbers_of(actions, (-1,)), *(_numbers(ref, t) for ref in drawn))
            return [_scalars(numbers) for numbers in after], memories, actions

        nothing = [jnp.full((), Discrete.nothing, jnp.int32) for _ in actors]
        begun = [_scalars(_numbers(ref)) for ref in start], [actor.start() for actor in actors], nothing
        final, _, _ = jax.lax.fori_loop(0, length, take_step, begun)
        _write(states_out, length, final)

    options: dict[str, Any] = {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=WARPS)}
    given = jax.tree.map(jnp.atleast_1d, (episode.arrays, state, episode.drawn, squads))
    states, actions = pallas.pallas_call(
        program,
        out_shape=(
            [jax.ShapeDtypeStruct((length + 1, leaf.size), leaf.dtype) for leaf in state],
            jax.ShapeDtypeStruct((length, sum(len(squad.places) for squad in team.squads)), jnp.int32),
        ),
        interpret=interpret,
        **options,
    )(*given)
    every = [written.reshape(length + 1, *leaf.shape) for written, leaf in zip(states, state, strict=True)]
    return jax.tree.unflatten(jax.tree.structure(episode.start), every), actions


def _squad_arrays(squad: Squad, acting_models: Models, epsilon: Array, dice: Dice) -> tuple[Any, Array, Dice]:
    return jax.vmap(acting_weights)(squad.algorithm.acts_by(acting_models)), epsilon, dice


@dataclass(frozen=True)
class Actor:
    """An agent inside the kernel: its number among those of its squad, and where the squad's arrays [n] are found."""

    algorithm: Algorithm
    agent: int
    weights: Any
    recurrent: list[Array]
    epsilon: Any  # [1]
    dice: Any  # [T, n]

    def start(self) -> Array:
        """The memory before the first percept."""
        return jnp.zeros(self.weights.entry_bias.shape[-1])

    def act(
        self, t: Array, memory: Array, last_action: Array, features: Numbers, available: Numbers
    ) -> tuple[Array, Array]:
        """The action at a step, and the memory after its percept."""
        dice, epsilon = jax.tree.map(lambda ref: ref[t, self.agent], self.dice), self.epsilon[0]
        outputs, memory = step_network(self.weights, self.recurrent, self.agent, memory, features, last_action)
        values = self.algorithm.values_from(outputs, epsilon, dice)
        action = epsilon_greedy(values, _mask(available, values.shape[0]), epsilon, dice)
        return jnp.minimum(action, len(available) - 1), memory  # among non-finite values it may be one that pads


def _actors(team: Team, squads: Any) -> list[Actor]:
    """The agents in the order of places."""
    actors = {
        place: Actor(squad.algorithm, agent, weights, recurrent_weights(weights, agent), epsilon, dice)
        for squad, (weights, epsilon, dice) in zip(team.squads, squads, strict=True)
        for agent, place in enumerate(squad.places)
    }
    return [actors[place] for place in sorted(actors)]


def _mask(available: Numbers, size: int) -> Bool[Array, " outputs"]:
    """Which outputs stand for available actions."""
    places, none = jnp.arange(size), jnp.zeros(size, bool)
    return reduce(lambda mask, place: jnp.where(places == place, available[place], mask), range(len(available)), none)


def _numbers(ref: Any, *first: Any) -> Numbers:
    """The numbers of an array in memory, or of its part at the first indices."""
    return numbers_of((ref[(*first, *place)] for place in np.ndindex(ref.shape[len(first) :])), (-1,))


def _scalars(numbers: Numbers) -> list[Array]:
    return [jnp.asarray(number) for number in numbers.flat]


def _write(refs: list[Any], t: Array | int, leaves: list[list[Array]]) -> None:
    """Write numbers as row t of arrays in memory."""
    for ref, scalars in zip(refs, leaves, strict=True):
        for place, scalar in enumerate(scalars):
            ref[t, place] = scalar
