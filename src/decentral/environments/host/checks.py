"""Checks of a host environment's sizes and of its answers at each step: a mistake becomes one line that says where
it is, what it is and what is allowed."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from decentral.environments.base import BaseEnvironment
from decentral.environments.host.interface import HostEnvironment, Percepts, Stage, Step
from decentral.environments.host.user_code import StandardStreams, errors_as_failures, errors_in_one_line
from decentral.environments.inheritance import check_methods
from decentral.errors import Failed, Refused
from decentral.settings import build
from decentral.types import AgentSpec, Discrete


def build_environment(kind: type[BaseEnvironment], settings: dict[str, Any], name: str) -> BaseEnvironment:
    """An environment from its settings. Errors in its code, or in its sizes, become one line that names it."""
    check_methods(kind, name)
    with errors_as_failures(name, "when made"):
        environment: BaseEnvironment = build(kind, settings, "environment")
    if isinstance(environment, HostEnvironment):
        with errors_as_failures(name, "when asked for its sizes"):
            _check_sizes(environment, name)
    with errors_as_failures(name, "when asked for its agents"):
        _check_agents(environment, name)
    return environment


def _check_sizes(environment: HostEnvironment, name: str) -> None:
    spec = environment.spec
    if not isinstance(spec, AgentSpec):
        raise Refused(f"{name}: spec must be an AgentSpec, got {spec!r:.80}")
    sizes = {
        "num_agents": environment.num_agents,
        "time_limit": environment.time_limit,
        "spec.observation_size": spec.observation_size,
        "spec.actions.count": spec.actions.count,
    }
    for what, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise Refused(f"{name}: {what} must be a whole number at least 1, got {size!r:.80}")
    if spec.image is not None and not _is_image(spec):
        must_be = f"height, width and channels of {spec.observation_size} numbers"
        raise Refused(f"{name}: spec.image must be {must_be}, got {spec.image!r:.80}")
    for what in ("may_end_early", "may_restart", "one_per_process", "has_own_rewards"):
        if not isinstance(flag := getattr(environment, what), bool):
            raise Refused(f"{name}: {what} must be true or false, got {flag!r:.80}")
    facts = environment.fact_names
    if not isinstance(facts, tuple) or not all(isinstance(fact, str) for fact in facts):
        raise Refused(f"{name}: fact_names must be a tuple of names, got {facts!r:.80}")
    for report, fact in environment.reports.items():
        if fact not in facts:
            raise Refused(f"{name}: reports must be of facts in fact_names, got {report!r:.40} of {fact!r:.40}")


def _check_agents(environment: BaseEnvironment, name: str) -> None:
    """Refuse agents whose names or sizes nobody could rely on."""
    count, names, specs = environment.num_agents, environment.agent_names, environment.agent_specs
    if not isinstance(names, tuple) or not all(isinstance(one, str) for one in names) or len(set(names)) != count:
        raise Refused(f"{name}: agent_names must be a tuple of {count} different names, got {names!r:.80}")
    sound = isinstance(specs, tuple) and len(specs) == count and all(isinstance(own, AgentSpec) for own in specs)
    most = environment.spec.observation_size, environment.spec.actions.count
    kinds = {type(own.actions) for own in (environment.spec, *specs)} if sound else set()
    if len(kinds) != 1 or any(own.observation_size > most[0] or own.actions.count > most[1] for own in specs):
        raise Refused(f"{name}: agent_specs must be a tuple of {count} AgentSpecs within spec, got {specs!r:.80}")


def _is_image(spec: AgentSpec) -> bool:
    """Are these the sides of an image that is the whole observation?"""
    sides = spec.image
    whole = isinstance(sides, tuple) and len(sides) == 3 and all(type(side) is int and side > 0 for side in sides)
    return whole and math.prod(sides or ()) == spec.observation_size


LARGEST = float(np.finfo(np.float32).max)  # numbers are learned from as float32
FINITE = f"finite and at most {LARGEST:.1e} in size"
EITHER = "true or false for each action (1 or 0)"


class CheckedStage(Stage):
    """A stage whose answers are checked: they are float32 and bool, and have the declared shapes."""

    def __init__(self, environment: HostEnvironment, rendered: bool = False):
        self.environment = environment
        self.spec, self.num_agents, self.fact_names = environment.spec, environment.num_agents, environment.fact_names
        self.streams = StandardStreams()
        self.taken = 0  # steps of the episode
        try:
            with self._asked("when opened"):
                self.stage = environment.open_rendered() if rendered else environment.open()
        except BaseException:
            self.streams.release()
            raise

    def reset(self, seed: int) -> Percepts:
        self.taken = 0
        with self._asked("at reset"):
            return self._percepts(self.stage.reset(seed))

    def step(self, actions: np.ndarray) -> Step:
        self.taken += 1
        with self._asked(f"at step {self.taken}"):
            return self._step(self.stage.step(actions))

    def render(self) -> Any:
        with self._asked("when rendered"):
            return self.stage.render()

    def close(self) -> None:
        try:
            with self._asked("when closed"):
                self.stage.close()
        finally:
            self.streams.release()

    @contextmanager
    def _asked(self, when: str) -> Iterator[None]:
        """Wraps a call of the environment's code."""
        with errors_in_one_line(self.environment.address, when):
            yield
        try:
            self.streams.check()
        except Failed as failure:
            raise Failed(f"{self.environment.address} {when}: {failure}") from None

    def _step(self, answer: Any) -> Step:
        _check(isinstance(answer, Step), "the answer", "a Step", answer)
        reward = number_of("reward", answer.reward)
        for name in ("terminated", "truncated"):
            _check(isinstance(getattr(answer, name), bool | np.bool_), name, "true or false", getattr(answer, name))
        names = self.fact_names
        _check(isinstance(answer.facts, dict), "facts", f"a dict of {names}", answer.facts)
        _check(set(answer.facts) == set(names), "facts", f"those of fact_names, {names}", tuple(answer.facts))
        facts = {name: number_of(f"facts.{name}", answer.facts[name]) for name in names}
        ends, own = (bool(answer.terminated), bool(answer.truncated)), self._own_rewards(answer.own_rewards)
        return Step(self._percepts(answer.percepts), reward, *ends, facts, own)

    def _own_rewards(self, rewards: Any) -> np.ndarray | None:
        """Every agent's own reward, where the environment says that it has one."""
        if not self.environment.has_own_rewards:
            _check(rewards is None, "own_rewards", "None unless has_own_rewards is true", rewards)
            return None
        table = numbers_in(rewards)
        if table is None or table.shape != (self.environment.num_agents,) or not (np.abs(table) <= LARGEST).all():
            must_be = f"{self.environment.num_agents} numbers, one per agent, each {FINITE}"
            raise Refused(f"own_rewards must be {must_be}, got {brief_text(rewards)}")
        return table

    def _percepts(self, percepts: Any) -> Percepts:
        _check(isinstance(percepts, Percepts), "percepts", "Percepts", percepts)
        spec, agents = self.spec, self.num_agents
        observation = table_of("observation", percepts.observation, (agents, spec.observation_size))
        for agent in _unsound_rows(np.abs(observation) <= LARGEST):
            self._unsound("observation", agent, FINITE, observation)
        available = table_of("available", percepts.available, (agents, spec.actions.count))
        for agent in _unsound_rows((available == 0) | (available == 1)):
            self._unsound("available", agent, EITHER, available)
        for agent in np.flatnonzero(~available.any(axis=1) & isinstance(spec.actions, Discrete)):
            self._unsound("available", agent, "true for at least one action", available)
        return Percepts(observation.astype(np.float32), available.astype(bool))

    def _unsound(self, what: str, agent: Any, must_be: str, table: np.ndarray) -> None:
        _check(False, f"{what} of {self.environment.agent_names[agent]}", must_be, table[agent])


def _unsound_rows(sound: np.ndarray) -> np.ndarray | tuple[()]:
    """The agents with invalid entries."""
    return () if sound.all() else np.flatnonzero(~sound.all(axis=1))


def _check(sound: bool, what: str, must_be: str, got: Any) -> None:
    if not sound:
        raise Refused(f"{what} must be {must_be}, got {brief_text(got)}")


def brief_text(value: Any) -> str:
    """A value of the environment as text for a message, on one line."""
    plain = isinstance(value, np.ndarray) and value.size < 100 and value.dtype.kind in "biufc"
    shown = value.tolist() if plain else value
    return f"{' '.join(repr(shown).split()):.120}"


def number_of(what: str, value: Any) -> float:
    """One finite number that float32 can hold, or a refusal that names it. Flags are numbers, texts are not."""
    number = numbers_in(value)
    if number is None or number.size != 1 or not (np.abs(number) <= LARGEST).all():
        raise Refused(f"{what} must be a number, {FINITE}, got {brief_text(value)}")
    return float(number.item())


def table_of(what: str, value: Any, shape: tuple[int, int]) -> np.ndarray:
    """Numbers of a shape, or a refusal that names them, and the agent whose row it is."""
    table = numbers_in(value)
    if table is not None and table.shape == shape:
        return table
    if table is None and isinstance(value, list | tuple | np.ndarray) and len(value) == shape[0]:
        for agent, row in enumerate(value):
            _check(numbers_in(row) is not None, f"{what} of agent {agent}", f"{shape[1]} numbers", row)
    got = brief_text(value) if table is None else table.shape
    raise Refused(f"{what} must be numbers of the shape {shape}, agents first, got {got}")


def numbers_in(value: Any) -> np.ndarray | None:
    """Real numbers, as an array; none where there is a text, an object, a date or a complex number."""
    try:
        array = np.asarray(float(value) if isinstance(value, int) else value)
        real = array.dtype.kind in "fiub" or np.result_type(array.dtype, np.float32).kind == "f"
    except (TypeError, ValueError, OverflowError):  # lists of unequal lengths; types that no number has
        return None
    with np.errstate(over="ignore"):  # what is too large is not finite
        return array.astype(np.float64) if real else None
