"""What a bundle runs, in NumPy, beside what the trained agent computes, in JAX."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.hashing import bucket_of
from decentral.algorithms.iql import IQL
from decentral.algorithms.value_learner import ValueNetwork
from decentral.bundles.card import describe
from decentral.bundles.parity import TOLERANCE, compare
from decentral.bundles.policies import policy_of, without_id, without_padding
from decentral.bundles.recording import Recording, values_in
from decentral.networks.layers import Linear, draw
from decentral.networks.trunk import Trunk
from decentral.runtime.agent import ExportedAgent
from decentral.runtime.models import Table, model_of
from decentral.runtime.spec import _Reader
from decentral.settings import Refused
from decentral.types import AgentSpec, Discrete, Episode, Percept
from tests.small import small
from tests.worlds import Fuse

WORLD = Fuse()
CASES = {
    "iql": {},
    "rac": {"contexts": 3},
    "bql": {},
    "i2q": {},
    "i2q-forward": {},
    "i2q-tabular": {},
    "ippo": {},
    "vdn": {},
    "dac": {"contexts": 3},
    "dac normal-net": {"contexts": 3, "head": "normal-net"},
    "dac normal-net-hidden": {"contexts": 3, "head": "normal-net-hidden"},
    "iql tanh lstm": {"memory": "lstm", "layers": "5-3", "activation": "tanh", "layer_norm": True},
    "iql duelling gru": {"duelling": True, "layers": "5", "activation": "silu"},
    "bql elu none": {"memory": "none", "activation": "elu", "duelling": True},
    "i2q-forward leaky stack": {"memory": "stack:3", "activation": "leaky-relu", "layer_norm": True},
    "dac stack": {"contexts": 3, "memory": "stack:2", "layers": "6-5", "head": "normal-net-hidden"},
    "dac attainable": {"contexts": 5, "context_prior": "learned", "attainable": 0.9},
}


def born(case):
    name = case.split()[0]
    algorithm, key = small(name, **CASES[case]), jax.random.key(3)

    @jax.jit
    def models(key):
        if name == "i2q-tabular":
            found = algorithm.init_agent(WORLD.spec, key).online
        else:
            found = draw(algorithm.build(WORLD.spec), key)
        return jax.tree.map(lambda leaf: 3 * leaf if leaf.dtype == jnp.float32 else leaf, found)

    return name, algorithm, models(key)


def exported(name, algorithm, models):
    policy = policy_of(name, algorithm, jax.tree.map(np.asarray, models), WORLD.spec)
    spec = _Reader(describe(name, policy, WORLD.agent_spaces(0), {}), "spec.json").spec()
    return ExportedAgent(spec, model_of(spec, policy.arrays, "parameters"))


def lived(algorithm, models, steps=12):
    """One episode of random percepts and actions, and the agent's values in it."""
    key_seen, key_done = jax.random.split(jax.random.key(0))
    seen = 2 * jax.random.normal(key_seen, (steps + 1, 2))
    percepts = Percept(seen, jnp.ones((steps + 1, 2), bool))
    no, yes = jnp.zeros(steps, bool), jnp.ones(steps, bool)
    episode = Episode(percepts, jax.random.randint(key_done, (steps,), 0, 2), jnp.zeros(steps), no, yes)
    values = jax.jit(values_in)(algorithm, models, episode)
    many = jax.tree.map(lambda leaf: np.asarray(leaf)[None], episode)
    return Recording(many, np.asarray(values)[None], np.zeros(1))


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_the_trained_agent(case):
    name, algorithm, models = born(case)
    recording = lived(algorithm, models)
    assert np.ptp(recording.values, axis=1).min() > 0.01  # they tell percepts apart
    assert compare(exported(name, algorithm, models), recording).steps == 12


def test_padding_is_left_out_of_every_percept_that_is_seen_at_once_and_of_advantages():
    padded, algorithm = AgentSpec(3, Discrete(4)), small("iql", memory="stack:3", duelling=True, activation="tanh")
    models = jax.jit(lambda key: draw(algorithm.build(padded), key))(jax.random.key(2))
    own = lived(small("iql"), draw(small("iql").build(WORLD.spec), jax.random.key(0)))
    seen = jnp.pad(own.episodes.percepts.observation, ((0, 0), (0, 0), (0, 1)))
    available = jnp.pad(own.episodes.percepts.available, ((0, 0), (0, 0), (0, 2)))
    episode = eqx.tree_at(lambda e: e.percepts, own.episodes, Percept(seen, available))
    values = jax.jit(jax.vmap(values_in, (None, None, 0)))(algorithm, models, jax.tree.map(jnp.asarray, episode))
    policy = without_padding(policy_of("iql", algorithm, models, padded), padded, WORLD.spec)
    spec = _Reader(describe("iql", policy, WORLD.agent_spaces(0), {}), "spec.json").spec()
    assert spec.hidden == 4 + 2 * (2 + 2)
    agent = ExportedAgent(spec, model_of(spec, policy.arrays, "parameters"))
    assert compare(agent, Recording(own.episodes, np.asarray(values)[..., :2], own.returns)).steps == 12
    with pytest.raises(Refused, match="export needs memory gru, lstm or none where agents share parameters, got stack"):
        without_id(policy, WORLD.spec, 0, 2)


def test_a_policy_tells_its_probabilities_and_values_have_none():
    agent, seen = exported(*born("ippo")), np.asarray([1.0, -2.0], np.float32)
    logits, _ = agent.values(seen, agent.start())
    share = 1 / (1 + np.exp(logits[1] - logits[0]))
    np.testing.assert_allclose(agent.probabilities(seen, None, agent.start()), [share, 1 - share], rtol=1e-5)
    assert agent.probabilities(seen, [False, True], agent.start()).tolist() == [0.0, 1.0]
    assert agent.act(seen, None, agent.start())[0] == np.argmax(logits)
    with pytest.raises(Refused, match="a policy over discrete actions, got iql, which has values"):
        exported(*born("iql")).probabilities(seen, None, agent.start())


def test_a_context_that_is_not_attainable_does_not_count():
    _, algorithm, models = born("dac attainable")
    every = small("dac", **CASES["dac attainable"] | {"attainable": 0.0})
    attainable, all_of_them = (lived(own, models).values for own in (algorithm, every))
    assert np.max(all_of_them - attainable) > 0.01


def test_values_that_differ_are_refused():
    name, algorithm, models = born("iql")
    recording = lived(algorithm, models)
    off = Recording(recording.episodes, recording.values + 3 * TOLERANCE, recording.returns)
    with pytest.raises(Refused, match=r"values of the bundle must be within 1e-05 of the agent's, got [23]"):
        compare(exported(name, algorithm, models), off)


def test_an_action_that_costs_something_is_refused():
    name, algorithm, models = born("iql")
    recording = lived(algorithm, models)
    worst = eqx.tree_at(lambda e: e.actions, recording.episodes, np.argmin(recording.values, axis=-1))
    turned = Recording(worst, -recording.values, recording.returns)
    with pytest.raises(Refused, match="the bundle must act as the agent does, got action"):
        compare(exported(name, algorithm, models), turned)


class Plain(eqx.Module):
    """A network without a memory."""

    layer: Linear

    def step(self, memory, scene):
        return self.layer(scene.percept.observation), memory


class Memoryless(IQL):
    """A learner that acts on a plain network."""

    def build(self, spec):
        return Plain(Linear(2, 2))

    def acting(self, models):
        return models


class Forgetful(Trunk):
    """A trunk that keeps nothing."""


class Foreign(IQL):
    """A recurrent learner whose trunk is not the library's."""

    def build(self, spec):
        return ValueNetwork(trunk=Forgetful(4, 4), head=Linear(4, 2))


class Doubling(IQL):
    """A learner that makes something else of its network's values."""

    def values(self, models, memory, scene):
        found, memory = super().values(models, memory, scene)
        return 2 * found, memory


CANNOT = [
    (small("dac", max_over="sampled"), "export needs max_over all, got sampled: its contexts depend on the last bits"),
    (
        small("fingerprints"),
        "export needs an agent that acts on its own percepts alone, got fingerprints, which is told",
    ),
    (Memoryless(hidden=4), "a recurrent network of values, .* or a table, got mine, which acts on a Plain"),
    (Foreign(hidden=4), "a recurrent network of values, .* or a table, got mine, whose trunk is a Forgetful"),
    (
        Doubling(hidden=4),
        "a recurrent network of values, .* or a table, got mine, whose Doubling.values is code of its own",
    ),
]


@pytest.mark.parametrize(("algorithm", "reason"), CANNOT)
def test_what_can_not_be_exported_says_why(algorithm, reason):
    name = "fingerprints" if "fingerprints" in reason else "mine"
    with pytest.raises(Refused, match=reason):
        policy_of(name, algorithm, algorithm.build(WORLD.spec), WORLD.spec)


def test_a_table_finds_the_bucket_that_the_agent_finds():
    name, algorithm, models = born("i2q-tabular")
    policy = policy_of(name, algorithm, models, WORLD.spec)
    spec = _Reader(describe(name, policy, WORLD.agent_spaces(0), {}), "spec.json").spec()
    table = Table(spec, policy.arrays)
    seen = 100 * np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    expected = bucket_of(jnp.asarray(seen), algorithm.resolution, algorithm.states)
    assert [table.bucket_of(one) for one in seen] == expected.tolist()
