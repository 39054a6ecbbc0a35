"""What every registered environment promises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles import BATTLES, DRAWN_BATTLES
from decentral.environments.battles.actions import ATTACK, STOP
from decentral.environments.porters.yard import LIFT, Yard
from decentral.environments.predator_prey.environment import Hunt
from decentral.environments.registry import ENVIRONMENTS, MatrixGame, PredatorPrey
from decentral.training.rollout import play, random_player
from decentral.types import Discrete

pytestmark = pytest.mark.xdist_group("promises of environments")  # one process compiles for all of them

# All battles are one program with other numbers: the smallest stands for them where it takes long.
EVERY_BATTLE = BATTLES | DRAWN_BATTLES
CHOSEN = {name: kind for name, kind in ENVIRONMENTS.items() if name not in EVERY_BATTLE or name == "3m"}
WORLDS = {name: kind() for name, kind in CHOSEN.items()} | {
    "matrix-game 2x3x2": MatrixGame(payoff=np.arange(12.0).reshape(2, 3, 2)),
    "predator-prey large": PredatorPrey(size=6, num_predators=3, observe_teammate=True, length=20),
}
worlds = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
EVERY = WORLDS | {name: kind() for name, kind in EVERY_BATTLE.items()}


@jax.jit
def played(world, key):
    key_player, key_world = jax.random.split(key)
    return play(world, random_player(world, key_player), key_world)


@jax.jit
def stepped(world, state, actions, key):
    return world.step(state, actions, key)


@jax.jit
def stepped_by_chance(world, state, actions, key):
    return world.step_with(state, actions, world.draw(key))


@jax.jit
def begun(world, key):
    """A first state, and random actions in it."""
    state = world.reset(key)
    keys = jax.random.split(key, world.num_agents)
    return state, jax.vmap(world.spec.actions.sample)(world.perceive(state).available, keys)


def random_episode(world, seed):
    return played(world, jax.random.key(seed))


@pytest.mark.parametrize("world", EVERY.values(), ids=EVERY.keys())
def test_percepts_have_the_shapes_and_types_that_the_spec_says(world):
    percepts = jax.eval_shape(lambda key: world.perceive(world.reset(key)), jax.random.key(0))
    assert percepts.observation.shape == (world.num_agents, world.spec.observation_size)
    assert percepts.observation.dtype == jnp.float32
    assert percepts.available.shape == (world.num_agents, world.spec.actions.count)
    assert percepts.available.dtype == bool


@worlds
def test_names_are_given_to_all_numbers_and_actions_or_to_none(world):
    assert len(world.observation_names) in (0, world.spec.observation_size)
    assert len(world.action_names) in (0, world.spec.actions.count)


@worlds
def test_a_random_episode_is_finite_and_each_percept_allows_an_action(world):
    lived = random_episode(world, 1)
    for leaf in jax.tree.leaves(lived):
        assert np.isfinite(np.asarray(leaf, np.float64)).all()
    assert lived.percepts.available.any(axis=-1).all()


@worlds
def test_a_world_that_never_takes_an_action_away_says_so(world):
    assert world.has_action_mask or random_episode(world, 1).percepts.available.all()


@worlds
def test_there_is_one_reward_for_all(world):
    _, outcome = step_once(world)
    assert outcome.reward.shape == () and outcome.reward.dtype == jnp.float32


@worlds
def test_an_episode_repeats_itself_under_the_same_key_and_only_then(world):
    first, again, *others = (random_episode(world, seed) for seed in (1, 1, 2, 3, 4))
    same = jax.tree.map(lambda a, b: bool((a == b).all()), first, again)
    assert all(jax.tree.leaves(same))
    assert not all((first.actions == other.actions).all() for other in others)


@pytest.mark.parametrize("name", ["predator-prey", "switching-wind"])
def test_the_worlds_own_chance_comes_from_its_key(name):
    world = WORLDS[name]
    state, actions = begun(world, jax.random.key(0))
    after = jax.jit(jax.vmap(lambda key: world.step(state, actions, key)[0]))(jax.random.split(jax.random.key(1), 20))
    assert any(len(np.unique(np.asarray(leaf), axis=0)) > 1 for leaf in jax.tree.leaves(after))


@worlds
def test_running_out_of_time_is_not_termination(world):
    lived = random_episode(world, 3)
    assert lived.happened.shape == (world.time_limit,)
    if isinstance(world, MatrixGame):
        assert lived.terminated.all()
    elif world.may_end_early:
        assert lived.terminated.sum() <= 1 and not lived.happened[1:][lived.terminated[:-1]].any()
    else:
        assert lived.happened.all() and not lived.terminated.any()


@worlds
def test_a_world_that_never_ends_early_lasts_to_its_time_limit(world):
    assert world.may_end_early or all(random_episode(world, seed).happened.all() for seed in range(3))


@worlds
def test_a_step_means_the_same_compiled_and_side_by_side(world):
    key = jax.random.key(4)
    state, actions = begun(world, key)
    plain = world.step(state, actions, key)
    compiled = stepped(world, state, actions, key)
    twice = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), (state, actions))
    beside = jax.jit(jax.vmap(world.step, (0, 0, None)))(*twice, key)
    for one, other, both in zip(*map(jax.tree.leaves, (plain, compiled, beside)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
        np.testing.assert_allclose(one, both[1], rtol=1e-6)


@worlds
def test_a_step_by_chance_drawn_ahead_is_the_step_of_the_same_key(world):
    for seed in range(5):
        key = jax.random.key(seed)
        state, actions = begun(world, key)
        at_once, ahead = (how(world, state, actions, key) for how in (stepped, stepped_by_chance))
        for one, other in zip(*map(jax.tree.leaves, (at_once, ahead)), strict=True):
            np.testing.assert_array_equal(one, other)


@worlds
def test_numbers_may_differ_between_lanes_of_one_program(world):
    other = jax.tree.map(lambda number: number + 1.0, world)
    lanes = jax.tree.map(lambda *numbers: jnp.stack([jnp.asarray(n) for n in numbers]), world, other)
    together = jax.jit(jax.vmap(lambda lane: jax.tree.leaves(step_once(lane))))(lanes)
    for number, alone in enumerate((world, other)):
        for both, one in zip(together, jax.tree.leaves(step_once(alone)), strict=True):
            np.testing.assert_allclose(both[number], one, rtol=1e-6)


# Pairs of joint actions that differ in another agent's action alone and have the same physical outcome.
ALIKE = {
    # after agent 0's first action, the payoff is -12 whether agent 1 takes its second or its third
    "matrix-game": (None, [0, 1], [0, 2]),
    # agent 1 in the upper left corner: up and left both run into the wall, and so it stays
    "predator-prey": (Hunt(jnp.asarray([24, 0, 12], jnp.int32)), [2, 0], [2, 1]),
    # agent 1 on a cell without a load: to lift there is to stay
    "porters": (Yard(jnp.asarray([0, 12], jnp.int32), jnp.asarray([24, 6], jnp.int32)), [2, 2], [2, LIFT]),
    # agent 1 may not attack an enemy that is far away, and so it stops
    "3m": (None, [STOP, STOP, STOP], [STOP, ATTACK, STOP]),
}


def leaks(world, state, actions, others):
    """Does agent 0 perceive a difference between two joint actions whose physical outcome is the same?"""
    key = jax.random.key(5)
    state = world.reset(key) if state is None else state
    (after, outcome), (after_other, outcome_other) = (
        stepped(world, state, jnp.asarray(joint), key) for joint in (actions, others)
    )
    assert outcome.reward == outcome_other.reward, "the pair is not alike"
    seen, seen_other = world.perceive(after), world.perceive(after_other)
    return not jax.tree.all(jax.tree.map(lambda a, b: (a[0] == b[0]).all(), seen, seen_other))


@pytest.mark.parametrize("name", [name for name, kind in CHOSEN.items() if kind().num_agents > 1])
def test_no_percept_shows_what_another_agent_did(name):
    assert name in ALIKE, f"give a pair of joint actions with the same outcome for {name}"
    assert not leaks(ENVIRONMENTS[name](), *ALIKE[name])


def test_seeing_where_a_teammate_is_does_not_show_what_it_did():
    assert not leaks(PredatorPrey(observe_teammate=True), *ALIKE["predator-prey"])


def test_the_barrier_test_catches_a_game_that_reveals_the_joint_action_on_purpose():
    assert leaks(MatrixGame(revealed=True), *ALIKE["matrix-game"])


def test_the_barrier_test_catches_a_world_that_shows_the_others_actions():
    class Gossip(MatrixGame):
        """A matrix game whose state, and so each percept, holds the joint action."""

        def reset(self, key):
            return jnp.zeros((2,), jnp.int32)

        def perceive(self, state):
            honest = MatrixGame.perceive(self, jnp.zeros((), jnp.int32))
            told = jnp.broadcast_to(state.astype(jnp.float32)[None], (2, 2))
            return type(honest)(jnp.concatenate([honest.observation, told], axis=-1), honest.available)

        def step(self, state, actions, key):
            _, outcome = MatrixGame.step(self, jnp.zeros((), jnp.int32), actions, key)
            return actions.astype(jnp.int32), outcome

    assert leaks(Gossip(), *ALIKE["matrix-game"])


def step_once(world):
    key = jax.random.key(6)
    return stepped(world, *begun(world, key), key)


@worlds
def test_a_random_action_is_of_the_kind_that_the_spec_says(world):
    _, actions = begun(world, jax.random.key(7))
    wanted = jnp.integer if isinstance(world.spec.actions, Discrete) else jnp.floating
    assert jnp.issubdtype(actions.dtype, wanted)
