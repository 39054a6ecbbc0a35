"""The program of a turn does not grow with contexts, lengths or agents, and hardly with batches and the window."""

import functools

import jax

from decentral.configs.config import resolve
from decentral.training.loop import begin, turn
from tests.training.test_batches import equations


@functools.cache
def operations(environment="predator-prey", algorithm=(), world=(), plan=()):
    """How many operations a turn of DAC with learning is traced to."""
    setup = resolve("dac", environment, dict(algorithm), dict(world), dict(plan)).setup
    lane = jax.eval_shape(lambda: begin(setup, 0))
    return sum(1 for _ in equations(jax.make_jaxpr(lambda lane: turn(setup, lane, True))(lane)))


def test_contexts_and_lengths_add_nothing():
    larger = operations(algorithm=(("contexts", 40),), world=(("length", 400),), plan=(("test_episodes", 64),))
    assert larger == operations()


def test_a_batch_adds_less_than_half_a_percent_each_time_that_it_doubles():
    assert operations() < operations(plan=(("batch_episodes", 128),)) < 1.01 * operations()


def test_a_window_adds_less_than_half_a_percent_for_each_step_that_it_is_longer():
    assert operations() < operations(algorithm=(("window", 20),)) < 1.02 * operations()


def test_agents_add_nothing():
    few, many = (operations("porters", world=(("num_porters", number),)) for number in (8, 100))
    assert many == few
