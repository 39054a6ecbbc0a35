"""Does a bundle do what the agent does that it was made from? Where it does not, it is not written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from decentral.bundles.recording import Recording
from decentral.runtime.agent import ExportedAgent, State
from decentral.settings import Refused

TOLERANCE = 1e-5  # of a value; of its size, where it is larger than 1


class Answer(NamedTuple):
    """What a bundle makes of a percept."""

    values: np.ndarray  # of the agent's own actions
    action: int  # by the environment's number
    memory: np.ndarray  # after the percept


Answers = Callable[[np.ndarray, np.ndarray | None, State], Answer]  # to an observation and what is available, if told


@dataclass(frozen=True)
class Parity:
    """How close a bundle came, over how many steps."""

    steps: int
    difference: float  # the largest of a value


def compare(agent: ExportedAgent, recording: Recording, answers: Answers | None = None) -> Parity:
    """Lead a bundle through recorded percepts; refused if a value, or an action that matters, is another.

    Every percept is told twice: with the actions that were available, and without a word about them. `answers` may be
    another way to the bundle's answers than its own, such as a graph made of it.
    """
    answer, episodes = answers or _answers_of(agent), recording.episodes
    worst, steps = 0.0, 0
    for number in range(len(recording.returns)):
        state = agent.start()
        for step in np.flatnonzero(episodes.happened[number]):
            observation = np.asarray(episodes.percepts.observation[number, step])
            available = np.asarray(episodes.percepts.available[number, step])
            expected, taken = recording.values[number, step], int(episodes.actions[number, step])
            found = answer(observation, available, state)
            worst = max(worst, float(np.max(np.abs(found.values - expected) / _scale(expected))))
            _check_action(agent, found.action, taken, expected, steps)
            untold = answer(observation, None, state)
            _check_action(agent, untold.action, int(np.argmax(expected)), expected, steps)
            state, steps = State(found.memory, taken), steps + 1
    if not worst <= TOLERANCE:
        raise Refused(f"values of the bundle must be within {TOLERANCE:g} of the agent's, got {worst:.3g} apart")
    return Parity(steps, worst)


def _answers_of(agent: ExportedAgent) -> Answers:
    def answer(observation: np.ndarray, available: np.ndarray | None, state: State) -> Answer:
        values, memory = agent.values(observation, state)
        return Answer(values, agent.act(observation, available, state)[0], memory)

    return answer


def _check_action(agent: ExportedAgent, action: int, taken: int, expected: np.ndarray, step: int) -> None:
    """Refuse an action that is none of the agent's, or that is worth less than the one it should be."""
    first, chosen = agent.spec.first_action, action - agent.spec.first_action
    if not 0 <= chosen < agent.spec.actions:
        own = f"{first} to {first + agent.spec.actions - 1}"
        raise Refused(f"the bundle must take one of the agent's own actions, {own}, got {action} at step {step}")
    lost = expected[taken] - expected[chosen]
    if not lost <= TOLERANCE * _scale(expected[taken]):
        raise Refused(f"the bundle must act as the agent does, got action {chosen} instead of {taken} at step {step}")


def _scale(values: np.ndarray) -> np.ndarray:
    return np.maximum(1.0, np.abs(values))
