"""Recorded battles beside the simulator: a recording of our own is recognised, and a bad file is refused."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jax
import numpy as np
import pytest

from decentral.environments.adapters.smac import SmacStage
from decentral.environments.battles import BATTLES
from decentral.environments.battles.actions import ATTACK
from decentral.tensors import write_arrays
from decentral.verification.battle_check import check as checking
from decentral.verification.battle_check import episodes_of, fitting_values, read_recording, write_recording
from decentral.verification.battle_check.check import Check, variants
from decentral.verification.battle_check.errors import STATES, better_by, errors_of, nothing_changes
from decentral.verification.battle_check.live import record, record_stage
from decentral.verification.battle_check.readings import paces, periods
from decentral.verification.battle_check.recording import GameRecording
from decentral.verification.battle_check.replay import drawn_jitter, simulate_episodes, simulate_steps, usual_jitter
from decentral.verification.battle_check.starts import start_in
from tests.cli.test_cli import outcome
from tests.pages import blocks
from tests.patching import patch

PAGE = Path(__file__).parents[2] / "docs" / "environments" / "battles.md"
WORLD = BATTLES["3m"]()


@pytest.fixture(scope="module")
def recording():
    """Battles whose enemies have fixed ids and follow a target until it is dead. Half of all actions are random."""
    return record("3m", {"keep_target": "until_dead", "enemy_ids": "fixed"}, 24, 0.5, 0)


@pytest.fixture(scope="module")
def episodes(recording):
    return episodes_of(WORLD, recording, 24)


def first_states(environment, count):
    """A recording of one step each, in which nothing happens."""
    fields = jax.vmap(environment.reset)(jax.random.split(jax.random.key(1), count))
    states = np.asarray(jax.vmap(environment.state_vector)(fields))
    nothing = np.zeros((count, environment.num_agents), np.int32)
    return GameRecording(
        environment.battle_map.name, "", states, nothing, np.zeros(count, np.float32), np.ones(count, bool), None
    )


def of_the_crawler(count):
    """The first state of 2s_vs_1sc in SMAC's own words, so many times."""
    smac = "1 0 -.152475 -.1769375 1 1 0 .0305 -.1760562 1 1 -.065 .1262406"
    states = np.tile(np.asarray(smac.split(), np.float32), (count, 1))
    stopped = np.ones((count, 2), np.int32)
    return GameRecording("2s_vs_1sc", "", states, stopped, np.zeros(count, np.float32), np.ones(count, bool), None)


@pytest.mark.parametrize(
    ("packing", "ids"),
    [("grid", "shuffled"), ("unmirrored", "fixed"), ("rings", "shuffled_by_kind"), ("rings", "fixed")],
)
def test_packing_and_ids_are_read_off_the_first_states(packing, ids):
    environment = BATTLES["2s3z"](packing=packing, enemy_ids=ids)
    start = start_in(BATTLES["2s3z"](), episodes_of(BATTLES["2s3z"](), first_states(environment, 16), 16))
    assert start.packings == [packing] and start.enemy_ids == ids
    assert (start.spread > 0.3) == (packing == "rings")


def test_too_few_episodes_or_enemies_tell_nothing_of_ids(recording):
    assert start_in(WORLD, episodes_of(WORLD, recording, 4)).enemy_ids == "fewer than 5 episodes"
    crawler = of_the_crawler(6)
    start = start_in(BATTLES["2s_vs_1sc"](), episodes_of(BATTLES["2s_vs_1sc"](), crawler, 9))
    assert start.enemy_ids == "too few enemies" and start.misfits["grid"] < 1e-5


def test_a_step_whose_chance_is_known_is_foreseen_exactly(episodes):
    jitter = drawn_jitter(WORLD, episodes, jax.random.key(3))
    played = simulate_episodes(WORLD, episodes, jitter)
    simulated = checking.as_recorded(WORLD, episodes, played)
    still = errors_of(WORLD, simulated, nothing_changes(simulated))
    exact = errors_of(WORLD, simulated, simulate_steps(WORLD, simulated, jitter))
    usual = errors_of(WORLD, simulated, simulate_steps(WORLD, simulated, usual_jitter(WORLD, simulated)))
    assert all(exact.mean(subject) < 1e-5 < still.mean(subject) for subject in (*STATES, "reward"))
    assert 0.001 < usual.shares(still).mean() < 0.3  # what hidden chance alone does


def test_the_rule_of_a_recording_is_recognised_among_others(episodes, monkeypatch):
    monkeypatch.setattr(checking, "TRIED", ("keep_target",))  # and of it the true one alone
    monkeypatch.setattr(checking, "variants", lambda environment: list(variants(environment))[-1:])
    trials = list(Check(WORLD, episodes, 0).trials())
    assert [(trial.value, trial.verdict) for trial in trials[1:]] == [("until_dead", "fits better")]
    assert fitting_values(WORLD, trials) == {"keep_target": ["until_dead"]}


def test_a_recording_in_which_nothing_happens_tells_little_but_is_no_trouble():
    environment = BATTLES["2s_vs_1sc"](packing="grid")
    check = Check(environment, episodes_of(environment, of_the_crawler(1), 9), 0)
    assert [reading.verdict for reading in check.readings()] == ["agrees", "agrees", "can't be told"]
    still = errors_of(environment, check.episodes, nothing_changes(check.episodes))
    assert (still.shares(still) == 0).all() and better_by(still, still, still) == (0.0, np.inf)


def test_every_other_value_of_an_open_setting_is_tried():
    tried = list(variants(replace(WORLD, keep_target="chase", turning=True)))
    assert tried == [
        ("prefer", "attackers"), ("prefer", "in_reach"), ("keep_target", "in_reach"), ("keep_target", "in_scan"),
        ("keep_target", "in_duel"), ("keep_target", "until_left"), ("keep_target", "until_lost"),
        ("keep_target", "until_dead"), ("scan_to", "centre"), ("anchored", False), ("turning", False),
        ("overkill", False), ("profile", "liberty"),
    ]  # fmt: skip


def test_pace_and_period_of_units_are_those_of_the_table(episodes):
    assert paces(WORLD, episodes)["marine"] == pytest.approx(1.125, abs=1e-4)
    shots = periods(WORLD, episodes)["marine"]
    assert shots.low >= 12.76 and shots.high <= 15.78 and shots.mean == pytest.approx(14.27, abs=0.4)


def test_the_command_prints_what_agrees_and_what_does_not(recording, tmp_path, capsys):
    file = tmp_path / "battles.safetensors"
    write_recording(file, recording)
    with pytest.MonkeyPatch.context() as patched:
        patch(patched, "decentral.api.check_battles.record_game", None)  # it is refused before anything is played
        assert outcome(capsys, "check-battles", str(file), "--record", "3m")[0] == 2
    code, out, _ = outcome(capsys, "check-battles", str(file))
    rows = {line.split("│")[1].strip(): line.split("│")[4].strip() for line in out.splitlines() if "│" in line}
    assert code == 0 and "24 episodes" in out
    assert (rows["enemy ids"], rows["places vary by, cells"], rows["actions available"]) == (
        "differs",
        "agrees",
        "agrees",
    )


def test_the_recipe_of_the_docs_turns_a_vault_into_a_recording(recording, tmp_path, monkeypatch):
    agents = WORLD.num_agents
    own = {
        name: np.asarray(getattr(recording, name))[None]
        for name in ("state", "available", "actions", "rewards", "last")
    }
    vault = {
        "infos": {"state": own["state"], "legals": own["available"].astype(np.float32)},
        "actions": own["actions"].astype(np.int64),
        "rewards": np.repeat(own["rewards"][..., None], agents, axis=2),
        "terminals": np.repeat(own["last"][..., None], agents, axis=2),
        "truncations": np.zeros((*own["last"].shape, agents), bool),
    }
    read = SimpleNamespace(read=lambda: SimpleNamespace(experience=vault))
    monkeypatch.setitem(sys.modules, "flashbax", ModuleType("flashbax"))
    monkeypatch.setitem(sys.modules, "flashbax.vault", SimpleNamespace(Vault=lambda name, vault_uid: read))
    monkeypatch.chdir(tmp_path)
    (recipe,) = [block for block in blocks(PAGE, "python") if "flashbax" in block]
    exec(recipe.replace("5m_vs_6m", "3m"), {})
    found = read_recording(tmp_path / "3m.safetensors")
    for name in own:
        np.testing.assert_array_equal(getattr(found, name), own[name][0])


class Puppet:
    """SMAC's class with a game that shows recorded states whatever is done, and loses the connection once."""

    max_reward, resets = 365, 0

    def __init__(self, recording, map_name, seed, continuing_episode):
        self.recording, self.row = recording, 0

    def reset(self):
        self.row, Puppet.resets = 0, Puppet.resets + 1

    def get_state(self):
        return self.recording.state[self.row]

    def get_obs(self):
        return [[0.0]] * WORLD.num_agents

    def get_avail_actions(self):
        return self.recording.available[self.row].astype(int).tolist()

    def step(self, actions):
        if Puppet.resets == 2:
            return 0, True, {}
        over, self.row = bool(self.recording.last[self.row]), self.row + 1
        return 0.5, over, {"battle_won": False}

    def close(self):
        pass


def test_a_game_is_recorded_by_the_script_and_an_episode_that_breaks_off_is_played_again(recording, monkeypatch):
    monkeypatch.setattr("decentral.environments.adapters.smac.starcraft_class", lambda: partial(Puppet, recording))
    recorded = record_stage(WORLD, SmacStage("3m", True), 2, 0.0, 0)
    steps = int(np.flatnonzero(recording.last)[0]) + 1
    assert Puppet.resets == 3 and recorded.last.sum() == 2 and len(recorded.last) == 2 * steps
    np.testing.assert_array_equal(recorded.state[:steps], recording.state[:steps])
    taken = np.take_along_axis(recorded.available, recorded.actions[..., None], axis=2)
    assert taken.all() and (recorded.actions >= ATTACK).any()


def damaged(recording, **changes):
    """The arrays of a recording with some of them changed."""
    arrays = {name: getattr(recording, name) for name in ("state", "actions", "rewards", "last", "available")}
    return {name: array for name, array in (arrays | changes).items() if array is not None}


BAD = {
    "its note map must be one of 3m": lambda _: ({}, {"map": "MMM2"}),
    "array actions is missing": lambda _: ({"actions": None}, {}),
    "unknown array extra": lambda own: ({"extra": own.rewards}, {}),
    "a state must have 48 numbers, or 21 without": lambda own: ({"state": own.state[:, :20]}, {}),
    "state must be finite numbers": lambda own: ({"state": own.state * np.float32(np.nan)}, {}),
    "shares and places as SMAC scales them": lambda own: ({"state": own.state * 32}, {}),
    "actions must be whole numbers from 0 to 8, got 1 to 9": lambda own: ({"actions": own.actions * 0 + [1, 5, 9]}, {}),
    r"rewards must have shape \(\d+,\)": lambda own: ({"rewards": own.rewards[:-1]}, {}),
    "last must mark the end of at least one": lambda own: ({"last": own.last & False}, {}),
    "must have at most 60 steps on 3m, got": lambda own: ({"last": own.last & (np.arange(len(own.last)) > 99)}, {}),
    "no episode of the recording begins with": lambda own: ({"state": own.state * 0}, {}),
}


@pytest.mark.parametrize("said", BAD)
def test_a_file_that_is_no_recording_is_refused_in_one_line(recording, tmp_path, capsys, said):
    changes, notes = BAD[said](recording)
    arrays = {
        name: np.asarray(array, np.int32 if name == "actions" else array.dtype)
        for name, array in damaged(recording, **changes).items()
    }
    write_arrays(tmp_path / "bad", arrays, {"map": "3m"} | notes)
    code, _, err = outcome(capsys, "check-battles", str(tmp_path / "bad"))
    assert code == 2 and err.count("\n") == 1
    with pytest.raises(ValueError, match=said):
        episodes_of(WORLD, read_recording(tmp_path / "bad"), 9)


@pytest.mark.parametrize(
    "words",
    [
        "none",
        "x --record MMM2",
        "x --record 3m --random 2",
        "x --episodes 0",
        "x --record smac/3m --environment.turning",
        "x --environment.packing heap",
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_one_line(tmp_path, capsys, words):
    file, *rest = words.split()
    code, _, err = outcome(capsys, "check-battles", str(tmp_path / file), *rest)
    assert code == 2 and err.count("\n") == 1 and err.startswith("decentral check-battles: ")
