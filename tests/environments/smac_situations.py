"""Situations in which SMAC's interface is examined, the same ones every time: units at random places, at the edges of
the ground and at the very limits of sight and reach, hurt and dead, and battles that go on and end.

Places and health are multiples of the game's own grain, which a float32 holds exactly.
"""

import itertools
import math
import random
from dataclasses import dataclass, replace

import numpy as np

from decentral.environments.battles.maps import MAPS, SIZE
from decentral.environments.battles.roster import roster_of
from tests.environments.plain_smac import (
    COOLDOWNS,
    HEALTH,
    REACH,
    SHIELDED,
    SIGHT,
    Scene,
    Unit,
    distance,
    later_scene,
    random_scene,
)

GRAIN = 1 / 4096
COLUMNS = ("x", "y", "health", "shield", "cooldown")
TWO_KINDS, THREE_KINDS = ("stalker", "zealot"), ("colossus", "stalker", "zealot")
TYPES = {  # of allies and enemies, on maps whose units have type bits
    "2s3z": (TWO_KINDS, TWO_KINDS[::-1]),
    "3s5z": (TWO_KINDS, TWO_KINDS[::-1]),
    "1c3s5z": (THREE_KINDS, THREE_KINDS),
}
STORIES, FRAMES, SPOTS = 8, 4, 64


@dataclass(frozen=True)
class Story:
    """What happens in an episode, scene by scene. Those before `told_from` are played, but not written down."""

    scenes: list[Scene]
    told_from: int = 0


def scene_of(name):
    """The units of a map, unhurt, where they appear."""
    chosen = MAPS[name]
    roster = roster_of(chosen, "lotv")
    units = [
        Unit(kind, *place, HEALTH[kind], SHIELDED.get(kind, 0.0))
        for kind, place in zip([roster.kinds[number] for number in roster.kind], roster.start.tolist(), strict=True)
    ]
    walkable = {
        (x, y)
        for part in chosen.ground
        for x in range(part.left, part.right + 1)
        for y in range(part.bottom, part.top + 1)
    }
    types = TYPES.get(name, ((), ()))
    return Scene(tuple(units[: roster.allies]), tuple(units[roster.allies :]), frozenset(walkable), *types)


def columns_of(scene):
    """The numbers of all units of a scene, as the simulator has them: first the allies, then the enemies."""
    units = scene.allies + scene.enemies
    return {key: np.asarray([getattr(unit, key) for unit in units], np.float32) for key in COLUMNS}


def stories(name):
    """All that is to be examined on a map."""
    randomness, start = random.Random(name), scene_of(name)
    battles = [Story([start, *_battle(start, randomness)]) for _ in range(STORIES)]
    walk = Story([start, *_at_limits(start, MAPS[name].ground, randomness)])
    return [*battles, walk, *_endings(start, MAPS[name].limit)]


def _clear(make):
    """The first scene made in which every distance is exactly at a limit, or so far off that rounding is harmless."""
    return next(scene for scene in iter(make, None) if _is_clear(scene))


def _is_clear(scene):
    pairs = itertools.product(scene.allies, scene.allies + scene.enemies)
    off = [abs(distance(one, other) - limit) for one, other in pairs for limit in (REACH, SIGHT)]
    return all(gap == 0 or gap > GRAIN / 2 for gap in off)


def _battle(start, randomness):
    """Units at random places, who then move, are hurt, recover and die."""
    scenes = [_clear(lambda: _on_grain(random_scene(start, randomness)))]
    while len(scenes) < FRAMES and not _is_over(scenes[-1]):
        scenes.append(_clear(lambda now=scenes[-1]: _on_grain(_later(now, randomness))))
    return scenes


def _later(scene, randomness):
    enemies = later_scene(scene, randomness).enemies
    allies = later_scene(replace(scene, enemies=scene.allies), randomness).enemies
    allies, enemies = (tuple(_moved(unit, randomness) for unit in side) for side in (allies, enemies))
    return replace(scene, allies=allies, enemies=enemies)


def _is_over(scene):
    return not all(any(unit.lives for unit in side) for side in (scene.allies, scene.enemies))


def _moved(unit, randomness):
    x, y = (min(max(place + randomness.uniform(-1.5, 1.5), 0.0), SIZE - GRAIN) for place in (unit.x, unit.y))
    return replace(unit, x=x, y=y, cooldown=randomness.uniform(0, COOLDOWNS.get(unit.kind, 0.0)))


def _on_grain(scene):
    def rounded(unit):
        return replace(unit, **{key: round(getattr(unit, key) / GRAIN) * GRAIN for key in COLUMNS})

    return replace(scene, allies=tuple(map(rounded, scene.allies)), enemies=tuple(map(rounded, scene.enemies)))


def _at_limits(start, ground, randomness):
    """Allies about the edges of the ground, with others exactly as far away as is seen or reached, or a grain off."""
    across = _about(border for part in ground for border in (part.left, part.right + 1))
    upwards = _about(border for part in ground for border in (part.bottom, part.top + 1))
    spots = list(itertools.product(across, upwards))
    spots = randomness.sample(spots, min(SPOTS, len(spots)))
    half = math.ceil(len(start.allies) / 2)
    return [
        _clear(lambda first=first: _spread(start, spots[first:] + spots, randomness))
        for first in range(0, len(spots), half)
    ]


def _spread(start, spots, randomness):
    """Every second ally on a spot of its own, all other units beside one of them."""
    allies = []
    for number, unit in enumerate(start.allies):
        x, y = _beside(allies[-1], randomness) if number % 2 else spots[number // 2]
        allies.append(replace(unit, x=x, y=y, cooldown=randomness.randrange(15)))
    places = [_beside(randomness.choice(allies), randomness) for _ in start.enemies]
    enemies = [replace(unit, x=x, y=y) for unit, (x, y) in zip(start.enemies, places, strict=True)]
    return replace(start, allies=tuple(allies), enemies=tuple(enemies))


def _about(borders):
    """Coordinates at which something changes near a border for a unit that looks one cell ahead."""
    near = {border + ahead - less for border in borders for ahead in (-1, 0, 1) for less in (0, GRAIN)}
    return sorted(place for place in near if 0 <= place <= SIZE)


def _beside(unit, randomness):
    """A place on the map straight beside a unit, at one of the limits or a grain off."""
    away = [limit + less for limit in (REACH, SIGHT) for less in (-GRAIN, 0, GRAIN)]
    places = [
        (unit.x + east * far, unit.y + north * far)
        for far in away
        for east, north in ((0, 1), (0, -1), (1, 0), (-1, 0))
    ]
    return randomness.choice([place for place in places if all(0 <= coordinate <= SIZE for coordinate in place)])


def _endings(start, limit):
    """A victory, a defeat, an end without a winner, time that runs out, and a victory at the last moment."""
    hurt = _enemies(start, lambda unit: replace(unit, health=unit.health / 4, shield=0.0))
    recovered = _enemies(hurt, lambda unit: replace(unit, health=unit.health + 0.125))
    fewer = replace(recovered, enemies=(_dead(recovered.enemies[0]), *recovered.enemies[1:]))
    victory = _enemies(hurt, _dead)
    defeat = replace(hurt, allies=tuple(map(_dead, hurt.allies)))
    nobody = replace(victory, allies=defeat.allies)
    last_ones = [fewer] if any(unit.lives for unit in fewer.enemies) else []
    return [
        Story([start, hurt, recovered, *last_ones, victory]),
        Story([start, hurt, defeat]),
        Story([start, nobody]),
        Story([start] * limit + [hurt], told_from=limit - 1),
        Story([start] + [hurt] * (limit - 1) + [victory], told_from=limit - 1),
    ]


def _enemies(scene, change):
    return replace(scene, enemies=tuple(change(unit) for unit in scene.enemies))


def _dead(unit):
    return replace(unit, health=0.0, shield=0.0)
