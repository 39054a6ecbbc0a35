"""The arena of one seed: the environment runs in this process, every agent in its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.agents import Agent
from decentral.agents.agent_config import PLANNED, AgentConfig
from decentral.arenas.arena_agent import AgentSetup
from decentral.arenas.arena_settings import ArenaSettings, RewardLine
from decentral.arenas.arena_state import ArenaState, SeatState
from decentral.arenas.channel import AgentLine, ProcessLine
from decentral.arenas.episode import Played, play
from decentral.arenas.homes import FILE, Places, prepare_home
from decentral.arenas.log import MessageLog
from decentral.arenas.seat import Seat
from decentral.configs.config import Config
from decentral.environments.base import BaseEnvironment, Environment
from decentral.environments.host.checks import CheckedStage
from decentral.environments.host.compiled import SteppedStage
from decentral.environments.host.interface import HostEnvironment, Stage
from decentral.errors import Failed
from decentral.records.durable import Fingerprint
from decentral.settings import as_data
from decentral.training.evaluation import keys_of_test_episodes
from decentral.training.host.rollout import seed_of
from decentral.training.loop import environment_stream, key_of_test

Open = Callable[[AgentSetup, Path], AgentLine]


class Arena:
    """An environment and the seats of its agents."""

    def __init__(self, config: Config, seed: int, stage: Stage, seats: list[Seat], wait: bool):
        self.config, self.seed, self.stage, self.seats, self.wait = config, seed, stage, seats, wait
        self.stream = environment_stream(seed)
        self.steps = self.episodes = 0

    @property
    def environment(self) -> BaseEnvironment:
        return self.config.setup.environment

    def play(self) -> Played:
        """Play one episode, from which all agents that are present learn."""
        for seat in self.seats:
            seat.call(self.wait)
        key, self.stream = jax.random.split(self.stream)
        played = play(self.environment, self.stage, self.seats, _seeds(jax.random.split(key, 1))[0])
        self.steps, self.episodes = self.steps + played.steps, self.episodes + 1
        return played

    def gather(self, unless: Callable[[], bool] = lambda: False) -> None:
        """Wait until all agents are present, `unless` there is no time left."""
        for seat in self.seats:
            seat.call(True, unless)

    def save(self, turn: int) -> list[SeatState] | None:
        """Let every agent save itself at a turn. None if one is away or dies while saving."""
        if not all(seat.present for seat in self.seats):
            return None
        files = [seat.save(turn) for seat in self.seats]
        saved = [SeatState.of(seat, file) for seat, file in zip(self.seats, files, strict=True) if file is not None]
        return saved if len(saved) == len(self.seats) else None

    def restore(self, state: ArenaState) -> None:
        """Restore the environment's side from a checkpoint."""
        self.steps, self.episodes = state.steps, state.episodes
        self.stream = jax.random.wrap_key_data(jnp.asarray(state.stream))
        for seat, seat_state in zip(self.seats, state.seats, strict=True):
            seat_state.put_into(seat)

    def test(self) -> list[Played]:
        """Greedy episodes of the whole team, in the same environments as the tests of a run with this seed."""
        self.gather()
        keys = keys_of_test_episodes(self.config.setup.plan.test_episodes, key_of_test(self.steps, self.seed))
        return [play(self.environment, self.stage, self.seats, seed, shown=True) for seed in _seeds(keys[:, 1])]


def _seeds(keys: jax.Array) -> list[int]:
    return [seed_of(bits) for bits in np.asarray(jax.random.key_data(keys))]


@contextmanager
def opened(
    config: Config,
    terms: ArenaSettings,
    state: ArenaState,
    places: Places,
    open_line: Open = ProcessLine,
    unless: Callable[[], bool] = lambda: False,
) -> Iterator[Arena]:
    """An arena at the start of a seed, or at a checkpoint. Its agents are awake, `unless` there is no time to wait.

    When it closes, the agents that are between two episodes save themselves.
    """
    seed, turn = state.seed, state.turn if state.seats else None
    with ExitStack() as closing:
        stage = _stage(config.setup.environment)
        closing.callback(stage.close)
        held = [seat.log for seat in state.seats] or [None] * len(config.members)
        logs = [_opened_log(places.log(seed, place), fingerprint, closing) for place, fingerprint in enumerate(held)]
        seats: list[Seat] = []
        closing.push(partial(_dismiss, seats))  # before the logs are closed, since it sends the last messages
        for place, agent_setup in enumerate(agent_setups(config, terms, seed)):
            home = places.home(seed, place)
            prepare_home(home, turn)
            rewards = RewardLine(terms.reward_delay, terms.reward_loss, np.random.default_rng([seed, place]))
            seats.append(Seat(agent_setup, partial(open_line, agent_setup, home), rewards, terms, logs[place]))
        arena = Arena(config, seed, stage, seats, terms.wait)
        if state.seats:
            arena.restore(state)
        arena.gather(unless)
        yield arena
        arena.gather()


def agent_setups(config: Config, terms: ArenaSettings, seed: int) -> list[AgentSetup]:
    """What every agent of a configuration knows before its first percept."""
    setup = config.setup
    environment, plan = setup.environment, as_data(setup.plan)
    common: dict[str, Any] = {key: plan[key] for key in PLANNED} | {
        "seed": seed,
        "time_limit": environment.time_limit,
        "may_end_early": environment.may_end_early,
        "team_size": environment.num_agents,
    }
    result, specs = [], environment.agent_specs
    for place, member in enumerate(config.members):
        spaces = environment.agent_spaces(place)
        settings = {
            "place": place,
            "name": spaces.name,
            "first_action": spaces.first_action,
            "update_period": member.schedule.update_period,
            **as_data(member.algorithm),
        }
        result.append(
            AgentSetup(AgentConfig.of(member.name, specs[place], common | settings, environment.spec), terms.save_every)
        )
    return result


def learned(places: Places, seed: int, place: int) -> dict[str, np.ndarray]:
    """The parameters of an agent as it saved itself."""
    return Agent.load(places.home(seed, place) / FILE).parameters


def _stage(environment: BaseEnvironment) -> Stage:
    if isinstance(environment, Environment):
        return SteppedStage(environment)
    if isinstance(environment, HostEnvironment):
        environment.check_ready()
        return CheckedStage(environment)
    raise TypeError(f"{type(environment).__name__} is neither compiled nor in Python")


def _opened_log(file: Path | None, held: Fingerprint | None, closing: ExitStack) -> MessageLog | None:
    if file is None:
        return None
    log = MessageLog(file, held)
    closing.callback(log.close)
    return log


def _dismiss(seats: list[Seat], kind: type[BaseException] | None, *_: Any) -> None:
    """Let all agents save themselves and end. Fails if one could not, unless another error is under way."""
    dismissals = [seat.dismiss() for seat in seats]  # tell all of them before waiting for any
    ends = [seat.close() for seat in seats]
    troubles = [
        f"{seat.name}: {trouble or end}"
        for seat, trouble, end in zip(seats, dismissals, ends, strict=True)
        if trouble or end
    ]
    if troubles and kind is None:
        raise Failed(f"an agent could not save itself: {'; '.join(troubles)}")
