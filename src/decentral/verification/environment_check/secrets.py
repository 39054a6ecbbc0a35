"""Does an agent learn what another one did, other than through the environment?

Only one agent's action is changed (`branches`). What others perceive may change with it, through the environment: a
teammate that went elsewhere is seen elsewhere, and stays there. A copy of the action is different. It follows the
action in one fixed way, whatever else happens, and then disappears. So a number leaks an action if the change of the
action changes the number in the same way in all episodes and at all times, and the change is undone some steps later.
Differences are compared, not values: noise, other numbers that the copy is added to, and delays don't hide it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from decentral.environments.base import BaseEnvironment
from decentral.environments.host.interface import Stage
from decentral.types import Continuous
from decentral.verification.environment_check.branches import Moment, moments_of
from decentral.verification.environment_check.findings import Finding

RULE = "secrets"
ENOUGH = 3  # moments at which an action must have been tried
MOST_NUMBERS = 20_000  # of an observation: every moment keeps those of all agents, actions and steps followed
CONFIRMED = 4  # times that a change must occur again to count as fixed
LOW = 1e-4  # of the range of a number: anything smaller is in its low digits
LAST_BITS = 4 * float(np.finfo(np.float32).eps)  # of a number's size: rounding

Change = dict[tuple[int, int], np.ndarray]  # by pair of actions, what differs between their branches [steps]


@dataclass(frozen=True)
class Fixed:
    """A change that is the same wherever it occurs."""

    after: int  # steps from the action to the first difference, as percepts are counted: 0 is right after
    always: bool  # at every moment that was checked?
    taken_back: bool


def secrets(environment: BaseEnvironment, stage: Stage, rng: np.random.Generator) -> Finding:
    """Change one agent's action at several moments, and look for copies of it in what others perceive."""
    if environment.num_agents < 2:
        return Finding(RULE, "unclear", "nobody's action can be told to others: there is one agent alone")
    if isinstance(environment.spec.actions, Continuous):
        return Finding(RULE, "unclear", "copies of others' actions are looked for among discrete actions alone")
    if environment.spec.observation_size > MOST_NUMBERS:
        why = f"observations of {environment.spec.observation_size:,} numbers, such as large images"
        return Finding(RULE, "unclear", f"{why}, are not searched for copies of actions")
    trials = changed = looked_at = 0
    doubts: list[str] = []
    unheard = ""
    for acting in range(environment.num_agents):
        moments = moments_of(environment, stage, acting, rng)
        tried = sum(len(moment) - 1 for moment in moments)
        if tried >= ENOUGH and not any(map(_mattered, moments)):
            name = environment.agent_names[acting]
            unheard = f"nothing differed in {tried} times that {name}'s action alone was changed"
        trials += tried
        changed += sum(_noticed(moment, acting) for moment in moments)
        looked_at += sum(count >= ENOUGH for count in _tried(moments).values()) > 1
        for certain, said in _leaks(environment, moments, acting):
            if certain:
                return Finding(RULE, "wrong", f"{said}: agents must not be shown what others did")
            doubts.append(said)
    if unheard:
        return Finding(RULE, "unclear", f"{unheard}: its actions may not reach the environment")
    if looked_at == 0:
        why = f"of {len(moments)} moments too few looked different to tell a copy from an effect"
        return Finding(RULE, "unclear", why)
    if doubts:
        return Finding(RULE, "unclear", f"{doubts[0]}: it may be a copy, or a rule of the task")
    return Finding(
        RULE,
        "right",
        "no copy of another's action was found in percepts, in the reward's low digits or in the end: of "
        f"{trials} times that one action alone was changed, {changed} changed what others perceived right after, as "
        "through the environment",
    )


def _tried(moments: Sequence[Moment]) -> dict[int, int]:
    """At how many moments each action was tried."""
    every = [action for moment in moments for action in moment]
    return {action: every.count(action) for action in every}


def _noticed(moment: Moment, acting: int) -> int:
    """How many of the other actions change what others perceive right after."""
    first, *rest = (np.delete(branch.numbers[0], acting, axis=0) for branch in moment.values())
    return sum(bool((other != first).any()) for other in rest)


def _mattered(moment: Moment) -> bool:
    """Does anything differ between the branches: what anybody perceives, the reward or the end?"""
    first, *others = ((branch.numbers, branch.rewards, branch.over) for branch in moment.values())
    return not all(np.array_equal(a, b, equal_nan=True) for other in others for a, b in zip(first, other, strict=True))


def _leaks(environment: BaseEnvironment, moments: Sequence[Moment], acting: int) -> Iterator[tuple[bool, str]]:
    """Everything that leaks one agent's action: whether that is certain, and in words."""
    name, differing = environment.agent_names[acting], _differing(environment, moments)
    for listener in set(range(environment.num_agents)) - {acting}:
        for number in np.flatnonzero(differing[listener]).tolist():
            where = _where(environment, listener, number)
            by_moment = [{action: branch.numbers[:, listener, number] for action, branch in m.items()} for m in moments]
            if _decided(by_moment):
                alone = f"{where} is decided by {name}'s last action alone"
                yield True, f"{alone}, in every episode and at every step looked at"
            yield from _followed(by_moment, where, name)
    yield from _rewarded([{action: branch.rewards for action, branch in m.items()} for m in moments], name)
    ends = _fixed([_ends(moment) for moment in moments], 0.0)
    if ends is not None:
        yield False, f"whether the episode is over {_when(ends.after)} follows {name}'s action in one fixed way"


def _differing(environment: BaseEnvironment, moments: Sequence[Moment]) -> np.ndarray:
    """The numbers [agents, numbers] that differ between branches at any moment: few of the pixels of an image do."""
    differing = np.zeros((environment.num_agents, environment.spec.observation_size + environment.spec.actions.count))
    for moment in moments:
        first, *others = moment.values()
        for other in others:
            differing += (np.abs(other.numbers - first.numbers) > 0).any(axis=0)  # NaN compares as not larger
    return differing > 0


def _followed(by_moment: Sequence[dict[int, np.ndarray]], where: str, name: str) -> Iterator[tuple[bool, str]]:
    """A number of a percept that follows an action in one fixed way, as a whole or in its low digits."""
    finite = np.concatenate(
        [values[np.isfinite(values)] for moment in by_moment for values in moment.values()] or [np.zeros(1)]
    )
    size, extent = (float(np.abs(finite).max()), float(np.ptp(finite))) if finite.size else (0.0, 0.0)
    rounding = LAST_BITS * size
    changes = _changes(by_moment)
    whole = _fixed(changes, rounding)
    if whole is not None and whole.taken_back:
        always = "at every moment looked at" if whole.always else "at some moments, and not at others"
        said = f"{where} follows {name}'s action {_when(whole.after)} in one fixed way, {always}"
        yield whole.always, f"{said}, and then no more"
    steps = [{pair: _low_digits(np.diff(change), extent) for pair, change in table.items()} for table in changes]
    fine = _fixed(steps, 2 * rounding)
    if fine is not None and fine.taken_back:
        yield True, f"{where} follows {name}'s action {_when(fine.after)} in one fixed way, in its low digits"


def _rewarded(by_moment: Sequence[dict[int, np.ndarray]], name: str) -> Iterator[tuple[bool, str]]:
    """A reward whose low digits follow an action in one fixed way; larger changes are the task itself."""
    finite = np.concatenate(
        [values[np.isfinite(values)] for moment in by_moment for values in moment.values()] or [np.zeros(1)]
    )
    size = float(np.abs(finite).max()) if finite.size else 0.0
    small = [
        {pair: _low_digits(change, max(1.0, size)) for pair, change in table.items()} for table in _changes(by_moment)
    ]
    fixed = _fixed(small, LAST_BITS * size)
    if fixed is not None:
        yield (
            True,
            f"the reward {_when(fixed.after)} follows {name}'s action in one fixed way, in its low digits",
        )


def _decided(by_moment: Sequence[dict[int, np.ndarray]]) -> bool:
    """Is a number right after an action the same at all moments, for each action, and not for all actions?"""
    by_action: dict[int, list[float]] = {}
    for moment in by_moment:
        for action, values in moment.items():
            by_action.setdefault(action, []).append(float(values[0]))
    often = [values for values in by_action.values() if len(values) >= ENOUGH]
    return len({values[0] for values in often}) > 1 and all(len(set(values)) == 1 for values in often)


def _ends(moment: Moment) -> Change:
    """Where one branch is over and another is not; NaN where both are."""
    (first, base), *others = moment.items()
    both = {action: (base.over == 1) & (branch.over == 1) for action, branch in others}
    return {(first, action): np.where(both[action], np.nan, branch.over - base.over) for action, branch in others}


def _changes(by_moment: Sequence[dict[int, np.ndarray]]) -> list[Change]:
    """At every moment, what differs between the first branch and each of the others."""
    changes = []
    for moment in by_moment:
        (first, base), *others = moment.items()
        changes.append({(first, action): values - base for action, values in others})
    return changes


def _fixed(changes: Sequence[Change], rounding: float) -> Fixed | None:
    """The change that is the same wherever there is one, if it occurs often enough; a moment has all of it or none."""
    known: Change = {}
    met = 0
    for table in changes:
        if not any(_differs(change, rounding).any() for change in table.values()):
            continue
        for pair, change in table.items():
            if pair in known:
                if (np.abs(change - known[pair]) > 2 * rounding).any():  # NaN compares as not larger
                    return None
                met += bool((_differs(change, rounding) & _differs(known[pair], rounding)).any())
            known[pair] = np.where(np.isfinite(known.get(pair, change)), known.get(pair, change), change)
    return _as_fixed(known, changes, rounding) if met >= CONFIRMED else None


def _as_fixed(known: Change, changes: Sequence[Change], rounding: float) -> Fixed:
    """When a fixed change occurs, whether it always does, and whether it ends within the steps that were played."""
    differs = {pair: _differs(change, rounding) for pair, change in known.items()}
    steps = np.flatnonzero(np.any(list(differs.values()), axis=0))
    missed = (
        (differs[pair] & np.isfinite(change) & ~_differs(change, rounding)).any()
        for table in changes
        for pair, change in table.items()
        if pair in known
    )
    taken_back = all(np.isfinite(change[steps[-1] + 1 :]).any() for change in known.values())
    return Fixed(int(steps[0]), not any(missed), taken_back)


def _differs(change: np.ndarray, rounding: float) -> np.ndarray:
    return np.abs(change) > rounding


def _low_digits(change: np.ndarray, extent: float) -> np.ndarray:
    """The low digits of a change; NaN where they are not a small part of the range of the number."""
    if extent == 0:
        return np.zeros_like(change)
    coarse = 10.0 ** np.ceil(np.log10(10 * LOW * extent))
    rest = change - coarse * np.round(change / coarse)
    return np.where(np.abs(rest) < LOW * extent, rest, np.nan)


def _when(after: int) -> str:
    return "right after it" if after == 0 else f"{after + 1} steps after it"


def _where(environment: BaseEnvironment, listener: int, number: int) -> str:
    """Part of a percept in words; actions have the environment's numbers, as an exported agent gives them."""
    name, features = environment.agent_names[listener], environment.spec.observation_size
    if number < features:
        return f"number {number} of {name}'s observation"
    return (
        f"whether action {environment.agent_spaces(listener).first_action + number - features} is available to {name}"
    )
