"""Tabular DAC with the true context, the partner's action: the fixed point of its expected update, and exact Q*.

Tables are [states, own actions, partner's actions]; a partner is its probabilities [states, partner's actions].
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from decentral.reproduction.tabular_worlds import TabularWorld

EXACT = 1e-12  # by which an iteration may still change a value when it stops
TIE = 1e-9  # by which two exact values may differ through rounding
MOST_ITERATIONS = 100_000
EPSILON = 0.05  # of a partner that explores, as at the end of the paper's schedule
TARGETS = ("printed", "same context", "optimistic")


@dataclass(frozen=True)
class Learned:
    """What one agent has learned, and which entries it ever met; the others have kept their initial value, 0."""

    values: np.ndarray  # Q(s, a, c)
    occurs: np.ndarray  # the same shape

    @property
    def phi(self) -> np.ndarray:
        """max_c Q(s, a, c) over all contexts, as printed."""
        return self.values.max(axis=2)


def later_values(target: str, values: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """What a target adds for the next state, expected over what the partner does there [states, context now or 1]."""
    best_reply = values.max(axis=1)  # max_a' Q(s', a', c)
    if target == "printed":  # c_{t+1} as it happened
        return np.sum(partner * best_reply, axis=1, keepdims=True)
    return best_reply if target == "same context" else best_reply.max(axis=1, keepdims=True)


def fixed_point(world: TabularWorld, target: str, partner: np.ndarray, discount: float) -> Learned:
    """Where tabular DAC ends if it tries all of its own actions for ever beside a partner that does not learn."""
    occurs = states_met(world, partner)[:, None, None] & (partner > 0)[:, None, :]
    occurs = np.broadcast_to(occurs, world.chances.shape[:3])

    def updated(values: np.ndarray) -> np.ndarray:
        return np.where(occurs, world.look_ahead(later_values(target, values, partner), discount), 0.0)

    return Learned(_iterated(updated, occurs.shape), occurs)


def joint_optimum(world: TabularWorld, discount: float) -> np.ndarray:
    """Q*(s, a, a'), by value iteration over joint actions."""
    return _iterated(
        lambda values: world.look_ahead(values.max(axis=(1, 2))[:, None], discount), world.chances.shape[:3]
    )


def lucky_phi(world: TabularWorld, discount: float) -> np.ndarray:
    """phi of the optimistic target if contexts tell what chance did, too: the best outcome of each action [S, A]."""

    def updated(phi: np.ndarray) -> np.ndarray:
        padded = np.append(phi.max(axis=1), 0.0)
        outcomes = np.where(world.chances > 0, world.rewards + discount * padded[world.following], -np.inf)
        return outcomes.max(axis=(2, 3))

    return _iterated(updated, world.chances.shape[:2])


def best_response(world: TabularWorld, partner: np.ndarray, discount: float) -> np.ndarray:
    """Q(s, a) of the best an agent can do beside a partner that does not learn: what IQL's expected update ends at."""

    def updated(values: np.ndarray) -> np.ndarray:
        joint = world.look_ahead(values.max(axis=1)[:, None], discount)
        return np.sum(joint * partner[:, None, :], axis=2)

    return _iterated(updated, world.chances.shape[:2])


def partners_of(world: TabularWorld, discount: float) -> dict[str, np.ndarray]:
    """The partners that do not learn, by name: the policy of the second agent [states, its actions]."""
    uniform = np.full((world.num_states, world.chances.shape[2]), 1 / world.chances.shape[2])
    joint = joint_optimum(world, discount).reshape(world.num_states, -1)
    first_best = np.argmax(joint >= joint.max(axis=1, keepdims=True) - TIE, axis=1)  # one optimal joint policy
    cooperative = np.eye(uniform.shape[1])[first_best % uniform.shape[1]]
    own_actions = world.chances.shape[1]
    at_random = np.full((world.num_states, own_actions), 1 / own_actions)
    worth = best_response(world.seen_by(1), at_random, discount)
    cautious = np.eye(uniform.shape[1])[np.argmax(worth >= worth.max(axis=1, keepdims=True) - TIE, axis=1)]
    fixed = {"cooperative": cooperative, "cautious": cautious}
    exploring = {f"{name}, exploring": (1 - EPSILON) * policy + EPSILON * uniform for name, policy in fixed.items()}
    return {f"{name}, fixed": policy for name, policy in fixed.items()} | exploring | {"random": uniform}


def states_met(world: TabularWorld, partner: np.ndarray) -> np.ndarray:
    """The states that occur if the agent tries everything beside a partner."""
    possible = (world.chances > 0) & (partner > 0)[:, None, :, None]
    met = np.append(world.start > 0, False)
    while True:
        wider = met.copy()
        wider[world.following[met[:-1]][possible[met[:-1]]]] = True
        wider[-1] = False
        if (wider == met).all():
            return met[:-1]
        met = wider


def greedy(phi: np.ndarray, tie: float = TIE) -> np.ndarray:
    """The policy that takes the best action, all of them equally often where several are best."""
    best = phi >= phi.max(axis=1, keepdims=True) - tie
    return best / best.sum(axis=1, keepdims=True)


def team_value(world: TabularWorld, policies: tuple[np.ndarray, np.ndarray], discount: float) -> float:
    """The expected discounted return of two independent policies."""
    joint = policies[0][:, :, None] * policies[1][:, None, :]

    def updated(values: np.ndarray) -> np.ndarray:
        return np.sum(joint * world.look_ahead(values[:, None], discount), axis=(1, 2))

    return float(world.start @ _iterated(updated, (world.num_states,)))


def _iterated(updated: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The fixed point of a contraction, from 0."""
    values = np.zeros(shape)
    for _ in range(MOST_ITERATIONS):
        newer = updated(values)
        if np.abs(newer - values).max() < EXACT:
            return newer
        values = newer
    raise ValueError(f"values still change after {MOST_ITERATIONS} iterations")
