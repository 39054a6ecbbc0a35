"""What a run keeps in memory is counted byte by byte, without allocating any of it."""

import resource
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.configs.config import resolve
from decentral.errors import Failed
from decentral.runs import memory
from decentral.runs.checkpointing.state import as_tensors, from_arrays
from decentral.runs.lanes import LaneBatch, programs
from decentral.runs.memory import GIB, capacity, memory_statement, needs
from decentral.settings import Refused
from decentral.training import setup as training_setup
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.host_worlds import Hosted
from tests.small import small
from tests.worlds import Corridor, Crowd, Fuse, Hall

STEP = 1 + 4 + 1 + 1  # action, reward, terminated, happened


@pytest.mark.parametrize(
    ("plan", "episodes"),
    [
        ({"replay_episodes": 100}, 100),
        ({"steps": 1600, "batch_episodes": 8}, 16),  # no more than can be played
        ({"steps": 1601, "batch_episodes": 8}, 32),  # in powers of two
        ({"steps": 100}, 32),  # a batch, though it is never filled
        ({"steps": 1700, "num_environments": 9, "batch_episodes": 8}, 32),  # the last turn is taken as a whole
    ],
)
def test_the_replay_of_a_seed_is_counted_byte_by_byte(plan, episodes):
    config = resolve("iql", "predator-prey", training_settings=plan)
    percept = 6 * 4 + 5  # observation, available
    assert needs(LaneBatch.describe(config.setup)).replays == 2 * (episodes * (100 * STEP + 101 * percept) + 4)


def test_where_episodes_may_end_early_each_step_may_be_one():
    setup = TrainingSetup.alike(small("iql"), Fuse(limit=20), Plan(steps=100, batch_episodes=8))
    assert setup.environment.may_end_early and setup.replay_capacity == 128


def test_a_large_replay_has_room_for_what_was_played_and_not_for_what_might_be(monkeypatch):
    setup = TrainingSetup.alike(small("iql"), Hall(), Plan(steps=1600, replay_episodes=2000))
    rooms = {played: setup.capacity_after(played) for played in (0, 32, 33, 2000)}
    assert rooms == {0: 32, 32: 32, 33: 64, 2000: 2000}  # a batch at first: 1600 steps are 11 episodes, or up to 1600
    lanes = LaneBatch.describe(setup, episodes=33)
    assert lanes.replays[0].episodes.rewards.shape == (1, 10, 64, 150)
    monkeypatch.setattr(memory, "free_bytes", lambda: 4 * GIB)
    assert memory_statement(setup, lanes).startswith("replay 3.6 GiB (float32), at most 112.6 GiB, and agents 4.6 MiB")


def test_a_replay_that_is_soon_full_is_not_compiled_for_every_size():
    setup = TrainingSetup.alike(small("iql"), Fuse(limit=20), Plan(steps=100, batch_episodes=8))
    assert setup.capacity_after(0) == setup.replay_capacity


@pytest.mark.parametrize(
    ("kind", "size", "words"), [("float32", 4, "3.1 GiB (float32)"), ("bfloat16", 2, "1.6 GiB (bfl")]
)
def test_ten_agents_of_a_large_battle_fit_into_a_graphics_card(kind, size, words, monkeypatch):
    setup = TrainingSetup.alike(small("iql"), Crowd(), Plan(replay_type=kind, steps=750_000))
    assert needs(LaneBatch.describe(setup)).replays == 10 * (5000 * (150 * STEP + 151 * (105 * size + 17)) + 4)
    monkeypatch.setattr(memory, "free_bytes", lambda: 24 * GIB)
    statement = memory_statement(setup, LaneBatch.describe(setup))
    assert statement.startswith(f"replay {words}") and "24.0 GiB free on" in statement


def test_agents_that_are_spread_over_accelerators_have_the_memory_of_all(monkeypatch):
    setup = resolve("iql", "porters", environment_settings={"num_porters": 64}, training_settings={"steps": 1000}).setup
    lanes = LaneBatch.describe(setup)
    monkeypatch.setattr(memory, "free_bytes", lambda: (needs(lanes).replays + needs(lanes).agents) // 3)

    def statement(accelerators):
        monkeypatch.setattr("jax.devices", lambda: [SimpleNamespace(platform="gpu")] * accelerators)
        return memory_statement(setup, lanes)

    assert statement(4).endswith("free on gpu, on each of 4 devices")
    with pytest.raises(Refused, match="GiB are free: lower it"):
        statement(2)


def test_the_tables_of_agents_are_counted(monkeypatch):
    """Values, and for each of them the successors seen and their pairs: 4 bytes each."""
    algorithm = ALGORITHMS["i2q-tabular"]()
    setup = TrainingSetup.alike(algorithm, Corridor(length=1), Plan(replay_episodes=32, seeds=3))
    tables = algorithm.states * 2 * (1 + 2 * algorithm.successors) * 4
    assert 6 * tables <= needs(LaneBatch.describe(setup)).agents < 6 * tables + 300
    monkeypatch.setattr(memory, "free_bytes", lambda: 6 * tables)
    with pytest.raises(
        Refused, match=r"^the agents of 3 seeds need .* MiB of memory, .* GiB are free: lower their sizes"
    ):
        memory_statement(setup, LaneBatch.describe(setup))


def test_trainees_side_by_side_are_all_counted(monkeypatch):
    setup = TrainingSetup.alike(small("iql"), Corridor(length=1), Plan(replay_episodes=32, seeds=3))
    alone, both = LaneBatch.describe(setup), LaneBatch.describe(setup, setup)
    assert (needs(both).replays, needs(both).agents) == (2 * needs(alone).replays, 2 * needs(alone).agents)
    of_one_seed = memory_statement(setup, alone).split(" per seed")[0]
    assert memory_statement(setup, both).startswith(of_one_seed)
    monkeypatch.setattr(memory, "free_bytes", lambda: needs(both).agents)
    with pytest.raises(Refused, match=r"with 3 seeds for each of 2 settings .*: lower it, the seeds, the settings or"):
        memory_statement(setup, both)


def test_a_replay_that_cannot_fit_is_refused_by_name():
    config = resolve("iql", "predator-prey", training_settings={"replay_episodes": 10**9, "steps": 2 * 10**9})
    with pytest.raises(Refused, match=r"training.replay_episodes = 1000000000 in float32 .* GiB are free"):
        memory_statement(config.setup, LaneBatch.describe(config.setup))


def test_where_nothing_is_replayed_no_replay_is_spoken_of(monkeypatch):
    config = resolve("ippo", "matrix-game", training_settings={"batch_episodes": 16})
    lanes = LaneBatch.describe(config.setup)
    assert memory_statement(config.setup, lanes).startswith("episodes of an update 0.0 MiB (float32) and agents ")
    monkeypatch.setattr(memory, "free_bytes", lambda: needs(lanes).agents + needs(lanes).replays // 2)
    with pytest.raises(Refused, match=r"^training.batch_episodes = 16 in float32 .*: lower it to 8, the seeds") as told:
        memory_statement(config.setup, lanes)
    assert "replay_episodes" not in str(told.value)


@pytest.mark.parametrize(
    ("kind", "help"),
    [
        ("float32", r"lower it to 2668, the seeds .*, or take training.replay_type float16, which needs 3.9 GiB$"),
        ("bfloat16", r"lower it to 5126, the seeds or the agents' sizes$"),
    ],
)
def test_a_hundred_agents_that_do_not_fit_are_told_how_many_episodes_and_which_type_would(kind, help, monkeypatch):
    plan = {"steps": 5_000_000, "replay_type": kind, "replay_episodes": 5000 if kind == "float32" else 6000}
    config = resolve("iql", "porters", environment_settings={"num_porters": 100}, training_settings=plan)
    lanes = LaneBatch.describe(config.setup)
    episode = 50 * STEP + 51 * (75 * (4 if kind == "float32" else 2) + 6)
    assert needs(lanes).replays == 100 * (plan["replay_episodes"] * episode + 4)
    free = 4 * GIB if kind == "float32" else 4 * GIB - 2**10
    monkeypatch.setattr(memory, "free_bytes", lambda: free)
    with pytest.raises(Refused, match=help) as refusal:
        memory_statement(config.setup, lanes)
    told = int(str(refusal.value).split("lower it to ")[1].split(",")[0])
    assert 100 * told * episode + needs(lanes).agents <= free < 100 * (told + 2) * episode + needs(lanes).agents


def test_a_limit_on_the_memory_of_the_process_counts():
    limits = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + GIB, limits[1]))
    try:
        free = memory.free_bytes()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert GIB / 2 < free < 1.5 * GIB


def test_a_run_whose_replay_grows_learns_as_one_whose_replay_was_large_enough(monkeypatch):
    """From room for 4 episodes to room for 8. Saved when it has grown, it can be restored."""
    plan = Plan(steps=6, batch_episodes=1, replay_episodes=8)
    setup = TrainingSetup.alike(small("iql"), Hosted(limit=2, longest=1.0), plan)
    large = LaneBatch.start(setup)
    large.advance(5)
    monkeypatch.setattr(training_setup, "RESERVED_AT_ONCE", 0)
    programs.cache_clear()  # those before have room for 8 from the start
    grown = LaneBatch.start(setup)
    assert capacity(grown.lanes) == 4
    monkeypatch.setattr(memory, "free_bytes", lambda: 100)
    with pytest.raises(
        Failed, match=r"must grow from 4 to 8 episodes, .* 0.0 GiB are free: resume where there is more"
    ):
        grown.advance(5)
    monkeypatch.undo()
    grown.advance(5)
    stored = [
        {name: array.fetch() for part in as_tensors(of.lanes, range(1)).values() for name, array in part.items()}
        for of in (large, grown)
    ]
    assert all(np.array_equal(array, stored[1][name]) for name, array in stored[0].items())
    restored = from_arrays(LaneBatch.describe(setup, episodes=5), stored[1], "here")
    assert capacity(restored) == 8 and np.array_equal(restored.replays[0].remembered, [[5, 5]])
    programs.cache_clear()
