"""Counterfactual branches: the same seed, the same past, the same actions of all others, another action of one agent.

Only one agent's action is changed at some moment of an episode. The next steps are played with the same joint actions
in every branch, so whatever differs between two branches is due to that one action.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from decentral.environments.base import BaseEnvironment
from decentral.environments.host.compiled import SteppedStage
from decentral.environments.host.interface import Percepts, Stage
from decentral.verification.environment_check.episodes import PlayedEpisode, choices, play, random_actions, replay

MOMENTS = 24  # at which each agent's action is changed
FEWEST_MOMENTS = 12  # however slow the environment is
MOST_ACTIONS = 5  # that are tried at one moment
FOLLOWED = 6  # steps, from the one that is changed
LONGEST_PAST = 30  # steps before it
MOST_STEPS = 12_000  # in all branches, shared by all agents
MOST_SECONDS = 60.0  # for the same: an environment that draws what agents observe plays a few dozen steps in one


@dataclass(frozen=True)
class Branch:
    """What one action led to, step by step [FOLLOWED, ...]; NaN where the branch was not followed."""

    numbers: np.ndarray  # all that is perceived [steps, agents, numbers], observations first
    rewards: np.ndarray
    over: np.ndarray  # 1 once the episode is over, 0 before


Moment = dict[int, Branch]  # by the action that was tried there


class NotRepeated(Exception):
    """An episode went another way with the same seed and actions."""


def moments_of(environment: BaseEnvironment, stage: Stage, acting: int, rng: np.random.Generator) -> list[Moment]:
    """Moments of several episodes at which one agent's action is changed; moments with equal percepts count once."""
    moments: list[Moment] = []
    known: set[bytes] = set()
    spent, begun = 0, time.perf_counter()
    for number in range(MOMENTS):
        past = _past(environment, stage, number, rng)
        percepts = past.steps[-1].percepts if past.steps else past.start
        look = numbers_of(percepts).tobytes()
        if past.over or (look in known and environment.time_limit > 1):
            continue
        known.add(look)
        tried = sorted(rng.permutation(choices(environment, percepts, acting))[:MOST_ACTIONS].tolist())
        moments.append(_branches(environment, stage, past, (acting, tried), rng))
        spent += len(tried) * (len(past.actions) + FOLLOWED)
        slow = time.perf_counter() - begun > MOST_SECONDS / environment.num_agents
        if len(moments) >= FEWEST_MOMENTS and (slow or spent > MOST_STEPS // environment.num_agents):
            break
    return moments


def numbers_of(percepts: Percepts) -> np.ndarray:
    """All numbers of the percepts [agents, numbers], observations first; NaN where they are not finite."""
    every = np.concatenate([np.asarray(part, np.float32) for part in percepts], axis=1)
    return np.where(np.isfinite(every), every, np.nan)


def _past(environment: BaseEnvironment, stage: Stage, number: int, rng: np.random.Generator) -> PlayedEpisode:
    """An episode up to a moment: by turns an early one, a random one, and one near the end."""
    episode, turn, nth = PlayedEpisode(number), number % 3, number // 3 % FOLLOWED
    longest = min(environment.time_limit, LONGEST_PAST)
    play(environment, stage, episode, rng, most=min(longest, nth + 1) if turn == 0 else longest)
    last = max(0, len(episode.actions) - 1)
    cut = int(np.clip((nth, rng.integers(0, last + 1), last - nth)[turn], 0, last))
    return PlayedEpisode(episode.seed, episode.start, episode.actions[:cut], episode.steps[:cut])


def _branches(
    environment: BaseEnvironment,
    stage: Stage,
    past: PlayedEpisode,
    who: tuple[int, list[int]],
    rng: np.random.Generator,
) -> Moment:
    """The branch of each tried action of one agent; all later actions are those drawn in the first branch."""
    acting, tried = who
    percepts = past.steps[-1].percepts if past.steps else past.start
    joint, go_back = random_actions(environment, percepts, rng), _way_back(stage, past)
    later: list[np.ndarray] = []
    moment: Moment = {}
    for action in tried:
        go_back()
        chosen = joint.copy()
        chosen[acting] = action
        moment[action] = _follow(environment, stage, [chosen, *later], None if moment else later, rng)
    return moment


def _follow(
    environment: BaseEnvironment,
    stage: Stage,
    actions: list[np.ndarray],
    drawn: list[np.ndarray] | None,
    rng: np.random.Generator,
) -> Branch:
    """Take these actions; where `drawn` is given, draw further ones and add them to it."""
    sizes = environment.num_agents, environment.spec.observation_size + environment.spec.actions.count
    branch = Branch(np.full((FOLLOWED, *sizes), np.nan), np.full(FOLLOWED, np.nan), np.full(FOLLOWED, np.nan))
    for number, joint in enumerate(actions):  # the list grows while actions are drawn
        step = stage.step(joint)
        branch.numbers[number], branch.rewards[number] = numbers_of(step.percepts), _finite(step.reward)
        over = bool(step.terminated or step.truncated)
        branch.over[number : None if over else number + 1] = over
        if over or number + 1 == FOLLOWED:
            break
        if drawn is not None:
            drawn.append(random_actions(environment, step.percepts, rng))
            actions.append(drawn[-1])
        elif number + 1 < len(actions) and not _possible(environment, step.percepts, actions[number + 1]):
            break
    return branch


def _finite(reward: Any) -> float:
    """The reward as a number; NaN if it is not finite or not a number, which another rule reports."""
    try:
        return float(reward) if np.isfinite(float(reward)) else np.nan
    except (TypeError, ValueError):
        return np.nan


def _possible(environment: BaseEnvironment, percepts: Percepts, joint: np.ndarray) -> bool:
    return all(joint[agent] in choices(environment, percepts, agent) for agent in range(environment.num_agents))


def _way_back(stage: Stage, past: PlayedEpisode) -> Callable[[], None]:
    """How to return to the end of a past: a compiled environment restores its state, another replays the episode."""
    if not isinstance(stage, SteppedStage):
        return partial(_lead, stage, past)
    _lead(stage, past)
    kept = stage.state, stage.taken

    def put() -> None:
        stage.state, stage.taken = kept

    return put


def _lead(stage: Stage, past: PlayedEpisode) -> None:
    again = replay(stage, past)
    if again.over:
        at = len(again.steps)
        raise NotRepeated(
            f"seed {past.seed}, the same actions once more: the episode ended at step {at}, and had gone on"
        )
