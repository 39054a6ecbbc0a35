"""`decentral bench` as a user meets it."""

import json
import os
import sys

import pytest

from decentral.benchmarking import device
from tests.cli.test_cli import outcome

CASE = {"algorithm": "iql", "environment": "matrix-game", "seeds": 1, "agents": 2, "window": None, "contexts": None}


@pytest.fixture
def small_device(monkeypatch):
    """Rates are measured on small arrays, for speed."""
    monkeypatch.setattr(device, "COPIED", 1000)
    monkeypatch.setattr(device, "LARGEST_PRODUCT", 512)


def test_a_small_benchmark_measures_compares_and_keeps_every_number(capsys, tmp_path, small_device):
    case = CASE | {"settings": [["algorithm.hidden", "16"]]}
    earlier = {"format": 1, "cases": [{"case": one, "turn_ms": {"all": [1e-6]}} for one in (CASE, case)]}
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    words = ["iql", "matrix-game", "--turns", "3", "--repeats", "2", "--algorithm.hidden", "16"]
    words += ["--out", str(tmp_path / "now"), "--against", str(tmp_path / "earlier.json")]
    code, out, err = outcome(capsys, "bench", *words)
    assert (code, err) == (0, "")
    assert "slower by more than both spreads: iql on matrix-game, seeds 1, agents 2, algorithm.hidden 16\n" in out
    assert "(no figure: no axis has several values)" in out
    assert os.listdir(tmp_path / "now") == ["bench.json"]

    data = json.loads((tmp_path / "now" / "bench.json").read_text())
    assert (data["format"], data["turns"], data["repeats"], data["yardstick"]) == (1, 3, 2, None)
    assert data["rates"]["flops_per_second"] > 0 and data["rates"]["bytes_per_second"] > 0
    assert "device" in data["provenance"] and "commit" in data["provenance"]
    [own] = data["cases"]
    assert own["case"] == case | {"parameters": "own"} and own["config"]["algorithm"]["hidden"] == 16
    assert len(own["turn_ms"]["all"]) == len(own["play_ms"]["all"]) == 2
    assert own["learn_ms"] == own["turn_ms"]["median"] - own["play_ms"]["median"]
    per_second = own["steps_per_second"]
    assert per_second["per_seed"] == per_second["in_all"] == pytest.approx(1000 / own["turn_ms"]["median"])
    assert set(own["compile_seconds"]) == {"begin", "play", "learn", "in_all"}
    assert own["peak_memory"]["bytes"] > 0
    floor = own["floor"]
    assert floor["ms"] == max(floor["products_ms"], floor["copies_ms"]) > 0
    assert floor["of_measured"] == floor["ms"] / own["turn_ms"]["median"]
    assert own["config"]["environment"]["name"] == "matrix-game"


def test_without_pytorch_it_says_what_to_install_before_anything_is_measured(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = outcome(capsys, "bench", "iql", "matrix-game", "--against", "torch")
    assert code == 2 and err.count("\n") == 1 and "pip install 'decentral[torch]'" in err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["sarsa"], "unknown algorithm 'sarsa'"),
        (["iql", "chess"], "unknown environment 'chess'"),
        (["iql", "matrix-game", "--seeds", "1,x"], "seeds must be a whole number from 1 to 1000000, got 'x'"),
        (["iql", "matrix-game", "--seeds", ""], "seeds must be a whole number from 1 to 1000000, got ''"),
        (["iql", "matrix-game", "--turns", "0"], "turns must be a whole number from 1 to 1000000, got '0'"),
        (["iql", "matrix-game", "--repeats", "few"], "repeats must be a whole number"),
        (["iql", "matrix-game", "--seeds", "1,1e6"], "the agents of 1000000 seeds need "),
        (["iql", "matrix-game", "--agents", "99"], "agents must be 2 to 10 on matrix-game, got 99"),
        (["iql", "matrix-game", "--parameters", "ours"], "parameters must be own or shared, got 'ours'"),
        (["iql", "matrix-game", "--window", "3"], "window must be a setting of an algorithm, got iql"),
        (["iql", "matrix-game", "--out", ""], "out must be a directory, got ''"),
        (["iql", "matrix-game", "--out", "/proc/decentral"], "out must be a directory that can be written"),
        (["iql", "matrix-game", "--against", "nowhere.json"], "nowhere.json (nowhere.json can't be read (No such file"),
        (["iql", "matrix-game", "--sed", "1"], "unknown flag --sed: did you mean --seeds?"),
        (["iql", "predator-prey", "--environment.num-predators", "3"], "must be given as agents, an axis of its own"),
        (["dac", "matrix-game", "--algorithm.window", "3"], "algorithm.window must be given as window, an axis of"),
        (["iql", "matrix-game", "--algorithm.hidden", "8,-3"], "algorithm.hidden must be a whole number at least 1"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, "bench", *words)
    assert code == 2
    assert err.count("\n") == 1 and complaint in err
    assert os.listdir(tmp_path) == []


def test_an_earlier_benchmark_is_never_overwritten(capsys, tmp_path):
    (tmp_path / "bench.json").write_text("{}")
    code, _, err = outcome(capsys, "bench", "iql", "matrix-game", "--out", str(tmp_path))
    assert code == 2 and "out must be a directory without a bench.json" in err
    assert (tmp_path / "bench.json").read_text() == "{}"
