"""Greedy episodes of a trained team as NumPy arrays: what each agent perceived, valued, remembered and did."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from decentral.algorithms.base import Algorithm, Models
from decentral.bounds import within_bounds
from decentral.environments.base import AgentSpaces
from decentral.environments.host.interface import HostEnvironment
from decentral.errors import Refused, did_you_mean
from decentral.notebook import data_frame, table_html
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.host import rollout_for
from decentral.runs.trained import Trained, check_environments, key_of_environments
from decentral.training.diagnostics import values_and_memories
from decentral.training.evaluation import greedy_episodes, scores_of
from decentral.training.host.loop import host_greedy_episodes
from decentral.training.presence import present_in
from decentral.training.rollout import Trajectory, hand_out
from decentral.training.setup import TrainingSetup
from decentral.types import Episode

MOST_SHOWN = 10  # episodes in a notebook
MISSING = -1  # an action after the end of an episode or of an agent that has left, or a context at a step that has none


@dataclass(frozen=True)
class AgentRollout:
    """One agent's part of episodes [B], in its own sizes. After the end of an episode: NaN, false and -1; rewards 0.

    Continuous actions are NaN there too. Once it has left it takes no actions, either.
    """

    spaces: AgentSpaces
    observations: np.ndarray  # [B, P, features], before each step and after the last
    available: np.ndarray  # [B, P, actions]: which actions it could take
    q_values: (
        np.ndarray
    )  # [B, P, actions]: what its greedy choice is based on (of a policy, probabilities or the action); NaN if none
    hidden: np.ndarray  # [B, P, width]: its memory after each percept; of width 0 if it has none
    actions: np.ndarray  # [B, T]: indices into its actions; or [B, T, numbers], continuous, within its own bounds
    rewards: np.ndarray  # [B, T]: what it learns from, its own where agents have their own
    contexts: np.ndarray | None  # [B, T], -1 at a step that has none; None if its algorithm infers no contexts

    @property
    def name(self) -> str:
        return self.spaces.name

    @property
    def by_name(self) -> dict[str, np.ndarray]:
        """The observations [B, P] by the environment's names of their entries; empty if it has none."""
        return {name: self.observations[..., place] for place, name in enumerate(self.spaces.observation_names)}

    @property
    def action_names(self) -> np.ndarray:
        """The names [B, T] of the actions; empty texts where it takes none."""
        return np.asarray([*self.spaces.action_names, ""])[self.actions]


@dataclass(frozen=True)
class Rollout:
    """Greedy episodes of one seed's team. Axes: B episode, T step (P = T + 1 percepts), N agent, then features.

    Arrays end with the longest episode. Agents of unequal sizes have arrays of their own: `rollout.agent("lifter")`.
    In the arrays of the whole team, what an agent lacks is NaN or false.
    """

    title: str
    seed: int  # whose team played
    agents: tuple[AgentRollout, ...] = field(repr=False)
    rewards: np.ndarray = field(repr=False)  # [B, T], the team's; 0 after the end
    terminated: np.ndarray = field(repr=False)  # [B, T]: this step ended the task
    happened: np.ndarray = field(repr=False)  # [B, T]: false after the end
    reports: dict[str, np.ndarray] = field(repr=False)  # [B], by name: what the environment reports besides

    def agent(self, which: int | str) -> AgentRollout:
        """One agent's part, by its name or its place."""
        names = [agent.name for agent in self.agents]
        if isinstance(which, str) and which in names:
            return self.agents[names.index(which)]
        if isinstance(which, int) and not isinstance(which, bool) and 0 <= which < len(names):
            return self.agents[which]
        meant = did_you_mean(which, names) if isinstance(which, str) else ""
        raise Refused(f"agent must be one of {', '.join(names)}, or 0 to {len(names) - 1}, got {which!r:.40}{meant}")

    @property
    def returns(self) -> np.ndarray:
        """[B]"""
        return self.rewards.sum(axis=1)

    @property
    def lengths(self) -> np.ndarray:
        """[B]: the steps of each episode."""
        return self.happened.sum(axis=1)

    @property
    def observations(self) -> np.ndarray:
        """[B, P, N, features]"""
        return _of_team([agent.observations for agent in self.agents], np.nan)

    @property
    def available(self) -> np.ndarray:
        """[B, P, N, actions]"""
        return _of_team([agent.available for agent in self.agents], False)

    @property
    def q_values(self) -> np.ndarray:
        """[B, P, N, actions]; NaN where an action is unavailable."""
        return _of_team([agent.q_values for agent in self.agents], np.nan)

    @property
    def hidden(self) -> np.ndarray:
        """[B, P, N, width]"""
        return _of_team([agent.hidden for agent in self.agents], np.nan)

    @property
    def actions(self) -> np.ndarray:
        """[B, T, N]: indices into each agent's actions, -1 after the end; or numbers [B, T, N, numbers], then NaN."""
        if self.agents[0].spaces.bounds:
            return _of_team([agent.actions for agent in self.agents], np.nan)
        return np.stack([agent.actions for agent in self.agents], axis=2)

    @property
    def contexts(self) -> np.ndarray | None:
        """[B, T, N], -1 where there is none; None if no agent infers contexts."""
        of_agents = [agent.contexts for agent in self.agents]
        none = np.full(self.happened.shape, MISSING)
        if all(contexts is None for contexts in of_agents):
            return None
        return np.stack([none if contexts is None else contexts for contexts in of_agents], axis=2)

    def columns(self, hidden: bool = False) -> dict[str, np.ndarray]:
        """The rollout as columns of equal length: a row for each step of each agent, in the order of the episodes.

        A column for every number: `observation_0`, `q_0`, `available_0` and so on; with `hidden`, those states too.
        """
        episode, step = np.nonzero(self.happened)
        of_steps = {"observation": self.observations, "q": self.q_values, "available": self.available}
        of_steps |= {"hidden": self.hidden} if hidden else {}
        count = len(self.agents)
        names = np.asarray([agent.name for agent in self.agents])
        columns = {
            "episode": np.repeat(episode, count),
            "step": np.repeat(step, count),
            "agent": np.tile(names, len(step)),
            **self._action_columns(episode, step),
            "reward": np.stack([agent.rewards for agent in self.agents], axis=2)[episode, step].reshape(-1),
        }
        if self.contexts is not None:
            columns["context"] = self.contexts[episode, step].reshape(-1)
        for name, array in of_steps.items():
            rows = array[episode, step].reshape(len(step) * count, -1)
            columns |= {f"{name}_{number}": rows[:, number] for number in range(rows.shape[1])}
        return columns

    def _action_columns(self, episode: np.ndarray, step: np.ndarray) -> dict[str, np.ndarray]:
        taken = self.actions[episode, step]
        if taken.ndim == 2:
            names = np.stack([agent.action_names for agent in self.agents], axis=2)[episode, step]
            return {"action": taken.reshape(-1), "action_name": names.reshape(-1)}
        return {f"action_{number}": taken[..., number].reshape(-1) for number in range(taken.shape[-1])}

    def to_dataframe(self, hidden: bool = False) -> Any:
        """The same as a pandas DataFrame."""
        return data_frame(self.columns(hidden))

    def _repr_html_(self) -> str:
        headings = ("episode", "steps", "return", *(name.replace("_", " ") for name in self.reports))
        each = zip(self.lengths, self.returns, *self.reports.values(), strict=True)
        rows = [(number, length, *(f"{value:.2f}" for value in rest)) for number, (length, *rest) in enumerate(each)]
        caption = self.title + (f", the first {MOST_SHOWN} of {len(rows)} episodes" if len(rows) > MOST_SHOWN else "")
        shapes = {"observations": self.observations, "actions": self.actions, "q_values": self.q_values}
        footer = ", ".join(f"{name} {array.shape}" for name, array in shapes.items())
        return table_html(caption, headings, rows[:MOST_SHOWN], footer)


def _of_team(of_agents: Sequence[np.ndarray], fill: float | bool) -> np.ndarray:
    """The arrays of all agents [B, P, own size] as one [B, P, N, largest size]."""
    widest = max(array.shape[-1] for array in of_agents)
    padded = [
        np.pad(array, [(0, 0), (0, 0), (0, widest - array.shape[-1])], constant_values=fill) for array in of_agents
    ]
    return np.stack(padded, axis=2)


def rollout_of(trained: Trained, seed: int, episodes: int, environment_seed: int) -> Rollout:
    """Greedy episodes of a seed's team, in the environments that `evaluate` would use."""
    check_environments(episodes, environment_seed)
    lane, setup = trained.lane(seed), trained.config.setup
    keep_compiled_programs()
    acting_models = jax.tree.map(lambda leaf: leaf[lane], trained.by_squad)
    played = play_greedily(setup, acting_models, episodes, key_of_environments(environment_seed))
    of_agents = jax.vmap(hand_out, out_axes=1)(played)  # [N, B, ...]
    reports = jax.vmap(partial(scores_of, setup.environment))(played).reports
    happened = np.asarray(played.happened)
    longest = int(happened.sum(axis=1).max())
    agents = tuple(
        _agent_rollout(trained, seed, place, jax.tree.map(lambda leaf, at=place: leaf[at], of_agents), longest)
        for place in range(setup.environment.num_agents)
    )
    name = f"{trained.config.algorithm_name} on {trained.config.environment_name}, seed {seed}"
    return Rollout(
        name,
        seed,
        agents,
        rewards=np.asarray(played.rewards)[:, :longest],
        terminated=np.asarray(played.terminated)[:, :longest],
        happened=happened[:, :longest],
        reports={report: np.asarray(values) for report, values in reports.items()},
    )


def play_greedily(
    setup: TrainingSetup, acting_models: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Trajectory:
    """Greedy episodes of one team [B, ...], in a compiled environment or in a host environment."""
    if not isinstance(setup.environment, HostEnvironment):
        return _PLAY(setup.team, setup.compiled_environment, acting_models, episodes, key)
    with closing(rollout_for(setup, most_stages=episodes)) as rollout:
        alone = jax.tree.map(lambda leaf: leaf[None], acting_models)
        played = host_greedy_episodes(rollout, setup, alone, episodes, key)
    return jax.tree.map(lambda leaf: leaf[0], played)


class Recalled(NamedTuple):
    """What one agent had in mind in an episode."""

    values: Array  # [P, actions]
    hidden: Array  # [P, width]
    contexts: Array | None  # [T]


def _recall(algorithm: Algorithm, models: Models, episode: Episode) -> Recalled:
    """One agent's values, memories and contexts, from its own record of an episode."""
    values, memories = values_and_memories(algorithm, models, episode)
    flat = [leaf.reshape(len(values), -1) for leaf in jax.tree.leaves(memories)]
    hidden = jnp.concatenate(flat, axis=1) if flat else jnp.zeros((len(values), 0))
    contexts = algorithm.contexts_in(models, episode)
    if contexts is not None:
        contexts = jnp.where(jnp.any(contexts > 0, axis=1), jnp.argmax(contexts, axis=1), MISSING)
    return Recalled(values, hidden, contexts)


def _agent_rollout(trained: Trained, seed: int, place: int, episodes: Episode, longest: int) -> AgentRollout:
    """One agent's part, without padding: neither that of smaller agents nor that of shorter episodes."""
    spaces = trained.config.setup.environment.agent_spaces(place)
    algorithm, models = trained.agent(seed, place)
    read = replace(episodes, percepts=trained.perceive(episodes.percepts, place))
    recalled = jax.tree.map(np.asarray, _RECALL(algorithm, jax.tree.map(jnp.asarray, models), read))
    happened = np.asarray(episodes.happened)[:, :longest]
    each = (jax.tree.map(lambda leaf, at=number: leaf[at], episodes) for number in range(len(happened)))
    acting = np.stack([present_in(episode)[:longest] for episode in each])  # [B, T]
    perceived = np.concatenate([np.ones_like(happened[:, :1]), happened], axis=1)[..., None]  # [B, P, 1]
    steps, percepts, actions = slice(longest), slice(longest + 1), slice(spaces.spec.actions.count)
    available = np.asarray(episodes.percepts.available)[:, percepts, actions] & perceived
    observed = np.asarray(episodes.percepts.observation)[:, percepts, : spaces.spec.observation_size]
    contexts, values, taken = recalled.contexts, recalled.values[:, percepts, actions], np.asarray(episodes.actions)
    if spaces.bounds:
        values, taken = within_bounds(values, spaces.bounds), within_bounds(taken[:, steps, actions], spaces.bounds)
        taken = np.where(acting[..., None], taken, np.nan)
    else:
        taken = np.where(acting, taken[:, steps], MISSING)
    return AgentRollout(
        spaces,
        observations=np.where(perceived, observed, np.nan).astype(np.float32),
        available=available,
        q_values=np.where(available, values, np.nan).astype(np.float32),
        hidden=np.where(perceived, recalled.hidden[:, percepts], np.nan).astype(np.float32),
        actions=taken,
        rewards=np.asarray(episodes.rewards)[:, steps],
        contexts=None if contexts is None else np.where(acting, contexts[:, steps], MISSING),
    )


_PLAY = jax.jit(greedy_episodes, static_argnums=3)
_RECALL = jax.jit(jax.vmap(_recall, (None, None, 0)))
