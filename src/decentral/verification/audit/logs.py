"""Retraining a whole team to write the logs of single agents: what each of them experienced.

A log is read from the agent's replay, turn by turn, while the run's own program trains it: logging does not change what
is computed.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.algorithms.base import AgentState, Models
from decentral.environments.host.interface import HostEnvironment
from decentral.runs.host import rollout_for
from decentral.runs.lanes import LaneBatch
from decentral.runs.runner import evaluation_steps
from decentral.training.evaluation import greedy_episodes
from decentral.training.host.loop import host_greedy_episodes
from decentral.training.loop import key_of_test
from decentral.training.parameters import as_arrays
from decentral.training.replay import Buffer, unpack
from decentral.training.rollout import Trajectory, hand_out
from decentral.training.setup import TrainingSetup
from decentral.training.squads.base import Agents, Replays
from decentral.training.squads.separate import Separate
from decentral.types import Episode
from decentral.verification.audit.alone import AgentLog, longest_of_updates

MOST_TURNS = 256  # logged at once
ROUNDING = 1e-5


@dataclass(frozen=True)
class Test:
    """A greedy test, as one agent experienced it."""

    turns: int  # played before it
    steps: int
    episodes: Episode  # [E, ...]


@dataclass(frozen=True)
class RetrainedAgent:
    """One agent at the end of a retrained run, with its log and its tests."""

    agent: AgentState
    log: AgentLog
    tests: list[Test]


def retrain_with_log(setup: TrainingSetup, seed: int, places: Sequence[int]) -> dict[int, RetrainedAgent]:
    """Train and test the whole team again: the final state and the logs of some agents of one seed."""
    wheres = {place: _squad_and_number(setup, place) for place in places}
    parts: dict[int, list[AgentLog]] = {place: [] for place in places}
    tests: dict[int, list[Test]] = {place: [] for place in places}
    lane, at_once = seed - setup.plan.seed, min(_turns_at_once(setup, squad) for squad, _ in wheres.values())
    with closing(LaneBatch.start(setup)) as lane_batch, closing(_Tester(setup, seed)) as tester:
        for step in evaluation_steps(setup.plan):
            if lane_batch.turn > 0 and lane_batch.steps.min() >= step:
                continue  # as in the run: a turn is longer than the interval
            while left := lane_batch.turns_until(step):
                for place, part in _advance(lane_batch, min(left, at_once), lane, wheres).items():
                    parts[place].append(part)
            records = tester.test(lane_batch, lane)
            for place in places:
                record = jax.tree.map(lambda leaf, place=place: leaf[place], records)
                tests[place].append(Test(lane_batch.turn, int(lane_batch.steps[lane]), record))
        return {
            place: RetrainedAgent(
                agent_at(lane_batch.lanes.agents[squad], lane, number),
                jax.tree.map(lambda *pieces: np.concatenate(pieces), *parts[place]),
                tests[place],
            )
            for place, (squad, number) in wheres.items()
        }


class _Tester:
    """Plays the tests of a run again and keeps every agent's records of them."""

    def __init__(self, setup: TrainingSetup, seed: int):
        self.setup, self.seed = setup, seed
        self.rollout = rollout_for(setup) if isinstance(setup.environment, HostEnvironment) else None

    def test(self, lane_batch: LaneBatch, lane: int) -> Episode:
        """Every agent's record of the test that is due now [N, E, ...]."""
        team, plan = self.setup.team, self.setup.plan
        acting_models = team.each(lambda squad, agents: squad.acting_models(agents), lane_batch.lanes.agents)
        acting_models = jax.device_get(jax.tree.map(lambda leaf: leaf[lane], acting_models))
        key = key_of_test(int(lane_batch.steps[lane]), self.seed)
        if self.rollout is None:
            return jax.device_get(_greedy_records(self.setup, acting_models, key))
        alone = jax.tree.map(lambda leaf: leaf[None], acting_models)
        played = host_greedy_episodes(self.rollout, self.setup, alone, plan.test_episodes, key)
        return jax.device_get(_handed_out(jax.tree.map(lambda leaf: leaf[0], played)))

    def close(self) -> None:
        if self.rollout is not None:
            self.rollout.close()


@jax.jit
def _greedy_records(setup: TrainingSetup, acting_models: tuple[Models, ...], key: Key[Array, ""]) -> Episode:
    return _handed_out(
        greedy_episodes(setup.team, setup.compiled_environment, acting_models, setup.plan.test_episodes, key)
    )


def _handed_out(played: Trajectory) -> Episode:
    return jax.vmap(hand_out, out_axes=1)(played)


def agent_at(agents: Agents, lane: int, number: int) -> AgentState:
    """One agent of a squad's [S, n]; moved to the host if the run is spread over several devices."""

    def on_host(leaf: Array) -> np.ndarray | Key[Array, ""]:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(jnp.asarray(np.asarray(jax.random.key_data(leaf))))
        return np.asarray(leaf)

    agent = _at(agents, lane, number)
    return agent if len(agent.key.devices()) == 1 else jax.tree.map(on_host, agent)


@jax.jit
def _at(agents: Agents, lane: Int[Array, ""] | int, number: Int[Array, ""] | int) -> AgentState:
    return jax.tree.map(lambda leaf: leaf[lane, number], agents)


def same_state(one: AgentState, other: AgentState) -> bool:
    """Are the complete states of two agents the same, up to rounding?"""
    pairs = zip(_arrays(one).values(), _arrays(other).values(), strict=True)
    return all(_same_numbers(ours, theirs) for ours, theirs in pairs)


def _same_numbers(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal up to rounding; integers, such as keys and counters, must be equal."""
    if not np.issubdtype(one.dtype, np.floating):
        return np.array_equal(one, other)
    return np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)


def _arrays(agent: AgentState) -> dict[str, np.ndarray]:
    return as_arrays(eqx.tree_at(lambda old: old.key, agent, jax.random.key_data(agent.key)))


def _advance(lane_batch: LaneBatch, count: int, lane: int, wheres: dict[int, tuple[int, int]]) -> dict[int, AgentLog]:
    """Advance a run by some turns; returns the logs of some agents, blank before they joined."""
    squads = {squad for squad, _ in wheres.values()}
    before, steps = {squad: _remembered(lane_batch, squad)[lane] for squad in squads}, lane_batch.steps[lane]
    keys = {squad: _keys_of_learning(lane_batch.setup, lane_batch.lanes.agents[squad], squad) for squad in squads}
    lane_batch.advance(count)
    longest = {squad: _longest(lane_batch.setup, keys[squad], lane_batch.lanes.replays[squad]) for squad in squads}
    passed = np.asarray([lane_batch.steps[lane] - steps])
    return {
        place: _read(lane_batch, count, (lane, *where), before[where[0]], (passed, np.asarray(longest[where[0]])))
        for place, where in wheres.items()
    }


def _read(
    lane_batch: LaneBatch, count: int, where: tuple[int, int, int], before: np.ndarray, common: tuple[np.ndarray, ...]
) -> AgentLog:
    """What one agent put into its replay in the last turns."""
    (lane, squad, number), (passed, longest) = where, common
    beside = longest[_share(lane, longest.shape[0], lane_batch.programs.placement.seeds)]
    beside = beside[:, :, _share(number, longest.shape[2], lane_batch.programs.placement.agents)]
    plan, each = lane_batch.setup.plan, np.tile(beside.max(axis=(0, 2)), (count, 1))
    capacity = lane_batch.setup.team.squads[squad].room(plan, lane_batch.setup.replay_capacity)
    slots = (before[number] + np.arange(count * plan.num_environments)) % capacity
    episodes = jax.device_get(_written(lane_batch.lanes.replays[squad], lane, number, slots))
    turns = jax.tree.map(lambda leaf: leaf.reshape(count, plan.num_environments, *leaf.shape[1:]), episodes)
    if _remembered(lane_batch, squad)[lane, number] == before[number]:
        return AgentLog(jax.tree.map(np.zeros_like, turns), passed, each)
    return AgentLog(turns, turns.happened.sum(axis=(1, 2), dtype=np.int32), each)


def _share(number: int, count: int, devices: int) -> slice:
    """Those who are computed on the same device as one of them."""
    size = count // devices
    return slice(number // size * size, number // size * size + size)


@partial(jax.jit, static_argnums=2)
def _keys_of_learning(setup: TrainingSetup, agents: Agents, squad: int) -> Key[Array, "lanes n"]:
    """The keys with which the agents of a squad will learn in the next turn."""
    return jax.vmap(lambda agents_of_lane: setup.team.squads[squad].draw_keys(agents_of_lane, 2)[1][1])(agents)


@jax.jit
def _longest(setup: TrainingSetup, keys: Key[Array, "lanes n"], replays: Replays) -> Int[Array, "lanes updates n"]:
    """The length of the longest episode that each agent drew for each update of the last turn."""
    if len(setup.batch.lengths) == 1:
        return jnp.full((keys.shape[0], setup.plan.updates_per_turn, keys.shape[1]), setup.environment.time_limit)
    return jax.vmap(partial(longest_of_updates, setup))(keys, replays)


def _remembered(lane_batch: LaneBatch, squad: int) -> np.ndarray:
    """How many episodes every agent of a squad has put into its replay [S, n]."""
    return np.asarray(lane_batch.lanes.replays[squad].remembered)


@jax.jit
def _written(
    replays: Buffer, lane: Int[Array, ""] | int, number: Int[Array, ""] | int, slots: Int[Array, " slots"]
) -> Episode:
    """The episodes in some slots of one agent's replay, without their annotations."""
    return replace(unpack(jax.tree.map(lambda leaf: leaf[lane, number, slots], replays.episodes)), annotations=())


def _squad_and_number(setup: TrainingSetup, place: int) -> tuple[int, int]:
    """The squad of a place, and the agent's number in it."""
    return next(
        (number, squad.places.index(place)) for number, squad in enumerate(setup.team.squads) if place in squad.places
    )


def _turns_at_once(setup: TrainingSetup, squad_number: int) -> int:
    """As many as a replay holds; one by one where an agent joins later or updates differ in length."""
    squad = setup.team.squads[squad_number]
    joins_later = isinstance(squad, Separate) and squad.schedule.joins_at > 0
    if joins_later or len(setup.batch.lengths) > 1:
        return 1
    return min(MOST_TURNS, squad.room(setup.plan, setup.replay_capacity) // setup.plan.num_environments)
