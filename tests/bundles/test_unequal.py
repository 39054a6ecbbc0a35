"""Agents of a team of unequal ones leave with their own sizes, actions and names; padding stays inside."""

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.api.check_env import sizes_of
from decentral.bundles.card import describe
from decentral.bundles.onnx_graph import answers_of_graph, write_graph
from decentral.bundles.parity import Answer, compare
from decentral.bundles.policies import policy_of, without_padding
from decentral.bundles.recording import Recording
from decentral.configs.config import resolve
from decentral.environments.base import AgentSpaces
from decentral.environments.matrix_game import MatrixGame
from decentral.environments.registry import environment_class
from decentral.inspection.learned_summary import learned_summary
from decentral.records import RunDirectory
from decentral.runtime import State, load
from decentral.runtime.agent import ExportedAgent
from decentral.runtime.models import model_of
from decentral.runtime.spec import _Reader
from decentral.tensors import read_arrays
from decentral.training.parameters import as_arrays
from decentral.types import AgentSpec, Discrete, Episode, Percept
from decentral.verification.audit.audit import Audited
from tests.bundles.test_policies import CASES
from tests.environments.zoo import Trio
from tests.host_worlds import Hosted
from tests.small import small

TRIO = "pettingzoo:tests.environments.zoo:Trio"
NAMES, SIZES, ACTIONS = Trio.possible_agents, (4, 7, 5), (range(3), range(5), range(6, 8))
ACTION_NAMES = [("0", "1", "2"), Trio.action_names["lifter"], Trio.action_names["guard"]]


def drawn(algorithm, spec, chance):
    """Networks or tables of random numbers; nothing is compiled for it."""
    described = jax.eval_shape(lambda: algorithm.build(spec))
    return jax.tree.map(lambda leaf: chance.normal(size=leaf.shape).astype(leaf.dtype), described)


def run_of_newborns(path, environment=TRIO, **settings):
    """A finished run, but for the learning: its agents are as they were born."""
    settings = settings or {"time_limit": 3, "may_end_early": False}
    config = resolve("iql", environment, {"hidden": 4}, settings, {"steps": 3, "seeds": 1})
    directory = RunDirectory.create(path)
    directory.write_json("config.json", config.as_data())
    directory.append_metrics([{"seed": 0, "step": 0, "test_return_mean": 0.0}])
    for place, member in enumerate(config.members):
        models = drawn(member.algorithm, config.setup.environment.spec, np.random.default_rng(place))
        directory.write_agent(0, place, as_arrays(models))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_of_newborns(tmp_path_factory.mktemp("trio") / "run")


@pytest.fixture(scope="module")
def bundles(run):
    """A bundle of each agent of a team, by the name that its environment calls it."""
    return [decentral.export(run, agent=name, out=run.parent / name, episodes=2).path for name in NAMES]


def test_a_bundle_tells_the_true_sizes_and_names(bundles):
    for place, (path, name, size, actions) in enumerate(zip(bundles, NAMES, SIZES, ACTIONS, strict=True)):
        spec = json.loads((path / "spec.json").read_text())
        assert spec["agent"] == name and spec["observation"]["size"] == size
        assert spec["last_action"]["size"] == spec["available"]["size"] == spec["output"]["count"] == len(actions)
        assert spec["output"]["first"] == actions[0] and spec["output"]["names"] == list(ACTION_NAMES[place])
        assert spec["observation"]["entries"] == list(Trio.observation_names.get(name, ()))
        assert spec["parameters"]["shapes"]["head.weight"] == [len(actions), 4]
        card = (path / "CARD.md").read_text()
        assert card.startswith(f"# iql on {TRIO}: seed 0, {name} (agent {place})\n")
        assert f"- observation: {size} numbers" in card and f"- actions: {len(actions)}" in card
        steps = 2 * (2 if name == "guard" else 3)  # of two episodes; the guard leaves early
        assert f"compared with the trained agent over {steps} steps" in card


def test_an_episode_is_shown_in_each_agents_own_words(run):
    shown = learned_summary(RunDirectory.open(run))["timeline"]["agents"]
    assert [agent["name"] for agent in shown] == list(NAMES)
    for agent, numbers, names in zip(shown, ACTIONS, ACTION_NAMES, strict=True):
        for number, name in zip(agent["actions"], agent["action_names"], strict=True):
            assert (number, name) == (None, None) or names[number - numbers[0]] == name
        done = sorted({number for number in agent["actions"] if number is not None})
        named = [(number, names[number - numbers[0]]) for number in done]
        assert agent["legend"] == (
            [] if agent["name"] == "scout" else [list(pair) for pair in named]
        )  # nobody names it
    assert [action is None for action in shown[2]["actions"]] == [False, False, True]  # the guard has left
    assert None not in shown[1]["actions"]


def test_an_agent_is_audited_by_its_name(run):
    directory = RunDirectory.open(run)
    guard = Audited.of(directory, None, "guard")
    assert (guard.agent, guard.name) == (2, "guard") == (Audited.of(directory, None, "2").agent, guard.name)
    said = "agent must be one of scout, lifter, guard, or of their numbers 0 to 2, got "
    for nobody in ("agent 1", "3", 3, -1, True, 1.0, "", None):
        with pytest.raises(decentral.Refused, match=re.escape(f"{said}{nobody!r}")):
            guard.config.setup.environment.place_of(nobody)


def test_a_check_tells_the_true_sizes():
    sizes = sizes_of(environment_class(TRIO)(time_limit=3))
    by_agent = (dict(zip(NAMES, each, strict=True)) for each in (SIZES, map(len, ACTIONS)))
    assert sizes == {"agents": 3, "numbers observed by": next(by_agent), "actions of": next(by_agent), "time limit": 3}


def agent_of(policy, spaces):
    """An agent that acts by a policy."""
    spec = _Reader(describe("any", policy, spaces, {}), "spec.json").spec()
    return ExportedAgent(spec, model_of(spec, policy.arrays, "parameters"))


@pytest.mark.parametrize("case", ["iql", "dac", "dac normal-net-hidden", "dac attainable", "i2q-tabular"])
def test_without_padding_an_agent_is_worth_what_it_was(case):
    padded, own, chance = AgentSpec(7, Discrete(5)), AgentSpec(4, Discrete(3)), np.random.default_rng(1)
    name, algorithm = case.split()[0], small(case.split()[0], **CASES[case])
    whole = policy_of(name, algorithm, drawn(algorithm, padded, chance), padded)
    large = agent_of(whole, AgentSpaces("large", padded, (), ()))
    small_one = agent_of(without_padding(whole, padded, own), AgentSpaces("small", own, (), ()))
    state = large.start()
    for _ in range(8):
        seen = chance.normal(size=4).astype(np.float32)
        values, memory = large.values(np.pad(seen, (0, 3)), state)
        found, remembered = small_one.values(seen, state)
        np.testing.assert_allclose(found, values[:3], rtol=0, atol=1e-5)
        np.testing.assert_allclose(remembered, memory, rtol=0, atol=1e-5)
        state = State(memory, int(chance.integers(3)))


def test_a_graph_has_the_true_sizes_and_the_actions_of_the_world(bundles, tmp_path):
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    chance = np.random.default_rng(0)
    for path, name, size, actions in zip(bundles, NAMES, SIZES, ACTIONS, strict=True):
        agent, file = load(path), tmp_path / f"{name}.onnx"
        write_graph(file, agent.spec, read_arrays(path / "parameters.safetensors").arrays)
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        assert [own.shape for own in session.get_inputs()] == [[size], [len(actions)], [4], [len(actions)]]
        assert [own.shape for own in session.get_outputs()] == [[len(actions)], [], [4], [len(actions)]]
        told = {own.key: own.value for own in onnx.load(file).metadata_props}
        assert told["agent"] == name and json.loads(told["actions"]) == list(agent.spec.action_names)
        assert json.loads(told.get("observations", "[]")) == list(Trio.observation_names.get(name, ()))
        state, answer = agent.start(), answers_of_graph(file, len(actions))
        for _ in range(50):
            seen = chance.normal(size=size).astype(np.float32)
            expected, after = agent.act(seen, None, state)
            assert answer(seen, None, state).action == expected in actions
            state = after


def walked(agent, steps=3):
    """What an agent that acts by NumPy thinks of an episode in which it sees ones and does nothing but its first."""
    size, count = agent.spec.observation_size, agent.spec.actions
    percepts = Percept(jnp.ones((steps + 1, size)), jnp.ones((steps + 1, count), bool))
    no = jnp.zeros(steps, bool)
    episode = Episode(percepts, jnp.zeros(steps, int), jnp.zeros(steps), no, ~no)
    values, state = [], agent.start()
    for _ in range(steps):
        found, memory = agent.values(np.ones(size), state)
        values, state = [*values, found], State(memory, 0)
    return Recording(jax.tree.map(lambda leaf: np.asarray(leaf)[None], episode), np.stack(values)[None], np.zeros(1))


class Lopsided(Hosted):
    """A world that says less of its second agent than the agent perceives."""

    @property
    def agent_specs(self):
        return (self.spec, AgentSpec(1, Discrete(2)))


def test_an_agent_that_perceives_more_than_its_spaces_say_does_not_leave(bundles):
    spec = Lopsided().agent_spaces(1).spec
    with pytest.raises(
        decentral.Refused, match="agent 1 must perceive 1 numbers and have 2 actions, as its spaces say"
    ):
        walked(load(bundles[0])).without_padding(spec, "agent 1")


def test_parity_looks_at_actions_in_the_agents_own_space(bundles):
    agent = load(bundles[2])
    recording = walked(agent)

    def outside(observation, available, state):
        values, memory = agent.values(observation, state)
        return Answer(values, 8 if available is None else agent.act(observation, available, state)[0], memory)

    with pytest.raises(decentral.Refused, match="must take one of the agent's own actions, 6 to 7, got 8 at step 0"):
        compare(agent, recording, outside)


def test_worlds_say_what_is_each_agents_own():
    game = MatrixGame(payoff=[[1, 2, 3], [4, 5, 6]])
    assert [own.actions.count for own in game.agent_specs] == [2, 3]
    assert game.agent_spaces(0).action_names == ("a1", "a2")
    zoo = environment_class("jaxmarl:tests.environments.jax_zoo:Zoo")()
    assert zoo.agent_specs == (AgentSpec(4, Discrete(3)), AgentSpec(1, Discrete(2)))
    assert zoo.agent_spaces(1).name == "small" and len(zoo.agent_spaces(1).action_names) == 2
