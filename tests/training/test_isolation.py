"""No agent learns from another agent's data: erase or change it, and its own parameters stay the same bit for bit.

That the check finds leaks is shown where they are planted (`tests/verification/test_leaks.py`).
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.algorithms.q_learning import Scene
from decentral.centralised import CENTRALISED
from decentral.configs.members import Member, team_of
from decentral.training.loop import begin, remember_and_learn, turns
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.training.squads.base import TrainingClock
from decentral.training.squads.separate import LearningSchedule
from decentral.training.team import Team
from tests.small import each_of, small
from tests.worlds import Aim, Noise

WORLD = Noise()
PLAN = Plan(batch_episodes=4, replay_episodes=8, epsilon_steps=100)
EPSILON = jnp.asarray(0.5)
FORMULAS = ("patient", "ia2c", "dpo", "tvpo")  # they differ from lenient or from ippo in a formula
ALWAYS = [name for name in ALGORITHMS if name not in FORMULAS]
algorithms = each_of(ALGORITHMS, always=ALWAYS, group="isolation")


def young(team, world=WORLD):
    """A team that has played, but not yet learned; with one more episode, a batch of fresh ones is full again."""
    setup = TrainingSetup(team, world, PLAN)
    lane = jax.jit(lambda seed: turns(setup, begin(setup, seed), 7, False))(0)
    return setup, lane


@functools.cache
def young_team(name):
    return young(Team.alike(small(name), 2))


def changed(leaf):
    return -1000.0 * (1 + leaf) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


@functools.partial(jax.jit, static_argnums=1)
def with_other_past(lane, rewrite):
    """The same, but the second agent's memory is rewritten."""
    replays = list(lane.replays)
    episodes = jax.tree.map(lambda leaf: leaf.at[-1].set(rewrite(leaf[-1])), replays[-1].episodes)
    replays[-1] = eqx.tree_at(lambda old: old.episodes, replays[-1], episodes)
    return eqx.tree_at(lambda old: old.replays, lane, tuple(replays))


@jax.jit
def study(setup, lane):
    """All of the first and of the last agent after a turn of learning."""
    keys = setup.team.split_by_squad(jax.random.split(jax.random.key(5)))
    lived = [jax.tree.map(lambda leaf: leaf[:, :1], replay.episodes) for replay in lane.replays]
    fields = [(one.percepts, one.actions, one.rewards, one.terminated, one.happened) for one in lived]
    fresh = type(lived[0])(*jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *fields))  # lived anew
    after = remember_and_learn(setup, lane, fresh, tuple(EPSILON for _ in keys), keys, True)
    own = [(a.online, a.target, a.optimiser, a.statistics, r) for a, r in zip(after.agents, after.replays, strict=True)]
    learned = jax.tree.map(lambda one, other: jnp.any(one != other), lane.agents[0].online, after.agents[0].online)
    return jax.tree.leaves(own[0]), jax.tree.leaves(own[-1]), jnp.any(jnp.stack(jax.tree.leaves(learned)))


def numbers(tree):
    """The same in NumPy, which compares them without compiling anything; a key is its numbers."""
    is_key = lambda leaf: jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)  # noqa: E731
    return jax.tree.map(lambda leaf: np.asarray(jax.random.key_data(leaf) if is_key(leaf) else leaf), tree)


def isolated(setup, lane):
    """Are the first agent and its replay the same beside a second one whose past is as it was, changed, or erased?"""
    first, second, learned = numbers(study(setup, lane))
    assert learned
    others = [numbers(study(setup, with_other_past(lane, rewrite))) for rewrite in (changed, jnp.zeros_like)]
    for _, other_second, _ in others:
        noticed = any(bool((one[-1] != other[-1]).any()) for one, other in zip(second, other_second, strict=True))
        assert noticed, "the second agent did not notice its own past"
    return all(bool((a[0] == b[0]).all()) for beside, _, _ in others for a, b in zip(first, beside, strict=True))


@algorithms
def test_an_agent_does_not_notice_what_another_remembers(name):
    assert isolated(*young_team(name))


@pytest.mark.long
def test_agents_of_a_mixed_team_do_not_notice_what_another_remembers():
    team = team_of(
        [Member("iql", small("iql")), Member("lenient", small("lenient"), LearningSchedule(update_period=2))]
    )
    assert len(team.squads) == 2
    assert isolated(*young(team))


@pytest.mark.long
def test_an_agent_with_continuous_actions_does_not_notice_what_another_remembers():
    assert isolated(*young(Team.alike(small("ippo"), 2), Aim()))


@pytest.mark.parametrize("name", CENTRALISED)
def test_a_reference_that_is_not_decentralised_says_so(name):
    assert not CENTRALISED[name].strictness.decentralised
    assert all(kind.strictness.decentralised for kind in ALGORITHMS.values())


@each_of(["importance-sampling", "vdn", "qmix"], always=["vdn"])  # a fingerprint is common to the whole team
def test_a_reference_that_is_not_decentralised_is_found_out(name):
    """The networks of the first body change when the second remembers something else."""
    setup, lane = young_team(name)

    def rewrite(leaf):
        floating = jnp.issubdtype(leaf.dtype, jnp.floating)
        return leaf.at[:, 1].set(0.3 * (1 + leaf[:, 1])) if floating else leaf

    changed = jax.tree.map(rewrite, lane.replays[0].episodes)
    other = eqx.tree_at(lambda old: old.replays[0].episodes, lane, changed)
    keys = jax.random.split(jax.random.key(5))

    @jax.jit
    def study(lane):
        now = TrainingClock(lane.steps, lane.episodes, EPSILON)
        agent, _ = setup.team.squads[0].learn(lane.agents[0], lane.replays[0], setup.batch, keys, now)
        return jax.tree.leaves(jax.tree.map(lambda leaf: leaf[0], agent.online.acting_models))

    assert any(bool((one != two).any()) for one, two in zip(study(lane), study(other), strict=True))


@algorithms
def test_an_agents_choices_do_not_depend_on_another_agents_networks(name):
    setup, lane = young_team(name)
    squad, models = setup.team.squads[0], lane.agents[0].online

    def shift(leaf):  # and turn round, or the same action would stay the best
        return leaf.at[1].set(0.5 - leaf[1]) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf

    percepts = jax.vmap(lambda key: WORLD.perceive(WORLD.reset(key)))(jax.random.split(jax.random.key(0), 50))
    dice = squad.roll(jax.random.split(jax.random.key(1)), 50)

    @jax.jit
    def act(own):
        def choose(percept, die):
            scene = Scene(percept, jnp.zeros((2, WORLD.spec.actions.count)), jnp.full(2, 0.3), die)
            values, _ = jax.vmap(squad.algorithm.values)(own, squad.start(own), scene)
            return values, squad.act(own, lane.agents[0].statistics, squad.start(own), scene)[0]

        return jax.vmap(choose)(percepts, dice)

    (values, actions), (other_values, other_actions) = act(models), act(jax.tree.map(shift, models))
    np.testing.assert_array_equal(actions[:, 0], other_actions[:, 0])
    np.testing.assert_array_equal(values[:, 0], other_values[:, 0])
    assert not np.allclose(values[:, 1], other_values[:, 1])


@algorithms
def test_agents_are_born_different_and_explore_differently(name):
    _, lane = young_team(name)
    assert any(not np.allclose(leaf[0], leaf[1]) for leaf in jax.tree.leaves(lane.agents[0].online))
    actions = lane.replays[0].episodes.actions[:, :5]
    assert not (actions[0] == actions[1]).all()
