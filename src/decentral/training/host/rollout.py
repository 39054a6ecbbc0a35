"""Episodes of all lanes in a host environment: stepped and recorded in Python, with compiled action selection."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.algorithms.base import Memory, Models, Statistics
from decentral.algorithms.q_learning import Dice
from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Step
from decentral.environments.host.stages import Stages
from decentral.environments.host.wire import Question
from decentral.errors import Failed
from decentral.training.rollout import Player, Trajectory, team_player
from decentral.training.team import Team
from decentral.types import ActionKind, Percept, kind_of

Written = dict[str, Any]  # arrays by name, and by name those of the facts


class EpisodeSheet:
    """Room for one episode of a whole team: T steps and P = T + 1 percepts."""

    def __init__(self, environment: HostEnvironment):
        steps, agents, spec = environment.time_limit, environment.num_agents, environment.spec
        self.observation = np.zeros((steps + 1, agents, spec.observation_size), np.float32)
        self.available = np.zeros((steps + 1, agents, spec.actions.count), bool)
        self.actions = np.zeros((steps, agents, *spec.actions.shape), spec.actions.dtype)
        self.rewards = np.zeros(steps, np.float32)
        self.terminated = np.zeros(steps, bool)
        self.happened = np.zeros(steps, bool)
        if environment.has_own_rewards:
            self.own_rewards = np.zeros((steps, agents), np.float32)
        self.facts = {name: np.zeros(steps, np.float32) for name in environment.fact_names}
        self.taken = 0
        self.over = False

    @property
    def percepts(self) -> Percepts:
        """What the team perceives now."""
        return Percepts(self.observation[self.taken], self.available[self.taken])

    def begin(self, percepts: Percepts) -> None:
        """Write down what is perceived before the first step."""
        self.observation[0], self.available[0] = percepts

    def add(self, actions: np.ndarray, step: Step) -> None:
        """Write down a step. After the last one (terminated, truncated or at the limit) the rest is padded."""
        step_index = self.taken
        self.actions[step_index], self.rewards[step_index] = actions, step.reward
        self.terminated[step_index], self.happened[step_index] = step.terminated, True
        if step.own_rewards is not None:
            self.own_rewards[step_index] = step.own_rewards
        for name, fact in step.facts.items():
            self.facts[name][step_index] = fact
        self.taken += 1
        self.observation[self.taken], self.available[self.taken] = step.percepts
        self.over = step.terminated or step.truncated or self.taken == len(self.rewards)
        if self.over:
            self._pad()

    def _pad(self) -> None:
        """Repeat the last percepts, and an action that was available then; zeros where actions are continuous."""
        last, step_index = self.percepts, self.taken
        self.observation[step_index + 1 :], self.available[step_index + 1 :] = last
        if self.actions.ndim == 2:
            self.actions[step_index:] = last.available.argmax(axis=1)

    def written(self) -> Written:
        """All of it, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray | dict)}


MOST_ATTEMPTS = 10  # at one episode


class Cast(eqx.Module):
    """Who plays the next episodes of a lane, and their dice."""

    team: Team
    acting_models: tuple[Models, ...]  # by squad, like all fields below
    statistics: tuple[Statistics, ...]
    epsilons: tuple[Array, ...]
    dice: tuple[Dice, ...]  # [episodes, T, n], or of one episode [T, n]

    @property
    def player(self) -> Player:
        return team_player(self.team, self.acting_models, self.statistics, self.epsilons, self.dice)


@dataclass(frozen=True)
class Job:
    """An episode to be played."""

    lane: int
    episode: int
    attempt: int = 0  # how many times it broke off

    def seed(self, bits: np.ndarray) -> int:
        """The seed of the episode, from all bits of its key; a new attempt gets a new key."""
        key_bits = bits[self.lane, self.episode]
        if self.attempt:
            key_bits = np.asarray(
                jax.random.key_data(jax.random.fold_in(jax.random.wrap_key_data(key_bits), self.attempt))
            )
        return seed_of(key_bits)


def seed_of(bits: np.ndarray) -> int:
    """All bits of a key [2] as one number, the seed of a stage's episode."""
    return int.from_bytes(bits.astype(">u4").tobytes(), "big")


class HostRollout:
    """Plays whole episodes of all lanes, as many at the same time as there are stages.

    Which stage plays which episode depends on their numbers only, and all randomness comes from the keys.
    """

    def __init__(self, stages: Stages, say: Callable[[str], None]):
        self.environment = stages.environment
        self.stages = stages
        self.say = say
        self.dropped = 0  # episodes that broke off

    def close(self) -> None:
        """Close the environment, and report any trouble."""
        for trouble in self.stages.close():
            self.say(trouble)

    def play(self, casts: Cast, keys: Key[Array, "lanes episodes"]) -> Trajectory:
        """An episode for every key [lanes, episodes, ...], played by its lane's cast [lanes, ...]."""
        played: dict[tuple[int, ...], EpisodeSheet] = {}
        bits = np.asarray(jax.random.key_data(keys))
        waiting = deque(Job(*place) for place in np.ndindex(keys.shape))
        while waiting:
            jobs = [waiting.popleft() for _ in range(min(self.stages.count, len(waiting)))]
            for job, sheet in zip(jobs, self._play_together(casts, bits, jobs), strict=True):
                if sheet.over:
                    played[job.lane, job.episode] = sheet
                else:
                    waiting.append(replace(job, attempt=job.attempt + 1))
        every = [played[place].written() for place in np.ndindex(keys.shape)]
        return _as_trajectories(jax.tree.map(lambda *of: np.stack(of).reshape(*keys.shape, *of[0].shape), *every))

    def _play_together(self, casts: Cast, bits: np.ndarray, jobs: Sequence[Job]) -> list[EpisodeSheet]:
        """The records of a few episodes, one per stage; the record of one that broke off is not `over`."""
        alike = [*jobs, *[jobs[0]] * (self.stages.count - len(jobs))]  # as many as stages: one shape, one program
        lanes, episodes = (np.asarray([getattr(job, name) for job in alike]) for name in ("lane", "episode"))
        cast, memories, actions = _enter(
            casts, lanes, episodes, self.environment.num_agents, self.environment.spec.actions
        )
        sheets = [EpisodeSheet(self.environment) for _ in alike]
        answers = self._ask(jobs, {stage: job.seed(bits) for stage, job in enumerate(jobs)})
        for stage, percepts in answers.items():
            sheets[stage].begin(percepts)
        while playing := [stage for stage in answers if not sheets[stage].over]:
            percepts_now = jax.tree.map(lambda *of: np.stack(of), *(sheet.percepts for sheet in sheets))
            time = sheets[playing[0]].taken
            actions, memories = _choose(cast, memories, actions, *percepts_now, time)
            chosen = np.asarray(actions)
            answers = self._ask(jobs, {stage: chosen[stage] for stage in playing})
            for stage, step in answers.items():
                sheets[stage].add(chosen[stage], step)
        return sheets[: len(jobs)]

    def _ask(self, jobs: Sequence[Job], questions: Mapping[int, Question]) -> dict[int, Any]:
        """The answers of the stages whose episodes go on; those that broke off are counted."""
        answers = self.stages.ask(questions)
        for stage, answer in answers.items():
            if isinstance(answer, BrokenOff):
                self.dropped += 1
                self.say(f"an episode broke off and is dropped: {answer}")
                if jobs[stage].attempt + 1 == MOST_ATTEMPTS:
                    raise Failed(f"{self.environment.address}: an episode broke off {MOST_ATTEMPTS} times: {answer}")
        return {stage: answer for stage, answer in answers.items() if not isinstance(answer, BrokenOff)}


@partial(jax.jit, static_argnums=(3, 4))
def _enter(
    casts: Cast, lanes: Int[Array, " stages"], episodes: Int[Array, " stages"], agents: int, kind: ActionKind
) -> tuple:
    """The cast, the memories and the last actions of every stage at the start of an episode."""

    def one(lane: Array, episode: Array) -> tuple[Cast, Memory, Array]:
        cast = jax.tree.map(lambda leaf: leaf[lane], casts)
        dice = jax.tree.map(lambda leaf: leaf[episode], cast.dice)
        cast = eqx.tree_at(lambda old: old.dice, cast, dice)
        return cast, cast.player.memories, jnp.full((agents, *kind.shape), kind.nothing, kind.dtype)

    return jax.vmap(one)(lanes, episodes)


@partial(jax.jit, donate_argnums=(1, 2))
def _choose(
    casts: Cast, memories: Memory, actions: Array, observations: Array, available: Array, time: Int[Array, ""] | int
) -> tuple[Array, Memory]:
    """Every stage's actions [stages, N] at a step, and what its agents keep in memory."""

    def one(cast: Cast, memories: Memory, actions: Array, observation: Array, available: Array) -> tuple[Array, Memory]:
        player = cast.player
        last_actions = kind_of(actions, available).features(actions)
        draws = jax.tree.map(lambda leaf: leaf[time], player.draws)
        return player.choose(memories, Percept(observation, available), last_actions, draws)

    return jax.vmap(one)(casts, memories, actions, observations, available)


@jax.jit
def _as_trajectories(written: Written) -> Trajectory:
    """The records of episodes [lanes, episodes, ...], in the form of compiled ones."""

    def one(sheet: Written) -> Trajectory:
        steps = {name: sheet[name] for name in ("actions", "rewards", "terminated", "happened", "facts")}
        percepts = Percept(sheet["observation"], sheet["available"])
        return Trajectory(percepts=percepts, **steps, own_rewards=sheet.get("own_rewards"))

    return jax.vmap(jax.vmap(one))(written)
