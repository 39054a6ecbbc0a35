"""What is shown of trained agents is what they do."""

import functools
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.inspection.hunt_maps import posts
from decentral.inspection.learned_summary import learned_summary
from decentral.inspection.values import value_tables
from decentral.records import RunDirectory
from decentral.runs.trained import Trained
from tests.small_runs import small_hunt, small_run


@functools.cache
def inside_a_hunt():
    return learned_summary(small_hunt().directory)


def test_tables_of_a_matrix_game_are_those_of_decentral_values():
    run = small_run("dac")
    tables = learned_summary(run.directory)["tables"]
    assert tables["seeds"] == [0, 1]
    for table in value_tables(Trained.load(run.directory)):
        shown = tables["agents"][table.agent][table.seed]
        np.testing.assert_array_equal(shown["by_context"], table.by_context)
        np.testing.assert_array_equal(shown["occurs"], table.occurs)
        np.testing.assert_array_equal(shown["values"], table.values)
        assert shown["symbol"] == "phi(s,a)"
    assert "timeline" not in learned_summary(run.directory)


def test_others_are_put_beside_the_prey_first():
    assert posts(3, 4) == [1, 3, 5, 7, 0, 2, 6, 8]


def test_a_map_holds_the_values_of_the_first_choice_in_every_cell():
    run, maps = small_hunt(), inside_a_hunt()["maps"]
    assert maps["taken"] == {4: "prey", 1: "other"} and maps["size"] == 3
    assert np.shape(maps["agents"][1]["values"]) == (2, 9, 5)
    # the second agent in the lower left corner, its number, the prey one up and one right, the other above the prey
    seen = jnp.asarray([2.0, 0.0, 0.0, 1.0, -1.0, 1.0, -2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    _, models = Trained.load(run.directory).agent(1, 1)

    @jax.jit
    def of_contexts(value):
        return value.head.every(value.trunk.step(value.trunk.start(), seen))

    phi = np.asarray(of_contexts(models.value)).max(axis=0)
    assert maps["agents"][1]["values"][1][6] == pytest.approx(phi, rel=1e-3, abs=1e-5)
    assert maps["agents"][1]["symbol"] == "phi(s,a)"


def test_a_timeline_is_an_episode_that_evaluate_plays():
    run, shown = small_hunt(), inside_a_hunt()["timeline"]
    assert len(shown["rewards"]) == 5
    assert sum(shown["rewards"]) == pytest.approx(run.evaluate(episodes=1)[0, 0])
    for agent in shown["agents"]:
        assert len(agent["actions"]) == len(agent["contexts"]) == 5
        assert set(agent["actions"]) <= set(range(5)) and set(agent["action_names"]) <= set("↑←•→↓")
        assert set(agent["contexts"]) <= {0, 1, 2}
        assert {name for _, name in agent["legend"]} == set(agent["action_names"])


def test_values_that_are_no_numbers_are_left_out(tmp_path):
    run = small_run("iql")
    shutil.copytree(run.path, tmp_path / "run")
    directory = RunDirectory.open(tmp_path / "run")
    broken = {name: np.full_like(array, np.nan) for name, array in directory.read_agent(0, 0).items()}
    directory.write_agent(0, 0, broken)
    directory.reopen()  # or else its hashes would tell first
    seen = learned_summary(directory)
    assert "tables" not in seen and "no finite number" in seen["missing"][0]


def test_a_run_without_trained_agents_gives_a_sentence(tmp_path):
    (tmp_path / "config.json").write_text((small_run("iql").path / "config.json").read_text())
    assert learned_summary(RunDirectory.open(tmp_path)) == {
        "missing": [
            f"Nothing can be seen inside these agents: {tmp_path}/agents/seed-0/agent-0.safetensors is missing: "
            "the run has not finished."
        ]
    }
