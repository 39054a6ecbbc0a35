"""Arguments of wrong types are refused by their words, from Python too."""

import pytest

import decentral
import decentral.runtime
from decentral import Refused

GAME = ("iql", "matrix-game")


def newborn():
    return decentral.Agent("iql", (2, 3), hidden=4, replay_episodes=32, time_limit=3)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: decentral.load(5), "run must be a path, got 5"),
        (lambda: decentral.evaluate(5), "run must be a path, got 5"),
        (lambda: decentral.values(None), "run must be a path, got None"),
        (lambda: decentral.report(5), "run must be a path, got 5"),
        (lambda: decentral.plot(5), "run must be a path, got 5"),
        (lambda: decentral.compare_runs(5), "run must be a path, got 5"),
        (lambda: decentral.export_results(5), "run must be a path, got 5"),
        (lambda: decentral.crossplay("nowhere"), "RUN must be the directory of a run, got nowhere"),
        (lambda: decentral.list_runs(5), "directory must be a path, got 5"),
        (lambda: decentral.search(5), "file must be a path, got 5"),
        (lambda: decentral.sweep_file(5), "file must be a path, got 5"),
        (lambda: decentral.runtime.load(None), "directory must be a path, got None"),
        (lambda: decentral.Agent.load(None), "path must be a path, got None"),
        (lambda: newborn().save(None), "path must be a path, got None"),
        (lambda: newborn().save("."), "path must be that of a file, got '.'"),
        (lambda: decentral.train(*GAME, out=5), "out must be a path, got 5"),
        (lambda: decentral.train(*GAME, algorithm=5), "algorithm must be an object of settings, got 5"),
        (lambda: decentral.sweep(*GAME, algorithm=[1]), r"algorithm must be an object of settings, got \[1\]"),
        (lambda: decentral.train(5, "matrix-game"), "algorithm must be a name, or a list of what is asked"),
        (lambda: decentral.train(["iql", 5], "matrix-game"), "agents must be names or objects with a name, got 5"),
        (lambda: decentral.train(*GAME, callbacks=decentral.Callback()), "callbacks must be a list"),
    ],
)
def test_what_has_a_wrong_type_is_refused_by_its_word(call, refusal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match=refusal):
        call()
    assert not any(tmp_path.iterdir())
