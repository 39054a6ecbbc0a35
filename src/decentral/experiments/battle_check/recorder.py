"""Recordings made here: of the simulator, and of the game itself where the package smac and the game are installed.

SMAC's script plays, restricted to available actions; a share of its actions is drawn at random, so that units also
retreat and scatter.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.environments.battles import BATTLES
from decentral.environments.battles.battle import Battle
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.foreign import told_in_one_line
from decentral.environments.smac import PREFIX
from decentral.environments.smac_package import check_game, starcraft_class
from decentral.experiments.battle_check.episodes import enemies_by_kind, visible_in
from decentral.experiments.battle_check.recording import Recording
from decentral.experiments.battle_check.replay import shown, start_of
from decentral.refusal import Failed, Refused
from decentral.settings import build

MOST_LOST = 10  # connections with the game, before it is given up


def record(name: str, settings: dict[str, Any], episodes: int, share: float, seed: int) -> Recording:
    """Battles on a map: of the simulator, or of the game itself where the name says so."""
    if name.startswith(PREFIX) and name.removeprefix(PREFIX) in BATTLES:
        if settings:
            raise Refused(f"environment.{next(iter(settings))} is a setting of the simulator, not of {name}")
        return record_live(name.removeprefix(PREFIX), episodes, share, seed)
    if name not in BATTLES:
        raise Refused(f"record must be one of {', '.join(BATTLES)}, or {PREFIX} and one of them, got {name!r:.60}")
    return record_simulated(build(BATTLES[name], settings, "environment"), episodes, share, seed)


def record_simulated(world: Battle, episodes: int, share: float, seed: int) -> Recording:
    """Battles of the simulator under its settings."""

    def play(key: Key[Array, ""]) -> tuple:
        def step(now: tuple, key: Key[Array, ""]) -> tuple[tuple, tuple]:
            field, memory, before = now
            key_choice, key_world = jax.random.split(key)
            actions, memory = choose(world, share, field, memory, key_choice)
            after, outcome = world.step(field, actions, key_world)
            told = world.state_vector(field, before), actions, outcome, world.perceive(field).available
            return (after, memory, actions), told

        key_start, key_steps = jax.random.split(key)
        nothing_done = jnp.full(world.num_agents, -1, jnp.int32)
        start = (world.reset(key_start), _script(world).start(), nothing_done)
        return jax.lax.scan(step, start, jax.random.split(key_steps, world.time_limit))[1]

    keys = jax.random.split(jax.random.key(seed), episodes)
    states, actions, outcomes, available = jax.device_get(jax.jit(jax.vmap(play))(keys))
    over = np.cumsum(outcomes.terminated, axis=1) > 0
    happened = ~np.pad(over[:, :-1], ((0, 0), (1, 0)))
    last = happened & (over | (np.arange(world.time_limit) == world.time_limit - 1)[None, :])
    columns = (array[happened] for array in (states, actions, outcomes.reward, last, available))
    return Recording(world.battle_map.name, "the simulator of decentral", *columns)


def record_live(map_name: str, episodes: int, share: float, seed: int) -> Recording:
    """Battles of the game itself, through the package smac."""
    check_game(map_name)
    game = starcraft_class()(map_name=map_name, seed=seed)
    with told_in_one_line(f"{PREFIX}{map_name}", "while it was recorded"):
        try:
            return record_game(BATTLES[map_name](), game, episodes, share, seed)
        finally:
            game.close()


def record_game(world: Battle, game: Any, episodes: int, share: float, seed: int) -> Recording:
    """The same with a game that is there. An episode in which the connection was lost is played again."""
    decide = jax.jit(lambda field, memory, key: choose(world, share, field, memory, key))
    lived: list[list[tuple]] = []
    lost = 0
    while len(lived) < episodes:
        episode = _live_episode(world, game, decide, jax.random.key((seed + len(lived) + lost) % 2**31))
        lived += [episode] if episode else []
        lost += not episode
        if lost > MOST_LOST:
            raise Failed(f"the connection with the game was lost {lost} times")
    columns = (np.asarray(column) for column in zip(*(step for episode in lived for step in episode), strict=True))
    state, actions, rewards, last, available = columns
    origin = f"the game, through the package smac: {world.battle_map.name}"
    return Recording(
        world.battle_map.name,
        origin,
        state.astype(np.float32),
        actions.astype(np.int32),
        rewards.astype(np.float32),
        last,
        available.astype(bool),
    )


def choose(
    world: Battle, share: float, field: Battlefield, memory: Array, key: Key[Array, ""]
) -> tuple[Int[Array, " agents"], Array]:
    """The script's actions, each with the chance `share` replaced by any that is available."""
    key_random, key_drawn = jax.random.split(key)
    scripted, memory = _script(world).choose(field, memory)
    keys = jax.random.split(key_drawn, world.num_agents)
    drawn = jax.vmap(world.spec.actions.sample)(world.perceive(field).available, keys).astype(jnp.int32)
    is_random = jax.random.uniform(key_random, (world.num_agents,)) < share
    return jnp.where(is_random, drawn, scripted), memory


def _script(world: Battle) -> Any:
    return world.scripts()["restricted script"]


def _live_episode(world: Battle, game: Any, decide: Any, key: Key[Array, ""]) -> list[tuple]:
    """The steps of an episode; none if it broke off."""
    game.reset()
    steps: list[tuple] = []
    memory, field, over = _script(world).start(), None, False
    enemy_of_id = np.zeros(0)
    while not over:
        state, available = np.asarray(game.get_state(), np.float32), np.asarray(game.get_avail_actions(), bool)
        enemy_of_id = enemies_by_kind(world, state) if field is None else enemy_of_id
        visible = jax.tree.map(lambda column: column[0, 0], visible_in(world, state[None, None], enemy_of_id[None]))
        field = start_of(world.roster, visible, enemy_of_id) if field is None else field
        field = shown(world.roster, field, visible)
        key, key_choice = jax.random.split(key)
        wanted, memory = decide(field, memory, key_choice)
        allowed = np.take_along_axis(available, np.asarray(wanted)[:, None], axis=1)[:, 0]
        actions = np.where(allowed, wanted, available.argmax(axis=1))  # where SMAC sees it otherwise: its first one
        reward, over, info = game.step(actions.tolist())
        if "battle_won" not in info:
            return []
        steps.append((state, actions, reward, over, available))
    return steps
