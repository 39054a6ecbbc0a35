from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.base import Outcome
from decentral.environments.registry import PredatorPrey
from decentral.settings import Refused
from decentral.training import stepping
from decentral.training.rollout import Trajectory, hand_out, play, random_player
from decentral.training.stepping import Packing
from decentral.types import Percept
from tests.worlds import EarlyEnd, Fuse


def test_an_episode_that_ends_early_is_padded_with_steps_that_did_not_happen():
    world = EarlyEnd()
    lived = jax.jit(lambda key: play(world, random_player(world, key), key))(jax.random.key(1))
    np.testing.assert_array_equal(lived.happened, [True, True, False, False, False])
    np.testing.assert_array_equal(lived.terminated, [False, True, False, False, False])
    np.testing.assert_array_equal(lived.rewards, [1, 1, 0, 0, 0])
    assert lived.percepts.observation.shape == (6, 1, 1)


@pytest.mark.parametrize("unasked", [1, 4])
def test_a_world_that_is_over_stands_still_however_long_others_go_on_beside_it(unasked, monkeypatch):
    monkeypatch.setattr(stepping, "steps_between_looks", lambda limit: unasked)
    world = Fuse(longest=9.0)
    assert world.limit % unasked == 0

    def live(key):
        return play(world, random_player(world, key), key)

    keys = jax.random.split(jax.random.key(0), 6)
    together = jax.jit(jax.vmap(live))(keys)
    lengths = np.sum(together.happened, axis=1)
    assert len(set(lengths.tolist())) > 2
    burnt = np.minimum(np.arange(world.limit + 1), lengths[:, None])
    np.testing.assert_array_equal(together.percepts.observation[:, :, 0, 0], burnt)
    np.testing.assert_array_equal(together.actions[~together.happened], 0)
    alone = jax.tree.map(lambda *each: np.stack(each), *map(jax.jit(live), keys))
    for one, other in zip(jax.tree.leaves(alone), jax.tree.leaves(together), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("length", [4, 5])
def test_an_accelerator_plays_two_steps_a_round_and_gets_the_same_episode(length, monkeypatch):
    """It also joins the cells of few entities in another way."""
    world = PredatorPrey(length=length, observe_teammate=True)

    def live(key):
        return jax.jit(lambda key: play(world, random_player(world, key), key))(key)

    on_cpu = live(jax.random.key(0))
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for one, other in zip(jax.tree.leaves(live(jax.random.key(0))), jax.tree.leaves(on_cpu), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_world_may_hold_keys_and_numbers_of_every_type():
    tree = {
        "key": jax.random.key(3),
        "truths": jnp.asarray([True, False]),
        "numbers": (jnp.arange(3), jnp.ones((2, 2))),
    }
    packing = Packing.of(tree)
    packed = packing.pack(tree)
    assert len(packed) == 2
    again = packing.unpack(packed)
    assert jax.tree.structure(again) == jax.tree.structure(tree)
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(tree), strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert jnp.all(one == other)


@pytest.mark.parametrize("ends_early", [True, False])
@pytest.mark.parametrize(
    ("following", "told"),
    [
        (
            lambda state: {"burnt": state["burnt"] + 0.5},
            r"\['burnt'\] must stay int32\[2\] from step to step, got float32",
        ),
        (
            lambda state: {"burnt": state["burnt"][:1]},
            r"\['burnt'\] must stay int32\[2\] from step to step, got int32\[1\]",
        ),
        (
            lambda state: {"burnt": state["burnt"], "left": state["burnt"]},
            " after a step must be built as the one after a",
        ),
    ],
)
def test_a_state_that_changes_its_kind_in_a_step_is_refused(following, told, ends_early):
    class Drifting(EarlyEnd):
        may_end_early = ends_early

        def reset(self, key):
            return {"burnt": jnp.zeros(2, jnp.int32)}

        def perceive(self, state):
            return super().perceive(state["burnt"][0])

        def step(self, state, actions, key):
            return following(state), Outcome(jnp.ones(()), state["burnt"][0] == 1, facts={})

    world = Drifting()
    with pytest.raises(Refused, match=f"^the state{told}"):
        play(world, random_player(world, jax.random.key(0)), jax.random.key(1))


@pytest.mark.parametrize("ends_early", [True, False])
def test_a_state_may_hold_numbers_of_python(ends_early):
    class Plain(EarlyEnd):
        may_end_early = ends_early

        def reset(self, key):
            return {"burnt": 0, "size": 1.5}

        def perceive(self, state):
            return super().perceive(state["burnt"])

        def step(self, state, actions, key):
            return {"burnt": state["burnt"] + 1, "size": 1.5}, Outcome(jnp.ones(()), state["burnt"] == 1, facts={})

    world = Plain()
    lived = play(world, random_player(world, jax.random.key(0)), jax.random.key(1))
    np.testing.assert_array_equal(lived.happened, [True, True, False, False, False])


def test_no_step_is_computed_when_all_worlds_are_over():
    burnt = []

    class Watched(Fuse):
        def step(self, state, actions, key):
            jax.debug.callback(burnt.append, state[0])
            return super().step(state, actions, key)

        def recompute_outcome(self, before, actions, chance, after):
            return Outcome(jnp.zeros(()), after[0] >= after[1], facts={})

    world = Watched(longest=9.0)
    live = jax.jit(jax.vmap(lambda key: play(world, random_player(world, key), key)))
    lengths = np.sum(live(jax.random.split(jax.random.key(0), 6)).happened, axis=1)
    jax.effects_barrier()
    assert len(burnt) == 6 * lengths.max() < 6 * world.limit


def trajectory(actions):
    actions = jnp.asarray(actions)
    steps, agents = actions.shape
    observation = jnp.arange((steps + 1) * agents * 2.0).reshape(steps + 1, agents, 2)
    percepts = Percept(observation, jnp.ones((steps + 1, agents, 3), bool))
    no = jnp.zeros(steps, bool)
    return Trajectory(percepts, actions, jnp.arange(1.0, steps + 1), no, ~no, {"secret": actions[:, 0]})


def test_each_agent_is_handed_its_own_percepts_and_actions_and_the_shared_reward():
    episodes = hand_out(trajectory([[0, 1], [2, 1], [1, 0]]))
    np.testing.assert_array_equal(episodes.actions, [[0, 2, 1], [1, 1, 0]])
    np.testing.assert_array_equal(episodes.rewards, [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(episodes.percepts.observation[1, :, 0], [2, 6, 10, 14])


def test_where_every_agent_has_its_own_reward_it_is_handed_no_other():
    own = jnp.asarray([[1.0, 10.0], [2.0, 20.0]])
    episodes = hand_out(replace(trajectory([[0, 1], [2, 1]]), own_rewards=own))
    np.testing.assert_array_equal(episodes.rewards, [[1, 2], [10, 20]])


def test_what_an_agent_is_handed_does_not_change_with_the_others_actions():
    here, there = hand_out(trajectory([[0, 1], [2, 1]])), hand_out(trajectory([[0, 2], [2, 0]]))
    for one, other in zip(jax.tree.leaves(here), jax.tree.leaves(there), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
    assert not (here.actions[1] == there.actions[1]).all()
