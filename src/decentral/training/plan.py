"""The plan of a run: its length, replay, exploration and tests."""

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from decentral.settings import Refused, Settings, setting


class Plan(Settings):
    """One plan for all algorithms; the defaults are PyMARL's."""

    steps: int = setting(50_000, "environment steps per seed", at_least=1, at_most=2_000_000_000)
    seeds: int = setting(1, "how many seeds to train side by side", at_least=1)
    seed: int = setting(0, "the first seed; the others follow it", at_least=0)
    replay_episodes: int = setting(5000, "N_max, episodes that each agent remembers", at_least=1)
    replay_type: Literal["float32", "float16", "bfloat16"] = setting(
        "float32",
        "observations in the replay: exact, or half as large (float16: 3 digits, cut at 65504; bfloat16: 2 digits)",
    )
    batch_episodes: int = setting(32, "N_batch, episodes of an update", at_least=1)
    num_environments: int = setting(1, "environments played side by side, one episode each per turn", at_least=1)
    workers: int = setting(
        1,
        "processes that step a host environment, the environments dealt out to them; 1: this very process",
        at_least=1,
        at_most=1024,
    )
    worker_timeout: int = setting(
        600,
        "seconds that a process of environments (workers above 1) may take for a step of them all; then it is ended",
        at_least=1,
        at_most=1_000_000,
    )
    devices: int = setting(
        0,
        "accelerators (or CPU devices) to spread seeds, settings and agents over, as many as there are at most; 0: all",
        at_least=0,
        at_most=1024,
    )
    updates_per_turn: int = setting(1, "updates after each turn", at_least=1)
    sharing: bool = setting(False, "one network, optimiser and replay for all agents, as in PyMARL: NOT decentralised")
    agent_ids: bool = setting(
        True, "with sharing: show each agent its number, one-hot, where its percepts do not tell it"
    )
    epsilon_start: float = setting(1.0, "exploration at the start", at_least=0, at_most=1)
    epsilon_end: float = setting(0.05, "exploration at the end", at_least=0, at_most=1)
    epsilon_steps: int = setting(50_000, "T_epsilon, steps over which exploration falls", at_least=1)
    test_interval: int = setting(2000, "environment steps between two tests", at_least=1)
    test_episodes: int = setting(32, "greedy episodes of a test", at_least=1, at_most=100_000)
    diagnostics: bool = setting(
        False,
        "measure more in every test: values against returns, contexts against partners, agreement with the oracle",
    )

    def check_together(self) -> None:
        for name in ("batch_episodes", "num_environments"):
            if getattr(self, name) > self.replay_episodes:
                raise Refused(
                    f"{name} must be at most replay_episodes, {self.replay_episodes}, got {getattr(self, name)}"
                )

        if not self.agent_ids and not self.sharing:
            raise Refused("agent_ids must be true unless sharing is, got false: only shared parameters need them")

    @property
    def warmup_turns(self) -> int:
        """Turns played before the first one that leaves enough episodes to learn from."""
        return -(-self.batch_episodes // self.num_environments) - 1

    @property
    def fresh_episodes(self) -> int:
        """The episodes of an on-policy update: those of as many whole turns as fill a batch."""
        return (self.warmup_turns + 1) * self.num_environments

    def epsilon(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """Exploration at a step: falls linearly, then stays."""
        progress = jnp.minimum(step / self.epsilon_steps, 1.0)
        return self.epsilon_start + progress * (self.epsilon_end - self.epsilon_start)
