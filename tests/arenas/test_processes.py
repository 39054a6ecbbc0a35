"""Three processes, a world and two agents that hunt: they become what a run in one process makes of them.

One arena serves all tests: six episodes, a test, a seventh; then agent 0 is killed, and three more are played.
"""

import functools
import os
import shutil
import signal
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
import pytest

import decentral
from decentral.arenas.arena import agent_setups, opened
from decentral.arenas.arena_settings import ArenaSettings
from decentral.arenas.arena_state import ArenaState
from decentral.arenas.audit import retrain
from decentral.arenas.homes import FILE, Places, log_file
from decentral.configs.config import Config
from decentral.configs.members import Member, team_of
from decentral.environments.registry import PredatorPrey
from decentral.training.evaluation import greedy_returns
from decentral.training.loop import begin, key_of_test, turns
from decentral.training.parameters import as_arrays
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.verification.audit.audit import fingerprint
from tests.small import small

SEED, TOGETHER = 3, 6
TERMS = ArenaSettings(save_every=2, wait=True)
PLAN = Plan(batch_episodes=1, replay_episodes=8, epsilon_steps=20, test_episodes=3)
HUNT = PredatorPrey(size=3, length=4, observe_teammate=True)
pytestmark = pytest.mark.xdist_group("arena")


@dataclass(frozen=True)
class StepMessage:
    """What is left of the arena."""

    config: Config
    places: Places
    halfway: Path  # the homes after the test
    returns: list[float]  # of the test
    numbers: list[int]  # of the agents' processes, at first
    missed: list[int]
    deaths: list[str]

    def agent(self, homes, place):
        return decentral.Agent.load(homes / f"seed-{SEED}" / f"agent-{place}" / FILE)


@functools.cache
def arena():
    members = [Member("iql", small("iql"))] * 2
    config = Config(members, "predator-prey", TrainingSetup(team_of(members), HUNT, PLAN))
    root = Path(tempfile.mkdtemp())
    places, halfway = Places(root / "homes", root / "log"), root / "halfway"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JAX_COMPILATION_CACHE_DIR", jax.config.jax_compilation_cache_dir)
        patched.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
        with opened(config, TERMS, ArenaState(SEED, 0, True), places) as playing:
            numbers = [seat.line.process.number for seat in playing.seats]
            for _ in range(TOGETHER):
                playing.play()
            returns = [played.total for played in playing.test()]  # whoever acts in it has learned and saved
            shutil.copytree(places.homes, halfway)
            playing.play()
            os.kill(numbers[0], signal.SIGKILL)
            for _ in range(3):
                playing.play()
            missed, deaths = [seat.missed for seat in playing.seats], playing.seats[0].deaths
    return StepMessage(config, places, halfway, returns, numbers, missed, deaths)


def test_every_agent_has_a_process_of_its_own():
    assert len({os.getpid(), *arena().numbers}) == 3


def test_what_an_agent_learned_can_be_read_by_its_owner_alone():
    homes = arena().places.homes
    files = [path for path in homes.glob("*/*/*") if path.is_file()]
    assert len(files) == 2 and {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert {home.stat().st_mode & 0o777 for home in homes.glob("*/*")} == {0o700}


def test_agents_become_what_they_become_in_one_process():
    """A squad of one is compiled by itself and may differ from two side by side in the last bits of sums, no more."""
    told, setup = arena(), arena().config.setup
    lane = jax.jit(lambda: turns(setup, begin(setup, SEED), TOGETHER, True))()
    for place in (0, 1):
        expected = as_arrays(jax.tree.map(lambda leaf, at=place: leaf[at], lane.agents[0].online))
        found = told.agent(told.halfway, place).parameters
        assert found.keys() == expected.keys()
        for part, array in expected.items():
            np.testing.assert_allclose(found[part], array, rtol=0, atol=2e-6, err_msg=part)
    assert int(lane.steps) == TOGETHER * HUNT.time_limit
    team, acting_models, key = setup.team, (lane.agents[0].online,), key_of_test(lane.steps, SEED)
    in_one_process = jax.jit(lambda: greedy_returns(team, HUNT, acting_models, PLAN.test_episodes, key))()
    np.testing.assert_allclose(told.returns, in_one_process, atol=1e-6)


def test_an_agent_that_was_killed_goes_on_from_its_own_checkpoint_while_the_others_go_on():
    """Saved after six episodes, it loses the seventh and misses the eighth; nobody else notices."""
    told = arena()
    assert told.deaths == [f"process {told.numbers[0]} ended by signal 9"] and told.missed == [1, 0]
    assert [told.agent(told.places.homes, place).episodes for place in (0, 1)] == [6 + 2, 10]
    kinds = [[kind for kind, _ in messages(told, place)] for place in (0, 1)]
    assert [own.count(b"w") for own in kinds] == [2, 1]


def messages(told, place):
    agent_setup = agent_setups(told.config, TERMS, SEED)[place]
    return list(agent_setup.wire.log(log_file(told.places.messages, SEED, place)))


@pytest.mark.parametrize("place", [0, 1])
def test_an_agent_told_its_own_messages_alone_becomes_the_same_to_the_bit(place):
    """Also the one that was killed: what it lost is lost again."""
    told = arena()
    stored = fingerprint(told.agent(told.places.homes, place).parameters)
    audit = retrain(agent_setups(told.config, TERMS, SEED)[place], log_file(told.places.messages, SEED, place), stored)
    assert audit.agrees and audit.other_actions == 0 and audit.alone == stored
    other = retrain(
        agent_setups(told.config, TERMS, SEED)[place], log_file(told.places.messages, SEED, 1 - place), stored
    )
    assert not other.agrees and other.other_actions > 0


def test_nothing_but_the_schema_crosses():
    """The bytes of the agent that lived through all: ten episodes and a test, of four steps each."""
    told = arena()
    spec = HUNT.spec
    percept, header = 4 * spec.observation_size + spec.actions.count, 9
    kinds = Counter(kind for kind, _ in messages(told, 1))
    assert kinds == {b"w": 1, b"r": 10, b"s": 40, b"t": 3, b"p": 9, b"a": 40 + 12, b"c": 1}
    acting_models = (10 + 3 + 9) * percept + 40 * (10 + percept) + 52 * 8
    assert log_file(told.places.messages, SEED, 1).stat().st_size == acting_models + header * kinds.total()
