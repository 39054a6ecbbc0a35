"""A picture for environments that draw none: what every agent observed, valued and did over a whole episode.

The chart is the same at every step but for a dashed line that says where the episode is.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from decentral.pictures import Line, Picture, Tile, line_width

WIDTH, HEIGHT, GUTTER, EDGE = 12.0, 8.0, 2.4, 0.3  # of the chart, in units of its own; names stand in the gutter
REWARDS = 1.0  # the height of the row of rewards
FINE = 60  # pixels per unit
MOST_AGENTS, MOST_ROWS = 8, 40  # shown; of an agent's numbers
LONGEST_NAME = 14
GOOD, BAD, TAKEN = (0, 114, 178), (213, 94, 0), (230, 159, 0)
LEGEND = (
    "upper rows: the numbers it observes (blue positive, orange negative)",
    "lower rows: the values of its actions (yellow: taken), or its numbers; bluer is higher",
)


@dataclass(frozen=True)
class AgentTrack:
    """One agent over the steps of an episode; at those after it left, NaN and -1."""

    name: str
    observations: np.ndarray  # [T, features]
    values: np.ndarray  # [T, actions], NaN where unavailable
    actions: np.ndarray  # [T]


def chart(tracks: Sequence[AgentTrack], rewards: np.ndarray, notes: Sequence[str]) -> list[Picture]:
    """A picture for every step [T], and one for where the last of them led. `notes` stand below."""
    steps, shown = len(rewards), tracks[:MOST_AGENTS]
    tall = (HEIGHT - REWARDS) / len(shown)
    pixels = np.zeros((round(FINE * HEIGHT), round(FINE * WIDTH), 4), np.uint8)
    for number, track in enumerate(shown):
        top = number * tall
        _paint(pixels, top + 0.06 * tall, 0.46 * tall, _shaded(_scaled(track.observations)))
        _paint(pixels, top + 0.56 * tall, 0.38 * tall, _shaded(_from_lowest(track.values)))
        _paint(pixels, top + 0.56 * tall, 0.38 * tall, _marked(track), within=0.3)
    _paint_rewards(pixels, rewards)
    names = [*(_name(track.name, number * tall, tall) for number, track in enumerate(shown))]
    tiles = (*names, _name("reward", HEIGHT - REWARDS, REWARDS))
    hidden = [f"the first {MOST_AGENTS} of {len(tracks)} agents"] if len(tracks) > MOST_AGENTS else []
    whole = Picture(WIDTH, HEIGHT, tiles, texts=(*notes, *LEGEND, *hidden), image=_png(pixels))
    return [_at_step(whole, step, steps) for step in range(steps + 1)]


def _at_step(whole: Picture, step: int, steps: int) -> Picture:
    """The chart with a line in the middle of a step; after the last one, at its end."""
    x = GUTTER + (WIDTH - GUTTER - EDGE) * min(step + 0.5, steps) / steps
    x -= line_width(whole)  # dashed lines are drawn that much to their side
    line = Line(x, 0.1, x, HEIGHT - 0.1, kind="aim")
    return Picture(whole.width, whole.height, whole.tiles, (line,), texts=whole.texts, image=whole.image)


def _name(name: str, top: float, tall: float) -> Tile:
    short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}\u2026"
    return Tile(0, top, GUTTER, tall, "head", text=short)


def _scaled(numbers: np.ndarray) -> np.ndarray:
    """Numbers [T, features] as shades from -1 to 1; where there are many, the largest of neighbours."""
    largest = np.nanmax(np.abs(numbers), axis=0, initial=0.0, where=~np.isnan(numbers))
    shades = numbers / np.where(largest > 0, largest, 1.0)
    if shades.shape[1] <= MOST_ROWS:
        return shades
    groups = np.array_split(np.nan_to_num(shades), MOST_ROWS, axis=1)
    picked = [np.take_along_axis(group, np.abs(group).argmax(axis=1)[:, None], axis=1) for group in groups]
    gone = np.isnan(shades).all(axis=1, keepdims=True)
    return np.where(gone, np.nan, np.concatenate(picked, axis=1))


def _from_lowest(values: np.ndarray) -> np.ndarray:
    """Values [T, actions] as shades from 0, the lowest of the episode, to 1, the highest."""
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    return np.where(np.isfinite(values), (values - low) / (high - low if high > low else 1.0), np.nan)


def _shaded(shades: np.ndarray) -> np.ndarray:
    """Shades [T, rows] as colours [rows, T, 4]; what is not there is transparent."""
    colours = np.zeros((*shades.T.shape, 4), np.uint8)
    sound = np.nan_to_num(shades.T)
    colours[..., :3] = np.where((sound < 0)[..., None], BAD, GOOD)
    colours[..., 3] = np.where(np.isnan(shades.T), 0, 20 + 215 * np.abs(sound))
    return colours


def _marked(track: AgentTrack) -> np.ndarray:
    """The actions taken, as colours [actions, T, 4]."""
    colours = np.zeros((track.values.shape[1], len(track.actions), 4), np.uint8)
    taken = np.arange(track.values.shape[1])[:, None] == track.actions[None, :]
    colours[taken] = (*TAKEN, 255)
    return colours


def _paint(pixels: np.ndarray, top: float, tall: float, colours: np.ndarray, within: float = 0.0) -> None:
    """Stretch colours [rows, T, 4] over a strip; of each cell only the middle, less the share `within` on each side."""
    rows, steps = colours.shape[:2]
    first, last = round(FINE * top), round(FINE * (top + tall))
    left, right = round(FINE * GUTTER), round(FINE * (WIDTH - EDGE))
    down = (np.arange(last - first) + 0.5) * rows / (last - first)
    across = (np.arange(right - left) + 0.5) * steps / (right - left)
    cells = colours[down.astype(int)[:, None], across.astype(int)[None, :]]
    inside = (np.abs(down % 1 - 0.5) <= 0.5 - within)[:, None] & (np.abs(across % 1 - 0.5) <= 0.5 - within / 2)[None, :]
    seen = inside & (cells[..., 3] > 0)
    pixels[first:last, left:right][seen] = cells[seen]


def _paint_rewards(pixels: np.ndarray, rewards: np.ndarray) -> None:
    """Bars up and down from the middle of the lowest row."""
    largest = np.abs(rewards).max(initial=0.0) or 1.0
    rows = 2 * FINE
    height = np.round(rewards / largest * (rows // 2 - 4)).astype(int)
    up = rows // 2 - np.arange(rows)[:, None]  # from the middle
    filled = np.where(height > 0, (up > 0) & (up <= height), (up <= 0) & (up > height))
    colours = np.zeros((rows, len(rewards), 4), np.uint8)
    colours[filled] = (*GOOD, 255)
    colours[filled & (height < 0)] = (*BAD, 255)
    middle = colours[rows // 2 - 1 : rows // 2 + 2]
    middle[middle[..., 3] == 0] = (128, 128, 128, 160)
    _paint(pixels, HEIGHT - REWARDS + 0.05, REWARDS - 0.1, colours)


def _png(pixels: np.ndarray) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()
