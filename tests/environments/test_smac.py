"""The adapter of the real SMAC, against a stand-in for the package."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from decentral.environments.adapters import smac
from decentral.environments.adapters.smac import SmacStage, check_game, starcraft_class
from decentral.environments.host.checks import CheckedStage
from decentral.environments.host.interface import BrokenOff
from decentral.environments.registry import environment_class
from decentral.settings import Refused
from tests.environments.smac_stand_in import install

STOP = np.ones(5, np.int32)


@pytest.fixture
def package(monkeypatch):
    smac.map_of_smac.cache_clear()
    yield install(monkeypatch)
    smac.map_of_smac.cache_clear()


def taken_out():
    """All modules of the package, which from now on are as if they had never been imported."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "smac"}


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A directory from which a package `smac` is imported for one test, even where the real one is installed."""
    kept = taken_out()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    taken_out()
    sys.modules.update(kept)


def stage(**settings):
    return CheckedStage(environment_class("smac/5m_vs_6m")(**settings))


def play(played, steps):
    return [played.step(STOP) for _ in range(steps)][-1]


def test_sizes_come_from_the_package_and_no_game_is_started(package):
    environment = environment_class("smac/5m_vs_6m")()
    assert (environment.num_agents, environment.spec.observation_size, environment.spec.actions.count) == (5, 55, 12)
    assert (environment.time_limit, environment.address, environment.may_restart) == (70, "smac/5m_vs_6m", True)
    assert package.started == []


def test_every_agent_is_given_its_own_rows(package):
    observation, available = stage().reset(0)
    assert observation[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert [np.flatnonzero(row).tolist() for row in available] == [[1, 2], [1, 3], [1, 4], [1, 5], [1, 2]]


def test_a_win_ends_the_task_and_is_told_as_a_fact(package):
    played = stage()
    played.reset(0)
    last = play(played, 3)
    assert (last.reward, last.terminated, last.truncated, last.facts) == (20.0, True, False, {"won": 1.0})
    assert package.started[0].actions[0] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("ends", [True, False])
def test_running_out_of_time_ends_the_task_unless_it_is_told_not_to(package, ends):
    package.plan[:] = ["time"]
    played = stage(timeout_ends=ends)
    played.reset(0)
    last = play(played, 70)
    assert (last.terminated, last.truncated, last.facts["won"]) == (ends, not ends, 0.0)


def test_one_game_plays_one_episode_after_another_from_the_first_seed(package):
    played = stage()
    for seed in (2**35 + 7, 8):
        played.reset(seed)
        play(played, 3)
    assert [game.seed for game in package.started] == [7]


def test_a_reset_before_any_episode_has_ended_starts_another_game(package):
    played = stage()
    played.reset(0)
    played.step(STOP)
    played.reset(1)
    assert [game.max_reward for game in package.started] == [530, 530]
    assert [game.closed for game in package.started] == [True, False]


@pytest.mark.parametrize("before", [[], ["win"]])
def test_a_lost_connection_breaks_the_episode_off_and_another_game_is_started(package, before):
    package.plan[:] = [*before, "lost line", "win"]
    played = stage()
    for _ in before:
        played.reset(0)
        play(played, 3)
    played.reset(1)
    played.step(STOP)
    with pytest.raises(BrokenOff, match="the connection with the game was lost"):
        played.step(STOP)
    played.reset(2)
    assert play(played, 3).facts == {"won": 1.0}
    assert [game.closed for game in package.started] == [True, False]
    assert package.started[1].seed == 2


def test_rewards_that_would_be_wrong_because_units_came_late_are_not_played_for(package):
    package.late_units = 1
    played = stage()
    with pytest.raises(BrokenOff, match="max_reward is 575 instead of 530"):
        played.reset(0)
    played.reset(1)
    assert [game.closed for game in package.started] == [True, False]


def test_closing_closes_the_game_also_one_that_has_died(package, monkeypatch):
    played = stage()
    played.reset(0)
    monkeypatch.setattr(package, "close", lambda game: 1 / 0)
    played.close()
    assert played.stage.game is None


def test_an_unknown_map_is_refused(package):
    with pytest.raises(Refused, match="unknown map '7m' of smac: choose one of 3m, 5m_vs_6m"):
        environment_class("smac/7m")


def test_a_missing_package_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "smac", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Refused, match="the package smac is missing: pip install git"):
        starcraft_class()


def test_the_optimiser_of_the_same_name_is_told_apart(place):
    (place / "smac").mkdir()
    (place / "smac" / "__init__.py").write_text("class Scenario: ...")
    with pytest.raises(Refused, match="another one of that name, an optimiser: pip uninstall smac"):
        starcraft_class()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_pysc2", "needs no_such_pysc2, which is missing"),
        ("raise TypeError('Descriptors cannot\\nbe created')", "TypeError: Descriptors cannot be created"),
    ],
)
def test_a_package_that_can_not_be_imported_is_refused(place, code, reason):
    (place / "smac" / "env").mkdir(parents=True)
    (place / "smac" / "__init__.py").write_text("")
    (place / "smac" / "env" / "__init__.py").write_text(code)
    with pytest.raises(Refused, match=reason):
        starcraft_class()


def test_a_missing_game_or_map_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    with pytest.raises(Refused, match=r"the game StarCraft II is missing: no .*Versions; install version 4.10"):
        check_game("5m_vs_6m")
    (tmp_path / "Versions").mkdir()
    with pytest.raises(Refused, match=r"the map 5m_vs_6m is missing: .* copy the directory SMAC_Maps"):
        check_game("5m_vs_6m")
    (tmp_path / "Maps" / "SMAC_Maps").mkdir(parents=True)
    (tmp_path / "Maps" / "SMAC_Maps" / "5m_vs_6m.SC2Map").touch()
    check_game("5m_vs_6m")


def test_a_game_is_asked_for_an_image_and_opens_no_window():
    stage = SmacStage("3m", True)
    stage.game = SimpleNamespace(render=lambda mode: mode)
    assert stage.render() == "rgb_array"
