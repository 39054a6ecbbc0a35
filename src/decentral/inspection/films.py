"""A film of a trained team in one of the episodes that `evaluate` plays by default."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.algorithms.base import Algorithm, Models
from decentral.environments.base import Environment, State
from decentral.pictures import Film, Frame, Picture, Turn, cropped
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import EPISODES, Trained, key_of_environments
from decentral.settings import Refused
from decentral.training.diagnostics import action_values
from decentral.training.evaluation import environments_of, greedy_episodes
from decentral.training.rollout import Trajectory, hand_out
from decentral.training.team import Team
from decentral.types import Episode, Percept

MOST_VIEWS = 6  # most agents whose views are shown: more would make the page large


class AgentValues(NamedTuple):
    """One agent's values and contexts at every step of an episode."""

    values: Array  # [P, actions]
    contexts: Array | None  # [T], -1 at steps that have none; None: it infers no contexts


def film(trained: Trained, name: str, seed: int, episode: int) -> Film:
    """One greedy episode of a seed's team; `name` is the run's name in the title."""
    environment, lane = trained.config.setup.environment, trained.lane(seed)
    if not isinstance(environment, Environment):
        raise Refused(f"environment must be one that is compiled to be watched, got {trained.config.environment_name}")
    if not 0 <= episode < EPISODES:
        raise Refused(f"episode must be a whole number at least 0 and at most {EPISODES - 1}, got {episode}")
    _picture(
        environment, jax.tree.map(np.asarray, environment.reset(jax.random.key(0))), None
    )  # refused before it is played
    keep_compiled_programs()
    acting_models = jax.tree.map(lambda leaf: leaf[lane], trained.by_squad)
    played, environments = _REPLAY(
        trained.config.setup.team, environment, acting_models, key_of_environments(0), episode
    )
    episodes = hand_out(played)
    values_of_agents = [
        _THINK(*trained.agent(seed, place), _read_by(trained, place, episodes))
        for place in range(environment.num_agents)
    ]
    frames = frames_of(environment, *jax.tree.map(np.asarray, (played, environments, values_of_agents)))
    title = f"{name} on {trained.config.environment_name}, seed {seed}, episode {episode}"
    action_names = tuple(environment.agent_spaces(place).action_names for place in range(environment.num_agents))
    made = cropped(Film(title, environment.agent_names, action_names, frames))
    return with_frozen(made, [member.source is not None for member in trained.config.members])


def _read_by(trained: Trained, place: int, episodes: Episode) -> Episode:
    """One agent's own episode, as its networks read it."""
    own = jax.tree.map(lambda leaf: leaf[place], episodes)
    return replace(own, percepts=trained.perceive(own.percepts, place))


def with_frozen(made: Film, frozen: list[bool]) -> Film:
    """A film that marks the agents that came from an earlier run and did not learn."""
    if not any(frozen):
        return made
    names = (f"{name}, frozen" if still else name for name, still in zip(made.agent_names, frozen, strict=True))
    frames = (replace(frame, picture=_frozen_marks(frame.picture, frozen)) for frame in made.frames)
    return replace(made, agent_names=tuple(names), frames=tuple(frames))


def _frozen_marks(picture: Picture, frozen: list[bool]) -> Picture:
    marks = (
        replace(mark, frozen=True) if mark.agent is not None and frozen[mark.agent] else mark for mark in picture.marks
    )
    return replace(picture, marks=tuple(marks))


def frames_of(
    environment: Environment, played: Trajectory, environments: State, values_of_agents: list[AgentValues]
) -> tuple[Frame, ...]:
    """A frame for every step that happened, and one for where the last of them led. All arrays are NumPy's."""
    steps, specs = int(played.happened.sum()), environment.agent_specs
    actions, rewards = np.asarray(played.actions), np.asarray(played.rewards) + 0.0  # turns -0 into 0
    totals = np.cumsum(rewards).tolist()

    def at(step: int) -> tuple[State, Percept]:
        return jax.tree.map(lambda leaf: np.asarray(leaf[step]), (environments, played.percepts))

    frames = []
    for step in range(steps):
        state, percepts = at(step)
        available = (row[: spec.actions.count] for row, spec in zip(percepts.available, specs, strict=True))
        of_each = zip(values_of_agents, actions[step].tolist(), available, _views(environment, percepts), strict=True)
        turns = tuple(_turn(agent_values, step, *rest) for agent_values, *rest in of_each)
        after, _ = at(step + 1)
        picture = environment.depict_step(state, actions[step], after) or _picture(environment, state, actions[step])
        frames.append(Frame(picture, turns, float(rewards[step]), totals[step]))
    state, percepts = at(steps)
    silent = tuple(Turn(None, (), view=view) for view in _views(environment, percepts))
    return (*frames, Frame(_picture(environment, state, None), silent, None, totals[-1]))


def _turn(agent_values: AgentValues, step: int, action: int, available: Array, view: Picture | None) -> Turn:
    found = agent_values.values[step][: len(available)]  # of the agent's own actions
    known = (available & np.isfinite(found)).tolist()
    values = tuple(value if is_known else None for value, is_known in zip(found.tolist(), known, strict=True))
    context = -1 if agent_values.contexts is None else int(agent_values.contexts[step])
    return Turn(action, values, None if context < 0 else context, view)


def _picture(environment: Environment, state: State, actions: np.ndarray | None) -> Picture:
    picture = environment.depict(state, actions)
    if picture is None:
        raise Refused(
            f"environment must be one that can be drawn, got {type(environment).__name__} with these settings"
        )
    return picture


def _views(environment: Environment, percepts: Percept) -> tuple[Picture | None, ...]:
    views = environment.depict_views(percepts) if environment.num_agents <= MOST_VIEWS else None
    return views or (None,) * environment.num_agents


def _replay(
    team: Team, environment: Environment, acting_models: tuple[Models, ...], key: Key[Array, ""], number: Int[Array, ""]
) -> tuple[Trajectory, State]:
    """One of the greedy episodes, all of which are played side by side, and the environment at each of its percepts."""
    every = greedy_episodes(team, environment, acting_models, EPISODES, key)
    played = jax.tree.map(lambda leaf: leaf[number], every)
    return played, environments_of(environment, played, number, EPISODES, key)


def _values_of(algorithm: Algorithm, models: Models, episode: Episode) -> AgentValues:
    """One agent's values and contexts, from its own record of an episode."""
    contexts = algorithm.contexts_in(models, episode)
    if contexts is not None:
        contexts = jnp.where(jnp.any(contexts > 0, axis=-1), jnp.argmax(contexts, axis=-1), -1)
    return AgentValues(action_values(algorithm, models, episode), contexts)


_REPLAY = jax.jit(_replay)
_THINK = jax.jit(_values_of)
