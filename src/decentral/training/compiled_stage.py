"""A compiled world as a stage: stepped from Python, with the chance that a whole episode of the same key would have."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.environments.base import Chance, Environment, Outcome, State
from decentral.environments.host import Percepts, Stage, Step
from decentral.training.rollout import begin
from decentral.types import Percept


class CompiledStage(Stage):
    """Seeds are all bits of an episode's key."""

    def __init__(self, environment: Environment):
        self.environment = environment

    def reset(self, seed: int) -> Percepts:
        bits = np.frombuffer(seed.to_bytes(8, "big"), ">u4").astype(np.uint32)
        self.taken = 0
        self.world, self.chances, percept = _start(self.environment, jax.random.wrap_key_data(jnp.asarray(bits)))
        return _in_numpy(percept)

    def step(self, actions: np.ndarray) -> Step:
        self.world, outcome, percept = _go(self.environment, self.world, actions, self.chances, self.taken)
        self.taken += 1
        facts = {name: float(fact) for name, fact in outcome.facts.items()}
        return Step(_in_numpy(percept), float(outcome.reward), bool(outcome.terminated), False, facts)

    def close(self) -> None:
        pass


@jax.jit
def _start(environment: Environment, key: Key[Array, ""]) -> tuple[State, Chance, Percept]:
    world, chances = begin(environment, key)
    return world, chances, environment.perceive(world)


@jax.jit
def _go(
    environment: Environment, world: State, actions: Int[Array, " agents"], chances: Chance, step: Int[Array, ""] | int
) -> tuple[State, Outcome, Percept]:
    chance = jax.tree.map(lambda drawn: drawn[step], chances)
    after, _ = environment.step_by(world, actions, chance)
    return after, environment.tell(world, actions, chance, after), environment.perceive(after)


def _in_numpy(percept: Percept) -> Percepts:
    return Percepts(np.asarray(percept.observation), np.asarray(percept.available))
