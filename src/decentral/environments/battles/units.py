"""The units of a battle and their weapons, as a table.

Times are seconds of the game's data, of which one has 16 loops; distances are cells. Ranges are from edge to edge.
There are two profiles of numbers: `lotv`, which returns of the live game bear out, and `liberty`, the only one that
the maps themselves ask for.
"""

from dataclasses import dataclass, replace
from typing import Literal

from decentral.settings import Refused

LOOPS_PER_SECOND = 16

Profile = Literal["lotv", "liberty"]
Number = int | float


@dataclass(frozen=True)
class Weapon:
    """How a unit hurts others."""

    damage: Number  # of one strike
    period: Number  # from one attack to the next, before jitter
    reach: Number  # range
    scan: Number  # how far an opponent with this weapon looks for targets, at the least
    against_armored: Number = 0.0  # added to the damage
    against_light: Number = 0.0  # likewise
    windup: Number = 0.0  # from the start of an attack to its first strike
    backswing: Number = 0.5  # after the strike the unit stands still, unless it is ordered
    slop: Number = 1.0  # how much farther a target may flee from an attack that has begun
    missile_speed: Number | None = None  # per second; none: strikes at once
    second_strike: Number | None = None  # how long after the first; none: there is but one
    beam: Number = 0.0  # how far a strike burns to either side of the target, across the line of fire; 0: it does not


@dataclass(frozen=True)
class UnitType:
    """What a unit is."""

    health: Number
    speed: Number  # per second
    radius: Number  # for ranges
    weapon: Weapon
    shield: Number = 0.0
    armour: Number = 0.0  # of life; shields have none
    armored: bool = False
    light: bool = False
    strides: bool = False  # over the heads of those who don't: they are not in each other's way
    separation: Number | None = None  # how close others may come; none: its radius
    regeneration: Number = 0.0  # of life, per second
    cooldown_scale: Number = 1.0  # loops by which SMAC's state divides the cooldown


LIBERTY = {
    "marine": UnitType(
        health=45,
        speed=2.25,
        radius=0.375,
        light=True,
        weapon=Weapon(damage=6, period=0.8608, reach=5, scan=5, windup=0.05, backswing=0.75),
        cooldown_scale=15,
    ),
    "stalker": UnitType(
        health=80,
        shield=80,
        armour=1,
        armored=True,
        speed=2.9531,
        radius=0.625,
        weapon=Weapon(damage=10, against_armored=4, period=1.44, reach=6, scan=5, windup=0.167, missile_speed=18.75),
        cooldown_scale=35,
    ),
    "zealot": UnitType(
        health=100,
        shield=50,
        armour=1,
        speed=2.25,
        radius=0.5,
        separation=0.375,
        light=True,
        weapon=Weapon(damage=8, period=1.2, reach=0.1, scan=5, second_strike=0.28),
        cooldown_scale=22,
    ),
    # SC2Mapster/SC2GameData, build 4.6.2.69232: Colossus and ThermalLances in the data of liberty and voidmulti. Two
    # beams sweep the line from both ends and burn whom they touched 0.25 s later; here they fall one after the other.
    "colossus": UnitType(
        health=200,
        shield=150,
        armour=1,
        armored=True,
        strides=True,
        speed=2.25,
        radius=1,
        separation=0.75,
        weapon=Weapon(damage=20, period=2.2, reach=6, scan=5, windup=0.0832, slop=0, second_strike=0.41, beam=1.4),
        cooldown_scale=24,
    ),
    "spine_crawler": UnitType(
        health=300,
        armour=2,
        armored=True,
        speed=0,
        radius=0.875,
        weapon=Weapon(damage=25, against_armored=5, period=1.6, reach=7, scan=5, windup=0.3332, slop=0),
        regeneration=70 / 4096 * LOOPS_PER_SECOND,
    ),
}


def _rearmed(name: str, **numbers: Number) -> UnitType:
    """A unit of the liberty profile with other numbers of its weapon."""
    unit = LIBERTY[name]
    return replace(unit, weapon=replace(unit.weapon, **numbers))


LOTV = LIBERTY | {
    "marine": _rearmed("marine", scan=5.5),
    "stalker": _rearmed("stalker", damage=13, against_armored=5, period=1.87, scan=6.5),
    "spine_crawler": _rearmed("spine_crawler", period=1.85),
    "colossus": _rearmed("colossus", damage=10, against_light=5, period=1.5, reach=7, scan=7.5, second_strike=0.36),
}

PROFILES: dict[Profile, dict[str, UnitType]] = {"lotv": LOTV, "liberty": LIBERTY}


def unit_named(name: str, profile: Profile = "lotv") -> UnitType:
    """The unit of a name in a profile."""
    if name not in PROFILES[profile]:
        raise Refused(f"unit must be one of {', '.join(PROFILES[profile])}, got {name!r}")
    return PROFILES[profile][name]
