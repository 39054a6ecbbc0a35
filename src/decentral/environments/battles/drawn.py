"""Battles whose teams and starting places are drawn for each episode, under SMACv2's names.

Facts are those of oxwhirl/smacv2 at commit 577ab5a: its distributions, and the configurations of its scenarios. Of
Terran units there are only marines here.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.environments.battles.battle import Battle
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.deployment import FULL_TURN, fresh_battlefield
from decentral.environments.battles.maps import OPEN, SIZE, Map, UnitGroup
from decentral.environments.battles.roster import Roster, roster_of
from decentral.environments.battles.rules import Packing
from decentral.environments.battles.spawns import packed_in_rings
from decentral.environments.battles.units import Profile
from decentral.settings import setting

LIMIT = 200  # steps
MIDDLE = (SIZE / 2, SIZE / 2)
BUFFER = 1.0  # between the allies' half of the map and its middle
OFFSET = 2.0  # from the middle, in both directions, to where a diagonal begins
EDGE = 0.5  # how far from the edge of the map units appear, at least
CORNERS = np.asarray([(0, 0), (0, SIZE), (SIZE, SIZE), (SIZE, 0)], np.float32)
INNER = np.asarray(MIDDLE, np.float32) + OFFSET * np.sign(CORNERS - SIZE / 2).astype(np.float32)
SHOOT_RANGE = {"marine": 5, "stalker": 6, "zealot": 2, "colossus": 7}  # of its weapon, and 2 at the least
SIGHT_RANGE = {"marine": 9, "stalker": 10, "zealot": 9, "colossus": 10}
NUMBERED = ("colossus", "marine", "stalker", "zealot")  # agents by kind, in this order

Starts = Literal["surround_and_reflect", "reflect", "surround"]
Places = Float[Array, "units 2"]
OurPlaces = Float[Array, "allies 2"]
TheirPlaces = Float[Array, "enemies 2"]


@dataclass(frozen=True)
class Lottery:
    """How teams are drawn: every unit's kind by these weights, and how many there are on both sides."""

    kinds: tuple[str, ...]  # in the order of their bits in percepts
    weights: tuple[float, ...]
    allies: int
    enemies: int


class DrawnBattle(Battle):
    """A battle of teams that are drawn for each episode. `drawn_battle` makes the class of a scenario."""

    lottery: ClassVar[Lottery]

    starts: Starts = setting(
        "surround_and_reflect",
        "how units appear: the enemies around the allies, as a mirror image of them, or one or the other by chance",
    )

    @property
    def roster(self) -> Roster:
        return _roster(self.battle_map, self.lottery, self.profile, self.packing)

    def reset(self, key: Key[Array, ""]) -> Battlefield:
        key_kinds, key_places, key_ids, key_facing = jax.random.split(key, 4)
        kinds = self._draw_kinds(key_kinds)
        ours, theirs = self._draw_places(key_places)
        roster = self.roster
        rank = jnp.asarray([NUMBERED.index(kind) for kind in roster.kinds])
        order = jnp.lexsort((ours[:, 1], ours[:, 0], rank[kinds[: roster.allies]]))
        ours, kinds = ours[order], kinds.at[: roster.allies].set(kinds[order])
        places = jnp.clip(jnp.concatenate([ours, theirs]), EDGE, SIZE - EDGE)
        number = jnp.arange(roster.enemies, dtype=jnp.float32)
        ids = number if self.enemy_ids == "fixed" else jax.random.uniform(key_ids, (roster.enemies,))
        ids = ids + kinds[roster.their_side] if self.enemy_ids == "shuffled_by_kind" else ids
        facing = jax.random.uniform(key_facing, (roster.units,), maxval=FULL_TURN)
        goal = jnp.mean(places[: roster.allies], axis=0)
        return self._field(places, kinds, jnp.argsort(ids).astype(jnp.int32), facing, goal)

    def _field(
        self,
        places: Places,
        kinds: Int[Array, " units"],
        enemy_of_id: Int[Array, " enemies"],
        facing: Float[Array, " units"],
        goal: Float[Array, "2"],
    ) -> Battlefield:
        """Everyone unhurt at these places; the enemies are on their way to where the allies are on average."""
        bare = fresh_battlefield(self.roster, (places[:, 0], places[:, 1]), enemy_of_id, facing)
        roster = self.roster.in_battle(replace(bare, kinds=kinds))
        goals = jnp.where(jnp.asarray(roster.is_enemy)[:, None], goal[None, :], places)
        return replace(
            bare,
            kinds=kinds,
            health=jnp.asarray(roster.health),
            shield=jnp.asarray(roster.shield),
            goal_x=goals[:, 0],
            goal_y=goals[:, 1],
        )

    def _draw_kinds(self, key: Key[Array, ""]) -> Int[Array, " units"]:
        """The kinds of both teams: those that both have as many of are the same."""
        lottery = self.lottery
        most = max(lottery.allies, lottery.enemies)
        drawn = jax.random.choice(key, len(lottery.kinds), (most,), p=jnp.asarray(lottery.weights)).astype(jnp.int32)
        return jnp.concatenate([drawn[: lottery.allies], drawn[: lottery.enemies]])

    def _draw_places(self, key: Key[Array, ""]) -> tuple[OurPlaces, TheirPlaces]:
        """The places of the allies and of the enemies."""
        key_which, key_reflect, key_surround = jax.random.split(key, 3)
        if self.starts == "reflect":
            return self._reflected(key_reflect)
        if self.starts == "surround":
            return self._surrounded(key_surround)
        mirrored, around = self._reflected(key_reflect), self._surrounded(key_surround)
        mirror = jax.random.bernoulli(key_which)
        ours, theirs = (jnp.where(mirror, one, other) for one, other in zip(mirrored, around, strict=True))
        return ours, theirs

    def _reflected(self, key: Key[Array, ""]) -> tuple[OurPlaces, TheirPlaces]:
        """Allies anywhere in the western half, enemies opposite to them; those in excess anywhere in the eastern."""
        allies, enemies = self.lottery.allies, self.lottery.enemies
        key_ours, key_more = jax.random.split(key)
        ours = jax.random.uniform(key_ours, (allies, 2)) * jnp.asarray([[SIZE / 2 - BUFFER, SIZE]])
        opposite = jnp.stack([SIZE - ours[:, 0], ours[:, 1]], axis=1)[:enemies]
        more = jax.random.uniform(key_more, (max(0, enemies - allies), 2)) * jnp.asarray([[SIZE / 2, SIZE]])
        return ours, jnp.concatenate([opposite, more + jnp.asarray([[SIZE / 2, 0.0]])])

    def _surrounded(self, key: Key[Array, ""]) -> tuple[OurPlaces, TheirPlaces]:
        """Allies in the middle, enemies in one to four groups, each somewhere on a diagonal of its own."""
        allies, enemies = self.lottery.allies, self.lottery.enemies
        key_count, key_group, key_place, key_diagonal, key_turn = jax.random.split(key, 5)
        count = jax.random.randint(key_count, (), 1, 5)
        group = jax.random.randint(key_group, (enemies,), 0, count)
        inwards = jax.random.uniform(key_place, (4, 1))
        diagonals = jax.random.permutation(key_diagonal, 4)
        points = (inwards * INNER + (1 - inwards) * CORNERS)[diagonals]
        earlier = (group[:, None] == group[None, :]) & (jnp.arange(enemies)[:, None] > jnp.arange(enemies)[None, :])
        offsets = jnp.asarray(packed_in_rings(max(allies, enemies), self.lottery.kinds), jnp.float32)
        angles = jax.random.uniform(key_turn, (5,), maxval=FULL_TURN)
        ours = jnp.asarray([MIDDLE]) + _turned(offsets[:allies], jnp.broadcast_to(angles[4], (allies,)))
        return ours, points[group] + _turned(offsets[jnp.sum(earlier, axis=1)], angles[group])


def _turned(offsets: Places, angle: Float[Array, " units"]) -> Places:
    """Offsets, each turned by an angle."""
    (x, y), (cos, sin) = offsets.T, (jnp.cos(angle), jnp.sin(angle))
    return jnp.stack([x * cos - y * sin, x * sin + y * cos], axis=1)


@lru_cache(maxsize=64)
def _roster(battle_map: Map, lottery: Lottery, profile: Profile, packing: Packing) -> Roster:
    """The roster before teams are drawn: sizes, and the numbers of every kind."""
    one_each = tuple(UnitGroup(kind, 1, MIDDLE) for kind in lottery.kinds)
    known = roster_of(replace(battle_map, allies=one_each), profile, packing)
    shoot, sight = (
        np.asarray([table[kind] for kind in lottery.kinds], np.float32) for table in (SHOOT_RANGE, SIGHT_RANGE)
    )
    return replace(
        roster_of(battle_map, profile, packing),
        kinds=lottery.kinds,
        by_kind=replace(known, shoot_range=shoot, sight_range=sight),
        has_any_shields=known.has_any_shields,
        has_any_striders=known.has_any_striders,
        has_any_beams=known.has_any_beams,
    )


def drawn_battle(name: str, lottery: Lottery) -> type[DrawnBattle]:
    """The environment of a scenario."""
    first = lottery.kinds[0]
    sides = (UnitGroup(first, lottery.allies, MIDDLE),), (UnitGroup(first, lottery.enemies, MIDDLE),)
    battle_map = Map(name, *sides, limit=LIMIT, ground=OPEN, goal=None)
    shares = ", ".join(f"{kind} {weight:.0%}" for kind, weight in zip(lottery.kinds, lottery.weights, strict=True))
    told = f"{lottery.allies} against {lottery.enemies} units drawn anew ({shares}), at random places, as in SMACv2."
    return type(name, (DrawnBattle,), {"__doc__": told, "battle_map": battle_map, "lottery": lottery})


TERRAN = {"marine": 1.0}
PROTOSS = {"stalker": 0.45, "zealot": 0.45, "colossus": 0.1}
SCENARIOS = {
    "terran_5_vs_5": (TERRAN, 5, 5),
    "terran_10_vs_10": (TERRAN, 10, 10),
    "terran_10_vs_11": (TERRAN, 10, 11),
    "terran_20_vs_20": (TERRAN, 20, 20),
    "terran_20_vs_23": (TERRAN, 20, 23),
    "protoss_5_vs_5": (PROTOSS, 5, 5),
    "protoss_10_vs_10": (PROTOSS, 10, 10),
    "protoss_10_vs_11": (PROTOSS, 10, 11),
    "protoss_20_vs_20": (PROTOSS, 20, 20),
    "protoss_20_vs_23": (PROTOSS, 20, 23),
}
DRAWN_BATTLES: dict[str, type[DrawnBattle]] = {
    name: drawn_battle(name, Lottery(tuple(weights), tuple(weights.values()), allies, enemies))
    for name, (weights, allies, enemies) in SCENARIOS.items()
}
