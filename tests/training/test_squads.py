"""Teams whose agents differ: in algorithm, settings, clock, or because they are frozen."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.configs.members import Member, Source, team_of
from decentral.settings import Refused
from decentral.training.batches import Batch
from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode
from decentral.training.setup import TrainingSetup
from decentral.training.squads.base import TrainingClock
from decentral.training.squads.frozen import Frozen
from decentral.training.squads.joined import Joined
from decentral.training.squads.separate import LearningSchedule, Separate
from tests.small import small
from tests.worlds import Corridor

pytestmark = pytest.mark.xdist_group("squads")  # one process compiles for all of them
PLAN = Plan(batch_episodes=4, replay_episodes=64, epsilon_steps=10, epsilon_end=0.0)


PROGRAMS = {}


def lived(members, count, idle=0):
    """A team in a one-step corridor after `idle` turns of play alone, and after `count` more with learning."""
    setup = TrainingSetup(team_of(members), Corridor(length=1), PLAN)

    @jax.jit
    def live(seed, idle, count):
        lane = turns(setup, begin(setup, seed), idle, False)
        return lane, turns(setup, lane, count, True)

    live = PROGRAMS.setdefault(repr([member.as_data() for member in members]), live)
    return (setup, *live(0, idle, count))


def changed(before, after):
    """For each squad, whether its agents' networks have changed."""
    return [
        any(bool((one != other).any()) for one, other in zip(*map(jax.tree.leaves, pair), strict=True))
        for pair in zip((a.online for a in before.agents), (a.online for a in after.agents), strict=True)
    ]


def iql(**schedule):
    return Member("iql", small("iql"), LearningSchedule(**schedule))


def test_an_on_policy_learner_learns_from_each_batch_of_fresh_episodes_once():
    """Batches have four episodes: it learns after four and after eight of them, and not in between."""
    squad, spec = Separate(small("ippo", epochs=1), (0,), 1), Corridor(length=1).spec
    assert squad.room(PLAN, 64) == 4 and Separate(small("iql"), (0,), 1).room(PLAN, 64) == 64

    @jax.jit
    def taught(remembered):
        agents = squad.init_agents(spec, jax.random.split(jax.random.key(0), 1))
        buffer = squad.empty_replays(agents, blank_episode(spec, 1), 4, "float32")
        buffer = eqx.tree_at(lambda fresh: fresh.remembered, buffer, jnp.full(1, remembered))
        clock = TrainingClock(remembered, remembered, jnp.zeros(()))
        after, metrics = squad.learn(agents, buffer, Batch(4, (1,)), agents.key, clock)
        moved = jax.tree.map(lambda one, other: jnp.any(one != other), agents.optimiser.steps, after.optimiser.steps)
        return jnp.any(jnp.stack(jax.tree.leaves(moved))), metrics["updates"]

    found = {count: taught(jnp.asarray(count)) for count in range(9)}
    assert [count for count, (moved, _) in found.items() if moved] == [4, 8]
    assert [float(updates[0]) for _, updates in found.values()] == [0, 0, 0, 0, 1, 0, 0, 0, 1]


def test_agents_that_are_alike_stand_in_one_squad_and_others_apart():
    other = Member("iql", small("iql", hidden=5))
    team = team_of([iql(), other, iql(), Member("dac", small("dac"))])
    assert [squad.places for squad in team.squads] == [(0, 2), (1,), (3,)]
    assert all(isinstance(squad, Separate) for squad in team.squads)
    assert isinstance(team_of([Member("vdn", small("vdn"))] * 2).squads[0], Joined)


def test_a_reference_that_is_not_decentralised_can_not_be_part_of_a_mixed_team():
    with pytest.raises(Refused, match="agents must all be the same where one is not decentralised, got vdn,iql"):
        team_of([Member("vdn", small("vdn")), iql()])


def test_what_squads_do_is_put_back_into_the_order_of_places():
    team = team_of([iql(), Member("dac", small("dac")), iql()])
    of_all = jnp.asarray([10, 11, 12])
    parts = team.split_by_squad(of_all)
    np.testing.assert_array_equal(parts[0], [10, 12])
    np.testing.assert_array_equal(team.in_order(parts), of_all)


def test_agents_of_different_algorithms_learn_side_by_side():
    _, before, after = lived([iql(), Member("hysteretic", small("hysteretic"))], 2, idle=4)
    assert changed(before, after) == [True, True]
    assert set(after.tally.metrics[0]) == {"loss", "td_error_abs", "weight_mean", "q_taken_mean", "gradient_norm"}


def test_an_agent_is_the_same_beside_an_equal_partner_in_one_squad_or_in_two():
    """Squads are a way to compute, not a way to behave."""
    _, _, together = lived([iql(), iql()], 3, idle=4)
    _, _, apart = lived([iql(), iql(update_period=4)], 3, idle=4)
    for one, other in zip(
        jax.tree.leaves(together.agents[0].online), jax.tree.leaves(apart.agents[0].online), strict=True
    ):
        np.testing.assert_allclose(one[0], other[0], atol=1e-5)


def test_an_agent_with_a_slower_clock_learns_only_when_its_episodes_have_passed():
    members = [iql(), iql(update_period=4)]
    _, before, after = lived(members, 1, idle=4)  # the fifth episode
    assert changed(before, after) == [True, False]
    _, before, after = lived(members, 4, idle=4)  # up to the eighth
    assert changed(before, after) == [True, True]


def test_a_late_joiner_plays_at_random_keeps_nothing_and_learns_nothing_until_it_joins():
    members = [iql(), iql(joins_at=40)]
    _, before, early = lived(members, 35, idle=4)
    assert changed(before, early) == [True, False]
    assert [int(replay.remembered[0]) for replay in early.replays] == [39, 0]
    setup, before, late = lived(members, 60, idle=4)
    assert changed(before, late) == [True, True]
    assert [int(replay.remembered[0]) for replay in late.replays] == [64, 24]
    epsilons = [float(setup.team.squads[1].epsilon(PLAN, jnp.asarray(step))) for step in (39, 40, 45, 60)]
    np.testing.assert_allclose(epsilons, [1.0, 1.0, 0.5, 0.0])


def test_a_frozen_partner_plays_greedily_and_never_changes():
    networks = jax.tree.map(lambda leaf: leaf * 0.0, small("iql").build(Corridor(length=1).spec))
    networks = jax.tree.map(np.asarray, networks)
    always_first = Member("iql", small("iql"), source=Source("runs/x", 0, 1), networks=networks)
    setup, before, after = lived([iql(), always_first], 6, idle=4)
    assert isinstance(setup.team.squads[1], Frozen)
    assert changed(before, after) == [True, False]
    assert after.replays[1] == () and after.tally.metrics[1] == {}
    assert float(setup.team.squads[1].epsilon(PLAN, jnp.asarray(0))) == 0.0
