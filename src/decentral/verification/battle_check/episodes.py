"""A recording as whole episodes, and what SMAC's state shows of every unit in them."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np

from decentral.environments.battles.battle import Battle
from decentral.environments.battles.maps import SIZE
from decentral.environments.battles.roster import Roster
from decentral.errors import Refused
from decentral.verification.battle_check.recording import GameRecording, row_sizes

Column = Any  # an array: of JAX in compiled programs, of NumPy outside
UNHURT = 0.999  # of the health at the start of an episode


class Visible(eqx.Module):
    """What a state shows about all units, in the order of the roster. The dead have no place and no health."""

    x: Column  # [..., units]
    y: Column
    health: Column
    shield: Column
    cooldown: Column  # [..., allies], in loops; 0: ready

    @property
    def alive(self) -> Column:
        return self.health > 0


@dataclass(frozen=True)
class RecordedEpisodes:
    """Episodes side by side [E, T, ...], the shorter ones padded with zeros."""

    visible: Visible  # before every step
    actions: np.ndarray  # [E, T, agents]
    rewards: np.ndarray  # [E, T]
    available: np.ndarray | None  # [E, T, agents, actions]
    lengths: np.ndarray  # [E]: steps
    enemy_of_id: np.ndarray  # [E, enemies]: which of the roster an id stands for; those of one kind are alike
    left_out: int  # episodes that do not begin with everyone unhurt, because they were cut

    @property
    def happened(self) -> np.ndarray:
        """[E, T]: this step is not padding."""
        return np.arange(self.actions.shape[1])[None, :] < self.lengths[:, None]

    @property
    def followed(self) -> np.ndarray:
        """[E, T]: the state after this step is recorded too."""
        return np.arange(self.actions.shape[1])[None, :] < self.lengths[:, None] - 1


def episodes_of(environment: Battle, recording: GameRecording, most: int) -> RecordedEpisodes:
    """The first episodes of a recording, `most` at the most."""
    ends = np.flatnonzero(recording.last) + 1
    starts = np.concatenate([[0], ends[:-1]])
    whole = [_is_whole(environment, state) for state in recording.state[starts]]
    kept = [(start, end) for start, end, sound in zip(starts, ends, whole, strict=True) if sound][:most]
    if not kept:
        raise Refused("no episode of the recording begins with all units of its map unhurt")
    lengths = np.asarray([end - start for start, end in kept])
    if lengths.max() > environment.time_limit:
        limit = f"{environment.time_limit} steps on {recording.map_name}"
        raise Refused(f"an episode of the recording must have at most {limit}, got {lengths.max()}: is last marked?")

    def padded(rows: np.ndarray) -> np.ndarray:
        block = np.zeros((len(kept), lengths.max(), *rows.shape[1:]), rows.dtype)
        for number, (start, end) in enumerate(kept):
            block[number, : end - start] = rows[start:end]
        return block

    states = padded(recording.state)
    enemy_of_id = np.stack([enemies_by_kind(environment, state) for state in states[:, 0]])
    return RecordedEpisodes(
        visible=visible_in(environment, states, enemy_of_id),
        actions=padded(recording.actions),
        rewards=padded(recording.rewards),
        available=None if recording.available is None else padded(recording.available),
        lengths=lengths,
        enemy_of_id=enemy_of_id,
        left_out=len(whole) - sum(whole),
    )


def enemies_by_kind(environment: Battle, state: np.ndarray) -> np.ndarray:
    """Which enemy of the roster each id stands for, by its kind; those of one kind in order."""
    theirs = environment.roster.kind[environment.roster.their_side]
    order = np.zeros(len(theirs), np.int32)
    order[np.argsort(kinds_of_ids(environment, state), kind="stable")] = np.argsort(theirs, kind="stable")
    return order


def kinds_of_ids(environment: Battle, state: np.ndarray) -> np.ndarray:
    """The kind of the enemy behind each id [enemies], in the first state of an episode."""
    roster = environment.roster
    if roster.type_bits == 0:
        return np.asarray(roster.kind[roster.their_side])
    bits = _rows(environment, state)[1][:, -roster.type_bits :]
    numbers = bits.argmax(axis=1)
    return len(roster.kinds) - 1 - numbers if environment.swapped_types else numbers


def visible_in(environment: Battle, states: np.ndarray, enemy_of_id: np.ndarray) -> Visible:
    """What states [E, T, S] show, where ids mean these enemies [E, enemies]."""
    roster = environment.roster
    ours, theirs = _rows(environment, states)
    theirs = np.take_along_axis(theirs, np.argsort(enemy_of_id, axis=1)[:, None, :, None], axis=2)

    def of_all(ally_column: int, enemy_column: int) -> np.ndarray:
        return np.concatenate([ours[..., ally_column], theirs[..., enemy_column]], axis=-1)

    shields = [_shields(roster, ours, roster.our_side, 4), _shields(roster, theirs, roster.their_side, 3)]
    return Visible(
        x=of_all(2, 1) * SIZE + SIZE / 2,
        y=of_all(3, 2) * SIZE + SIZE / 2,
        health=of_all(0, 0) * roster.health,
        shield=np.concatenate(shields, axis=-1),
        cooldown=ours[..., 1] * roster.cooldown_scale[roster.our_side],
    )


def _shields(roster: Roster, rows: np.ndarray, side: slice, column: int) -> np.ndarray:
    share = rows[..., column] if roster.has_shields(side) else np.zeros_like(rows[..., 0])
    return share * roster.shield[side]


def _rows(environment: Battle, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a state about allies and enemies, in their stored order."""
    roster = environment.roster
    of_ally, of_enemy = row_sizes(environment)
    middle = roster.allies * of_ally
    end = middle + roster.enemies * of_enemy
    return (
        states[..., :middle].reshape(*states.shape[:-1], roster.allies, of_ally),
        states[..., middle:end].reshape(*states.shape[:-1], roster.enemies, of_enemy),
    )


def _is_whole(environment: Battle, state: np.ndarray) -> bool:
    """Is this the first state of an episode: everyone present, unhurt, and of the map's kinds?"""
    roster = environment.roster
    ours, theirs = _rows(environment, state)
    if ours[:, 0].min() < UNHURT or theirs[:, 0].min() < UNHURT:
        return False
    if roster.type_bits == 0:
        return True
    kinds = ours[:, -roster.type_bits :].argmax(axis=1)
    same_enemies = (np.sort(kinds_of_ids(environment, state)) == np.sort(roster.kind[roster.their_side])).all()
    return bool((kinds == roster.kind[roster.our_side]).all() and same_enemies)
