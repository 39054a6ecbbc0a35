"""The maps of the battles, as data. A map of your own is a few lines of the same kind."""

from dataclasses import dataclass, replace

from decentral.environments.battles.rules import Prefer
from decentral.environments.battles.units import Number, unit_named
from decentral.settings import Refused

SIZE = 32  # cells, in both directions, of every map

Point = tuple[Number, Number]


@dataclass(frozen=True)
class UnitGroup:
    """Units of one kind that appear together. Several groups of a side at one point are packed side by side."""

    unit: str
    count: int
    point: Point


@dataclass(frozen=True)
class Rectangle:
    """Cells that can be walked on, the last ones included."""

    left: int
    right: int
    bottom: int
    top: int


BAND = (Rectangle(0, 31, 8, 23),)
OPEN = (Rectangle(0, 31, 0, 31),)
WEST, EAST = (9, 16), (23, 16)


@dataclass(frozen=True)
class Map:
    """The units of both sides, where they appear, and the time limit."""

    name: str
    allies: tuple[UnitGroup, ...]
    enemies: tuple[UnitGroup, ...]
    limit: int  # steps of an episode
    ground: tuple[Rectangle, ...] = BAND
    goal: Point | None = WEST  # where the enemies advance to; none: they stay where they are
    prefer: Prefer = "nearest"  # whom the enemies attack, unless a setting says otherwise

    def __post_init__(self) -> None:
        for side in ("allies", "enemies"):
            if not getattr(self, side):
                raise Refused(f"map {self.name}: {side} must have at least one group, got none")
            for group in getattr(self, side):
                self._check(group)
        if self.limit < 1:
            raise Refused(f"map {self.name}: limit must be at least 1, got {self.limit}")

    def _check(self, group: UnitGroup) -> None:
        try:
            unit_named(group.unit)
        except Refused as refusal:
            raise Refused(f"map {self.name}: {refusal}") from None
        if group.count < 1:
            raise Refused(f"map {self.name}: count of {group.unit} must be at least 1, got {group.count}")

    def __str__(self) -> str:
        return f"{_in_words(self.allies)} against {_in_words(self.enemies)}, at most {self.limit} steps"


def _in_words(side: tuple[UnitGroup, ...]) -> str:
    counts: dict[str, int] = {}
    for group in side:
        counts[group.unit] = counts.get(group.unit, 0) + group.count
    words = [f"{count} {name.replace('_', ' ') if count == 1 else _plural(name)}" for name, count in counts.items()]
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _plural(name: str) -> str:
    return f"{name.removesuffix('us')}i" if name.endswith("us") else f"{name.replace('_', ' ')}s"


def marines(name: str, allies: int, enemies: int, limit: int) -> Map:
    """Marines alone, on both sides."""
    return Map(name, (UnitGroup("marine", allies, WEST),), (UnitGroup("marine", enemies, EAST),), limit)


def stalkers_and_zealots(name: str, stalkers: int, zealots: int, limit: int) -> Map:
    """The same units on both sides."""
    west, east = (
        (UnitGroup("stalker", stalkers, point), UnitGroup("zealot", zealots, point)) for point in (WEST, EAST)
    )
    return Map(name, west, east, limit)


def with_colossi(battle_map: Map, name: str, colossi: int, limit: int) -> Map:
    """The same with some colossi on both sides, listed first."""
    west, east = (
        (UnitGroup("colossus", colossi, side[0].point), *side) for side in (battle_map.allies, battle_map.enemies)
    )
    return replace(battle_map, name=name, allies=west, enemies=east, limit=limit)


def stalkers_against_zealots(name: str, stalkers: int, zealots: int, limit: int) -> Map:
    """A few units that can hit and run, against many."""
    return Map(name, (UnitGroup("stalker", stalkers, WEST),), (UnitGroup("zealot", zealots, EAST),), limit, OPEN)


CRAWLER = Map(
    "2s_vs_1sc",
    allies=(UnitGroup("stalker", 1, (11.1208, 10.338)), UnitGroup("stalker", 1, (16.976, 10.3662))),
    enemies=(UnitGroup("spine_crawler", 1, (13.92, 20.0397)),),
    limit=300,
    ground=(Rectangle(8, 19, 8, 19), Rectangle(10, 17, 20, 21), Rectangle(12, 15, 22, 23)),
    goal=None,
    prefer="attackers",
)

MAPS = {
    chosen.name: chosen
    for chosen in (
        marines("3m", 3, 3, limit=60),
        marines("8m", 8, 8, limit=120),
        stalkers_and_zealots("2s3z", 2, 3, limit=120),
        CRAWLER,
        stalkers_and_zealots("3s5z", 3, 5, limit=150),
        with_colossi(stalkers_and_zealots("3s5z", 3, 5, limit=150), "1c3s5z", 1, limit=180),
        marines("5m_vs_6m", 5, 6, limit=70),
        marines("8m_vs_9m", 8, 9, limit=120),
        marines("10m_vs_11m", 10, 11, limit=150),
        marines("27m_vs_30m", 27, 30, limit=180),
        stalkers_against_zealots("3s_vs_3z", 3, 3, limit=150),
        stalkers_against_zealots("3s_vs_4z", 3, 4, limit=200),
        stalkers_against_zealots("3s_vs_5z", 3, 5, limit=250),
    )
}
