"""How an environment describes its picture, and an episode as a film of such pictures. Plain data.

Places are in the environment's own units; x goes to the right and y downwards, from the upper left corner of the field.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

# Colours are numbers: 0, 1, 2 and so on, which the colour-blind can tell apart. NEUTRAL belongs to nobody.
NEUTRAL = -1


@dataclass(frozen=True)
class Tile:
    """A rectangle of the ground: blocked, chosen, the head of a row or column, or shaded from -1 (bad) to 1 (good)."""

    x: float  # its upper left corner
    y: float
    width: float = 1.0
    height: float = 1.0
    kind: Literal["plain", "blocked", "chosen", "head"] = "plain"
    shade: float = 0.0
    text: str = ""


@dataclass(frozen=True)
class Line:
    """From one place to another, with a head if it is an arrow. A shot is a beam, an aim a thin dashed line.

    Shots and aims are drawn a little to their left, so that two units that shoot at each other have two beams.
    """

    x: float
    y: float
    to_x: float
    to_y: float
    colour: int = NEUTRAL
    arrow: bool = False
    kind: Literal["plain", "aim", "shot"] = "plain"


@dataclass(frozen=True)
class Mark:
    """Something that stands on the field."""

    x: float  # its centre
    y: float
    radius: float
    colour: int = NEUTRAL
    shape: Literal["circle", "square", "diamond", "ring"] = "circle"
    label: str = ""
    bars: tuple[float, ...] = ()  # shares between 0 and 1, such as health, then shield
    agent: int | None = None  # whose body it is
    gone: bool = False  # no longer there: drawn faintly and crossed out
    frozen: bool = False  # of an agent that came from an earlier run and does not learn: a dashed ring around it
    hit: float = 0.0  # what it loses in this step, such as health: a ring and the number


@dataclass(frozen=True)
class Picture:
    """A field, and what is on it: first the image, then the tiles, then the lines, then the marks."""

    width: float
    height: float
    tiles: tuple[Tile, ...] = ()
    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    grid: bool = False  # draw a line at every unit
    texts: tuple[str, ...] = ()  # rows below the field
    image: bytes = field(default=b"", repr=False)  # a PNG that fills the field


def line_width(picture: Picture) -> float:
    """The width of a line, in units of the field."""
    return min(0.12, max(picture.width, picture.height) / 60)


RINGED, HIT_BELOW = 1.5, 2.2  # radii of a mark up to the ring around it, and down to the number of a hit
RING_WIDTH = 1 / 6  # of a radius; a page draws half of it outside


def overhang(picture: Picture) -> float:
    """How far the lines and marks of a picture reach beyond its field: the margin that they need around it."""
    reaches, thick = [0.0], line_width(picture)
    for line in picture.lines:
        around = thick * (1.6 if line.arrow else 0.5 if line.kind == "plain" else 2.0)
        reaches += _beyond(picture, line.x, line.y, around) + _beyond(picture, line.to_x, line.to_y, around)
    for mark in picture.marks:
        around = mark.radius * (RINGED + RING_WIDTH / 2 if mark.hit else RINGED if mark.frozen else 1)
        above = max(around, mark.radius * (1 + 0.35 * len(mark.bars)))  # with a gap, each bar is that thick
        below = mark.radius * (HIT_BELOW + 0.6 if mark.hit else 1)
        reaches += [*_beyond(picture, mark.x, mark.y, around), above - mark.y, mark.y + below - picture.height]
    return max(reaches)


def _beyond(picture: Picture, x: float, y: float, around: float) -> list[float]:
    return [around - x, around - y, x + around - picture.width, y + around - picture.height]


@dataclass(frozen=True)
class Turn:
    """One agent at one moment: its action, and the values and the context behind it."""

    action: int | None  # None: the episode is over, it has left, or its actions are continuous
    values: tuple[
        float | None, ...
    ]  # of every action, on which it bases its choice, or the numbers of a continuous one
    context: int | None = None  # that it infers at this step, if any
    view: Picture | None = None  # what it perceives, if its environment draws that
    gone: bool = False  # it has left the episode
    reward: float | None = None  # its own, where every agent has one


@dataclass(frozen=True)
class Frame:
    """The environment at one moment, what all its agents do there, and the reward that it earns."""

    picture: Picture
    turns: tuple[Turn, ...]
    reward: float | None  # None: the episode is over
    total: float  # the return so far, this reward included


@dataclass(frozen=True)
class Film:
    """One episode: a frame for every step, and one for where it ended."""

    title: str
    agent_names: tuple[str, ...]
    action_names: tuple[tuple[str, ...], ...]  # of each agent
    frames: tuple[Frame, ...] = field(repr=False)  # there are many


def film_margin(film: Film) -> float:
    """The margin around the field in which every frame has room, so that the field never moves."""
    return max(overhang(frame.picture) for frame in film.frames)


AROUND = 2.0  # units of an open field that are shown around those who stand on it


def cropped(film: Film) -> Film:
    """A film of the part of an open field where anybody ever stands: a battle fills a corner of a large map.

    A field with tiles or a grid is shown whole, and so is one that has no marks.
    """
    pictures = [frame.picture for frame in film.frames]
    marks = [mark for picture in pictures for mark in picture.marks]
    if not marks or any(picture.tiles or picture.grid for picture in pictures):
        return film
    across, down = [mark.x for mark in marks], [mark.y for mark in marks]
    tall = max(down) - min(down) + 2 * AROUND
    left, width = _span(across, pictures[0].width, tall / 2)  # a strip would be shown no larger
    top, height = _span(down, pictures[0].height, width / 2)
    frames = (replace(frame, picture=_part(frame.picture, left, top, width, height)) for frame in film.frames)
    return replace(film, frames=tuple(frames))


def _span(places: list[float], most: float, least: float) -> tuple[float, float]:
    """Where a part of the field begins that shows these places and some room around them, and how long it is."""
    low, high = min(places) - AROUND, max(places) + AROUND
    length = min(most, max(high - low, least))
    return min(max(0.0, (low + high - length) / 2), most - length), length


def _part(picture: Picture, left: float, top: float, width: float, height: float) -> Picture:
    lines = (
        replace(line, x=line.x - left, y=line.y - top, to_x=line.to_x - left, to_y=line.to_y - top)
        for line in picture.lines
    )
    marks = (replace(mark, x=mark.x - left, y=mark.y - top) for mark in picture.marks)
    return replace(picture, width=width, height=height, lines=tuple(lines), marks=tuple(marks))
