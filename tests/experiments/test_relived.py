"""Taught again from its own log alone, an agent becomes the same, to the bit. The last tests plant leaks."""

import equinox as eqx
import jax
import numpy as np

from decentral.algorithms import ALGORITHMS
from decentral.experiments.audit import fingerprint
from decentral.experiments.members import Member, team_of
from decentral.experiments.parameters import as_arrays
from decentral.experiments.relived import live_again, teach_alone
from decentral.training.loop import Trainee
from decentral.training.plan import Plan
from decentral.training.separate import Clock, Separate
from tests.small import each_of, small
from tests.worlds import Fuse, Noise

PLAN = Plan(batch_episodes=1, replay_episodes=4, epsilon_steps=100, steps=3 * 10)  # the ring is filled twice
algorithms = each_of(ALGORITHMS, always=["iql", "dac"], group="isolation")


def same(one, other):
    return fingerprint(as_arrays(one)) == fingerprint(as_arrays(other))


def hashes(trainee, seed, place):
    """The agent's parameters in its team and alone, and its log."""
    again, log = live_again(trainee, seed, place)
    alone = teach_alone(trainee, seed, place, log)
    return fingerprint(as_arrays(again)), fingerprint(as_arrays(alone)), log


@algorithms
def test_an_agent_alone_with_its_own_log_becomes_the_same_agent(name):
    in_the_team, alone, log = hashes(Trainee.alike(small(name), Noise(), PLAN), 0, 1)
    assert in_the_team == alone
    assert log.episodes.rewards.shape == (10, 1, 3) and log.steps.tolist() == [3] * 10


def test_another_log_makes_another_agent():
    trainee = Trainee.alike(small("iql"), Noise(), PLAN)
    again, log = live_again(trainee, 0, 1)
    other = eqx.tree_at(lambda told: told.episodes.rewards, log, -log.episodes.rewards)
    assert not same(again, teach_alone(trainee, 0, 1, other))


def test_agents_of_a_mixed_team_with_clocks_of_their_own_become_the_same_alone():
    """Two seeds, two worlds side by side, idle turns; the second agent joins after a while and learns less often."""
    late = Member("lenient", small("lenient"), Clock(joins_at=18, update_period=2))
    plan = Plan(batch_episodes=4, replay_episodes=6, num_environments=2, epsilon_steps=100, steps=72, seeds=2, seed=5)
    trainee = Trainee(team_of([Member("iql", small("iql")), late]), Noise(), plan)
    for place in (0, 1):
        again, log = live_again(trainee, 6, place)
        assert same(again, teach_alone(trainee, 6, place, log))
        blank = ~log.episodes.happened.any(axis=(1, 2))
        assert log.steps.tolist() == [6] * 12 and blank.tolist() == [place == 1 and turn < 3 for turn in range(12)]


def test_an_agent_whose_episodes_end_early_becomes_the_same_alone():
    """Updates are as long as the longest episode that any agent of any seed draws: only the rounding tells of it."""
    plan = Plan(batch_episodes=3, replay_episodes=6, epsilon_steps=100, steps=400, seeds=2)
    trainee = Trainee.alike(small("iql", hidden=16), Fuse(limit=64, longest=60.0), plan)
    again, log = live_again(trainee, 1, 1)
    assert same(again, teach_alone(trainee, 1, 1, log))
    by_its_own_lengths = eqx.tree_at(lambda told: told.longest, log, np.zeros_like(log.longest))
    assert not same(again, teach_alone(trainee, 1, 1, by_its_own_lengths))


def with_a_leak(monkeypatch, name, leaky, hidden):
    """A team that learns by a leaky function; its size is its own, so that no other test meets its programs."""
    monkeypatch.setattr(Separate, name, leaky)
    in_the_team, alone, _ = hashes(Trainee.alike(small("iql", hidden=hidden), Noise(), PLAN), 0, 1)
    return in_the_team != alone


def test_a_shared_replay_is_found_out(monkeypatch):
    honest = Separate.learn

    def leaky(self, agents, replays, batch, keys, now):
        return honest(self, agents, jax.tree.map(lambda leaf: leaf[::-1], replays), batch, keys, now)

    assert with_a_leak(monkeypatch, "learn", leaky, 5)


def test_a_percept_of_another_agent_is_found_out(monkeypatch):
    honest = Separate.learn

    def leaky(self, agents, replays, batch, keys, now):
        told = eqx.tree_at(lambda own: own.episodes.percepts.observation, replays, replace_fn=lambda leaf: leaf[::-1])
        return honest(self, agents, told, batch, keys, now)

    assert with_a_leak(monkeypatch, "learn", leaky, 6)
