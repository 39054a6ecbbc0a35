"""The rules that every environment must keep, checked on its episodes."""

from collections.abc import Iterator, Sequence

import numpy as np

from decentral.bounds import in_words
from decentral.environments.adapters.jaxmarl import JaxMARL
from decentral.environments.base import BaseEnvironment
from decentral.environments.host.checks import EITHER, LARGEST, brief_text, number_of, table_of
from decentral.environments.host.interface import Percepts
from decentral.errors import Refused
from decentral.types import Continuous, Discrete
from decentral.verification.environment_check.episodes import PlayedEpisode
from decentral.verification.environment_check.findings import Finding, finding_of_rule


def shapes(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Percepts are tables of the promised shapes."""
    return finding_of_rule(
        "shapes", _refusals(environment, episodes), "observations and available actions have the promised sizes"
    )


def finite(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Observations are finite."""
    names = environment.agent_names

    def faults() -> Iterator[str]:
        for when, observation, _ in _tables(environment, episodes):
            for agent in np.flatnonzero(~(np.abs(observation) <= LARGEST).all(axis=1)):
                yield f"{when}: the observation of {names[agent]} must be finite, got {observation[agent]!s:.120}"

    return finding_of_rule("finite", faults(), "all observations are finite numbers")


def actions(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Every agent always has an available action."""
    names = environment.agent_names

    def faults() -> Iterator[str]:
        for when, _, available in _tables(environment, episodes):
            for agent in np.flatnonzero(~np.isin(available, (0, 1)).all(axis=1)):
                yield f"{when}: available of {names[agent]} must be {EITHER}, got {brief_text(available[agent])}"
            for agent in np.flatnonzero(~available.any(axis=1) & isinstance(environment.spec.actions, Discrete)):
                yield f"{when}: {names[agent]} must have at least one available action, got none"

    right = "every agent always has an available action"
    if isinstance(environment.spec.actions, Continuous):
        bounds = {in_words(environment.agent_spaces(place).bounds) for place in range(environment.num_agents)}
        right = f"actions are continuous: numbers from {'; or '.join(sorted(bounds)):.200}"
    return finding_of_rule("actions", faults(), right)


def reward(episodes: Sequence[PlayedEpisode]) -> Finding:
    """The reward is one finite number."""

    def faults() -> Iterator[str]:
        for episode in episodes:
            for number, step in enumerate(episode.steps, start=1):
                try:
                    number_of("reward", step.reward)
                except Refused as refusal:
                    yield f"{_where(episode, f'at step {number}')}: {refusal}"

    problems = list(faults())
    paid = [] if problems else [float(step.reward) for episode in episodes for step in episode.steps]
    range_seen = f"between {min(paid):g} and {max(paid):g}" if paid else "of which none was seen"
    return finding_of_rule("reward", problems, f"one finite reward for all, {range_seen}")


def sharing(environment: JaxMARL, episodes: Sequence[PlayedEpisode]) -> Finding:
    """How individual rewards are combined into the team's."""
    apart = max((step.facts["rewards_apart"] for episode in episodes for step in episode.steps), default=0.0)
    if apart == 0:
        return Finding("sharing", "right", "all agents are given the same reward")
    if environment.has_own_rewards:
        apart_words = "every agent learns from its own; the team's return is " + environment.team_return
        return Finding("sharing", "note", f"agents' rewards lie up to {apart:g} apart: {apart_words}")
    return Finding(
        "sharing", "note", f"agents' rewards lie up to {apart:g} apart: the team's is their {environment.rewards}"
    )


def ends(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Episodes end as the environment declares."""

    def faults() -> Iterator[str]:
        for episode in episodes:
            for number, step in enumerate(episode.steps, start=1):
                for name in ("terminated", "truncated"):
                    flag = getattr(step, name)
                    if not isinstance(flag, bool | np.bool_):
                        yield f"{_where(episode, f'at step {number}')}: {name} must be true or false, got {flag!r:.80}"
            if not environment.may_end_early and len(episode.steps) < environment.time_limit and episode.over:
                steps = len(episode.steps)
                yield f"seed {episode.seed}: it ended after {steps} steps, but says that it never ends early"

    lengths = [len(episode.steps) for episode in episodes]
    ended = sum(bool(episode.steps[-1].terminated) for episode in episodes if episode.steps)
    up = sum(episode.over for episode in episodes) - ended
    said = f"episodes of {min(lengths)} to {max(lengths)} steps: {ended} ended, {up} ran out of time"
    if cut := len(lengths) - ended - up:
        said += f", {cut} went on and were cut off at time_limit {environment.time_limit}"
    return finding_of_rule("ends", faults(), said)


def _refusals(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Iterator[str]:
    for episode in episodes:
        for when, percepts in episode.told():
            try:
                _as_tables(environment, percepts)
            except Refused as refusal:
                yield f"{_where(episode, when)}: {refusal}"


def _tables(
    environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """All percepts that have the right shapes, and when they were given."""
    for episode in episodes:
        for when, percepts in episode.told():
            try:
                yield _where(episode, when), *_as_tables(environment, percepts)
            except Refused:
                continue


def _as_tables(environment: BaseEnvironment, percepts: Percepts) -> tuple[np.ndarray, np.ndarray]:
    sizes = environment.num_agents, environment.spec.observation_size, environment.spec.actions.count
    observation = table_of("observation", percepts.observation, (sizes[0], sizes[1]))
    return observation, table_of("available", percepts.available, (sizes[0], sizes[2]))


def _where(episode: PlayedEpisode, when: str) -> str:
    return f"seed {episode.seed}, {when}"
