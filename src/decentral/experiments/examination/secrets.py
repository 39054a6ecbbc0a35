"""Does a percept hold a copy of what another agent did?

One agent's action alone is changed: the same seed, the same past, the same actions of all others. What another agent
perceives right after may change with it, through the world. A number that follows the changed action in the same way
whatever else is the case, at all times and in all episodes, follows nothing but that action: it is a copy. One that is
mixed with other numbers, or shown at some steps only, is not found.
"""

from collections import defaultdict

import numpy as np

from decentral.environments.base import World
from decentral.environments.host import Percepts, Stage
from decentral.experiments.examination.episodes import Lived, choices, play, replay
from decentral.experiments.examination.findings import Finding
from decentral.types import Continuous

RULE = "secrets"
MOMENTS = 12  # at which each agent's action is changed
MOST_ACTIONS = 5  # that are tried at one moment
ENOUGH = 3  # moments at which an action was tried, to say what follows from it
LONGEST_PAST = 6  # steps before the one that is changed

Heard = dict[int, dict[int, list[np.ndarray]]]  # by listener, then by the action of the one who acts


def secrets(world: World, stage: Stage, chance: np.random.Generator) -> Finding:
    """Change one agent's action at several moments, and look for copies of it in what others perceive."""
    if world.num_agents < 2 or isinstance(world.spec.actions, Continuous):
        why = "there is one agent alone" if world.num_agents < 2 else "actions are not of a small number"
        return Finding(RULE, "unclear", f"nobody's action can be told to others: {why}")
    trials = changed = looked_at = 0
    for acting in range(world.num_agents):
        heard: Heard = defaultdict(lambda: defaultdict(list))
        known: set[bytes] = set()  # moments that look alike count once
        for moment in range(MOMENTS):
            rows = _try_out(world, stage, acting, moment, known, chance)
            trials += max(len(rows) - 1, 0)
            for action, percepts in rows.items():
                others = np.delete(percepts != next(iter(rows.values())), acting, axis=0)
                changed += bool(others.any())
                for listener in set(range(world.num_agents)) - {acting}:
                    heard[listener][action].append(percepts[listener])
        for listener, by_action in heard.items():
            seen = [np.stack(rows) for rows in by_action.values() if len(rows) >= ENOUGH]
            looked_at += len(seen) > 1
            for number in _copies(seen):
                return Finding(RULE, "wrong", _copy(world, listener, acting, number))
    if looked_at == 0:
        return Finding(RULE, "unclear", f"of {MOMENTS} moments too few looked different to tell a copy from an effect")
    return Finding(
        RULE,
        "right",
        f"no number that an agent perceives was a copy of another's action: of {trials} times that one action alone "
        f"was changed, {changed} changed what others perceived right after, in no fixed way, as through the world",
    )


def _try_out(
    world: World, stage: Stage, acting: int, moment: int, known: set[bytes], chance: np.random.Generator
) -> dict[int, np.ndarray]:
    """What all perceive [agents, numbers] right after each of some actions of one agent, at one moment."""
    past = Lived(moment)
    play(world, stage, past, chance, most=moment % min(world.time_limit, LONGEST_PAST))
    now = past.steps[-1].percepts if past.steps else past.start
    look = _numbers(now).tobytes()
    if past.over or (look in known and world.time_limit > 1):
        return {}
    known.add(look)
    joint = np.asarray([choices(world, now, agent)[0] for agent in range(world.num_agents)], np.int32)
    tried = chance.permutation(choices(world, now, acting))[:MOST_ACTIONS]
    return {int(action): _after(stage, past, joint, acting, action) for action in sorted(tried)}


def _after(stage: Stage, past: Lived, joint: np.ndarray, acting: int, action: int) -> np.ndarray:
    replay(stage, past)
    chosen = joint.copy()
    chosen[acting] = action
    return _numbers(stage.step(chosen).percepts)


def _numbers(percepts: Percepts) -> np.ndarray:
    """All numbers of the percepts, observations first."""
    return np.concatenate([np.asarray(part, np.float32) for part in percepts], axis=1)


def _copies(seen: list[np.ndarray]) -> list[int]:
    """The numbers of a percept that an action decides alone, given percepts [moments, numbers] after each action."""
    if len(seen) < 2:
        return []
    constant = np.stack([(rows == rows[0]).all(axis=0) for rows in seen]).all(axis=0)
    firsts = np.stack([rows[0] for rows in seen])
    return np.flatnonzero(constant & (firsts != firsts[0]).any(axis=0)).tolist()


def _copy(world: World, listener: int, acting: int, number: int) -> str:
    features = world.spec.observation_size
    named = (
        f"number {number} of agent {listener}'s observation"
        if number < features
        else f"whether action {number - features} is available to agent {listener}"
    )
    return (
        f"{named} is decided by agent {acting}'s last action alone, in every episode and at every step looked at: "
        "agents must not be shown what others did"
    )
