"""A learning agent as an object: it acts, observes, learns and can be stored. It knows no team and no environment."""

import os
import warnings
from typing import Any, Literal

import jax
import numpy as np

from decentral.agents import learner
from decentral.agents.agent_config import AgentConfig
from decentral.agents.episode_buffer import EpisodeBuffer
from decentral.agents.learner import GreedyEpisode, LearnerState, StepPercept
from decentral.agents.storage import restore, store
from decentral.percepts import as_flag, as_reward
from decentral.plain_files import as_path
from decentral.runs.memory import free_bytes, in_words
from decentral.settings import Refused
from decentral.training.parameters import as_arrays
from decentral.training.replay import bytes_of
from decentral.types import Metrics

Phase = Literal["between episodes", "to act", "to observe"]


class Agent:
    """One learner in another program's control loop.

    `agent = Agent("dac", (7, 5), time_limit=100)`, for observations of 7 numbers and 5 actions; further settings are
    those of the algorithm, of its replay and exploration, and of the agent itself. Then, in turn, `act` and `observe`;
    between two episodes `learn`. `Agent("ippo", AgentSpec(7, Continuous(2)), bounds=[(0, 1), (-5, 5)])` has continuous
    actions; without bounds, from -1 to 1.
    """

    def __init__(self, algorithm: str, spec: Any, /, **settings: Any):
        self._begin(AgentConfig.of(algorithm, spec, settings))

    @classmethod
    def from_config(cls, agent_config: AgentConfig) -> "Agent":
        """An agent of a team, whose networks may be padded to larger sizes than its own."""
        agent = object.__new__(cls)
        agent._begin(agent_config)
        return agent

    def _begin(self, agent_config: AgentConfig) -> None:
        check_room(agent_config)
        around, limit = agent_config.agent_settings, agent_config.agent_settings.time_limit
        self._config = agent_config
        state = learner.init_learner(
            agent_config.squad, agent_config.plan, agent_config.padded, limit, around.seed, around.place
        )
        self._state: LearnerState = state
        self._buffer = EpisodeBuffer.blank(agent_config.padded, limit)
        self._phase: Phase = "between episodes"
        self._may_learn = False

    def __repr__(self) -> str:
        spec, name = self._config.spec, self._config.agent_settings.name
        named = f", name={name!r}" if name else ""
        sizes = spec.observation_size, spec.actions.count
        return f"Agent({self._config.name!r}, {sizes}{named}, episodes={self.episodes})"

    def act(self, observation: Any = None, available: Any = None, *, greedy: bool = False) -> Any:
        """Choose an action, by its environment's number: exploring by schedule, or the best one.

        Of continuous actions, an array of numbers within the agent's `bounds`: drawn from its policy, or the best ones.

        The first call of an episode needs its first percept. Later ones know it from `observe`; if it is given again it
        must be the same. `available` says which actions can be taken; without it, all can.
        """
        if self._phase == "to observe":
            raise Refused("act must not be called twice in a row: observe what the action has brought about first")
        if self._phase == "between episodes":
            self._wake(observation, available)
        else:
            self._check_same(observation, available)
        buffer = self._buffer
        step_percept = StepPercept(buffer.observation, buffer.options, buffer.last_action, buffer.steps)
        action, self._state = learner.choose(self._config.squad, self._state, step_percept, bool(greedy))
        self._buffer.act(action)
        self._phase = "to observe"
        return self._config.outward(action)

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
        options = self._config.available(available, may_be_none=ends)
        self._buffer.observe(as_reward(reward), self._config.observation(observation), options)
        self._phase = "to act"
        if ends or cut_off or self._buffer.is_full:
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
        if self.episodes >= self._config.plan.batch_episodes:
            agent_config = self._config
            self._state, metrics = learner.learn(agent_config.squad, agent_config.plan, agent_config.batch, self._state)
        self._after_episodes()
        learned = {name: float(value) for name, value in metrics.items()}
        return {} if learned.pop("updates", 1.0) == 0.0 else learned

    def greedy_episode(self, number: int = 0) -> GreedyEpisode:
        """A greedy episode, to show what was learned: `act` by `act`, without changing the agent.

        If an algorithm is random even when it acts greedily, the number selects the random stream.
        """
        return GreedyEpisode(self._config, self._state, number)

    def exhibit(self, number: int = 0) -> GreedyEpisode:
        """The earlier name of `greedy_episode`."""
        warnings.warn("Agent.exhibit is called greedy_episode now", DeprecationWarning, stacklevel=2)
        return self.greedy_episode(number)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store everything in one file, so that `load` continues exactly where `save` was called."""
        file, flags = as_path("path", path), {"phase": self._phase, "may_learn": self._may_learn}
        if not file.name:
            raise Refused(f"path must be that of a file, got {str(path)!r}")
        store(file, self._config, self._state, self._buffer, flags)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Agent":
        """The agent that `save` stored."""
        agent_config, state, buffer, flags = restore(as_path("path", path))
        agent = object.__new__(cls)
        agent._config, agent._state, agent._buffer = agent_config, state, buffer
        agent._phase, agent._may_learn = flags["phase"], flags["may_learn"]
        return agent

    @property
    def episodes(self) -> int:
        """The number of finished episodes."""
        return int(self._state.episodes)

    @property
    def first_action(self) -> int:
        """Its environment's number of its first action."""
        return self._config.agent_settings.first_action

    @property
    def epsilon(self) -> float:
        """The agent's epsilon in its current or last episode."""
        return float(self._state.epsilon)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """What it has learned: every array of its networks or tables, by name."""
        return {name: array[0] for name, array in as_arrays(self._state.agent.online).items()}

    def _wake(self, observation: Any, available: Any) -> None:
        if observation is None:
            raise Refused("act needs the first observation of an episode, got none")
        percept = self._config.observation(observation), self._config.available(available)
        if self._may_learn:
            self._after_episodes()
        self._state = learner.begin_episode(self._config.squad, self._config.plan, self._state)
        self._buffer.begin(*percept)

    def _rest(self, terminated: bool) -> None:
        episode = self._buffer.closed(terminated)
        self._state = learner.remember(self._config.squad, self._state, episode, self._buffer.steps)
        self._phase, self._may_learn = "between episodes", True

    def _after_episodes(self) -> None:
        self._state = learner.after_episodes(self._config.squad, self._state)
        self._may_learn = False

    def _check_same(self, observation: Any, available: Any) -> None:
        agent_config, buffer = self._config, self._buffer
        if observation is not None and not np.array_equal(agent_config.observation(observation), buffer.observation):
            raise Refused("act must be called with the observation that was observed last, or with none")
        if available is not None and not np.array_equal(agent_config.available(available), buffer.options):
            raise Refused("act must be called with the available actions that were observed last, or with none")


def check_room(agent_config: AgentConfig) -> None:
    """Refuse an agent that would not fit into memory."""
    plan, limit = agent_config.plan, agent_config.agent_settings.time_limit
    state = jax.eval_shape(lambda: learner.init_learner(agent_config.squad, plan, agent_config.padded, limit, 0, 0))
    needed, free = bytes_of(state), free_bytes()
    if needed > free:
        raise Refused(
            f"replay_episodes = {plan.replay_episodes} with time_limit = {limit} needs {in_words(needed)} of "
            f"memory, {in_words(free)} are free: lower one of them"
        )
