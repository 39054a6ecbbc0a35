"""What a run keeps in memory is counted byte by byte, without allocating any of it."""

import resource
from pathlib import Path

import pytest

from decentral.algorithms import ALGORITHMS
from decentral.configs.config import resolve
from decentral.runs import memory
from decentral.runs.lanes import LaneBatch
from decentral.runs.memory import GIB, memory_statement, needs
from decentral.settings import Refused
from decentral.training.loop import TrainingSetup
from decentral.training.plan import Plan
from tests.small import small
from tests.worlds import Corridor, Crowd, Fuse

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


@pytest.mark.parametrize(
    ("kind", "size", "words"), [("float32", 4, "3.1 GiB (float32)"), ("bfloat16", 2, "1.6 GiB (bfl")]
)
def test_ten_agents_of_a_large_battle_fit_into_a_graphics_card(kind, size, words, monkeypatch):
    setup = TrainingSetup.alike(small("iql"), Crowd(), Plan(replay_type=kind, steps=750_000))
    assert needs(LaneBatch.describe(setup)).replays == 10 * (5000 * (150 * STEP + 151 * (105 * size + 17)) + 4)
    monkeypatch.setattr(memory, "free_bytes", lambda: 24 * GIB)
    statement = memory_statement(setup.plan, LaneBatch.describe(setup))
    assert statement.startswith(f"replay {words}") and "24.0 GiB free on" in statement


def test_the_tables_of_agents_are_counted(monkeypatch):
    """Values, and for each of them the successors seen and their pairs: 4 bytes each."""
    algorithm = ALGORITHMS["i2q-tabular"]()
    setup = TrainingSetup.alike(algorithm, Corridor(length=1), Plan(replay_episodes=32, seeds=3))
    tables = algorithm.states * 2 * (1 + 2 * algorithm.successors) * 4
    assert 6 * tables <= needs(LaneBatch.describe(setup)).agents < 6 * tables + 300
    monkeypatch.setattr(memory, "free_bytes", lambda: 6 * tables)
    with pytest.raises(Refused, match=r"and the agents .* GiB are free: lower it, the seeds or the agents' sizes, or"):
        memory_statement(setup.plan, LaneBatch.describe(setup))


def test_trainees_side_by_side_are_all_counted(monkeypatch):
    setup = TrainingSetup.alike(small("iql"), Corridor(length=1), Plan(replay_episodes=32, seeds=3))
    alone, both = LaneBatch.describe(setup), LaneBatch.describe(setup, setup)
    assert (needs(both).replays, needs(both).agents) == (2 * needs(alone).replays, 2 * needs(alone).agents)
    of_one_seed = memory_statement(setup.plan, alone).split(" per seed")[0]
    assert memory_statement(setup.plan, both).startswith(of_one_seed)
    monkeypatch.setattr(memory, "free_bytes", lambda: 0)
    with pytest.raises(Refused, match=r"with 3 seeds for each of 2 settings .*: lower it, the seeds, the settings or"):
        memory_statement(setup.plan, both)


def test_a_replay_that_cannot_fit_is_refused_by_name():
    config = resolve("iql", "predator-prey", training_settings={"replay_episodes": 10**9, "steps": 2 * 10**9})
    with pytest.raises(Refused, match=r"training.replay_episodes = 1000000000 in float32 .* GiB are free"):
        memory_statement(config.setup.plan, LaneBatch.describe(config.setup))


def test_a_limit_on_the_memory_of_the_process_counts():
    limits = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + GIB, limits[1]))
    try:
        free = memory.free_bytes()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert GIB / 2 < free < 1.5 * GIB
