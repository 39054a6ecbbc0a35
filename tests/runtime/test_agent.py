"""A bundle as a user meets it: NumPy alone, values worked by hand, refusals in one line."""

import subprocess
import sys

import numpy as np
import pytest

from decentral.errors import Refused
from decentral.runtime import State, load
from tests.runtime.by_hand import arrays, write


def test_two_steps_give_the_values_and_actions_worked_by_hand(tmp_path):
    agent = load(write(tmp_path))
    state = agent.start()
    assert state.last_action == -1 and state.memory.tolist() == [0.0]
    values, memory = agent.values([-3.0], state)
    assert memory.tolist() == [0.0] and values.tolist() == [0.0, 0.5]
    action, state = agent.act([-3.0], None, state)
    assert (action, state.last_action) == (1, 1)
    action, state = agent.act([-1.0], None, state)  # tanh(-1 + 2) / 2 = 0.3808: 0.3808 beside 0.5 - 0.3808
    np.testing.assert_allclose(state.memory, [np.tanh(1.0) / 2], rtol=1e-6)
    assert (action, state.last_action) == (0, 0)


def test_an_action_that_is_not_available_is_never_taken(tmp_path):
    agent = load(write(tmp_path))
    assert agent.act([-3.0], [True, False], agent.start())[0] == 0
    assert agent.act([-3.0], np.asarray([0, 1]), agent.start())[0] == 1


def test_it_runs_where_there_is_no_jax_and_none_of_the_library_besides(tmp_path):
    program = (
        "import sys\n"
        "for name in 'jax equinox optax jaxtyping rich matplotlib safetensors ml_dtypes'.split():\n"
        "    sys.modules[name] = None\n"
        "from decentral.runtime import load\n"
        f"agent = load({str(write(tmp_path))!r})\n"
        "print(agent.act([-3.0], None, agent.start())[0])\n"
        "print(*sorted(name for name in sys.modules if name.startswith('decentral.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    action, imported = done.stdout.splitlines()
    assert action == "1"
    own = {f"decentral.{name}" for name in ("percepts", "bounds", "plain_files", "errors", "tensors")}
    assert all(name in own or name.startswith("decentral.runtime") for name in imported.split())


@pytest.mark.parametrize(
    ("observation", "available", "refusal"),
    [
        ([1.0, 2.0], None, r"observation must have the shape \(1,\), got \(2,\)"),
        ([np.nan], None, "observation must hold finite numbers only, got nan"),
        (["far"], None, "observation must be an array of numbers"),
        ([1j], None, "observation must be an array of numbers"),
        ([1.0], [True], r"available must have the shape \(2,\), got \(1,\)"),
        ([1.0], [False, False], "available must name at least one action, got none"),
        ([1.0], [0.5, 1.0], "available must be an array of truth values"),
    ],
)
def test_percepts_that_make_no_sense_are_refused(tmp_path, observation, available, refusal):
    agent = load(write(tmp_path))
    with pytest.raises(Refused, match=refusal):
        agent.act(observation, available, agent.start())


def test_a_state_of_another_agent_is_refused(tmp_path):
    agent = load(write(tmp_path))
    for state in (State(np.zeros(2, np.float32), -1), State(np.zeros(1, np.float32), 2), None):
        with pytest.raises(Refused, match="state must be one that start or act gave"):
            agent.act([1.0], None, state)


def put(key, value):
    """A change of one entry of the spec."""

    def change(content):
        *path, last = key.split(".")
        for word in path:
            content = content[word]
        content[last] = value

    return change


TRUNK = {"width": 1, "layers": [1], "memory": "lstm", "stack": 1, "activation": "relu", "layer_norm": False}


@pytest.mark.parametrize(
    ("key", "value", "refusal"),
    [
        ("format", 5, "format must be one of 1, 2, 3, 4, got 5"),
        ("policy", "pickle", "policy must be one of values, logits, gaussian, contexts, table, got 'pickle'"),
        ("observation.size", -1, "observation.size must be a whole number from 1 to"),
        ("observation.size", 2, r"trunk.entry.weight must be float32\(1, 4\), got float32\(1, 3\)"),
        ("output.names", ["stay"], "output.names must be a list of 2 names or of none"),
        ("last_action.size", 3, "last_action.size must be 2, got 3"),
        ("parameters.sha256", "0" * 64, "parameters.safetensors must have the sha256 0000"),
        ("output", None, "output.count must be a whole number"),
        ("head", "deep", "head must be one of linear, duelling, got 'deep'"),
        ("trunk", {}, "trunk.layers must be a list of 1 to 64 widths, got None"),
        ("trunk", TRUNK | {"layers": [0]}, "trunk.layers must be whole numbers from 1 to"),
        ("trunk", TRUNK | {"memory": "tape"}, "trunk.memory must be one of gru, lstm, none, got 'tape'"),
        ("trunk", TRUNK | {"stack": 2}, "trunk.stack must be 1 for the memory lstm, got 2"),
        ("trunk", TRUNK | {"layer_norm": 1}, "trunk.layer_norm must be true or false, got 1"),
        ("trunk", TRUNK, "hidden_state.size must be 2, got 1"),
        ("trunk", TRUNK | {"memory": "gru"}, r"array trunk.cell.from_input.bias is missing"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused_by_its_key(tmp_path, key, value, refusal):
    with pytest.raises(Refused, match=refusal):
        load(write(tmp_path, change=put(key, value)))


def test_parameters_other_than_the_spec_says_are_refused(tmp_path):
    with pytest.raises(Refused, match=r"array head\.bias is missing"):
        load(write(tmp_path, {name: array for name, array in arrays().items() if name != "head.bias"}))
    with pytest.raises(Refused, match="array extra is not part of the agent"):
        load(write(tmp_path, arrays() | {"extra": np.zeros(1, np.float32)}))
    with pytest.raises(Refused, match=r"array head\.bias must hold finite numbers only"):
        load(write(tmp_path, arrays() | {"head.bias": np.asarray([0, np.inf], np.float32)}))


def test_what_is_no_bundle_is_refused(tmp_path):
    with pytest.raises(Refused, match="a bundle must be a directory"):
        load(tmp_path / "nothing")
    with pytest.raises(Refused, match=r"spec\.json can't be read \(No such file"):
        load(tmp_path)
    (tmp_path / "spec.json").write_text("{")
    with pytest.raises(Refused, match="can't be read as JSON"):
        load(tmp_path)
