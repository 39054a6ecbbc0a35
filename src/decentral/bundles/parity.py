"""Does a bundle do what the agent does that it was made from? Where it does not, it is not written."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from decentral.bundles.recording import Recording
from decentral.runtime.agent import ExportedAgent, State
from decentral.settings import Refused

TOLERANCE = 1e-5  # of a value; of its size, where it is larger than 1

Values = Callable[[np.ndarray, State], tuple[np.ndarray, np.ndarray]]  # of a percept: values, memory after it


@dataclass(frozen=True)
class Parity:
    """How close a bundle came, over how many steps."""

    steps: int
    difference: float  # the largest of a value


def compare(agent: ExportedAgent, recording: Recording, values: Values | None = None) -> Parity:
    """Lead a bundle through recorded percepts; refused if a value, or an action that matters, is another.

    `values` may be another way to the bundle's values than its own, such as a graph made of it.
    """
    answer, episodes = values or agent.values, recording.episodes
    worst, steps = 0.0, 0
    for number in range(len(recording.returns)):
        state = agent.start()
        for step in np.flatnonzero(episodes.happened[number]):
            found, memory = answer(np.asarray(episodes.percepts.observation[number, step]), state)
            expected, taken = recording.values[number, step], int(episodes.actions[number, step])
            worst = max(worst, float(np.max(np.abs(found - expected) / _scale(expected))))
            options = np.asarray(episodes.percepts.available[number, step])
            _check_action(int(np.argmax(np.where(options, found, -np.inf))), taken, expected, steps)
            state, steps = State(memory, taken), steps + 1
    if not worst <= TOLERANCE:
        raise Refused(f"values of the bundle must be within {TOLERANCE:g} of the agent's, got {worst:.3g} apart")
    return Parity(steps, worst)


def _check_action(chosen: int, taken: int, expected: np.ndarray, step: int) -> None:
    lost = expected[taken] - expected[chosen]
    if not lost <= TOLERANCE * _scale(expected[taken]):
        raise Refused(f"the bundle must act as the agent does, got action {chosen} instead of {taken} at step {step}")


def _scale(values: np.ndarray) -> np.ndarray:
    return np.maximum(1.0, np.abs(values))
