"""A film of a trained team in one of the episodes that `evaluate` plays by default."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.algorithms.base import Algorithm, Models
from decentral.bounds import within_bounds
from decentral.environments.base import AgentSpaces, BaseEnvironment, Environment, State
from decentral.environments.host.filmed import picture_of_image
from decentral.environments.host.interface import HostEnvironment
from decentral.inspection.episode_charts import AgentTrack, chart
from decentral.pictures import Film, Frame, Picture, Turn, cropped
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.host import rollout_for
from decentral.runs.trained import EPISODES, Trained, key_of_environments
from decentral.settings import Refused
from decentral.training.diagnostics import action_values
from decentral.training.evaluation import environments_of, greedy_episodes
from decentral.training.host.loop import host_greedy_episode
from decentral.training.host.rollout import HostRollout
from decentral.training.presence import present_in
from decentral.training.rollout import Trajectory, hand_out
from decentral.training.setup import TrainingSetup
from decentral.training.team import Team
from decentral.types import Continuous, Episode, Percept

MOST_VIEWS = 6  # most agents whose views are shown: more would make the page large
Views = tuple[Picture | None, ...]  # of every agent


class AgentValues(NamedTuple):
    """One agent's values and contexts at every step of an episode."""

    values: Array  # [P, actions]
    contexts: Array | None  # [T], -1 at steps that have none; None: it infers no contexts


class Recorded(NamedTuple):
    """An episode as it was played and as its environment shows it. All arrays are NumPy's."""

    played: Trajectory
    pictures: Sequence[Picture]  # [P]; none where the environment draws nothing
    views: Sequence[Views]  # [P]
    trouble: str = ""  # why there are no pictures

    @property
    def steps(self) -> int:
        return int(self.played.happened.sum())


def film(trained: Trained, name: str, seed: int, episode: int) -> Film:
    """One greedy episode of a seed's team; `name` is the run's name in the title."""
    setup, lane = trained.config.setup, trained.lane(seed)
    if not 0 <= episode < EPISODES:
        raise Refused(f"episode must be a whole number at least 0 and at most {EPISODES - 1}, got {episode}")
    keep_compiled_programs()
    acting_models = jax.tree.map(lambda leaf: leaf[lane], trained.by_squad)
    if isinstance(setup.environment, HostEnvironment):
        recorded = record_host(setup, acting_models, episode)
    else:
        key = key_of_environments(0)
        replayed = _REPLAY(setup.team, setup.compiled_environment, acting_models, key, episode)
        recorded = depicted(setup.compiled_environment, *jax.tree.map(np.asarray, replayed))
    environment = setup.environment
    episodes = handed_out(recorded.played)
    values_of_agents = [
        _THINK(*trained.agent(seed, place), _read_by(trained, place, episodes))
        for place in range(environment.num_agents)
    ]
    frames = frames_of(environment, recorded, jax.tree.map(np.asarray, values_of_agents))
    title = f"{name} on {trained.config.environment_name}, seed {seed}, episode {episode}"
    action_names = tuple(_action_names(environment, place) for place in range(environment.num_agents))
    made = cropped(Film(title, environment.agent_names, action_names, frames))
    return with_frozen(made, [member.source is not None for member in trained.config.members])


def _action_names(environment: BaseEnvironment, place: int) -> tuple[str, ...]:
    """The names of an agent's actions; where they are numbers, with a word before them."""
    names = environment.agent_spaces(place).action_names
    return tuple(f"action {name}" if name.isdecimal() else name for name in names)


def record_host(setup: TrainingSetup, acting_models: tuple[Models, ...], episode: int) -> Recorded:
    """One of the greedy episodes in a host environment, which is asked to render what it can."""
    with closing(rollout_for(setup, filming=True)) as rollout:
        return record_on(rollout, setup, acting_models, episode)


def record_on(rollout: HostRollout, setup: TrainingSetup, acting_models: tuple[Models, ...], episode: int) -> Recorded:
    """The same in an environment that stays open, and is filmed."""
    played = host_greedy_episode(rollout, setup, acting_models, EPISODES, key_of_environments(0), episode)
    filmed = rollout.stages.filmed()
    pictures, trouble = list(filmed.pictures), filmed.trouble
    played = jax.tree.map(np.asarray, played)
    steps = int(played.happened.sum())
    views = [images_seen(setup.environment, played.percepts.observation[step]) for step in range(steps + 1)]
    return Recorded(played, pictures if len(pictures) == steps + 1 else (), views, trouble)


def depicted(environment: Environment, played: Trajectory, environments: State) -> Recorded:
    """An episode of a compiled environment, from the states that it went through."""
    steps, actions = int(played.happened.sum()), np.asarray(played.actions)

    def at(step: int) -> tuple[State, Percept]:
        return jax.tree.map(lambda leaf: np.asarray(leaf[step]), (environments, played.percepts))

    views = [_views(environment, at(step)[1]) for step in range(steps + 1)]
    if environment.depict(at(0)[0], None) is None:
        return Recorded(played, (), views, "it draws no pictures (depict)")
    pictures = []
    for step in range(steps):
        state, after = at(step)[0], at(step + 1)[0]
        taken = actions[step]
        pictures.append(environment.depict_step(state, taken, after) or environment.depict(state, taken))
    shown = [picture for picture in (*pictures, environment.depict(at(steps)[0], None)) if picture is not None]
    if len(shown) < steps + 1:
        return Recorded(played, (), views, f"it drew {len(shown)} of {steps + 1} (depict)")
    return Recorded(played, shown, views)


def handed_out(played: Trajectory) -> Episode:
    """Every agent's own episode [N, ...]."""
    return hand_out(jax.tree.map(jnp.asarray, played))


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
    environment: BaseEnvironment, recorded: Recorded, values_of_agents: Sequence[AgentValues]
) -> tuple[Frame, ...]:
    """A frame for every step that happened, and one for where the last of them led. All arrays are NumPy's."""
    played, steps = recorded.played, recorded.steps
    rewards = np.asarray(played.rewards) + 0.0  # turns -0 into 0
    totals = np.cumsum(rewards).tolist()
    episodes = jax.tree.map(np.asarray, handed_out(played))
    turns_of_agents = [
        _turns(environment.agent_spaces(place), jax.tree.map(lambda leaf, at=place: leaf[at], episodes), agent_values)
        for place, agent_values in enumerate(values_of_agents)
    ]
    if environment.has_own_rewards:
        turns_of_agents = [_with_rewards(turns, played, place) for place, turns in enumerate(turns_of_agents)]
    pictures = recorded.pictures or _charted(environment, recorded, turns_of_agents)
    frames = []
    for step in range(steps + 1):
        turns = zip((turns[step] for turns in turns_of_agents), recorded.views[step], strict=True)
        shown = tuple(replace(turn, view=view) for turn, view in turns)
        over = step == steps
        reward, total = (None, totals[-1]) if over else (float(rewards[step]), totals[step])
        frames.append(Frame(pictures[step], shown, reward, total))
    return tuple(frames)


def _turns(spaces: AgentSpaces, episode: Episode, agent_values: AgentValues) -> list[Turn]:
    """One agent at every step that happened, and at the end."""
    present, count = present_in(episode), spaces.spec.actions.count
    available = np.asarray(episode.percepts.available)[:, :count]

    def turn(step: int) -> Turn:
        if spaces.bounds:  # the numbers that it does stand in the place of values
            return Turn(None, tuple(within_bounds(np.asarray(episode.actions)[step, :count], spaces.bounds).tolist()))
        return _turn(agent_values, step, int(episode.actions[step]), available[step])

    turns = [turn(step) if present[step] else Turn(None, (), gone=True) for step in range(int(episode.happened.sum()))]
    return [*turns, Turn(None, (), gone=turns[-1].gone)]


def _with_rewards(turns: list[Turn], played: Trajectory, place: int) -> list[Turn]:
    """The turns of an agent with its own rewards, as long as it is there."""
    rewards = (np.asarray(played.own_rewards)[:, place] + 0.0).tolist()
    return [
        turn if not turn.values else replace(turn, reward=reward)
        for turn, reward in zip(turns, [*rewards, 0.0], strict=False)
    ]


def _turn(agent_values: AgentValues, step: int, action: int, available: np.ndarray) -> Turn:
    found = agent_values.values[step][: len(available)]  # of the agent's own actions
    known = (available & np.isfinite(found)).tolist()
    values = tuple(value if is_known else None for value, is_known in zip(found.tolist(), known, strict=True))
    context = -1 if agent_values.contexts is None else int(agent_values.contexts[step])
    return Turn(action, values, None if context < 0 else context)


def _charted(environment: BaseEnvironment, recorded: Recorded, turns_of_agents: list[list[Turn]]) -> list[Picture]:
    """Pictures of an episode whose environment draws none."""
    steps, tracks = recorded.steps, []
    for place, turns in enumerate(turns_of_agents):
        spec, there = environment.agent_specs[place], np.asarray([not turn.gone for turn in turns[:steps]])
        seen = np.asarray(recorded.played.percepts.observation)[:steps, place, : spec.observation_size]
        values = np.full((steps, spec.actions.count), np.nan)
        for step in np.flatnonzero(there):
            values[step] = [np.nan if value is None else value for value in turns[step].values]
        if isinstance(spec.actions, Continuous):  # bounds differ: what is shown is from -1 to 1
            own = np.asarray(recorded.played.actions)[:steps, place, : spec.actions.count]
            values = np.where(there[:, None], own, np.nan)
        actions = np.asarray([-1 if turn.action is None else turn.action for turn in turns[:steps]])
        observed = np.where(there[:, None], seen, np.nan)
        tracks.append(AgentTrack(environment.agent_names[place], observed, values, actions))
    notes = [f"no pictures of the environment: {recorded.trouble}"] if recorded.trouble else []
    return chart(tracks, np.asarray(recorded.played.rewards)[:steps], notes)


def _views(environment: Environment, percepts: Percept) -> Views:
    views = environment.depict_views(percepts) if environment.num_agents <= MOST_VIEWS else None
    return views or (None,) * environment.num_agents


def images_seen(environment: BaseEnvironment, observations: np.ndarray) -> Views:
    """What agents perceive [N, features], if that is an image; in grey unless it has three colours."""
    sides = environment.spec.image
    if sides is None or environment.num_agents > MOST_VIEWS:
        return (None,) * environment.num_agents
    views = []
    for row in observations:
        pixels = np.clip(np.round(255 * row.reshape(sides)), 0, 255).astype(np.uint8)
        grey = pixels.mean(axis=2, keepdims=True).astype(np.uint8).repeat(3, axis=2)
        views.append(picture_of_image(pixels if sides[2] == 3 else grey))
    return tuple(views)


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
