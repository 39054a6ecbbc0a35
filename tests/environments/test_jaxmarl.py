from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.adapters.jaxmarl_images import image_of
from decentral.environments.registry import environment_class, recorded_class
from decentral.errors import Refused
from decentral.settings import build
from decentral.training.rollout import play, random_player


def environment(name="Zoo", **settings):
    return build(environment_class(f"jaxmarl:tests.environments.jax_zoo:{name}"), settings, "environment")


def after(zoo, *joint_actions):
    """The moments and outcomes of some joint actions."""
    key = jax.random.key(0)
    moments, outcomes = [zoo.reset(key)], []
    for actions in joint_actions:
        moment, outcome = zoo.step(moments[-1], jnp.asarray(actions), key)
        moments.append(moment)
        outcomes.append(outcome)
    return moments, outcomes


def test_sizes_are_those_of_the_largest_agent_and_the_time_limit_is_the_worlds():
    zoo = environment()
    assert (zoo.num_agents, zoo.spec.observation_size, zoo.spec.actions.count, zoo.time_limit) == (2, 4, 3, 4)
    assert zoo.agent_names == ("tall", "small")


def test_what_an_agent_lacks_is_padded_with_zeros_and_never_available():
    zoo = environment()
    (_, moment), _ = after(zoo, [0, 0])
    assert zoo.perceive(moment).observation.tolist() == [[1, 1, 1, 1], [1, 0, 0, 0]]
    assert zoo.perceive(moment).available.tolist() == [[True] * 3, [True, True, False]]


def test_agents_that_are_numbers_are_called_by_them():
    zoo = environment("Numbered", rewards="own")
    (_, moment), (outcome,) = after(zoo, [2, 1])
    assert zoo.agent_names == ("0", "1") and outcome.own_rewards.tolist() == [2.0, 1.0]
    assert zoo.perceive(moment).observation.tolist() == [[1, 1, 1, 1], [1, 0, 0, 0]]


def test_the_worlds_own_masks_are_padded_too():
    zoo = environment("Masked")
    moments, _ = after(zoo, [1, 0])
    tall, small = zip(*(zoo.perceive(moment).available.tolist() for moment in moments), strict=True)
    assert tall == ([False, True, False], [True, True, True])
    assert small == ([True, True, False],) * 2


@pytest.mark.parametrize(
    ("settings", "team", "own"),
    [
        ({"rewards": "mean"}, 1.5, None),
        ({"rewards": "sum"}, 3.0, None),
        ({"rewards": "own"}, 1.5, [2.0, 1.0]),
        ({"rewards": "own", "result": "sum"}, 3.0, [2.0, 1.0]),
    ],
)
def test_the_teams_reward_is_made_of_the_agents_own(settings, team, own):
    _, (outcome,) = after(environment(**settings), [2, 1])
    assert (outcome.reward, outcome.facts["rewards_apart"]) == (team, 1.0)
    assert outcome.own_rewards is None if own is None else outcome.own_rewards.tolist() == own


def test_a_result_without_own_rewards_makes_no_sense():
    with pytest.raises(Refused, match=r"environment.result must be mean unless rewards is own, got sum"):
        environment(result="sum")


def test_parts_of_observations_keep_their_names_and_several_choices_are_one_action():
    zoo = environment("Named", rewards="own")
    (first, _), (outcome,) = after(zoo, [4, 1])
    assert zoo.perceive(first).observation.tolist() == [[0, 7, 7], [0, 0, 0]]
    tall, small = zoo.agent_spaces(0), zoo.agent_spaces(1)
    assert (tall.observation_names, small.observation_names) == (("clock", "walls[0]", "walls[1]"), ())
    assert tall.action_names == ("0,0", "0,1", "0,2", "1,0", "1,1", "1,2") and small.action_names == ("0", "1")
    assert outcome.own_rewards.tolist() == [11, 1]


def test_an_end_before_the_time_limit_ends_the_task_and_the_world_stands_still():
    moments, outcomes = after(environment(), *[[0, 0]] * 4)
    assert [bool(outcome.terminated) for outcome in outcomes] == [False, False, True, True]
    assert [int(moment.inner["taken"]) for moment in moments] == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("ends", [False, True])
def test_an_end_at_the_time_limit_is_running_out_of_time_unless_told_otherwise(ends):
    _, outcomes = after(environment("Long", timeout_ends=ends), *[[0, 0]] * 4)
    assert [bool(outcome.terminated) for outcome in outcomes] == [False, False, False, ends]


def test_own_rewards_are_those_of_the_steps_that_happened():
    zoo = environment(rewards="own")
    played = jax.jit(lambda key: play(zoo, random_player(zoo, key), key))(jax.random.key(0))
    np.testing.assert_array_equal(played.own_rewards[:3], played.actions[:3])
    assert played.own_rewards[3].tolist() == [0, 0]  # all was over after three steps


def red_and_blue(image):
    """The middles of what is red and of what is blue in an image, from the left and from below, as shares of it."""
    height, width = image.shape[:2]
    found = [np.argwhere((image[..., on] > 200) & (image[..., off] < 100)) for on, off in ((0, 2), (2, 0))]
    return [(column / width, 1 - row / height) for row, column in (where.mean(axis=0) for where in found)]


def test_a_particle_world_that_renders_nothing_is_drawn_from_its_state():
    class SimpleMPE(SimpleNamespace):
        """As JaxMARL's is called."""

    places = jnp.asarray([[-1.0, 1.0], [1.0, 0.0]])  # of a plane from -2 to 2
    world = SimpleMPE(rad=jnp.asarray([0.1, 0.2]), colour=[(255, 0, 0), (0, 0, 255)])
    red, blue = red_and_blue(image_of(world, SimpleNamespace(p_pos=places)))
    assert red == pytest.approx((0.25, 0.75), abs=0.01) and blue == pytest.approx((0.75, 0.5), abs=0.01)


def test_storm_is_drawn_without_its_bar_of_time_which_fails_on_numpy_2():
    class Grid(SimpleNamespace):
        """A state of JaxMARL's."""

        def replace(self, **changes):
            return Grid(**(vars(self) | changes))

    class InTheGrid_2p:  # noqa: N801
        """As JaxMARL's is called."""

        def render(self, state):
            assert (state.step, state.outer_t) == (0, 0), "Python integer 255 out of bounds for int8"
            return np.full((2, 2, 3), state.grid)

    assert image_of(InTheGrid_2p(), Grid(step=7, outer_t=1, grid=9)).max() == 9


def test_of_a_battle_the_living_are_drawn():
    class EnemySMAX(SimpleNamespace):
        """As JaxMARL's is called."""

    battle = EnemySMAX(map_width=32, map_height=16, num_allies=2, unit_type_radiuses=jnp.asarray([1.0]))
    units = {"unit_alive": np.asarray([False, True, True]), "unit_types": np.zeros(3, int)}
    places = np.asarray([[16.0, 4.0], [8.0, 8.0], [24.0, 12.0]])
    image = image_of(battle, SimpleNamespace(state=SimpleNamespace(**units, unit_positions=places)))
    enemy, ally = red_and_blue(image)
    assert ally == pytest.approx((0.25, 0.5), abs=0.01) and enemy == pytest.approx((0.75, 0.75), abs=0.01)
    assert (image[..., :3].min(axis=-1) < 100).mean() == pytest.approx(2 * np.pi / (32 * 16), rel=0.1)  # two of three


def test_whole_episodes_are_compiled():
    zoo = environment("Masked", rewards="sum")
    keys = jax.random.split(jax.random.key(1))
    lived = jax.jit(lambda: play(zoo, random_player(zoo, keys[0]), keys[1]))()
    assert lived.happened.tolist() == [True, True, True, False]
    assert lived.actions[0].tolist()[0] == 1  # all else is unavailable to the tall one at first
    np.testing.assert_array_equal(lived.rewards[:3], lived.actions[:3].sum(axis=1))


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (
            "tests.environments.jax_zoo:Smooth",
            "actions of .*: tall must be Discrete, MultiDiscrete or MultiBinary for agents to learn, got .*Box",
        ),
        ("tests.environments.jax_zoo:NUMBER", "must name a function that makes an environment, got 3"),
        ("tests.environments.jax_zoo:broken", "can't be made .KeyError: 'no such thing'"),
        ("tests.environments.jax_zoo:nothing", "must be an environment of JaxMARL with an observation per agent"),
        ("tests.environments.jax_zoo:nobody", "the module tests.environments.jax_zoo has no nobody"),
        ("no such environment", "jaxmarl must be installed|must be one that JaxMARL knows"),
    ],
)
def test_what_can_not_be_played_is_refused_in_one_line(place, reason):
    with pytest.raises(Refused, match=reason) as refusal:
        environment_class(f"jaxmarl:{place}")
    assert "\n" not in str(refusal.value) and "0x" not in str(refusal.value)


def test_no_file_decides_that_it_is_run():
    with pytest.raises(Refused, match="is code, and no file decides what is run"):
        recorded_class("jaxmarl:tests.environments.jax_zoo:Never")
