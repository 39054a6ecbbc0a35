"""Observations that are images: how they are read, stored and learned from."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.bundles.policies import policy_of
from decentral.configs.config import resolve
from decentral.environments.registry import environment_class
from decentral.networks.images import ImageTrunk, patches, trunk_for
from decentral.networks.layers import draw
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.lanes import LaneBatch
from decentral.settings import build
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode, pack, room_for, stored_type, unpack
from decentral.training.setup import TrainingSetup
from decentral.types import PIXEL, AgentSpec, Discrete
from tests.host_worlds import Counting
from tests.small import small

CAMERA = "pettingzoo:tests.environments.zoo:Camera"
SPEC = AgentSpec(40, Discrete(2), (4, 5, 2))
PLAN = {"batch_episodes": 1, "replay_episodes": 4, "test_interval": 4, "test_episodes": 1}
TWO_STEPS = {"time_limit": 2, "may_end_early": False}


def camera(**settings):
    return build(environment_class(CAMERA), settings, "environment")


def test_patches_are_the_surroundings_of_every_second_pixel():
    image = jnp.arange(1.0, 13.0).reshape(3, 4, 1)  # 1 2 3 4 / 5 6 7 8 / 9 10 11 12
    every = jax.jit(patches)(image)
    assert every.shape == (2, 2, 9)
    assert every[0, 0].tolist() == [0, 0, 0, 0, 1, 2, 0, 5, 6]
    assert every[1, 1].tolist() == [6, 7, 8, 10, 11, 12, 0, 0, 0]


def test_a_layer_is_the_convolution_of_its_name():
    layer, image = ImageTrunk(40, 3, (4, 5, 2)).convolutions[0], jnp.arange(40.0).reshape(4, 5, 2)
    layer = eqx.tree_at(lambda old: old.weight, layer, jnp.sin(jnp.arange(16.0 * 18)).reshape(16, 18))
    kernel = layer.weight.reshape(16, 3, 3, 2).transpose(1, 2, 3, 0)
    sides, edges = ("NHWC", "HWIO", "NHWC"), [(1, 1), (1, 1)]
    convolved = jax.lax.conv_general_dilated(image[None], kernel, (2, 2), edges, dimension_numbers=sides)[0]
    here = jax.jit(lambda layer, image: layer(patches(image)))(layer, image)
    np.testing.assert_allclose(here, convolved + jnp.broadcast_to(layer.bias, convolved.shape), rtol=1e-4, atol=1e-4)


@jax.jit
def unrolled(key):
    """The last memory, by steps and at once, and the gradient of its sum."""
    trunk, inputs = draw(trunk_for(42, 8, (4, 5, 2)), key), jax.random.uniform(key, (2, 2, 42))
    memory = jnp.zeros((2, 8))
    for step in inputs:
        memory = jax.vmap(trunk.step)(memory, step)
    return memory, trunk.unroll(inputs)[-1], jax.grad(lambda trunk: jnp.sum(trunk.unroll(inputs)))(trunk)


def test_unrolled_it_remembers_what_it_does_step_by_step_and_every_layer_learns():
    by_steps, at_once, gradient = unrolled(jax.random.key(0))
    np.testing.assert_allclose(at_once, by_steps, rtol=1e-5)
    assert all(np.any(leaf != 0) for leaf in map(np.asarray, jax.tree.leaves(gradient)))


def test_every_byte_comes_back_from_the_replay_as_it_was_seen():
    seen = (np.arange(256, dtype=np.float32) * PIXEL).reshape(1, 1, 256)
    blank = blank_episode(AgentSpec(256, Discrete(2), (16, 16, 1)), 1)
    room = room_for(blank, stored_type(SPEC, "float16"))
    assert (
        room.percepts.observation.dtype == jnp.uint8 and stored_type(AgentSpec(1, Discrete(2)), "float16") == "float16"
    )
    episode = eqx.tree_at(lambda old: old.percepts.observation, blank, jnp.asarray(np.repeat(seen[0], 2, axis=0)))
    again = jax.jit(lambda episode: unpack(pack(episode, room)))(episode)
    np.testing.assert_array_equal(again.percepts.observation[0], seen[0, 0])


def test_an_image_is_told_from_a_table_by_its_space():
    assert camera().spec == SPEC and camera().agent_specs == (SPEC,)
    assert camera(images="flat").spec == AgentSpec(40, Discrete(2))
    assert build(environment_class("pettingzoo:tests.environments.zoo:Zoo"), {}, "environment").spec.image is None
    observation = camera().open().reset(0).observation
    np.testing.assert_array_equal(observation, [np.arange(40, dtype=np.float32) * PIXEL])


def test_replays_hold_bytes():
    setup = TrainingSetup.alike(small("iql"), camera(**TWO_STEPS), Plan(**PLAN))
    stored = LaneBatch.describe(setup).replays[0].episodes.percepts.observation
    assert (stored.shape, stored.dtype) == ((1, 1, 4, 3, 40), np.uint8)


@pytest.mark.long
def test_a_run_learns_from_images(tmp_path):
    settings = {"algorithm": {"hidden": 4}, "environment": TWO_STEPS, "training": PLAN, "progress": False}
    run = decentral.train("iql", CAMERA, steps=4, **settings, out=tmp_path / "run")
    checkpoints = Checkpoints.of(run.directory)
    stored = checkpoints.read(checkpoints.turns()[0], "replays")["replays.0.episodes.percepts.observation"]
    assert stored.dtype == np.uint8 and stored[0, 0, 0, 1].tolist() == list(range(100, 140))
    with pytest.raises(decentral.Refused, match=r"got images: train with environment.images flat to export"):
        decentral.export(run.path, out=tmp_path / "bundle", environment=CAMERA)


@pytest.mark.parametrize("name", ["iql", "dac"])
def test_images_are_not_exported(name):
    with pytest.raises(decentral.Refused, match=r"got images: train with environment.images flat to export"):
        policy_of(name, small(name), None, SPEC)


def test_an_agent_alone_refuses_images():
    with pytest.raises(decentral.Refused, match="spec must be of numbers for an agent alone, got an image"):
        decentral.Agent("iql", SPEC)


@pytest.mark.parametrize("sides", [(2, 1), (2, 2, 1), (1, 1, 0), "2x1x1", (1, 1, 2.0)])
def test_an_image_of_other_sides_than_the_observation_is_refused(monkeypatch, sides):
    spec = AgentSpec(2, Discrete(3))
    object.__setattr__(spec, "image", sides)  # only tests check the types of arguments
    monkeypatch.setattr(Counting, "spec", spec)
    with pytest.raises(decentral.Refused, match=r"spec.image must be height, width and channels of 2 numbers, got"):
        resolve("iql", "python:tests.host_worlds:Counting")
