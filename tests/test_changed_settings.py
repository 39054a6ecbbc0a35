"""What people change first: every value of every setting is trained, and exported to play what was trained."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.bundles.parity import compare
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.runtime import load
from decentral.settings import Refused, setting_fields
from decentral.training.batches import Batch
from decentral.training.replay import blank_episode
from decentral.training.squads.base import TrainingClock
from decentral.training.squads.separate import Separate
from decentral.types import Episode, Percept
from tests.bundles.test_policies import WORLD, exported, lived
from tests.small import TINY, small
from tests.small_runs import QUICK


@dataclass(frozen=True)
class Case:
    """Settings that are trained together, because they do not interact."""

    algorithm: str
    settings: dict


ADAM = {"optimiser": "adam", "learning_rate_schedule": "linear", "huber": 1.0, "n_step": 2, "prioritised": 0.6}
OTHER_NETWORK = {"memory": "lstm", "activation": "silu", "layers": "6-5", "duelling": True}
ADAMW = {"optimiser": "adamw", "learning_rate_schedule": "cosine", "target_rate": 0.1, "td_lambda": 0.8}
NO_RECURRENCE = {"memory": "stack:2", "activation": "tanh", "layer_norm": True, "prioritised": 0.6}
TWO = (ADAM | OTHER_NETWORK, ADAMW | NO_RECURRENCE)
MORE = (
    {"optimiser": "adam", "activation": "elu", "memory": "none"},
    {"optimiser": "adamw", "activation": "leaky-relu", "layers": "8", "layer_norm": True},
    {"learning_rate_schedule": "linear", "td_lambda": 1.0, "memory": "lstm"},
    {"learning_rate_schedule": "cosine", "target_rate": 0.05, "memory": "stack:3", "layers": "6-5-4"},
    {"huber": 0.5, "prioritised": 1.0},
    {"n_step": 3, "duelling": True},
)
OWN_DATA_ALONE = ("hysteretic", "distributed", "lenient", "patient", "ma2ql", "bql", "rac", "i2q", "i2q-forward")
METHODS = (*OWN_DATA_ALONE, "importance-sampling", "vdn", "qmix")
NOT_EXPORTED = ("fingerprints",)  # its agents are told how far the others are
REFUSED = {
    "n_step": ("i2q-forward",),
    "td_lambda": ("i2q-forward",),
    "duelling": ("rac", "dac"),
    "prioritised": ("fingerprints", "importance-sampling", "vdn", "qmix"),
}
ACTOR_CRITICS = ("ia2c", "dpo", "tvpo", "mappo")


def known_to(name):
    return {field.name for field in setting_fields(EVERY_ALGORITHM[name])}


EVERY_CASE = [
    Case(
        name,
        {key: value for key, value in values.items() if key in known_to(name) and name not in REFUSED.get(key, ())},
    )
    for names, several in ((("iql", "dac", "ippo"), TWO + MORE), (METHODS + ACTOR_CRITICS + NOT_EXPORTED, TWO))
    for name in names
    for values in several
]
CASES = [case for case in EVERY_CASE if case.algorithm not in NOT_EXPORTED]


def test_every_method_that_learns_networks_is_tried_with_other_settings():
    methods = {name for name in EVERY_ALGORITHM if "memory" in known_to(name)}
    assert methods == {case.algorithm for case in EVERY_CASE}


def test_agents_learn_with_all_of_them_and_what_is_exported_plays_it():
    algorithm = small("hysteretic", **ADAM | OTHER_NETWORK)
    squad, length, batch = Separate(algorithm, (0, 1), 2), 3, Batch(2, (3,))
    steps = jnp.ones((2, 4, length), bool)
    percepts = Percept(
        jax.random.normal(jax.random.key(1), (2, 4, length + 1, 2)), jnp.ones((2, 4, length + 1, 2), bool)
    )
    episodes = Episode(percepts, steps.astype(int), percepts.observation[:, :, 1:, 0], ~steps, steps)
    clock = TrainingClock(jnp.asarray(9), jnp.asarray(4), jnp.zeros(()))

    @jax.jit
    def learned(keys):
        agents = squad.init_agents(WORLD.spec, keys)
        replays = squad.empty_replays(agents, blank_episode(WORLD.spec, length), 8, "float32")
        before, replays = squad.remember(agents, replays, episodes, clock)
        return before, squad.learn(before, replays, batch, keys, clock)

    before, (after, metrics) = learned(jax.random.split(jax.random.key(0)))
    pairs = zip(jax.tree.leaves(before.online), jax.tree.leaves(after.online), strict=True)
    assert all(np.isfinite(new).all() and (new != old).any() for old, new in pairs)
    assert np.sum(after.priorities.numbers >= 0, axis=1).tolist() == [2, 2] and "episode_error" not in metrics
    models = jax.tree.map(lambda leaf: np.asarray(leaf[1]), after.online)
    assert compare(exported("hysteretic", algorithm, models), lived(algorithm, models)).steps == 12


def test_an_actor_critic_learns_with_all_of_them_and_what_is_exported_plays_it():
    settings = ADAM | OTHER_NETWORK | {"layer_norm": True}
    algorithm = small("ippo", **{key: value for key, value in settings.items() if key in known_to("ippo")})
    percepts = Percept(jax.random.normal(jax.random.key(1), (4, 4, 2)), jnp.ones((4, 4, 2), bool))
    steps = jnp.ones((4, 3), bool)
    episodes = Episode(percepts, steps.astype(int), percepts.observation[:, 1:, 0], ~steps, steps)

    @jax.jit
    def learned(key):
        agent = algorithm.init_agent(WORLD.spec, key)
        return agent, algorithm.learn(agent, episodes, key)[0]

    before, after = learned(jax.random.key(0))
    pairs = zip(jax.tree.leaves(before.online), jax.tree.leaves(after.online), strict=True)
    assert all(np.isfinite(new).all() and (new != old).any() for old, new in pairs)
    models = jax.tree.map(np.asarray, after.online)
    assert compare(exported("ippo", algorithm, models), lived(algorithm, models)).steps == 12


def trained(case, out):
    """A run on the revealed matrix game, short and small."""
    run = decentral.train(
        case.algorithm,
        "matrix-game",
        steps=60,
        algorithm={key: value for key, value in TINY.items() if key in known_to(case.algorithm)} | case.settings,
        environment={"revealed": True},
        training=QUICK | {"batch_episodes": 4},
        out=out,
        progress=False,
    )
    assert run.config["algorithm"].items() >= case.settings.items()
    return run


def words(case):
    return f"{case.algorithm} {' '.join(case.settings)}"


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=words)
def test_it_trains_and_the_exported_agent_plays_what_was_trained(case, tmp_path):
    run = trained(case, tmp_path / "run")
    bundle = decentral.export(run.path, agent=1, out=tmp_path / "bundle", episodes=2)
    assert bundle.parity.steps == 4 and load(bundle.path).spec.algorithm == case.algorithm


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in EVERY_CASE if case.algorithm in NOT_EXPORTED], ids=words)
def test_what_is_not_exported_trains_too(case, tmp_path):
    run = trained(case, tmp_path / "run")
    assert np.isfinite(run.returns).all()
    with pytest.raises(Refused, match="export needs an agent that acts on its own percepts alone"):
        decentral.export(run.path, out=tmp_path / "bundle", episodes=2)


@pytest.mark.long
@pytest.mark.parametrize(("algorithm", "which"), [("iql", 0), ("dac", 0), ("ippo", 1)])
def test_an_agent_needs_its_own_log_alone_with_all_of_them(algorithm, which, tmp_path):
    """With the first of ippo the last bits depend on how the tests compile: as runs are compiled, it is audited too."""
    case = [case for case in CASES if case.algorithm == algorithm][which]
    run = decentral.train(
        algorithm,
        "predator-prey",
        steps=100,
        algorithm={"hidden": 4} | case.settings,
        environment={"size": 3, "length": 5},
        training=QUICK | {"batch_episodes": 4},
        out=tmp_path / "run",
        progress=False,
    )
    assert decentral.audit(run.path).agrees
