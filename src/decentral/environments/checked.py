"""A stage whose answers are checked: what a world gets wrong is one line that says where, what and what is allowed."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from decentral.environments.host import BrokenOff, HostEnvironment, Percepts, Stage, Step
from decentral.refusal import Failed, Refused


class CheckedStage(Stage):
    """A world's stage that answers in float32 and bool, in the shapes that were promised, or not at all."""

    def __init__(self, environment: HostEnvironment):
        self.environment = environment
        self.taken = 0  # steps of the episode
        with told_in_one_line(environment.address, "when opened"):
            self.stage = environment.open()

    def reset(self, seed: int) -> Percepts:
        self.taken = 0
        with told_in_one_line(self.environment.address, "at reset"):
            return self._percepts(self.stage.reset(seed))

    def step(self, actions: np.ndarray) -> Step:
        self.taken += 1
        with told_in_one_line(self.environment.address, f"at step {self.taken}"):
            return self._step(self.stage.step(actions))

    def close(self) -> None:
        with told_in_one_line(self.environment.address, "when closed"):
            self.stage.close()

    def _step(self, told: Any) -> Step:
        _check(isinstance(told, Step), "the answer", "a Step", told)
        reward = number_of("reward", told.reward)
        for name in ("terminated", "truncated"):
            _check(isinstance(getattr(told, name), bool | np.bool_), name, "true or false", getattr(told, name))
        names = self.environment.fact_names
        _check(set(told.facts) == set(names), "facts", f"those of fact_names, {names}", tuple(told.facts))
        facts = {name: number_of(f"facts.{name}", told.facts[name]) for name in names}
        return Step(self._percepts(told.percepts), reward, bool(told.terminated), bool(told.truncated), facts)

    def _percepts(self, told: Any) -> Percepts:
        _check(isinstance(told, Percepts), "percepts", "Percepts", told)
        spec, agents = self.environment.spec, self.environment.num_agents
        observation = table_of("observation", told.observation, (agents, spec.observation_size))
        available = table_of("available", told.available, (agents, spec.actions.count)).astype(bool)
        for agent in np.flatnonzero(~np.isfinite(observation).all(axis=1)):
            _check(False, f"observation of agent {agent}", "finite", observation[agent])
        for agent in np.flatnonzero(~available.any(axis=1)):
            _check(False, f"available of agent {agent}", "true for at least one action", available[agent])
        return Percepts(observation, available)


@contextmanager
def told_in_one_line(address: str, when: str) -> Iterator[None]:
    """Whatever the world raises, in one line that says which world it was and when."""
    try:
        yield
    except BrokenOff:
        raise
    except Refused as refusal:
        raise Refused(f"{address} {when}: {refusal}") from None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}, line {frame.lineno}"
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise Failed(f"{address} {when}: {text[:300]} ({place})") from error


def _check(sound: bool, what: str, must_be: str, got: Any) -> None:
    if not sound:
        raise Refused(f"{what} must be {must_be}, got {got!r:.120}")


def number_of(what: str, value: Any) -> float:
    """A finite number, or a refusal that names it."""
    number = _converted(what, "a finite number", float, value)
    _check(bool(np.isfinite(number)), what, "a finite number", value)
    return number


def table_of(what: str, value: Any, shape: tuple[int, int]) -> np.ndarray:
    """Numbers of a shape as float32, or a refusal that names them."""
    words = f"numbers of the shape {shape}, agents first"
    with np.errstate(over="ignore"):  # what is too large is not finite
        table = _converted(what, words, lambda given: np.asarray(given).astype(np.float32), value)
    _check(table.shape == shape, what, words, table.shape)
    return table


def _converted(what: str, must_be: str, convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise Refused(f"{what} must be {must_be}, got {value!r:.120}") from None
