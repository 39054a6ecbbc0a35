"""A bundle as a graph: the same values, action and memory, one step at a time."""

import sys

import numpy as np
import pytest

import decentral
from decentral.bundles.onnx_graph import answers_of_graph, write_graph
from decentral.bundles.parity import compare
from decentral.bundles.policies import policy_of
from tests.bundles.test_policies import WORLD, born, exported, lived
from tests.small_runs import small_run

NETWORKS = ["iql tanh lstm", "iql duelling gru", "bql elu none", "i2q-forward leaky stack", "dac stack"]


@pytest.mark.parametrize("case", ["iql", "ippo", "dac", "dac normal-net-hidden", "dac attainable", *NETWORKS])
def test_a_graph_gives_the_values_of_the_agent(case, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    name, algorithm, models = born(case)
    agent, file = exported(name, algorithm, models), tmp_path / "agent.onnx"
    write_graph(file, agent.spec, policy_of(name, algorithm, models, WORLD.spec).arrays)
    assert compare(agent, lived(algorithm, models), answers_of_graph(file, 2)).steps == 12

    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    (best, _), nothing = agent.act([1.0, -1.0], None, agent.start()), np.zeros(2, np.float32)
    for available in ([True, True], [best == 1, best == 0]):
        given = {"observation": np.float32([1, -1]), "available": np.asarray(available), "last_action": nothing}
        given["hidden_state"] = agent.start().memory
        _, action, memory, last = session.run(None, given)
        expected, state = agent.act([1.0, -1.0], available, agent.start())
        assert int(action) == expected and last.tolist() == np.eye(2)[expected].tolist()
        np.testing.assert_allclose(memory, state.memory, atol=1e-6)


def test_a_table_is_no_graph(tmp_path):
    pytest.importorskip("onnx")
    agent = exported(*born("i2q-tabular"))
    with pytest.raises(decentral.Refused, match="format onnx needs an agent with a network, got i2q-tabular"):
        write_graph(tmp_path / "agent.onnx", agent.spec, {})


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(decentral.Refused, match=r"format onnx needs the package onnx: pip install 'decentral\[onnx\]'"):
        decentral.export(small_run("iql").path, out=tmp_path / "b", episodes=1, format="onnx")
    assert list(tmp_path.iterdir()) == []


def test_another_format_is_refused(tmp_path):
    with pytest.raises(decentral.Refused, match="format must be one of numpy, onnx, got 'pickle'"):
        decentral.export(small_run("iql").path, out=tmp_path / "b", format="pickle")
