"""Actions in boxes: scaled to the agent's own bounds, in its own sizes, and never outside."""

import io

import numpy as np
import pytest

from decentral.bounds import as_bounds, within_bounds
from decentral.environments.host.wire import Wire, parted, read
from decentral.environments.registry import environment_class
from decentral.errors import Refused
from decentral.types import Continuous


def environment(name="Reach"):
    return environment_class(f"pettingzoo:tests.box_worlds:{name}")(time_limit=3)


def test_sizes_are_those_of_the_largest_box_and_every_agent_has_its_own_bounds():
    built = environment()
    assert built.spec.actions == Continuous(3)
    assert [spec.actions for spec in built.agent_specs] == [Continuous(3), Continuous(1)]
    arm, gripper = map(built.agent_spaces, range(2))
    np.testing.assert_allclose(arm.bounds, [(-2, 2), (0, 0.1), (10, 20)], rtol=1e-6)
    assert gripper.bounds == ((0.3, 0.7),) and arm.action_names == ("0,0", "0,1", "0,2")


@pytest.mark.parametrize("bounds", [(-2.0, 2.0), (0.0, 0.1), (0.3, 0.7), (10.0, 20.0), (1e-3, 1.1e-3), (-3e38, 3e38)])
def test_an_action_never_leaves_its_bounds(bounds):
    """A thousand numbers, and both ends; the bounds of float64 lie between two numbers of float32."""
    numbers = np.concatenate([np.random.default_rng(0).uniform(-1, 1, 1000), [-1.0, 1.0]]).astype(np.float32)
    found = within_bounds(numbers, (bounds,) * len(numbers))
    exactly = found.astype(np.float64)  # a plain number would be rounded to float32 before it is compared
    assert found.dtype == np.float32 and (exactly >= bounds[0]).all() and (exactly <= bounds[1]).all()
    np.testing.assert_allclose(found[-2:], bounds, rtol=1e-6, atol=1e-9)
    exact = np.interp(numbers.astype(float), (-1, 1), bounds)
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-7 * (bounds[1] - bounds[0]))


@pytest.mark.parametrize("given", [[(0, 1)], [(0, 1), (1, 1)], [(0, 1), (0, np.nan)], [(0, 1), (0,)], "ab", 3])
def test_bounds_that_make_no_sense_are_refused(given):
    with pytest.raises(Refused, match="bounds must be 2 pairs of finite numbers, the lower one first, got "):
        as_bounds(given, 2)


def test_the_environment_is_given_numbers_in_its_own_shapes_types_and_bounds():
    """The world itself refuses anything outside of its boxes; the middle, then a corner."""
    stage = environment().open()
    stage.reset(0)
    step = stage.step(np.asarray([[0.5, 0.0, -0.6], [-0.5, 0.0, 0.0]], np.float32))
    np.testing.assert_allclose(step.reward, 0.0, atol=1e-6)  # these are the goals
    assert step.percepts.available.tolist() == [[True] * 3, [True, False, False]]
    assert stage.step(np.ones((2, 3), np.float32)).reward < -0.5
    assert stage.step(-np.ones((2, 3), np.float32)).reward < -0.5


def test_numbers_reach_another_process_as_they_are():
    wire, pipe = Wire(environment()), io.BytesIO()
    actions = np.asarray([[0.1, -1.0, 1e-7], [0.3, 0.0, 0.0]], np.float32)
    wire.ask(pipe, {3: actions})
    pipe.seek(0)
    [(stage, *message)] = parted(read(pipe)[1])
    found = wire.question(*message)
    assert stage == 3
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, actions)


def test_who_has_left_has_no_numbers_left():
    stage = environment("Leaving").open()
    stage.reset(0)
    step = stage.step(np.zeros((2, 3), np.float32))
    assert step.percepts.available.tolist() == [[True] * 3, [False] * 3] and not step.terminated
    assert not stage.step(np.zeros((2, 3), np.float32)).terminated  # the arm goes on alone


def test_a_mask_makes_no_sense_for_a_box():
    with pytest.raises(Refused, match="action_mask of 'gripper' must not be given for continuous actions"):
        environment().sizes.actions[1].available([1], "'gripper'")
