"""A learning agent as an object: it acts, observes, learns and can be stored. It knows no team and no environment."""

import os
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np

from decentral.agents import life as living
from decentral.agents.circumstances import Wiring
from decentral.agents.diary import Diary
from decentral.agents.life import Exhibition, Life, Look
from decentral.agents.storage import restore, store
from decentral.percepts import as_flag, as_reward
from decentral.runs.memory import bytes_of, free_bytes, in_words
from decentral.settings import Refused
from decentral.training.parameters import as_arrays
from decentral.types import Metrics

Phase = Literal["between episodes", "to act", "to observe"]


class Agent:
    """One learner in another program's control loop.

    `agent = Agent("dac", (7, 5), time_limit=100)`, for observations of 7 numbers and 5 actions; further settings are
    those of the algorithm, of its replay and exploration, and of its circumstances. Then, in turn, `act` and `observe`;
    between two episodes `learn`.
    """

    def __init__(self, algorithm: str, spec: Any, /, **settings: Any):
        self._begin(Wiring.of(algorithm, spec, settings))

    @classmethod
    def from_wiring(cls, wiring: Wiring) -> "Agent":
        """An agent of a team, whose networks may be padded to larger sizes than its own."""
        agent = object.__new__(cls)
        agent._begin(wiring)
        return agent

    def _begin(self, wiring: Wiring) -> None:
        check_room(wiring)
        around, limit = wiring.circumstances, wiring.circumstances.time_limit
        self._wiring = wiring
        life = living.init_life(wiring.squad, wiring.plan, wiring.padded, limit, around.seed, around.place)
        self._life: Life = life
        self._diary = Diary.blank(wiring.padded, limit)
        self._phase: Phase = "between episodes"
        self._may_learn = False

    def __repr__(self) -> str:
        spec = self._wiring.spec
        return f"Agent({self._wiring.name!r}, {(spec.observation_size, spec.actions.count)}, episodes={self.episodes})"

    def act(self, observation: Any = None, available: Any = None, *, greedy: bool = False) -> int:
        """Choose an action: exploring by schedule, or the best one.

        The first call of an episode needs its first percept. Later ones know it from `observe`; if it is given again it
        must be the same. `available` says which actions can be taken; without it, all can.
        """
        if self._phase == "to observe":
            raise Refused("act must not be called twice in a row: observe what the action has brought about first")
        if self._phase == "between episodes":
            self._wake(observation, available)
        else:
            self._check_same(observation, available)
        diary = self._diary
        look = Look(diary.observation, diary.options, diary.last_action, diary.steps)
        action, self._life = living.choose(self._wiring.squad, self._life, look, bool(greedy))
        self._diary.act(action)
        self._phase = "to observe"
        return action

    def observe(
        self, reward: Any, observation: Any, terminated: Any = False, available: Any = None, *, truncated: Any = False
    ) -> bool:
        """Take in the result of the action: the reward, the next percept, and whether this ended the task.

        Returns whether the episode is over: because the task has ended (`terminated`: nothing follows), because it is
        cut off (`truncated`: something would have followed), or at the time limit, which cuts off too.
        """
        if self._phase != "to observe":
            raise Refused("observe must follow act: there is no action to observe the outcome of")
        ends, cut_off = as_flag("terminated", terminated), as_flag("truncated", truncated)
        if ends and cut_off:
            raise Refused("truncated must be false where terminated is true, got both")
        options = self._wiring.available(available, may_be_none=ends)
        self._diary.observe(as_reward(reward), self._wiring.observation(observation), options)
        self._phase = "to act"
        if ends or cut_off or self._diary.is_full:
            self._rest(ends)
        return self._phase == "between episodes"

    def learn(self) -> dict[str, float]:
        """Learn once from the replay, and return the metrics.

        Call it after each episode and before the next. It does nothing and returns nothing until there are enough
        episodes for a batch.
        """
        if not self._may_learn:
            return {}
        metrics: Metrics = {}
        if self.episodes >= self._wiring.plan.batch_episodes:
            wiring = self._wiring
            self._life, metrics = living.learn(wiring.squad, wiring.plan, wiring.batch, self._life)
        self._after_episodes()
        return {name: float(value) for name, value in metrics.items()}

    def exhibit(self, number: int = 0) -> Exhibition:
        """A greedy episode, to show what was learned: `act` by `act`, without changing the agent.

        If an algorithm is random even when it acts greedily, the number selects the random stream.
        """
        return Exhibition(self._wiring, self._life, number)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store everything in one file, so that `load` continues exactly where `save` was called."""
        store(Path(path), self._wiring, self._life, self._diary, {"phase": self._phase, "may_learn": self._may_learn})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Agent":
        """The agent that `save` stored."""
        wiring, life, diary, standing = restore(Path(path))
        agent = object.__new__(cls)
        agent._wiring, agent._life, agent._diary = wiring, life, diary
        agent._phase, agent._may_learn = standing["phase"], standing["may_learn"]
        return agent

    @property
    def episodes(self) -> int:
        """The number of finished episodes."""
        return int(self._life.episodes)

    @property
    def epsilon(self) -> float:
        """The agent's epsilon in its current or last episode."""
        return float(self._life.epsilon)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """What it has learned: every array of its networks or tables, by name."""
        return {name: array[0] for name, array in as_arrays(self._life.agent.online).items()}

    def _wake(self, observation: Any, available: Any) -> None:
        if observation is None:
            raise Refused("act needs the first observation of an episode, got none")
        percept = self._wiring.observation(observation), self._wiring.available(available)
        if self._may_learn:
            self._after_episodes()
        self._life = living.begin_episode(self._wiring.squad, self._wiring.plan, self._life)
        self._diary.begin(*percept)

    def _rest(self, terminated: bool) -> None:
        episode = self._diary.closed(terminated)
        self._life = living.remember(self._wiring.squad, self._life, episode, self._diary.steps)
        self._phase, self._may_learn = "between episodes", True

    def _after_episodes(self) -> None:
        self._life = living.after_episodes(self._wiring.squad, self._life)
        self._may_learn = False

    def _check_same(self, observation: Any, available: Any) -> None:
        wiring, diary = self._wiring, self._diary
        if observation is not None and not np.array_equal(wiring.observation(observation), diary.observation):
            raise Refused("act must be called with the observation that was observed last, or with none")
        if available is not None and not np.array_equal(wiring.available(available), diary.options):
            raise Refused("act must be called with the available actions that were observed last, or with none")


def check_room(wiring: Wiring) -> None:
    """Refuse an agent that would not fit into memory."""
    plan, limit = wiring.plan, wiring.circumstances.time_limit
    life = jax.eval_shape(lambda: living.init_life(wiring.squad, plan, wiring.padded, limit, 0, 0))
    needed, free = bytes_of(life), free_bytes()
    if needed > free:
        raise Refused(
            f"replay_episodes = {plan.replay_episodes} with time_limit = {limit} needs {in_words(needed)} of "
            f"memory, {in_words(free)} are free: lower one of them"
        )
