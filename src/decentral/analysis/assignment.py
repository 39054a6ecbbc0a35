"""How well contexts tell hidden modes apart, whatever the contexts are called."""

import itertools

import numpy as np


def counts_of(contexts: np.ndarray, modes: np.ndarray, num_contexts: int, num_modes: int) -> np.ndarray:
    """How many steps have each context and each mode [contexts, modes]."""
    counts = np.zeros((num_contexts, num_modes), int)
    np.add.at(counts, (contexts.ravel(), modes.ravel()), 1)
    return counts


def one_to_one(counts: np.ndarray) -> tuple[float, tuple[int, ...]]:
    """The share of steps that the best assignment of one context to each mode explains, and the contexts by mode."""
    num_contexts, num_modes = counts.shape
    modes = range(num_modes)
    best = max(
        itertools.permutations(range(num_contexts), num_modes),
        key=lambda context_of: sum(counts[context_of[mode], mode] for mode in modes),
    )
    return float(sum(counts[best[mode], mode] for mode in modes) / counts.sum()), best


def many_to_one(counts: np.ndarray) -> float:
    """The share of steps explained if every context stands for the mode in which it is seen most."""
    return float(counts.max(axis=1).sum() / counts.sum())


def spans_a_switch(modes: np.ndarray, window: int) -> np.ndarray:
    """The steps whose window of the last `window` steps holds more than one mode [..., T]."""
    spans = np.zeros(modes.shape, bool)
    for back in range(1, window):
        spans[..., back:] |= modes[..., back:] != modes[..., :-back]
    return spans


def main_contexts(contexts: np.ndarray, modes: np.ndarray, window: int, num_contexts: int) -> np.ndarray:
    """For every mode the context seen most in windows of that mode alone."""
    alone = ~spans_a_switch(modes, window)
    counts = counts_of(contexts[alone], modes[alone], num_contexts, int(modes.max()) + 1)
    return counts.argmax(axis=0)


def extra_shares(contexts: np.ndarray, modes: np.ndarray, window: int, num_contexts: int) -> tuple[float, float]:
    """How often a context that is no mode's main one is seen: in windows that span a switch, and in all others."""
    extra = ~np.isin(contexts, main_contexts(contexts, modes, window, num_contexts))
    spans = spans_a_switch(modes, window)
    return _mean(extra[spans]), _mean(extra[~spans])


def delay(contexts: np.ndarray, modes: np.ndarray, window: int, num_contexts: int) -> float:
    """How many steps after a switch the main context of the new mode is first seen, on average [E, T]."""
    right = contexts == main_contexts(contexts, modes, window, num_contexts)[modes]
    waits = []
    for episode, step in zip(*np.nonzero(modes[:, 1:] != modes[:, :-1]), strict=True):
        stay = modes[episode, step + 1 :] == modes[episode, step + 1]
        length = len(stay) if stay.all() else int(stay.argmin())
        after_switch = right[episode, step + 1 : step + 1 + length]
        waits.append(int(after_switch.argmax()) if after_switch.any() else length)
    return float(np.mean(waits)) if waits else 0.0


def flicker(contexts: np.ndarray, modes: np.ndarray, window: int) -> float:
    """How often the context changes from one step to the next although both windows hold one mode alone [E, T]."""
    alone = ~spans_a_switch(modes, window)
    both = alone[:, 1:] & alone[:, :-1] & (modes[:, 1:] == modes[:, :-1])
    return _mean((contexts[:, 1:] != contexts[:, :-1])[both])


def _mean(happens: np.ndarray) -> float:
    return float(happens.mean()) if happens.size else 0.0
