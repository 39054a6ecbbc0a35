"""Taught again from its own log alone, an agent becomes the same, bit for bit."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.configs.members import Member, team_of
from decentral.training.parameters import as_arrays
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.training.squads.separate import LearningSchedule
from decentral.types import Episode, Percept
from decentral.verification.audit.audit import fingerprint
from decentral.verification.audit.learning import retrain_alone
from decentral.verification.audit.logs import retrain_with_log, same_state
from decentral.verification.audit.play import Chosen, Difference, Play, PlayAudit, compared
from tests.small import each_of, small
from tests.worlds import Fuse, Noise

# the ring is filled twice; four greedy episodes at the start and at the end
PLAN = Plan(batch_episodes=1, replay_episodes=4, epsilon_steps=100, steps=3 * 10, test_episodes=4)
together = pytest.mark.xdist_group("an agent that lived again")  # one process compiles for all of them
algorithms = each_of(ALGORITHMS, always=["iql", "dac"], group="isolation")


def same(one, other):
    """To the bit in what it acts with, and in all else up to rounding."""
    hashes = [fingerprint(as_arrays(agent.online)) for agent in (one, other)]
    return hashes[0] == hashes[1] and same_state(one, other)


def relived(setup, seed, place):
    """The agent in its team and alone, its log, and its play."""
    lived = retrain_with_log(setup, seed, [place])[place]
    play = PlayAudit(setup, seed, place, lived)
    return lived.agent, retrain_alone(setup, seed, place, lived.log, play.watch), lived.log, play


@algorithms
def test_an_agent_alone_with_its_own_log_becomes_the_same_agent(name):
    in_the_team, alone, log, play = relived(TrainingSetup.alike(small(name), Noise(), PLAN), 0, 1)
    assert same(in_the_team, alone)
    assert play.training == Play(actions=30) and play.testing == Play(actions=2 * 4 * 3)
    assert log.episodes.rewards.shape == (10, 1, 3) and log.steps.tolist() == [3] * 10


@functools.cache
def learner():
    """A run, and what its second agent lived through."""
    setup = TrainingSetup.alike(small("iql"), Noise(), PLAN)
    return setup, retrain_with_log(setup, 0, [1])[1]


@together
def test_another_log_makes_another_agent():
    setup, lived = learner()
    other = eqx.tree_at(lambda told: told.episodes.rewards, lived.log, -lived.log.episodes.rewards)
    assert not same(lived.agent, retrain_alone(setup, 0, 1, other))


@together
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_agent_that_diverged_is_the_same_as_itself_and_as_no_other(value):
    sound = learner()[1].agent
    leaves, tree = jax.tree.flatten(sound.target)
    diverged = eqx.tree_at(lambda own: own.target, sound, jax.tree.unflatten(tree, [leaves[0] + value, *leaves[1:]]))
    assert same_state(sound, sound) and same_state(diverged, diverged)
    assert not same_state(sound, diverged) and not same_state(diverged, sound)


def test_steps_after_an_agent_has_left_are_no_actions_of_its():
    """It leaves after the second of three steps: it then sees zeros and can only do the first action."""
    seen, could = jnp.asarray([[0.0], [1.0], [0.0], [0.0]]), jnp.asarray([[1, 1], [1, 1], [1, 0], [1, 0]], bool)
    taken, no = jnp.asarray([1, 1, 0]), jnp.zeros(3, bool)
    episode = Episode(Percept(seen, could), taken, jnp.zeros(3), no, ~no)
    found = compared(Play(), episode, Chosen(jnp.asarray([1, 0, 0]), jnp.ones(3), no), Difference(0, 0, 0, 0))
    assert (found.actions, found.ties, found.others) == (2, 0, 1)


@pytest.mark.long
def test_agents_of_a_mixed_team_with_clocks_of_their_own_become_the_same_alone():
    """Two seeds, two worlds side by side, idle turns; the second agent joins after a while and learns less often."""
    late = Member("lenient", small("lenient"), LearningSchedule(joins_at=18, update_period=2))
    plan = Plan(batch_episodes=4, replay_episodes=6, num_environments=2, epsilon_steps=100, steps=72, seeds=2, seed=5)
    setup = TrainingSetup(team_of([Member("iql", small("iql")), late]), Noise(), plan)
    for place, lived in retrain_with_log(setup, 6, [0, 1]).items():
        log, play = lived.log, PlayAudit(setup, 6, place, lived)
        assert same(lived.agent, retrain_alone(setup, 6, place, log, play.watch))
        assert play.training == Play(actions=72 - 18 * place) and play.testing.agrees
        blank = ~log.episodes.happened.any(axis=(1, 2))
        assert log.steps.tolist() == [6] * 12 and blank.tolist() == [place == 1 and turn < 3 for turn in range(12)]


@pytest.mark.long
def test_an_agent_whose_episodes_end_early_becomes_the_same_alone():
    """Updates are as long as the longest episode that any agent of any seed draws: only the rounding tells of it."""
    plan = Plan(batch_episodes=3, replay_episodes=6, epsilon_steps=100, steps=400, seeds=2)
    setup = TrainingSetup.alike(small("iql", hidden=16), Fuse(limit=64, longest=60.0), plan)
    lived = retrain_with_log(setup, 1, [1])[1]
    (again, log), play = (lived.agent, lived.log), PlayAudit(setup, 1, 1, lived)
    assert same(again, retrain_alone(setup, 1, 1, log, play.watch))
    assert play.training == Play(actions=int(log.steps.sum())) and play.testing.agrees
    by_its_own_lengths = eqx.tree_at(lambda told: told.longest, log, np.zeros_like(log.longest))
    assert not same(again, retrain_alone(setup, 1, 1, by_its_own_lengths))
