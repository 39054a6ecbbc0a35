"""Algorithms of the user's own: named by where their code is, and only by the user."""

import json

import pytest

from decentral.algorithms.iql import IQL
from decentral.configs import registry as names
from decentral.configs.config import Config, resolve
from decentral.configs.registry import algorithm_class, recorded_algorithm
from decentral.environments.matrix_game import MatrixGame
from decentral.environments.registry import environment_class
from decentral.runs.planned import PlannedRun
from decentral.settings import Refused
from tests.cli.test_cli import outcome

OWN = "python:tests.configs.test_names:Own"


class Own(IQL):
    """IQL under another name."""


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """As if nothing had been named yet."""
    monkeypatch.setattr(names, "_imported", {})


def test_a_file_can_not_name_code_that_the_user_has_not_named():
    with pytest.raises(
        Refused, match=f"algorithm {OWN} is code, and no file decides what is run: name it, --algorithm"
    ):
        recorded_algorithm(OWN)
    assert algorithm_class(OWN) is recorded_algorithm(OWN)


def test_a_configuration_with_own_algorithms_is_read_again_once_they_are_named(monkeypatch):
    team = resolve([OWN, {"name": "iql", "hidden": 4}], "matrix-game")
    assert [member.name for member in team.members] == [OWN, "iql"]
    assert Config.from_data(team.as_data()).as_data() == team.as_data()
    monkeypatch.setattr(names, "_imported", {})
    with pytest.raises(Refused, match="no file decides what is run"):
        Config.from_data(team.as_data())


def test_what_resumes_a_run_names_its_code_again(tmp_path):
    environment = "pettingzoo:tests.environments.zoo:Zoo"
    own = PlannedRun(resolve([OWN, "iql"], environment), tmp_path / "a run")
    assert own.resume_command == f"decentral resume '{tmp_path}/a run' --environment {environment} --algorithm {OWN}"
    assert PlannedRun(resolve("iql", "matrix-game"), tmp_path).resume_command == f"decentral resume {tmp_path}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("python:tests.configs.test_names:OWN", "must be a subclass of Algorithm, got 'python:"),
        ("python:tests.configs.test_names:Nothing", "the module tests.configs.test_names has no Nothing"),
        (
            "python:no_such_module:Own",
            "algorithm python:no_such_module:Own: the module no_such_module can't be imported",
        ),
        ("python:os.system", "algorithm must name its code as package.module:name"),
        ("sarsa", "unknown algorithm 'sarsa': choose one of iql, .*, python:MODULE:CLASS"),
        (3, "unknown algorithm 3"),
    ],
)
def test_a_name_that_means_no_algorithm_is_refused(name, reason):
    with pytest.raises(Refused, match=reason):
        algorithm_class(name)


class Outdated(IQL):
    def reflect(self, agent, episode, epsilon):
        return agent, ()


class OutdatedGame(MatrixGame):
    tells_ids = True


def test_code_that_defines_a_hook_by_its_earlier_name_is_refused():
    with pytest.raises(Refused, match="Outdated must define annotate in place of reflect"):
        algorithm_class(f"python:{__name__}:Outdated")
    with pytest.raises(Refused, match="OutdatedGame must define observes_ids in place of tells_ids"):
        environment_class(f"python:{__name__}:OutdatedGame")


def test_the_command_line_takes_an_own_algorithm_alone_and_in_a_team(capsys):
    for words in ([OWN, "matrix-game"], ["matrix-game", "--agents", f"{OWN},iql"]):
        code, out, err = outcome(capsys, "show", *words)
        assert (code, err) == (0, "") and OWN in out


@pytest.mark.parametrize("group", ["algorithm", "environment"])
@pytest.mark.parametrize("command", [["show", "--config"], ["audit"], ["evaluate"]])
def test_no_command_runs_what_a_file_names(capsys, tmp_path, monkeypatch, command, group):
    (tmp_path / "harm.py").write_text("raise SystemExit('harmed')")
    monkeypatch.syspath_prepend(tmp_path)
    data = resolve("iql", "matrix-game").as_data()
    data[group] = {"name": "python:harm:Harm"}
    (tmp_path / "config.json").write_text(json.dumps(data))
    (tmp_path / "metrics.jsonl").write_text("")
    file = tmp_path / "config.json" if "--config" in command else tmp_path
    code, _, err = outcome(capsys, *command, str(file))
    assert code == 2 and f"{group} python:harm:Harm is code, and no file decides what is run" in err
