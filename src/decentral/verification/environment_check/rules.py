"""What an environment must keep to, judged by the episodes that it told."""

from collections.abc import Iterator, Sequence

import numpy as np

from decentral.environments.adapters.jaxmarl import JaxMARL
from decentral.environments.base import BaseEnvironment
from decentral.environments.host.checks import EITHER, LARGEST, number_of, table_of, told_briefly
from decentral.environments.host.interface import Percepts
from decentral.errors import Refused
from decentral.verification.environment_check.episodes import PlayedEpisode
from decentral.verification.environment_check.findings import Finding, judged


def shapes(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Percepts are tables of the promised shapes."""
    return judged(
        "shapes", _refusals(environment, episodes), "observations and available actions have the promised sizes"
    )


def finite(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Observations are finite."""

    def faults() -> Iterator[str]:
        for when, observation, _ in _tables(environment, episodes):
            for agent in np.flatnonzero(~(np.abs(observation) <= LARGEST).all(axis=1)):
                yield f"{when}: the observation of agent {agent} must be finite, got {observation[agent]!s:.120}"

    return judged("finite", faults(), "all observations are finite numbers")


def actions(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Everyone always has something to do."""

    def faults() -> Iterator[str]:
        for when, _, available in _tables(environment, episodes):
            for agent in np.flatnonzero(~np.isin(available, (0, 1)).all(axis=1)):
                yield f"{when}: available of agent {agent} must be {EITHER}, got {told_briefly(available[agent])}"
            for agent in np.flatnonzero(~available.any(axis=1)):
                yield f"{when}: agent {agent} must have at least one available action, got none"

    return judged("actions", faults(), "every agent always has an available action")


def reward(episodes: Sequence[PlayedEpisode]) -> Finding:
    """The reward is one finite number."""

    def faults() -> Iterator[str]:
        for lived in episodes:
            for number, step in enumerate(lived.steps, start=1):
                try:
                    number_of("reward", step.reward)
                except Refused as refusal:
                    yield f"{_where(lived, f'at step {number}')}: {refusal}"

    found = list(faults())
    paid = [] if found else [float(step.reward) for lived in episodes for step in lived.steps]
    seen = f"between {min(paid):g} and {max(paid):g}" if paid else "of which none was seen"
    return judged("reward", found, f"one finite reward for all, {seen}")


def sharing(environment: JaxMARL, episodes: Sequence[PlayedEpisode]) -> Finding:
    """What becomes of rewards that are the agents' own."""
    apart = max((step.facts["rewards_apart"] for lived in episodes for step in lived.steps), default=0.0)
    if apart == 0:
        return Finding("sharing", "right", "all agents are given the same reward")
    return Finding(
        "sharing", "note", f"agents' rewards lie up to {apart:g} apart: the team's is their {environment.rewards}"
    )


def ends(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Finding:
    """Episodes end as the environment says that they do."""

    def faults() -> Iterator[str]:
        for lived in episodes:
            for number, step in enumerate(lived.steps, start=1):
                for name in ("terminated", "truncated"):
                    flag = getattr(step, name)
                    if not isinstance(flag, bool | np.bool_):
                        yield f"{_where(lived, f'at step {number}')}: {name} must be true or false, got {flag!r:.80}"
            if not environment.may_end_early and len(lived.steps) < environment.time_limit and lived.over:
                yield f"seed {lived.seed}: it ended after {len(lived.steps)} steps, but says that it never ends early"

    lengths = [len(lived.steps) for lived in episodes]
    ended = sum(bool(lived.steps[-1].terminated) for lived in episodes if lived.steps)
    up = sum(lived.over for lived in episodes) - ended
    said = f"episodes of {min(lengths)} to {max(lengths)} steps: {ended} ended, {up} ran out of time"
    if cut := len(lengths) - ended - up:
        said += f", {cut} went on and were cut off at time_limit {environment.time_limit}"
    return judged("ends", faults(), said)


def _refusals(environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]) -> Iterator[str]:
    for lived in episodes:
        for when, percepts in lived.told():
            try:
                _as_tables(environment, percepts)
            except Refused as refusal:
                yield f"{_where(lived, when)}: {refusal}"


def _tables(
    environment: BaseEnvironment, episodes: Sequence[PlayedEpisode]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """All percepts that have the right shapes, and when they were told."""
    for lived in episodes:
        for when, percepts in lived.told():
            try:
                yield _where(lived, when), *_as_tables(environment, percepts)
            except Refused:
                continue


def _as_tables(environment: BaseEnvironment, percepts: Percepts) -> tuple[np.ndarray, np.ndarray]:
    sizes = environment.num_agents, environment.spec.observation_size, environment.spec.actions.count
    observation = table_of("observation", percepts.observation, (sizes[0], sizes[1]))
    return observation, table_of("available", percepts.available, (sizes[0], sizes[2]))


def _where(lived: PlayedEpisode, when: str) -> str:
    return f"seed {lived.seed}, {when}"
