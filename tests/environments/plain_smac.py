"""SMAC's interface read once more, unit by unit in plain Python: observations, state, availability and rewards.

It shares nothing with the simulator, so that a mistake in one shows against the other.
"""

import math
from dataclasses import dataclass, replace

SIGHT, REACH = 9.0, 6.0
SHIELDED = {"stalker": 80.0, "zealot": 50.0, "colossus": 150.0}
HEALTH = {"marine": 45.0, "stalker": 80.0, "zealot": 100.0, "colossus": 200.0, "spine_crawler": 300.0}
COOLDOWNS = {"marine": 15.0, "stalker": 35.0, "zealot": 22.0, "colossus": 24.0}
MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))  # north, south, east, west


@dataclass(frozen=True)
class Unit:
    kind: str
    x: float
    y: float
    health: float
    shield: float = 0.0
    cooldown: float = 0.0

    @property
    def lives(self):
        return self.health > 0

    @property
    def whole(self):
        return self.health + self.shield


@dataclass(frozen=True)
class Scene:
    """All units, where one can walk, and the order of type bits of each side (none where all are alike)."""

    allies: tuple[Unit, ...]
    enemies: tuple[Unit, ...]
    walkable: frozenset[tuple[int, int]]
    ally_types: tuple[str, ...] = ()
    enemy_types: tuple[str, ...] = ()

    @property
    def shields(self):
        """Whether rows of allies and of enemies have a shield."""
        return tuple(any(unit.kind in SHIELDED for unit in side) for side in (self.allies, self.enemies))


def distance(one, other):
    return math.hypot(other.x - one.x, other.y - one.y)


def can_move(scene, unit, move):
    x, y = int(unit.x + move[0]), int(unit.y + move[1])  # towards zero
    return 0 <= x < 32 and 0 <= y < 32 and (x, y) in scene.walkable


def availability(scene, agent):
    unit = scene.allies[agent]
    if not unit.lives:
        return [1] + [0] * (5 + len(scene.enemies))
    moves = [int(can_move(scene, unit, move)) for move in MOVES]
    attacks = [int(enemy.lives and distance(unit, enemy) <= REACH) for enemy in scene.enemies]
    return [0, 1, *moves, *attacks]


def condition(unit, shields, types):
    """Health, shield and type, as they stand at the end of a row."""
    row = [unit.health / HEALTH[unit.kind]]
    if shields:
        row.append(unit.shield / SHIELDED[unit.kind])
    return row + [float(unit.kind == name) for name in types]


def seen_row(unit, other, first, shields, types):
    size = 5 + shields + len(types)
    if not (other.lives and distance(unit, other) < SIGHT):
        return [0.0] * size
    where = [distance(unit, other) / SIGHT, (other.x - unit.x) / SIGHT, (other.y - unit.y) / SIGHT]
    return [float(first), *where, *condition(other, shields, types)]


def observation(scene, agent):
    unit, (ally_shields, enemy_shields) = scene.allies[agent], scene.shields
    available = availability(scene, agent)
    row = [float(bit) for bit in available[2:6]]
    for number, enemy in enumerate(scene.enemies):
        row += seen_row(unit, enemy, available[6 + number], enemy_shields, scene.enemy_types)
    for number, ally in enumerate(scene.allies):
        if number != agent:
            row += seen_row(unit, ally, 1, ally_shields, scene.ally_types)
    row += condition(unit, ally_shields, scene.ally_types)
    return row if unit.lives else [0.0] * len(row)


def state(scene, last_actions):
    """`last_actions`: each agent's, or None before the first step."""
    rows, (ally_shields, enemy_shields) = [], scene.shields
    for unit in scene.allies:
        health, *rest = condition(unit, ally_shields, scene.ally_types)
        own = [health, unit.cooldown / COOLDOWNS[unit.kind], (unit.x - 16) / 32, (unit.y - 16) / 32, *rest]
        rows += own if unit.lives else [0.0] * len(own)
    for unit in scene.enemies:
        health, *rest = condition(unit, enemy_shields, scene.enemy_types)
        own = [health, (unit.x - 16) / 32, (unit.y - 16) / 32, *rest]
        rows += own if unit.lives else [0.0] * len(own)
    for action in last_actions:
        rows += [float(action == number) for number in range(6 + len(scene.enemies))]
    return rows


def reward(before, after):
    """What a step is paid that led from one scene to another."""
    worth = [HEALTH[unit.kind] + SHIELDED.get(unit.kind, 0.0) for unit in before.enemies]
    highest = 10 * len(worth) + 200 + sum(worth)
    lost = 0.0
    for old, new in zip(before.enemies, after.enemies, strict=True):
        if old.lives:
            lost += old.whole - new.whole if new.lives else old.whole + 10
    won = any(unit.lives for unit in after.allies) and not any(unit.lives for unit in after.enemies)
    return (abs(lost) + 200 * won) / (highest / 20)


def random_scene(scene, random):
    """The same kinds of units at random places, some of them hurt, some dead; at least one on each side lives."""

    def anew(units):
        fate = [random.random() for _ in units]
        lives = [own > 0.3 or own == max(fate) for own in fate]
        return tuple(_anew(unit, life, random) for unit, life in zip(units, lives, strict=True))

    return replace(scene, allies=anew(scene.allies), enemies=anew(scene.enemies))


def _anew(unit, lives, random):
    place = {"x": random.uniform(0.1, 31.9), "y": random.uniform(8.1, 23.9)}
    if not lives:
        return replace(unit, **place, health=0.0, shield=0.0)
    shield = SHIELDED.get(unit.kind, 0.0)
    hurt = random.random() < 0.5
    return replace(
        unit,
        **place,
        health=random.uniform(1, HEALTH[unit.kind]) if hurt else HEALTH[unit.kind],
        shield=random.uniform(0, shield) if hurt else shield,
        cooldown=random.uniform(0, 15),
    )


def later_scene(scene, random):
    """The same scene a step later: some enemies are hurt, some have recovered, some or all have died."""
    share = random.choice((0.0, 0.3, 1.0))

    def fate(unit):
        if not unit.lives or random.random() < 0.3:
            return unit
        if random.random() < share:
            return replace(unit, health=0.0, shield=0.0)
        whole = SHIELDED.get(unit.kind, 0.0)
        return replace(unit, health=random.uniform(1, HEALTH[unit.kind]), shield=random.uniform(0, whole))

    return replace(scene, enemies=tuple(fate(unit) for unit in scene.enemies))
