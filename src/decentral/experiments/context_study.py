"""Learn contexts in a world where one agent acts at random, and see which ones are inferred in fresh episodes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.algorithms.dac import DAC
from decentral.environments.base import Environment
from decentral.experiments.compilation import keep_compiled_programs
from decentral.settings import as_data
from decentral.training.context_learning import Student, most_likely_contexts, newborn, study
from decentral.training.rollout import hand_out, play, random_player
from decentral.types import Episode

PARTS = 10  # of a study, between which progress is told

Modes = Int[Array, "E T"]


@dataclass(frozen=True)
class ContextStudy:
    """What is learned from, how long, and on how many fresh episodes the contexts are looked at. All seeds alike."""

    learner: DAC
    environment: Environment  # of one agent, whose facts name the hidden mode of every step
    updates: int
    episodes: int = 500  # to learn from, drawn once
    batch_episodes: int = 8
    fresh_episodes: int = 20
    seeds: int = 5
    seed: int = 0

    def as_data(self) -> dict[str, Any]:
        """Everything that decides the study, as plain data."""
        numbers = ("updates", "episodes", "batch_episodes", "fresh_episodes", "seeds", "seed")
        return {
            "learner": as_data(self.learner),
            "environment": as_data(self.environment),
            **{name: getattr(self, name) for name in numbers},
        }

    def run(self, say: Callable[[str], None]) -> tuple[np.ndarray, np.ndarray]:
        """Learn, all seeds in one compiled program; then the contexts and the modes of fresh episodes [S, E, T]."""
        keep_compiled_programs()
        seeds = jnp.arange(self.seed, self.seed + self.seeds)
        students, lived, fresh, modes = jax.jit(jax.vmap(self._begin))(seeds)
        learn = jax.jit(jax.vmap(partial(study, self.learner), (0, 0, None, None)), static_argnums=2, donate_argnums=0)
        begun, done = time.perf_counter(), 0
        while done < self.updates:
            count = min(-(-self.updates // PARTS), self.updates - done)
            students, metrics = learn(students, lived, self.batch_episodes, count)
            done += count
            error, used = (np.asarray(metrics[name]).mean() for name in ("state_error", "contexts_used"))
            passed = time.perf_counter() - begun
            say(f"update {done:,} of {self.updates:,}  error {error:.3f}  contexts used {used:.2f}  {passed:.0f} s")
        contexts = jax.jit(jax.vmap(most_likely_contexts))(students.model, fresh)
        return np.asarray(contexts), np.asarray(modes)

    def _begin(self, seed: Int[Array, ""]) -> tuple[Student, Episode, Episode, Modes]:
        keys = jax.random.split(jax.random.key(seed), 3)
        lived, _ = self._live(keys[0], self.episodes)
        fresh, modes = self._live(keys[1], self.fresh_episodes)
        return newborn(self.learner, self.environment.spec, keys[2]), lived, fresh, modes

    def _live(self, key: Key[Array, ""], count: int) -> tuple[Episode, Modes]:
        """Episodes of random actions, and the mode of every step, which the agent does not see."""

        def live(key: Key[Array, ""]) -> tuple[Episode, Int[Array, " T"]]:
            key_act, key_world = jax.random.split(key)
            trajectory = play(self.environment, random_player(self.environment, key_act), key_world)
            return jax.tree.map(lambda of_all: of_all[0], hand_out(trajectory)), trajectory.facts["mode"]

        return jax.vmap(live)(jax.random.split(key, count))
