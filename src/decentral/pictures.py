"""How an environment describes its picture, and an episode as a film of such pictures. Plain data.

Places are in the environment's own units; x goes to the right and y downwards, from the upper left corner of the field.
"""

from dataclasses import dataclass, field
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
    """From one place to another, with a head if it is an arrow."""

    x: float
    y: float
    to_x: float
    to_y: float
    colour: int = NEUTRAL
    arrow: bool = False


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
    gone: bool = False  # no longer there: drawn faintly


@dataclass(frozen=True)
class Picture:
    """A field, and what is on it: first the tiles, then the lines, then the marks."""

    width: float
    height: float
    tiles: tuple[Tile, ...] = ()
    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    grid: bool = False  # draw a line at every unit
    texts: tuple[str, ...] = ()  # rows below the field


@dataclass(frozen=True)
class Turn:
    """One agent at one moment: its action, and the values and the context behind it."""

    action: int | None  # None: the episode is over
    values: tuple[float | None, ...]  # of every action that it has, on which it bases its choice; None: unavailable
    context: int | None = None  # that it infers at this step, if any
    view: Picture | None = None  # what it perceives, if its environment draws that


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
