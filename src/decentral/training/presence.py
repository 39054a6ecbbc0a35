"""How long an agent is part of an episode: one may leave before the others do."""

import numpy as np

from decentral.types import Episode


def steps_present(episode: Episode, count: int) -> int:
    """How many of the `count` steps of an agent's episode came before it left.

    Whoever has left sees zeros and can only do the first action, which is not sent, until the episode is over; of
    continuous actions it has none.
    """
    percepts = episode.percepts
    observation, available = (np.asarray(each)[:count] for each in (percepts.observation, percepts.available))
    left = available[:, 0] & (available.sum(axis=-1) == 1)
    if np.issubdtype(np.asarray(episode.actions).dtype, np.floating):
        left = ~available.any(axis=-1)
    absent = ~observation.any(axis=-1) & left
    return count if absent.all() else int(np.flatnonzero(~absent)[-1]) + 1


def present_in(episode: Episode) -> np.ndarray:
    """The steps of an agent's episode [T] that happened while it was there."""
    happened = np.array(episode.happened)
    happened[steps_present(episode, int(happened.sum())) :] = False
    return happened
