"""A sweep from Python: the grid, its names, what lies in `out` already, what is refused. Nothing is trained here."""

import math
from pathlib import Path

import numpy as np
import pytest

import decentral
from decentral.cli.flags import parts
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.registry import ENVIRONMENTS
from decentral.records import RunDirectory
from decentral.runs.checkpointing.schedule import UNTIL_FINISHED, WHEN_STOPPED
from decentral.settings import setting_fields
from decentral.sweeps import grid as sweeping
from decentral.sweeps.grid import grid, train_grid
from decentral.training.plan import Plan

OUT = Path("out")


def names_of(runs):
    return [run.out.name for run in runs]


def leave_a_run(planned):
    """What a finished training of several runs leaves, without the training."""
    left = []
    for run in planned:
        directory = RunDirectory.create(run.out)
        directory.write_json("config.json", run.config.as_data())
        for seed in range(run.config.setup.plan.seeds):
            for agent in (0, 1):
                directory.write_agent(seed, agent, {"weight": np.zeros(1)})
        left.append(directory)
    return left


@pytest.fixture
def trained(monkeypatch):
    """The names of the runs of every program that was asked for, in order."""
    programs = []

    def noted(planned, *others, **options):
        programs.append(names_of(planned))
        return leave_a_run(planned)

    monkeypatch.setattr(sweeping, "run_together", noted)
    return programs


def test_a_grid_is_every_combination_with_a_name_that_says_what_is_swept():
    settings = {"algorithm": {"learning_rate": [5e-4, 0.001], "hidden": [32]}, "environment": {"penalty": [0, 0.3]}}
    runs = grid(["iql"], "predator-prey", settings, OUT)
    assert names_of(runs) == [
        "learning_rate=0.0005,penalty=0",
        "learning_rate=0.0005,penalty=0.3",
        "learning_rate=0.001,penalty=0",
        "learning_rate=0.001,penalty=0.3",
    ]
    last = runs[-1].config
    assert last.setup.environment.penalty == 0.3 and last.members[0].algorithm.learning_rate == 0.001
    assert all(run.config.members[0].algorithm.hidden == 32 and run.config.setup.plan.seeds == 5 for run in runs)


def test_an_algorithm_without_a_setting_is_trained_once_and_every_name_says_the_algorithm():
    runs = grid(["iql", "dac"], "matrix-game", {"algorithm": {"window": [1, 2]}}, OUT)
    assert names_of(runs) == ["iql", "dac,window=1", "dac,window=2"]


def test_a_value_named_twice_is_one_run_and_a_lone_combination_is_named_after_its_algorithm():
    twice = {"environment": {"penalty": [0, 0.0, 0.123456789, True * 0.5]}}
    assert names_of(grid(["iql"], "predator-prey", twice, OUT)) == ["penalty=0", "penalty=0.123456789", "penalty=0.5"]
    assert names_of(grid(["iql"], "predator-prey", {"environment": {"penalty": 0.3}}, OUT)) == ["iql"]


def test_settings_that_are_no_numbers_have_names_too():
    settings = {
        "algorithm": {"double_q": [True, False]},
        "environment": {"payoff": ["climbing", [[1, 2], [3, 4]]]},
        "training": {"replay_type": ["float16"]},
    }
    assert names_of(grid(["iql"], "matrix-game", settings, OUT)) == [
        "double_q=true,payoff=climbing",
        "double_q=true,payoff=[[1,2],[3,4]]",
        "double_q=false,payoff=climbing",
        "double_q=false,payoff=[[1,2],[3,4]]",
    ]


def test_each_shape_is_one_program_and_the_papers_windows_make_two(tmp_path, trained):
    """DAC's window is 10, but 5 at P = 1."""
    swept = decentral.sweep(
        ["iql", "dac"], "predator-prey", environment={"penalty": [0, 1.0, 0.3]}, out=tmp_path, progress=False
    )
    assert trained == [
        ["iql,penalty=0", "iql,penalty=1", "iql,penalty=0.3"],
        ["dac,penalty=0", "dac,penalty=0.3"],
        ["dac,penalty=1"],
    ]
    assert swept.programs == [1, 1, 1, 2, 3, 2]
    assert [run.path for run in swept.runs][-2:] == [tmp_path / "dac,penalty=1", tmp_path / "dac,penalty=0.3"]


def test_a_sweep_goes_on_where_it_was_and_says_what_it_takes_as_it_is(tmp_path, trained):
    runs = grid(["iql"], "matrix-game", {"algorithm": {"discount": [0.1, 0.2], "hidden": [4, 8]}}, tmp_path)
    leave_a_run([runs[0], runs[2], runs[3]])
    told = []
    directories = train_grid(runs, [[0, 2], [1, 3]], list, told.append)
    assert trained == [["discount=0.1,hidden=8"]]
    assert [directory.path for directory in directories] == [run.out for run in runs]
    assert told == [
        "discount=0.1,hidden=4: finished already, taken as it is",
        "discount=0.2,hidden=4: finished already, taken as it is",
        "discount=0.2,hidden=8: finished already, taken as it is",
        "program 2 of 2: discount=0.1,hidden=8",
    ]


@pytest.mark.parametrize("saved", [False, True])
def test_unfinished_runs_go_on_and_are_not_held_up_by_new_ones(tmp_path, monkeypatch, saved):
    runs = grid(["iql"], "matrix-game", {"algorithm": {"discount": [0.1, 0.2, 0.3]}}, tmp_path)
    leave_a_run(runs[:2])
    (runs[0].out / "agents" / "seed-4" / "agent-1.safetensors").unlink()
    if saved:
        runs[0].out.joinpath("checkpoints", "000000000005").mkdir(parents=True)
    asked = []

    def note(planned, listeners, saving, resume, deadline):
        assert resume and not saving.final
        assert (deadline, saving) == (math.inf, UNTIL_FINISHED) or (deadline, saving) == (9.0, WHEN_STOPPED)
        asked.append(planned)
        return planned

    monkeypatch.setattr(sweeping, "run_together", note)
    train_grid(runs, [[0, 1, 2]], list, lambda line: None)
    assert asked == ([[runs[0]], [runs[2]]] if saved else [[runs[0], runs[2]]])
    train_grid(runs, [[0, 1, 2]], list, lambda line: None, 9.0)  # saved at the deadline, and not before


def test_a_run_of_another_configuration_is_refused_and_left_alone(tmp_path, trained):
    first, *_ = grid(["iql"], "matrix-game", {"algorithm": {"discount": [0.1, 0.2], "hidden": 4}}, tmp_path)
    leave_a_run([first])
    again = grid(["iql"], "matrix-game", {"algorithm": {"discount": [0.1, 0.2], "hidden": 8}}, tmp_path)
    with pytest.raises(decentral.Refused, match=r"discount=0.1 with algorithm.hidden 4 instead of 8: take another out"):
        train_grid(again, [[0, 1]], list, lambda line: None)
    assert trained == []


@pytest.mark.parametrize(
    ("names", "settings", "refusal"),
    [
        ("sarsa", {}, "unknown algorithm 'sarsa'"),
        (["iql", "iql"], {}, "got iql twice"),
        ("iql", {"algorithm": {"window": [1, 2]}}, "unknown setting algorithm.window: none of iql has it"),
        ("iql", {"algorithm": {"learning_rate": []}}, "algorithm.learning_rate must list at least one value, got none"),
        (
            "iql",
            {"algorithm": {"learning_rate": [0.1, -1.0]}},
            "algorithm.learning_rate must be a number above 0, got -1",
        ),
        ("iql", {"seeds": [2, 0]}, "training.seeds must be a whole number at least 1, got 0"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(names, settings, refusal, tmp_path, trained):
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.sweep(names, "matrix-game", **settings, out=tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists() and trained == []


def test_commas_within_brackets_part_nothing():
    assert parts("0,0.3") == ["0", "0.3"]
    assert parts("climbing,[[1,2],[3,4]],paper") == ["climbing", "[[1,2],[3,4]]", "paper"]
    assert parts("0.5,") == ["0.5", ""]


def test_no_setting_stands_in_two_groups():
    """So that flags and names of runs can do without the group."""
    kinds = ({*EVERY_ALGORITHM.values()}, {*ENVIRONMENTS.values()}, {Plan})
    algorithm, environment, plan = ({field.name for kind in group for field in setting_fields(kind)} for group in kinds)
    assert not algorithm & environment and not algorithm & plan and not environment & plan
    assert not {"out", "track", "help"} & (algorithm | environment | plan)
