"""Algorithms trained in turn, and compared: from Python, what lies in `out` already, what is refused."""

import functools
import json
import shutil
import tempfile
from pathlib import Path

import pytest

import decentral
from decentral.errors import Interrupted
from decentral.sweeps import comparison
from decentral.sweeps.comparison import resolve_all
from tests.small_runs import SMALL, TRAINED

SETTINGS = TRAINED | {"algorithm": SMALL | {"window": 1, "contexts": 4}}


@functools.cache
def small_comparison():
    """IQL and DAC on the matrix game, two seeds, a hundred steps."""
    out = Path(tempfile.mkdtemp()) / "both"
    return decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS, out=out)


@pytest.fixture
def copied(tmp_path):
    """A copy of it, to be spoiled."""
    return Path(shutil.copytree(small_comparison().path, tmp_path / "both"))


@pytest.fixture
def begun(monkeypatch):
    """The names of the algorithms whose training has begun."""
    names = []

    def watched(config, *others, **options):
        names.append(config.algorithm_name)
        return real(config, *others, **options)

    real = comparison.run
    monkeypatch.setattr(comparison, "run", watched)
    return names


def test_a_comparison_leaves_runs_data_and_a_plot():
    both = small_comparison()
    assert [run.config["algorithm"]["name"] for run in both.runs] == ["iql", "dac"]
    assert [run.path.name for run in both.runs] == ["iql", "dac"]
    assert [row.returns for row in both.rows] == [run.returns[:, -1].tolist() for run in both.runs]
    assert both.plot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert [row["label"] for row in json.loads(both.data.read_text())["rows"]] == ["iql", "dac"]


def test_a_setting_goes_to_every_algorithm_that_has_it():
    iql, dac = (run.config["algorithm"] for run in small_comparison().runs)
    assert iql["hidden"] == dac["hidden"] == 8
    assert dac["contexts"] == 4 and "contexts" not in iql


def test_an_interrupted_comparison_goes_on_where_it_was(copied, begun):
    shutil.rmtree(copied / "dac")
    before = (copied / "iql" / "metrics.jsonl").stat().st_mtime_ns
    again = decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS, out=copied)
    assert begun == ["dac"]
    assert (copied / "iql" / "metrics.jsonl").stat().st_mtime_ns == before
    assert again.rows == small_comparison().rows


def test_an_interrupted_comparison_says_how_all_of_it_goes_on(tmp_path, monkeypatch):
    def interrupted(*arguments, **keywords):
        raise Interrupted(3, "decentral resume here")

    monkeypatch.setattr(comparison, "run", interrupted)
    with pytest.raises(Interrupted, match=f"at step 3 and saved; to resume: the same command with --out {tmp_path}$"):
        decentral.compare(["iql", "dac"], "matrix-game", out=tmp_path, progress=False)


def test_a_finished_run_that_lacks_an_agent_is_refused_before_anything_is_trained(copied, begun):
    shutil.rmtree(copied / "iql")
    (copied / "dac" / "agents" / "seed-1" / "agent-1.safetensors").unlink()
    with pytest.raises(
        decentral.Refused, match=r"be whole, got .*dac without a .*agent-1.*; remove it to train it anew"
    ):
        decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS, out=copied)
    assert begun == []


def test_a_run_of_another_configuration_is_refused_and_left_alone(copied, begun):
    with pytest.raises(decentral.Refused, match=r"got .*iql with training.steps 100 instead of 110: take another out"):
        decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS | {"steps": 110}, out=copied)
    with pytest.raises(decentral.Refused, match=r"got .*dac with algorithm.contexts 4 instead of 3: take another out"):
        changed = {"algorithm": SETTINGS["algorithm"] | {"contexts": 3}}
        decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS | changed, out=copied)
    assert begun == []
    assert (copied / "dac" / "metrics.jsonl").read_text() == (
        small_comparison().runs[1].path / "metrics.jsonl"
    ).read_text()


def test_a_setting_that_not_all_have_is_said_to_be_of_some(copied, capsys):
    decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS | {"progress": True}, out=copied)
    assert capsys.readouterr().out.splitlines() == [
        "algorithm.window is set for dac",
        "algorithm.contexts is set for dac",
    ]


def test_a_directory_that_is_no_run_is_refused(tmp_path, begun):
    (tmp_path / "dac").mkdir()
    (tmp_path / "dac" / "precious.txt").write_text("keep")
    with pytest.raises(decentral.Refused, match=r"dac, which has no config.json"):
        decentral.compare(["iql", "dac"], "matrix-game", **SETTINGS, out=tmp_path)
    assert begun == [] and (tmp_path / "dac" / "precious.txt").read_text() == "keep"


def test_finished_runs_are_compared_without_training(tmp_path, begun):
    both = small_comparison()
    again = decentral.compare_runs([run.path for run in both.runs], tmp_path / "new")
    assert again.rows == both.rows and begun == []
    assert again.plot == tmp_path / "new" / "comparison.png" and again.plot.is_file()


def test_five_seeds_are_trained_unless_told_otherwise():
    assert [config.setup.plan.seeds for config in resolve_all(["iql", "dac"], "matrix-game")] == [5, 5]


@pytest.mark.parametrize(
    ("names", "settings", "refusal"),
    [
        ([], {}, "at least one algorithm, got none"),
        (["iql", "sarsa"], {}, "unknown algorithm 'sarsa'"),
        (["iql", "dac", "iql"], {}, "each algorithm once, got iql twice"),
        (["iql", "dac"], {"hiden": 8}, "unknown setting algorithm.hiden: none of iql, dac has it"),
        (["iql"], {"window": 3}, "unknown setting algorithm.window: none of iql has it"),
        (["iql", "dac"], {"window": 0}, "algorithm.window must be a whole number at least 1, got 0"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(names, settings, refusal, tmp_path):
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.compare(names, "matrix-game", algorithm=settings, out=tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists()
