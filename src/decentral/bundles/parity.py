"""Does a bundle act like the agent that it was made from? If not, it is not written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from decentral.bounds import within_bounds
from decentral.bundles.recording import Recording
from decentral.runtime.agent import ExportedAgent, State
from decentral.settings import Refused

TOLERANCE = 1e-5  # of a value; of its size, where it is larger than 1


class Answer(NamedTuple):
    """A bundle's answer to a percept."""

    values: np.ndarray  # of the agent's own actions
    action: Any  # by the environment's number; or its numbers, within bounds
    memory: np.ndarray  # after the percept


Answers = Callable[
    [np.ndarray, np.ndarray | None, State], Answer
]  # to an observation and, if given, the available actions


@dataclass(frozen=True)
class Parity:
    """How close a bundle is to its agent, over how many steps."""

    steps: int
    difference: float  # the largest difference of a value


def compare(agent: ExportedAgent, recording: Recording, answers: Answers | None = None) -> Parity:
    """Run a bundle on recorded percepts; refused if a value, or an action that matters, differs.

    Every percept is given twice: with and without the available actions. `answers` may be another way to compute the
    bundle's answers, such as a graph made of it.
    """
    answer, episodes = answers or _answers_of(agent), recording.episodes
    worst, steps = 0.0, 0
    for number in range(len(recording.returns)):
        state = agent.start()
        for step in np.flatnonzero(episodes.happened[number]):
            observation = np.asarray(episodes.percepts.observation[number, step])
            available = np.asarray(episodes.percepts.available[number, step])
            expected, taken = recording.values[number, step], np.asarray(episodes.actions[number, step])
            with_mask = answer(observation, available, state)
            worst = max(worst, float(np.max(np.abs(with_mask.values - expected) / _scale(expected))))
            if agent.spec.bounds:
                _check_numbers(agent, with_mask.action, taken, steps)
            else:
                _check_action(agent, with_mask.action, int(taken), expected, steps)
                without_mask = answer(observation, None, state)
                _check_action(agent, without_mask.action, int(np.argmax(expected)), expected, steps)
            state, steps = State(with_mask.memory, taken if agent.spec.bounds else int(taken)), steps + 1
    if not worst <= TOLERANCE:
        raise Refused(f"values of the bundle must be within {TOLERANCE:g} of the agent's, got {worst:.3g} apart")
    return Parity(steps, worst)


def _answers_of(agent: ExportedAgent) -> Answers:
    def answer(observation: np.ndarray, available: np.ndarray | None, state: State) -> Answer:
        values, memory = agent.values(observation, state)
        return Answer(values, agent.act(observation, available, state)[0], memory)

    return answer


def _check_action(agent: ExportedAgent, action: int, taken: int, expected: np.ndarray, step: int) -> None:
    """Refuse an action that the agent does not have, or that is worth less than the expected one."""
    first, chosen = agent.spec.first_action, action - agent.spec.first_action
    if not 0 <= chosen < agent.spec.actions:
        allowed = f"{first} to {first + agent.spec.actions - 1}"
        raise Refused(f"the bundle must take one of the agent's own actions, {allowed}, got {action} at step {step}")
    lost = expected[taken] - expected[chosen]
    if not lost <= TOLERANCE * _scale(expected[taken]):
        raise Refused(f"the bundle must act as the agent does, got action {chosen} instead of {taken} at step {step}")


def _check_numbers(agent: ExportedAgent, action: np.ndarray, taken: np.ndarray, step: int) -> None:
    """Refuse a continuous action that leaves the agent's bounds, or that is not the one that it took."""
    low, high = np.asarray(agent.spec.bounds).T
    if not ((action >= low) & (action <= high)).all():
        raise Refused(f"the bundle must stay within the agent's bounds, got {action.tolist()} at step {step}")
    expected = within_bounds(taken, agent.spec.bounds)
    if not (np.abs(action - expected) <= TOLERANCE * np.maximum(high - low, np.abs(expected))).all():
        raise Refused(
            f"the bundle must act as the agent does, got {action.tolist()} instead of {expected.tolist()}, step {step}"
        )


def _scale(values: np.ndarray) -> np.ndarray:
    return np.maximum(1.0, np.abs(values))
