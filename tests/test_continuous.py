"""Agents with continuous actions, from a run to a device: each acts within its own bounds, in its own sizes."""

import json
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.agents import Agent
from decentral.algorithms.ippo import IPPO
from decentral.bundles.onnx_graph import answers_of_graph, write_graph
from decentral.configs.config import resolve
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.base import AgentSpaces
from decentral.errors import Refused
from decentral.inspection.films import AgentValues, _turns
from decentral.inspection.learned_summary import learned_summary
from decentral.records import RunDirectory
from decentral.runtime import State, load
from decentral.tensors import read_arrays
from decentral.training.evaluation import greedy_returns
from decentral.training.loop import begin, turns
from decentral.training.parameters import as_arrays
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.types import AgentSpec, Continuous, Episode, Percept
from decentral.verification.audit.play import Chosen, Difference, Play, compared
from tests.box_worlds import Reach
from tests.worlds import Aim

REACH = "pettingzoo:tests.box_worlds:Reach"
TAKE_THEM = ("ia2c", "ippo", "dpo", "tvpo", "mappo")


@pytest.mark.parametrize("name", EVERY_ALGORITHM)
def test_methods_that_value_actions_refuse_boxes_and_name_those_that_take_them(name):
    if name in TAKE_THEM:
        assert resolve(name, REACH).setup.environment.spec.actions == Continuous(3)
        return
    able = "algorithm must be one of ia2c, ippo, dpo, tvpo, mappo for continuous actions"
    with pytest.raises(Refused, match=f"{able}, as {REACH} has, got {name}$"):
        resolve(name, REACH)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run, but for the learning: its agents have networks of random numbers."""
    config = resolve("ippo", REACH, {"hidden": 4}, {"time_limit": 3, "may_end_early": False}, {"steps": 3})
    directory = RunDirectory.create(tmp_path_factory.mktemp("reach") / "run")
    directory.write_json("config.json", config.as_data())
    directory.append_metrics([{"seed": 0, "step": 0, "test_return_mean": 0.0}])
    for place, member in enumerate(config.members):
        chance = np.random.default_rng(place)
        described = jax.eval_shape(lambda member=member: member.algorithm.build(config.setup.environment.spec))
        models = jax.tree.map(lambda leaf, chance=chance: chance.normal(size=leaf.shape).astype(leaf.dtype), described)
        directory.write_agent(0, place, as_arrays(models))
    return directory.path


@pytest.fixture(scope="module")
def bundles(run):
    return {
        name: decentral.export(run, agent=name, out=run.parent / name, episodes=1).path for name in ("arm", "gripper")
    }


def test_a_bundle_acts_within_the_agents_own_bounds_for_a_thousand_steps(bundles):
    for name, path in bundles.items():
        agent, box = load(path), Reach.boxes[name]
        low, high = box.low.reshape(-1), box.high.reshape(-1)
        state, seen = agent.start(), np.random.default_rng(0).normal(0, 100, (1000, agent.spec.observation_size))
        for observation in seen:
            action, state = agent.act(observation, None, state)
            assert action.dtype == np.float32 and action.shape == low.shape
            assert (action >= low).all() and (action <= high).all()
        mean, std = agent.gaussian(seen[0], agent.start())
        assert mean.shape == std.shape == low.shape and (std > 0).all()


def test_bounds_that_were_widened_after_the_export_are_refused(bundles, tmp_path):
    bundle = shutil.copytree(next(iter(bundles.values())), tmp_path / "bundle")
    spec = json.loads((bundle / "spec.json").read_text())
    spec["output"]["bounds"][0][1] *= 100
    (bundle / "spec.json").write_text(json.dumps(spec))
    with pytest.raises(Refused, match=r"spec.json is broken: it is not the one that was exported"):
        load(bundle)


def test_a_bundle_tells_its_bounds_and_refuses_what_it_can_not_answer(bundles):
    agent, card = load(bundles["arm"]), (bundles["arm"] / "CARD.md").read_text()
    assert "3 continuous numbers: 0,0 from -2 to 2, 0,1 from 0 to 0.1, 0,2 from 10 to 20" in card
    with pytest.raises(Refused, match="got ippo, which has a policy over continuous ones"):
        agent.probabilities(np.zeros(2), None, agent.start())
    with pytest.raises(Refused, match="state must be one that start or act gave"):
        agent.act(np.zeros(2), None, State(np.zeros(4, np.float32), 1))
    with pytest.raises(Refused, match="available must leave out no number of a continuous action"):
        agent.act(np.zeros(2), [True, False, True], agent.start())


def test_a_graph_gives_the_numbers_of_the_bundle(bundles, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    agent, file = load(bundles["arm"]), tmp_path / "agent.onnx"
    write_graph(file, agent.spec, read_arrays(bundles["arm"] / "parameters.safetensors", 2**20).arrays)
    answers, state = answers_of_graph(file, 3), agent.start()
    for seen in np.random.default_rng(0).normal(0, 10, (20, 2)).astype(np.float32):
        (values, action, memory), (expected, after) = answers(seen, None, state), agent.act(seen, None, state)
        np.testing.assert_allclose(values, agent.values(seen, state)[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(action, expected, rtol=1e-5)
        np.testing.assert_allclose(memory, after.memory, atol=1e-6)
        state = after


def test_an_audit_forgives_numbers_their_rounding_and_nothing_more():
    taken, yes = jnp.asarray([[0.5, 0.1], [0.2, 0.3], [0.9, 0.0]]), jnp.ones(3, bool)
    percepts = Percept(jnp.ones((4, 1)), jnp.ones((4, 2), bool))
    lived = Episode(percepts, taken, jnp.zeros(3), ~yes, yes)
    alone = Chosen(taken + jnp.asarray([[0, 1e-7], [0, 0], [0, 1e-3]]), jnp.asarray([1e-7, 0, 1e-3]), ~yes)
    play = compared(Play(), lived, alone, Difference(7, 0))
    assert (play.actions, play.ties, play.others, play.agrees) == (3, 0, 1, False)
    assert str(play.first).startswith("episode 7, step 2: action [0.899")


def test_a_rollout_holds_the_environments_own_numbers(run, bundles):
    """The same as the bundles do, step by step."""
    played = decentral.rollout(run, episodes=1)
    assert played.actions.shape == (1, 3, 2, 3) and np.isnan(played.actions[0, :, 1, 1:]).all()
    for name, path in bundles.items():
        agent, rows = load(path), played.agent(name)
        state = agent.start()
        for step in range(3):
            action, state = agent.act(rows.observations[0, step], None, state)
            np.testing.assert_allclose(rows.actions[0, step], action, rtol=1e-5)
    assert [*played.columns()][3:6] == ["action_0", "action_1", "action_2"]
    gripper = learned_summary(RunDirectory(run))["timeline"]["agents"][1]
    assert gripper["action_names"] == [f"{number:.3g}" for number in played.agent("gripper").actions[0, :, 0]]


def test_a_film_shows_the_numbers_that_an_agent_does_as_long_as_it_is_there():
    spaces = AgentSpaces("gripper", AgentSpec(1, Continuous(1)), (), ("0",), bounds=((0.0, 10.0),))
    there = np.asarray([[True, False], [False, False], [False, False]])
    percepts = Percept(jnp.asarray([[1.0], [0.0], [0.0]]), jnp.asarray(there))
    taken, no = jnp.asarray([[0.5, 0.0], [0.0, 0.0]]), jnp.zeros(2, bool)
    first, *rest = _turns(spaces, Episode(percepts, taken, jnp.zeros(2), no, ~no), AgentValues(jnp.zeros((3, 1)), None))
    assert first.values == (7.5,) and first.action is None and not first.gone
    assert all(turn.gone for turn in rest)


def test_an_agent_on_a_device_explores_and_acts_greedily_within_its_bounds():
    agent = Agent("ippo", AgentSpec(1, Continuous(2)), bounds=[(0, 0.1), (-7, 5)], hidden=4, time_limit=20)
    low, high = np.asarray([0, -7]), np.asarray([0.1, 5])
    greedy = agent.greedy_episode()
    for step in range(20):
        drawn, best = agent.act([1.0] if step == 0 else None), greedy.act([1.0])
        for action in (drawn, best):
            assert action.dtype == np.float32 and (action >= low).all() and (action <= high).all()
        assert np.abs(best - drawn).max() > 1e-4
        agent.observe(0.0, [1.0])
    assert (np.abs(best - [0.05, -1.0]) < [0.005, 0.6]).all()  # a new policy aims at the middle
    assert agent._buffer.actions.shape == (20, 2) and np.abs(agent._buffer.actions).max() <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", TAKE_THEM)
def test_every_method_finds_the_best_numbers(name):
    """Nothing is lost at the goals; a new policy aims at 0 and loses 0.7."""
    algorithm = EVERY_ALGORITHM[name](hidden=8, learning_rate=0.01 if name != "ia2c" else 0.02)
    setup = TrainingSetup.alike(algorithm, Aim(), Plan(num_environments=32, batch_episodes=32))
    lane = jax.jit(lambda: turns(setup, begin(setup, 0), 300 if name == "ia2c" else 100, True))()
    models = setup.team.each(lambda squad, agents: squad.acting_models(agents), lane.agents)
    returns = jax.jit(lambda models: greedy_returns(setup.team, Aim(), models, 2, jax.random.key(0)))(models)
    assert returns.min() > -0.02


@pytest.mark.long
def test_a_learner_of_numbers_that_it_lacks_learns_nothing_of_them():
    """The second agent of the two aims with one number: the mean of the other stays as it was."""
    setup = TrainingSetup.alike(IPPO(hidden=4, epochs=2), Aim(), Plan(num_environments=4, batch_episodes=4))

    def heads(count):
        lane = turns(setup, begin(setup, 0), count, True)
        head = lane.agents[0].online.actor.head
        return jnp.concatenate([head.mean.bias, head.log_std_shift], axis=-1)  # [agents, 4]

    before, after = jax.jit(lambda: (heads(0), heads(1)))()
    assert (before != after).tolist() == [[True] * 4, [True, False, True, False]]
