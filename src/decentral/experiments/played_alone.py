"""The audit of play: would the agent, alone with its own percepts and its own chance, have chosen what it did?

Choices are compared one by one, in training (exploring) and in tests (greedy). The agent alone is computed without a
batch, so values may differ in their last bits: another action whose value is the same up to rounding is a tie. Ties
are counted, and more than a few are no ties.
"""

from dataclasses import dataclass, replace

import jax
import numpy as np

from decentral.algorithms.base import Agent
from decentral.experiments.relived import Lived, Test
from decentral.training.acting_alone import Chosen, chance_of_test, chance_of_turn, choose_alone
from decentral.training.alone import squad_of
from decentral.training.loop import Trainee
from decentral.types import Episode

ROUNDING = 1e-5  # of a value; of its size, where it is larger than 1
MOST_TIES = 1e-3  # of all actions; a single one is always granted


@dataclass(frozen=True)
class Difference:
    """An action that the agent does not choose alone."""

    episode: int  # of the training, or of a test; counted from 0 as all here
    step: int
    taken: int
    alone: int
    test_at: int | None = None  # steps of the training before the test

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
    """Compares an agent's actions with those that it chooses alone, while it is taught alone turn by turn."""

    def __init__(self, trainee: Trainee, seed: int, place: int, lived: Lived):
        (self.squad,) = squad_of(trainee, place).team.squads
        self.plan, self.seed, self.place, self.lived = trainee.plan, seed, place, lived
        self.tests = list(lived.tests)
        self.steps = 0
        self.training, self.testing = Play(), Play()

    def watch(self, turn: int, agent: Agent) -> None:
        """Before a turn, and after the last: compare the tests that were due then, and the turn."""
        while self.tests and self.tests[0].turns == turn:
            self.testing = self._tested(agent, self.tests.pop(0))
        if turn < len(self.lived.log.steps):
            self.training = self._trained(agent, turn)
            self.steps += int(self.lived.log.steps[turn])

    def _trained(self, agent: Agent, turn: int) -> Play:
        epsilon, keys = chance_of_turn(self.squad, self.plan, agent, self.steps)
        play, first = self.training, turn * self.plan.num_environments
        for number, key in enumerate(keys):
            episode = jax.tree.map(lambda leaf, number=number: leaf[turn, number], self.lived.log.episodes)
            alone = choose_alone(self.squad.algorithm, agent, epsilon, key, False, episode)
            play = compared(play, episode, jax.device_get(alone), Difference(first + number, 0, 0, 0))
        return play

    def _tested(self, agent: Agent, test: Test) -> Play:
        keys = chance_of_test(self.squad, self.plan, self.place, test.steps, self.seed)
        play = self.testing
        for number, key in enumerate(keys):
            episode = jax.tree.map(lambda leaf, number=number: leaf[number], test.episodes)
            alone = choose_alone(self.squad.algorithm, agent, np.float32(0), key, True, episode)
            play = compared(play, episode, jax.device_get(alone), Difference(number, 0, 0, 0, test.steps))
        return play


def compared(play: Play, episode: Episode, alone: Chosen, where: Difference) -> Play:
    """What is known of an agent's play after one more episode."""
    happened, taken = np.asarray(episode.happened), np.asarray(episode.actions)
    differs = happened & (taken != alone.actions)
    tie = differs & ~alone.by_chance & (alone.lost <= ROUNDING)
    others = differs & ~tie
    first, worse = play.first, others if play.others == 0 else np.zeros_like(others)
    for step in np.flatnonzero(worse if worse.any() else tie)[:1]:
        if first is None or worse.any():
            first = replace(where, step=int(step), taken=int(taken[step]), alone=int(alone.actions[step]))
    return Play(play.actions + int(happened.sum()), play.ties + int(tie.sum()), play.others + int(others.sum()), first)
