"""Recordings of the simulator or of the game itself, which needs the package smac and StarCraft II.

SMAC's state is read here for the recording and for the script that plays. No agent sees it.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Key

from decentral.environments.adapters.smac import PREFIX, SmacStage, check_game, starcraft_class
from decentral.environments.battles import BATTLES
from decentral.environments.battles.battle import Battle
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.host.interface import BrokenOff
from decentral.environments.host.user_code import errors_in_one_line
from decentral.errors import Failed, Refused
from decentral.settings import build
from decentral.verification.battle_check.episodes import enemies_by_kind, visible_in
from decentral.verification.battle_check.recorder import choose, record_simulated, script_of
from decentral.verification.battle_check.recording import GameRecording
from decentral.verification.battle_check.replay import shown, start_of

MOST_LOST = 10  # connections to the game, before giving up

Decide = Callable[[Battlefield, Any, Key[Array, ""]], tuple[Array, Any]]


def record(name: str, settings: dict[str, Any], episodes: int, share: float, seed: int) -> GameRecording:
    """Battles on a map: of the simulator, or of the game itself if the name says so."""
    if name.startswith(PREFIX) and name.removeprefix(PREFIX) in BATTLES:
        if settings:
            raise Refused(f"environment.{next(iter(settings))} is a setting of the simulator, not of {name}")
        return record_live(name.removeprefix(PREFIX), episodes, share, seed)
    if name not in BATTLES:
        raise Refused(f"record must be one of {', '.join(BATTLES)}, or {PREFIX} and one of them, got {name!r:.60}")
    return record_simulated(build(BATTLES[name], settings, "environment"), episodes, share, seed)


def record_live(map_name: str, episodes: int, share: float, seed: int) -> GameRecording:
    """Battles of the game, by the same policy."""
    starcraft_class()  # refuses at once if the package is missing
    check_game(map_name)
    stage = SmacStage(map_name, timeout_ends=True)
    with errors_in_one_line(f"{PREFIX}{map_name}", "while it was recorded"):
        try:
            return record_stage(BATTLES[map_name](), stage, episodes, share, seed)
        finally:
            stage.close()


def record_stage(environment: Battle, stage: SmacStage, episodes: int, share: float, seed: int) -> GameRecording:
    """The same with a running game. An episode in which the connection was lost is played again."""
    decide = jax.jit(lambda field, memory, key: choose(environment, share, field, memory, key))
    recorded: list[list[tuple]] = []
    lost = 0
    while len(recorded) < episodes:
        try:
            recorded.append(_episode(environment, stage, decide, (seed + len(recorded) + lost) % 2**31))
        except BrokenOff as why:
            lost += 1
            if lost > MOST_LOST:
                raise Failed(f"{lost} episodes broke off: {why}") from None
    steps = [step for episode in recorded for step in episode]
    columns = zip((np.float32, np.int32, np.float32, bool, bool), zip(*steps, strict=True), strict=True)
    arrays = (np.asarray(column, kind) for kind, column in columns)
    return GameRecording(environment.battle_map.name, "the game, through the package smac", *arrays)


def _episode(environment: Battle, stage: SmacStage, decide: Decide, seed: int) -> list[tuple]:
    """State, actions, reward, end and available actions of every step."""
    key, available = jax.random.key(seed), stage.reset(seed).available.astype(bool)
    state = np.asarray(stage.game.get_state(), np.float32)
    enemy_of_id = enemies_by_kind(environment, state)
    field, memory, over, steps = None, script_of(environment).start(), False, []
    while not over:
        visible = jax.tree.map(
            lambda column: column[0, 0], visible_in(environment, state[None, None], enemy_of_id[None])
        )
        field = start_of(environment.roster, visible, enemy_of_id) if field is None else field
        field = shown(environment.roster, field, visible)
        key, key_choice = jax.random.split(key)
        chosen, memory = decide(field, memory, key_choice)
        allowed = np.take_along_axis(available, np.asarray(chosen)[:, None], axis=1)[:, 0]
        actions = np.where(allowed, chosen, available.argmax(axis=1))  # if SMAC disagrees: its first available action
        step = stage.step(actions)
        over = step.terminated or step.truncated
        steps.append((state, actions, step.reward, over, available))
        available, state = step.percepts.available.astype(bool), np.asarray(stage.game.get_state(), np.float32)
    return steps
