"""A compiled environment stepped from Python, with the same keys and outcomes as a compiled episode."""

import jax
import numpy as np
from jaxtyping import Array, Int, UInt32

from decentral.environments.base import Environment, Outcome, Randomness, State, begin
from decentral.environments.host.interface import Percepts, Stage, Step
from decentral.types import Percept

LARGEST_SEED = 2**64 - 1  # the bits of a key


class SteppedStage(Stage):
    """A compiled environment, step by step. The episode of a seed is the one of `jax.random.key(seed)`."""

    def __init__(self, environment: Environment):
        self.environment = environment
        self.state: State = None  # known once an episode has begun
        self.taken = 0  # steps of the episode
        self._randomness: Randomness = None  # [T]

    def reset(self, seed: int) -> Percepts:
        self.taken = 0
        bits = np.frombuffer(seed.to_bytes(8, "big"), ">u4").astype(np.uint32)
        (self.state, self._randomness), percept = _begin(self.environment, bits)
        return _as_numpy(percept)

    def step(self, actions: np.ndarray) -> Step:
        now = np.int32(self.taken)
        self.state, outcome, percept = _step(self.environment, self.state, actions, self._randomness, now)
        self.taken += 1
        terminated, truncated = bool(outcome.terminated), self.taken >= self.environment.time_limit
        facts = {name: float(value) for name, value in outcome.facts.items()}
        own = None if outcome.own_rewards is None else np.asarray(outcome.own_rewards)
        return Step(_as_numpy(percept), float(outcome.reward), terminated, truncated and not terminated, facts, own)

    def close(self) -> None:
        self.state = self._randomness = None


def _as_numpy(percept: Percept) -> Percepts:
    return Percepts(np.array(percept.observation), np.array(percept.available))


@jax.jit
def _begin(environment: Environment, bits: UInt32[Array, " words"]) -> tuple[tuple[State, Randomness], Percept]:
    begun = begin(environment, jax.random.wrap_key_data(bits))
    return begun, environment.perceive(begun[0])


@jax.jit
def _step(
    environment: Environment, state: State, actions: Array, randomness: Randomness, now: Int[Array, ""]
) -> tuple[State, Outcome, Percept]:
    at_step = jax.tree.map(lambda leaf: leaf[now], randomness)
    state, outcome = environment.step_with(state, actions, at_step)
    return state, outcome, environment.perceive(state)
