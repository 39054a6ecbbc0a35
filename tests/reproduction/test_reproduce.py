"""`decentral reproduce` as a user meets it, at a tiny scale."""

import json
import os

import numpy as np
import pytest

from decentral.algorithms.dac import FullDAC
from decentral.environments.registry import SwitchingWind
from decentral.inspection.context_study import ContextStudy
from decentral.reproduction import matrix_game, switching_wind
from decentral.reproduction import pieces as training_piece
from tests.cli.test_cli import outcome
from tests.small_runs import small_run


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """All targets at a tiny scale: a hundred steps of two methods, three updates of a context model."""

    def tiny_study(window, contexts, scale):
        learner = FullDAC(window=2, contexts=6, encoder_width=4, decoder_width=4)
        world = SwitchingWind(length=6, period=2, start_range=5.0)
        sizes = {"episodes": 4, "batch_episodes": 2, "fresh_episodes": 2, "seeds": scale.seeds}
        return ContextStudy(learner, world, updates=3, **sizes)

    monkeypatch.setattr(matrix_game, "METHODS", {"dac": "DAC", "iql": "IQL"})
    monkeypatch.setattr(
        training_piece, "train_grid", lambda runs, *others: [small_run(runs[0].config.algorithm_name).directory]
    )
    monkeypatch.setattr(switching_wind, "study_of", tiny_study)


@pytest.mark.parametrize(
    ("target", "title", "told"),
    [
        ("table-1", "Table 1: values learned by DAC", ["| agent 1, seed 0 | phi | c=0 | c=1 | c=2 | c=3 |", "C2: "]),
        ("matrix-game", "Comparison in the matrix game", ["| IQL | 6 |", "C1: ", "optimal 8.00, random -3.11"]),
        (
            "switching-wind",
            "Contexts learned in Switching Wind",
            ["| k=5, m=6 | 1 |", "C19: ", "C20: ", "update 3 of 3"],
        ),
    ],
)
def test_a_target_is_run_once_and_drawn_again_from_its_data_alone(capsys, tmp_path, monkeypatch, target, title, told):
    words = ["reproduce", target, "--scale", "quick", "--out", str(tmp_path / "new")]
    code, out, err = outcome(capsys, *words)
    assert (code, err) == (0, "")
    assert title in out and "is no evidence" in out and all(text in out for text in told)
    files = {f"{target}.{ending}" for ending in ("json", "md", "png", "svg")}
    assert set(os.listdir(tmp_path / "new")) == files | {"pieces"}
    stored = json.loads((tmp_path / "new" / f"{target}.json").read_text())
    assert (stored["target"], stored["scale"], stored["seeds"]) == (target, "quick", 2)
    for piece in stored["pieces"].values():
        assert piece["seconds"] >= 0 and set(piece["provenance"]) >= {"command", "commit", "packages", "device"}

    monkeypatch.setattr(training_piece, "train_grid", None)  # no training from here on
    monkeypatch.setattr(ContextStudy, "run", None)
    code, again, _ = outcome(capsys, *words)
    assert code == 0 and "piece 1" not in again
    code, _, err = outcome(
        capsys, "reproduce", "--redraw", str(tmp_path / "new" / f"{target}.json"), "--out", str(tmp_path / "two")
    )
    assert (code, err) == (0, "")
    for name in files - {f"{target}.json"}:
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()

    code, _, err = outcome(capsys, *words, "--seeds", "1")
    assert code == 2 and err.count("\n") == 1
    assert "out must hold the same target, scale and seeds" in err and "with 2 seeds" in err


def test_an_interrupted_reproduction_goes_on(capsys, tmp_path, monkeypatch):
    def learned(self, say):
        if self.learner.window == interrupted_at:
            raise KeyboardInterrupt
        ran.append(self.learner.window)
        modes = np.repeat([0, 1, 2], 2)
        return np.broadcast_to(modes, (2, 1, 6)), np.broadcast_to(modes, (2, 1, 6))

    def study_of(window, contexts, scale):
        return ContextStudy(FullDAC(window=window, contexts=contexts), SwitchingWind(), updates=1, seeds=2)

    ran, interrupted_at = [], 5
    monkeypatch.setattr(switching_wind, "study_of", study_of)
    words = ["reproduce", "switching-wind", "--seeds", "2", "--out", str(tmp_path)]
    monkeypatch.setattr(ContextStudy, "run", learned)
    assert outcome(capsys, *words)[0] == 130
    code, _, err = outcome(capsys, "reproduce", "--redraw", str(tmp_path / "pieces" / "k=1, m=3.json"))
    assert code == 2 and "data must be of a finished reproduction" in err and "has no k=5, m=6" in err
    interrupted_at = None
    code, out, _ = outcome(capsys, *words)
    assert code == 0 and ran == [1, 5]
    assert "piece 2 of 2: k=5, m=6" in out and "piece 1" not in out
    assert "C19: reproduced. one-to-one 100.0 ± 0.0 % of the steps; at least 95 % on 2 of 2 seeds" in out

    code, out, _ = outcome(capsys, "reproduce", "--claims", str(tmp_path))
    assert code == 0 and "| C19 | Switching Wind |" in out and "on 2 of 2 seeds | reproduced |" in out
    assert out.count("not yet run") == 20


def learn_nothing(self, say):
    """In place of a study's training: every context is the first one, whatever the wind."""
    return np.zeros((5, 1, 6), int), np.zeros((5, 1, 6), int)


def test_several_processes_share_the_pieces_of_a_target(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(ContextStudy, "run", learn_nothing)
    words = ["reproduce", "switching-wind", "--scale", "quick", "--out", str(tmp_path)]
    code, out, _ = outcome(capsys, *words, "--only", "k=5, m=6")
    assert code == 0 and "piece 2 of 2: k=5, m=6" in out and "piece 1" not in out
    assert "1 of 2 pieces are done, left: k=1, m=3" in out
    assert os.listdir(tmp_path) == ["pieces"]
    code, out, _ = outcome(capsys, *words, "--only", "k=1, m=3")
    assert code == 0 and "piece 2" not in out and "C19: " in out
    assert json.loads((tmp_path / "switching-wind.json").read_text())["pieces"].keys() == {"k=1, m=3", "k=5, m=6"}


def test_pieces_of_other_settings_are_refused(capsys, tmp_path, monkeypatch):
    def study_of(window, contexts, scale):
        return ContextStudy(FullDAC(window=window, contexts=contexts), SwitchingWind(), updates=updates)

    monkeypatch.setattr(switching_wind, "study_of", study_of)
    monkeypatch.setattr(ContextStudy, "run", learn_nothing)
    updates = 1
    words = ["reproduce", "switching-wind", "--out", str(tmp_path)]
    assert outcome(capsys, *words)[0] == 0
    updates = 2
    code, _, err = outcome(capsys, *words)
    assert code == 2 and err.count("\n") == 1 and "k=1, m=3's updates 1 instead of 2" in err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "TARGET, --redraw FILE or --claims DIR: exactly one of them"),
        (["table-1", "--claims", "."], "exactly one of them"),
        (
            ["table-9"],
            "unknown target 'table-9': choose one of"
            " table-1, switching-wind, matrix-game, predator-prey, smac, ablation, controls, extensions, readings,"
            " appendix-a",
        ),
        (["table-1", "--only", "dac+"], "only must name pieces of table-1, of 'dac', got 'dac+'"),
        (["table-1", "--scale", "huge"], "scale must be one of quick, full, got 'huge'"),
        (["table-1", "--seeds", "0"], "seeds must be a whole number from 1 to 1000, got 0"),
        (["table-1", "--seeds", "many"], "seeds must be a whole number, got 'many'"),
        (["table-1", "--out", ""], "out must be a directory, got ''"),
        (["table-1", "--out", "/proc/decentral"], "out must be a directory that can be written"),
        (["--redraw", "nowhere.json"], "data must be the JSON file of a reproduction, got nowhere.json"),
        (["--redraw", "list.json"], "data must be the JSON file of a reproduction, got list.json, which is none"),
        (["--redraw", "strange.json"], "unknown target 'table-9'"),
        (["--redraw", "broken.json"], "got broken.json, which is broken"),
        (["--redraw", "list.json", "--seeds", "3"], "--seeds can't be given here"),
        (["--redraw", "list.json", "--only", "dac"], "--only can't be given here"),
        (["--claims", "nowhere"], "claims must be a directory of reproductions, got nowhere"),
        (["--claims", "misnamed"], "got misnamed/table-1.json of matrix-game"),
        (["--claims", "broken"], "got broken/table-1.json, which is broken"),
        (["--claims", ".", "--out", "x"], "--out can't be given here"),
        (["--claims", ".", "--list"], "--list can't be given here"),
        (["smac", "--list", "--only", "5m_vs_6m-iql"], "--only can't be given here"),
        (["smac", "--list", "--collect", "x"], "--collect can't be given here"),
        (["smac", "--collect", "x", "--minutes", "9"], "--minutes can't be given here"),
        (["smac", "--minutes", "0"], "minutes must be a number above 0 and at most 1000000, got 0"),
        (["smac", "--minutes", "nan"], "minutes must be a number above 0 and at most 1000000, got nan"),
        (["smac", "--minutes", "soon"], "minutes must be a number, got 'soon'"),
        (["smac", "--only", "4m*"], "only must name pieces of smac, of those that smac --list tells, got '4m*'"),
        (["smac", "--collect", "nowhere"], "data must be the JSON file of a reproduction, got nowhere"),
        (["smac", "--collect", "misnamed/table-1.json"], "collect must hold the same target, scale and seeds"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.json").write_text("[]")
    stored = {"format": 1, "target": "table-9", "scale": "full", "seeds": 5, "pieces": {}}
    (tmp_path / "strange.json").write_text(json.dumps(stored))
    torn = {"settings": {}, "result": {}, "provenance": {}, "seconds": 1}
    broken = json.dumps(stored | {"target": "table-1", "pieces": {"dac": torn}})
    other = json.dumps(stored | {"target": "matrix-game", "pieces": {"dac": torn, "iql": torn}})
    (tmp_path / "broken.json").write_text(broken)
    for name, content in {"broken": broken, "misnamed": other}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "table-1.json").write_text(content)
    code, _, err = outcome(capsys, "reproduce", *words)
    assert code == 2
    assert err.count("\n") == 1 and complaint in err
    assert sorted(os.listdir(tmp_path)) == ["broken", "broken.json", "list.json", "misnamed", "strange.json"]
