"""Numbers that are none are found within a chunk and named; other seeds go on as they would have."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.cli import main
from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.divergence import Health
from decentral.runs.lanes import LaneBatch, nonfinite
from decentral.settings import setting
from decentral.training.loop import begin
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.small import small
from tests.worlds import Corridor

PLAN = {"batch_episodes": 2, "replay_episodes": 8, "test_interval": 20, "test_episodes": 2}
NAN = float("nan")


class Poisoned(Corridor):
    """A corridor whose rewards and percepts can be spoiled: by one number each."""

    rewarded: float = setting(0.0, "added to every reward")
    perceived: float = setting(0.0, "added to all that the second agent perceives")

    def perceive(self, state):
        seen = super().perceive(state)
        spoiled = seen.observation + jnp.stack([0.0 * self.perceived, self.perceived])[:, None]
        return type(seen)(jnp.where(jnp.arange(2)[:, None] == 1, spoiled, seen.observation), seen.available)

    def step(self, state, actions, key):
        state, outcome = super().step(state, actions, key)
        return state, type(outcome)(outcome.reward + self.rewarded, outcome.terminated, outcome.facts)


@functools.cache
def machine():
    """Three seeds of IQL in a corridor."""
    setup = TrainingSetup.alike(small("iql"), Poisoned(length=2), Plan(seeds=3, **PLAN))
    return LaneBatch.start(setup)


def poisoned(**numbers):
    """What is found after a chunk in which learning has begun, with these numbers of the world."""
    own = machine()
    environment = Poisoned(length=2)
    for name, value in numbers.items():
        object.__setattr__(environment, name, value)
    spoiled = LaneBatch.start(TrainingSetup(own.setup.team, environment, own.setup.plan))
    spoiled.advance(4)
    return Health().look(spoiled)


def test_all_is_well_while_it_is():
    assert poisoned() == []


def test_a_reward_that_is_no_number_is_named():
    found = poisoned(rewarded=NAN)
    assert [own.seed for own in found] == [0, 1, 2] and {own.tensor for own in found} == {"rewards"}


def test_a_percept_that_is_no_number_is_found_in_the_agent_who_learns_from_it():
    found = poisoned(perceived=NAN)
    assert [(own.seed, own.agent) for own in found] == [(0, 1), (1, 1), (2, 1)]
    assert found[0].tensor.startswith("online.") and found[0].step == 8


@pytest.mark.parametrize("name", ["i2q-tabular", "lenient", "bql"])
def test_newborns_whose_tables_hold_infinities_are_sound(name):
    setup = TrainingSetup.alike(small(name), Corridor(length=2), Plan(**PLAN))
    bad, _ = jax.jit(lambda: nonfinite(begin(setup, 0)))()
    assert not bad


@pytest.fixture
def fault(monkeypatch):
    """From the 30th turn on, one weight of the second agent of seed 1 is not a number."""
    advance = LaneBatch.advance

    def spoiling(machine, count):
        advance(machine, count)
        if machine.turn >= 30:
            spoil = lambda leaf: leaf.at[1, 1].set(NAN) if leaf.dtype == jnp.float32 else leaf  # noqa: E731
            online = jax.tree.map(spoil, machine.lanes.agents[0].online)
            object.__setattr__(machine.lanes.agents[0], "online", online)

    monkeypatch.setattr(LaneBatch, "advance", spoiling)


def train(out):
    words = [
        "train",
        "iql",
        "matrix-game",
        "--seeds",
        "2",
        "--steps",
        "60",
        "--algorithm.hidden",
        "4",
        "--out",
        str(out),
    ]
    words += [f"--training.{name}={value}" for name, value in PLAN.items()] + ["--checkpoints.interval", "0"]
    main(words)


def test_a_seed_that_diverges_is_named_and_the_others_go_on(tmp_path, capsys, fault, monkeypatch):
    with pytest.raises(SystemExit) as stop:
        train(tmp_path / "spoiled")
    assert stop.value.code == 3
    said = "".join(capsys.readouterr().out.splitlines())
    assert said.count("seed 1 diverged by step") == 2 and "agent 1, online." in said and "other seeds go on" in said
    run = decentral.load(tmp_path / "spoiled")
    (own,) = run.diverged
    assert own["seed"] == 1 and own["agent"] == 1 and 30 <= own["step"] <= 60
    monkeypatch.undo()
    train(tmp_path / "sound")
    for agent in (0, 1):
        sound, beside = (RunDirectory(tmp_path / name).read_agent(0, agent) for name in ("sound", "spoiled"))
        for name in sound:
            np.testing.assert_array_equal(sound[name], beside[name])
    moments = [Checkpoints.of(run.directory).info(turn) for turn in Checkpoints.of(run.directory).turns()]
    assert [len(moment.diverged) for moment in moments] == [1, 1, 0]  # two, and the last one that was sound
    assert moments[-1].turn < own["step"] <= moments[1].turn
