"""One agent that acts alone: from its own state, percepts and keys, in a program that holds no other agent.

Nothing here runs under `vmap`, neither over agents nor over seeds or episodes: there is no batch that could hold
anything else.
"""

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import AgentState, Algorithm, Memory
from decentral.algorithms.q_learning import Scene, last_actions
from decentral.training.evaluation import keys_of_test_episodes
from decentral.training.loop import key_of_test
from decentral.training.plan import Plan
from decentral.training.presence import present_in
from decentral.training.setup import TrainingSetup
from decentral.training.squads.base import Squad, choose_one, fresh_keys
from decentral.types import Episode
from decentral.verification.audit.alone import squad_of
from decentral.verification.audit.logs import RetrainedAgent, Test


class Chosen(eqx.Module):
    """What an agent chooses alone at every step of an episode, to compare with the actions that it took."""

    actions: Int[Array, "*T"] | Float[Array, "*T numbers"]
    lost: Float[Array, "*T"]  # by values: how far the action taken is from being chosen, as `Algorithm.gap` says
    by_chance: Bool[Array, "*T"]  # was the action random?


@jax.jit
def choose_alone(
    algorithm: Algorithm,
    agent: AgentState,
    epsilon: Float[Array, ""],
    key: Key[Array, ""],
    greedy: Bool[Array, ""] | bool,
    episode: Episode,
) -> Chosen:
    """The choices of one agent, given the percepts of an episode and the actions that it took in it."""
    steps = episode.rewards.shape[0]
    percepts, last = jax.tree.map(lambda leaf: leaf[:steps], (episode.percepts, last_actions(episode)))
    planned = jnp.where(greedy, 0.0, epsilon)

    def step(memory: Memory, inputs: tuple) -> tuple[Memory, Chosen]:
        percept, last_action, die, taken = inputs
        scene = Scene(percept, last_action, planned, die)
        best, after = choose_one(algorithm, agent.online, None, memory, scene)
        exploring, _ = choose_one(algorithm, agent.online, agent.statistics, memory, scene)
        choice = jax.tree.map(lambda one, other: jnp.where(greedy, one, other), best, exploring)
        return after, Chosen(choice.action, *algorithm.gap(choice.values, scene, choice.epsilon, taken))

    dice = algorithm.roll(key, steps)
    return jax.lax.scan(step, algorithm.start(agent.online), (percepts, last, dice, episode.actions))[1]


@jax.jit
def epsilon_and_keys(
    squad: Squad, plan: Plan, agent: AgentState, steps: Int[Array, ""] | int
) -> tuple[Float[Array, ""], Key[Array, " E"]]:
    """The epsilon of an agent in its next turn, and its key for each of the episodes, from its own stream."""
    _, (key_act, _) = fresh_keys(agent, 2)
    epsilon = squad.epsilon(plan, jnp.asarray(steps)).astype(jnp.float32)
    return epsilon, jax.random.split(key_act, plan.num_environments)


@jax.jit
def agent_keys_of_test(
    squad: Squad, plan: Plan, place: Int[Array, ""] | int, steps: Int[Array, ""] | int, seed: Int[Array, ""] | int
) -> Key[Array, " E"]:
    """The keys of the agent at a place for each episode of the test after so many steps."""
    keys = keys_of_test_episodes(plan.test_episodes, key_of_test(steps, seed))
    return jax.vmap(lambda key: jax.random.split(key, squad.team_size)[place])(keys[:, 0])


ROUNDING = 1e-5  # of a value; of its size, where it is larger than 1
MOST_TIES = 1e-3  # of all actions; a single one is always allowed


@dataclass(frozen=True)
class Difference:
    """An action that the agent does not choose alone."""

    episode: int  # of training, or of a test; counted from 0, like everything here
    step: int
    taken: Any = 0  # an action, or the numbers of one
    alone: Any = 0
    test_at: int | None = None  # training steps before the test

    def __str__(self) -> str:
        test = "" if self.test_at is None else f"test after {self.test_at:,} steps, "
        return f"{test}episode {self.episode}, step {self.step}: action {self.taken} in the run, {self.alone} alone"


@dataclass(frozen=True)
class Play:
    """How an agent's actions compare with those that it chooses alone."""

    actions: int = 0
    ties: int = 0  # others, of values that are the same up to rounding
    others: int = 0
    first: Difference | None = None  # of the others; of the ties where there are no others

    @property
    def agrees(self) -> bool:
        return self.others == 0 and self.ties <= max(1, MOST_TIES * self.actions)


class PlayAudit:
    """Compares an agent's actions with those that it chooses alone, while it is retrained alone turn by turn."""

    def __init__(self, setup: TrainingSetup, seed: int, place: int, retrained: RetrainedAgent):
        (self.squad,) = squad_of(setup, place).team.squads
        self.plan, self.seed, self.place, self.retrained = setup.plan, seed, place, retrained
        self.tests = list(retrained.tests)
        self.steps = 0
        self.training, self.testing = Play(), Play()

    def watch(self, turn: int, agent: AgentState) -> None:
        """Compare the tests that were due before this turn, and the turn itself; also called after the last turn."""
        while self.tests and self.tests[0].turns == turn:
            self.testing = self._tested(agent, self.tests.pop(0))
        if turn < len(self.retrained.log.steps):
            self.training = self._trained(agent, turn)
            self.steps += int(self.retrained.log.steps[turn])

    def _trained(self, agent: AgentState, turn: int) -> Play:
        epsilon, keys = epsilon_and_keys(self.squad, self.plan, agent, self.steps)
        play, first = self.training, turn * self.plan.num_environments
        for number, key in enumerate(keys):
            episode = jax.tree.map(lambda leaf, number=number: leaf[turn, number], self.retrained.log.episodes)
            alone = choose_alone(self.squad.algorithm, agent, epsilon, key, False, episode)
            play = compared(play, episode, jax.device_get(alone), Difference(first + number, 0))
        return play

    def _tested(self, agent: AgentState, test: Test) -> Play:
        keys = agent_keys_of_test(self.squad, self.plan, self.place, test.steps, self.seed)
        play = self.testing
        for number, key in enumerate(keys):
            episode = jax.tree.map(lambda leaf, number=number: leaf[number], test.episodes)
            alone = choose_alone(self.squad.algorithm, agent, np.float32(0), key, True, episode)
            play = compared(play, episode, jax.device_get(alone), Difference(number, 0, test_at=test.steps))
        return play


def compared(play: Play, episode: Episode, alone: Chosen, where: Difference) -> Play:
    """The comparison so far, with one more episode. Once the agent has left there is nothing to compare."""
    present, taken = present_in(episode), np.asarray(episode.actions)
    differs = present & (taken != alone.actions if taken.ndim == 1 else _far_apart(taken, np.asarray(alone.actions)))
    tie = differs & ~alone.by_chance & (alone.lost <= ROUNDING)
    others = differs & ~tie
    first, worse = play.first, others if play.others == 0 else np.zeros_like(others)
    for step in np.flatnonzero(worse if worse.any() else tie)[:1]:
        if first is None or worse.any():
            first = replace(
                where, step=int(step), taken=taken[step].tolist(), alone=np.asarray(alone.actions)[step].tolist()
            )
    return Play(play.actions + int(present.sum()), play.ties + int(tie.sum()), play.others + int(others.sum()), first)


def _far_apart(numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Where continuous actions [T, numbers] differ by more than rounding, which none of them escapes."""
    return (np.abs(numbers - others) > ROUNDING).any(axis=-1)
