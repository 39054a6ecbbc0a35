"""Recordings of the simulator, and the policy that plays in them.

SMAC's script plays, restricted to available actions; a share of its actions is drawn at random, so that units also
retreat and scatter.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.environments.base import Script
from decentral.environments.battles.battle import Battle
from decentral.environments.battles.battlefield import Battlefield
from decentral.verification.battle_check.recording import GameRecording


def record_simulated(environment: Battle, episodes: int, share: float, seed: int) -> GameRecording:
    """Battles of the simulator under its settings."""

    def play(key: Key[Array, ""]) -> tuple:
        def step(carry: tuple, key: Key[Array, ""]) -> tuple[tuple, tuple]:
            field, memory, before = carry
            key_choice, key_environment = jax.random.split(key)
            actions, memory = choose(environment, share, field, memory, key_choice)
            after, outcome = environment.step(field, actions, key_environment)
            record = environment.state_vector(field, before), actions, outcome, environment.perceive(field).available
            return (after, memory, actions), record

        key_start, key_steps = jax.random.split(key)
        nothing_done = jnp.full(environment.num_agents, -1, jnp.int32)
        start = (environment.reset(key_start), script_of(environment).start(), nothing_done)
        return jax.lax.scan(step, start, jax.random.split(key_steps, environment.time_limit))[1]

    keys = jax.random.split(jax.random.key(seed), episodes)
    states, actions, outcomes, available = jax.device_get(jax.jit(jax.vmap(play))(keys))
    over = np.cumsum(outcomes.terminated, axis=1) > 0
    happened = ~np.pad(over[:, :-1], ((0, 0), (1, 0)))
    last = happened & (over | (np.arange(environment.time_limit) == environment.time_limit - 1)[None, :])
    columns = (array[happened] for array in (states, actions, outcomes.reward, last, available))
    return GameRecording(environment.battle_map.name, "the simulator of decentral", *columns)


def choose(
    environment: Battle, share: float, field: Battlefield, memory: Array, key: Key[Array, ""]
) -> tuple[Int[Array, " agents"], Array]:
    """The script's actions, each replaced with probability `share` by a random available one."""
    key_random, key_drawn = jax.random.split(key)
    scripted, memory = script_of(environment).choose(field, memory)
    keys = jax.random.split(key_drawn, environment.num_agents)
    drawn = jax.vmap(environment.spec.actions.sample)(environment.perceive(field).available, keys).astype(jnp.int32)
    is_random = jax.random.uniform(key_random, (environment.num_agents,)) < share
    return jnp.where(is_random, drawn, scripted), memory


def script_of(environment: Battle) -> Script:
    """The script that is restricted to available actions."""
    return environment.scripts()["restricted script"]
