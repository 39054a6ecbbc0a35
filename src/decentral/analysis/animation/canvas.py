"""An image to draw on in points, and how a picture is drawn on it."""

import io
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngImageFile

from decentral.analysis.plots.curves import COLOURS
from decentral.pictures import HIT_BELOW, RINGED, Line, Mark, Picture, Tile, line_width, overhang

BORDER = 2  # points of a picture's edge
FINE = 3  # pixels per point while drawing; the image is then scaled down, which smooths edges
PAPER, FIELD, RULE, BLOCKED, FAINT, TEXT = "#ffffff", "#f6f7f9", "#d5dae0", "#9aa3ad", "#626a73", "#1b1f24"
NOBODY, GOOD, BAD, HEALTH, SHIELD = "#4a5058", "#0072b2", "#d55e00", "#009e73", "#56b4e9"
INKS = (RULE, BLOCKED, FAINT, TEXT, NOBODY, GOOD, BAD, HEALTH, SHIELD, *COLOURS)

Point = tuple[float, float]


class Canvas:
    """Shapes and texts, all measured in points from the upper left corner."""

    def __init__(self, width: int, height: int):
        self._image = Image.new("RGB", (width * FINE, height * FINE), PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def finished(self, palette: Image.Image | None = None) -> Image.Image:
        """The image with smooth edges, in the colours of the common palette, or in those of another image."""
        width, height = self._image.size
        if palette is not None:
            smooth = self._image.resize((width // FINE, height // FINE), Image.Resampling.BOX)
            return smooth.quantize(palette=palette, dither=Image.Dither.NONE)
        small = np.asarray(self._image.resize((width // FINE, height // FINE), Image.Resampling.BOX), np.int32)
        colours, where = np.unique(small @ np.asarray([1 << 16, 1 << 8, 1], np.int64), return_inverse=True)
        parts = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=-1)
        distance = np.square(parts[:, None] - _palette()[None]).sum(axis=-1)
        nearest = distance.argmin(axis=1).astype(np.uint8)[where]
        image = Image.frombytes("P", (width // FINE, height // FINE), nearest.tobytes())
        image.putpalette(_palette().astype(np.uint8).tobytes())
        return image

    def image(self, corner: Point, size: Point, image: Image.Image) -> None:
        """An image stretched over a rectangle; small ones keep their sharp edges."""
        (x, y), (width, height) = corner, (max(1, round(FINE * side)) for side in size)
        how = Image.Resampling.NEAREST if image.width < width else Image.Resampling.BOX
        stretched = image.convert("RGBA").resize((width, height), how)
        self._image.paste(stretched, (round(FINE * x), round(FINE * y)), stretched)

    def rectangle(
        self, corner: Point, size: Point, fill: str | None, edge: str | None = None, thick: float = 0
    ) -> None:
        (x, y), (width, height) = corner, size
        box = [FINE * x, FINE * y, FINE * (x + width) - 1, FINE * (y + height) - 1]
        if box[2] > box[0] and box[3] > box[1]:
            self._draw.rectangle(box, fill=fill, outline=edge, width=round(FINE * thick))

    def circle(self, centre: Point, radius: float, fill: str | None, edge: str | None = None, thick: float = 0) -> None:
        (x, y), far = (FINE * centre[0], FINE * centre[1]), FINE * radius
        self._draw.ellipse([x - far, y - far, x + far, y + far], fill=fill, outline=edge, width=round(FINE * thick))

    def arcs(self, centre: Point, radius: float, colour: str, thick: float) -> None:
        """A circle in eight dashes."""
        (x, y), far = (FINE * centre[0], FINE * centre[1]), FINE * radius
        for start in range(0, 360, 45):
            self._draw.arc([x - far, y - far, x + far, y + far], start, start + 25, colour, round(FINE * thick))

    def polygon(self, points: Sequence[Point], fill: str) -> None:
        self._draw.polygon([(FINE * x, FINE * y) for x, y in points], fill=fill)

    def line(self, start: Point, end: Point, colour: str, thick: float) -> None:
        ends = [FINE * start[0], FINE * start[1], FINE * end[0], FINE * end[1]]
        self._draw.line(ends, fill=colour, width=max(1, round(FINE * thick)))

    def text(
        self, place: Point, text: str, size: float, colour: str = TEXT, anchor: str = "la", bold: bool = False
    ) -> None:
        font = _font(round(FINE * size), bold)
        self._draw.text((FINE * place[0], FINE * place[1]), text, fill=colour, font=font, anchor=anchor)


class PictureFrame:
    """Where a picture is on a canvas: in the upper left corner of a box, as large as fits with margin and border."""

    def __init__(self, canvas: Canvas, corner: Point, box: Point, picture: Picture, margin: float | None = None):
        self.canvas, self.corner, self.picture = canvas, corner, picture
        self.margin = overhang(picture) if margin is None else margin
        across, down = picture.width + 2 * self.margin, picture.height + 2 * self.margin
        self.scale = min((box[0] - 2 * BORDER) / across, (box[1] - 2 * BORDER) / down)

    def draw(self, edge: str = RULE) -> None:
        """Draw the picture and an edge around it."""
        picture, beyond = self.picture, 2 * self.margin
        width, height = self._size(picture.width + beyond, picture.height + beyond)
        size = width + 2 * BORDER, height + 2 * BORDER
        self.canvas.rectangle(self.corner, size, FIELD)
        if picture.image:
            self.canvas.image(self._at(0, 0), self._size(picture.width, picture.height), decoded(picture.image))
        for tile in picture.tiles:
            self._tile(tile)
        if picture.grid:
            inner = 0 if self.margin else 1  # without a margin the edge is the first line
            for x in range(inner, math.ceil(picture.width) + 1 - inner):
                self.canvas.line(self._at(x, 0), self._at(x, picture.height), RULE, 1)
            for y in range(inner, math.ceil(picture.height) + 1 - inner):
                self.canvas.line(self._at(0, y), self._at(picture.width, y), RULE, 1)
        for line in picture.lines:
            self._line(line)
        for mark in picture.marks:
            self._mark(mark)
        self.canvas.rectangle(self.corner, size, None, edge, BORDER)

    def _at(self, x: float, y: float) -> Point:
        left, top = (side + BORDER for side in self.corner)
        return left + self.scale * (x + self.margin), top + self.scale * (y + self.margin)

    def _size(self, width: float, height: float) -> Point:
        return self.scale * width, self.scale * height

    def _tile(self, tile: Tile) -> None:
        corner, size = self._at(tile.x + 0.05, tile.y + 0.05), self._size(tile.width - 0.1, tile.height - 0.1)
        if tile.kind == "blocked":
            self.canvas.rectangle(corner, size, BLOCKED)
        elif tile.kind != "head":
            self.canvas.rectangle(corner, size, shaded(tile.shade))
        if tile.kind == "chosen":
            self.canvas.rectangle(corner, size, None, TEXT, max(2, 0.07 * self.scale))
        height = min(0.34 * min(1, 1.4 * tile.height), 1.5 * tile.width / max(1, len(tile.text)))
        middle = self._at(tile.x + tile.width / 2, tile.y + tile.height / 2)
        self.canvas.text(middle, tile.text, self.scale * height, anchor="mm")

    def _line(self, line: Line) -> None:
        thick, ink = line_width(self.picture), colour_of(line.colour)
        length = math.hypot(line.to_x - line.x, line.to_y - line.y) or 1.0
        ahead, aside = (line.to_x - line.x) / length, (line.to_y - line.y) / length
        if line.kind != "plain":
            self._beam(line, (thick * aside, -thick * ahead), length, ink)
            return
        reach, wing = (2.6 * thick, 1.6 * thick) if line.arrow else (0.0, 0.0)
        x, y = line.to_x - reach * ahead, line.to_y - reach * aside
        self.canvas.line(self._at(line.x, line.y), self._at(x, y), ink, self.scale * thick)
        if line.arrow:
            wings = self._at(x - wing * aside, y + wing * ahead), self._at(x + wing * aside, y - wing * ahead)
            self.canvas.polygon([self._at(line.to_x, line.to_y), *wings], ink)

    def _beam(self, line: Line, beside: Point, length: float, ink: str) -> None:
        """A shot in one piece; an aim thin and in dashes, each as long as the gap after it."""
        thick = line_width(self.picture)
        pieces = 1 if line.kind == "shot" else 2 * max(1, round(length / (6 * thick))) - 1
        width = 1.4 * thick if line.kind == "shot" else 0.5 * thick

        def along(share: float) -> Point:
            x, y = line.x + share * (line.to_x - line.x), line.y + share * (line.to_y - line.y)
            return self._at(x + beside[0], y + beside[1])

        for piece in range(0, pieces, 2):
            self.canvas.line(along(piece / pieces), along((piece + 1) / pieces), ink, self.scale * width)

    def _mark(self, mark: Mark) -> None:
        ink = mixed(colour_of(mark.colour), 0.25) if mark.gone else colour_of(mark.colour)
        middle, radius = self._at(mark.x, mark.y), self.scale * mark.radius
        (x, y) = middle
        if mark.shape == "circle":
            self.canvas.circle(middle, radius, ink)
        elif mark.shape == "ring":
            self.canvas.circle(middle, radius, None, ink, max(1, radius / 12))
        elif mark.shape == "square":
            self.canvas.rectangle((x - radius, y - radius), (2 * radius, 2 * radius), ink)
        else:
            self.canvas.polygon([(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)], ink)
        self.canvas.text(middle, mark.label, 1.1 * radius, PAPER, "mm", bold=True)
        self._signs(mark, middle, radius)
        thick = radius / 4
        for number, share in enumerate(() if mark.gone else mark.bars):
            corner = x - radius, y - radius - (len(mark.bars) - number) * (thick + radius / 10)
            self.canvas.rectangle(corner, (2 * radius, thick), RULE)
            full = 2 * radius * max(0.0, min(1.0, share))
            self.canvas.rectangle(corner, (full, thick), SHIELD if number else HEALTH)

    def _signs(self, mark: Mark, middle: Point, radius: float) -> None:
        """What befalls it: a cross if it is gone, a dashed ring if it is frozen, a ring and a number if it is hit."""
        (x, y), thick = middle, max(1.0, radius / 6)
        if mark.gone:
            for tilt in (1, -1):
                self.canvas.line((x - radius, y - tilt * radius), (x + radius, y + tilt * radius), FAINT, thick)
        if mark.frozen:
            self.canvas.arcs(middle, 1.3 * radius, NOBODY, thick)
        if mark.hit:
            self.canvas.circle(middle, RINGED * radius, None, BAD, thick)
            self.canvas.text((x, y + HIT_BELOW * radius), f"-{mark.hit:.3g}", radius, BAD, "mm", bold=True)


@lru_cache(maxsize=4)
def decoded(png: bytes) -> Image.Image:
    """The image of a picture."""
    return PngImageFile(io.BytesIO(png))


MOST_SAMPLED = 16  # images that a palette is made from
SAMPLE = 96  # pixels of their sides


def palette_with(images: Sequence[bytes]) -> Image.Image | None:
    """An image with the common palette and the colours that occur most in these images; none if there are no images."""
    if not images:
        return None
    picked = [images[round(place)] for place in np.linspace(0, len(images) - 1, min(MOST_SAMPLED, len(images)))]
    sheet = Image.new("RGB", (SAMPLE * len(picked), SAMPLE), FIELD)
    for place, png in enumerate(picked):
        image = decoded(png).convert("RGBA").resize((SAMPLE, SAMPLE), Image.Resampling.NEAREST)
        sheet.paste(image, (SAMPLE * place, 0), image)
    room = 256 - len(_palette())
    found = sheet.quantize(room, dither=Image.Dither.NONE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*_palette().astype(np.uint8).tobytes(), *found[: 3 * room]])
    return palette


def framed_size(picture: Picture, margin: float, longest_side: int) -> tuple[int, int]:
    """The width and height of a picture with its margin and its border."""
    across, down = picture.width + 2 * margin, picture.height + 2 * margin
    scale = (longest_side - 2 * BORDER) / max(across, down)
    return round(scale * across) + 2 * BORDER, round(scale * down) + 2 * BORDER


def drawn(picture: Picture, longest_side: int) -> Image.Image:
    """A picture by itself."""
    size = framed_size(picture, overhang(picture), longest_side)
    canvas = Canvas(*size)
    PictureFrame(canvas, (0, 0), size, picture).draw()
    return canvas.finished()


def fitted(text: str, size: float, room: float) -> str:
    """A text, shortened to what fits. It is measured in bold, the widest letters."""
    font = _font(round(FINE * size), True)
    parts = (text, *(text[:length] + "\u2026" for length in range(len(text) - 1, 0, -1)))
    return next((part for part in parts if font.getlength(part) <= FINE * room), "")


def colour_of(number: int) -> str:
    """The colour with a number, as pictures use it."""
    return NOBODY if number < 0 else COLOURS[number % len(COLOURS)]


def mixed(ink: str, share: float) -> str:
    """A mixture of the ink with the paper's colour."""
    pairs = zip(ImageColor.getrgb(ink)[:3], ImageColor.getrgb(PAPER)[:3], strict=True)
    return "#" + "".join(f"{round(share * of_ink + (1 - share) * of_paper):02x}" for of_ink, of_paper in pairs)


def shaded(shade: float) -> str:
    """The colour of a tile, from -1 (bad) to 1 (good)."""
    return mixed(BAD if shade < 0 else GOOD, 0.08 + 0.42 * abs(shade))


@lru_cache(maxsize=1)
def _palette() -> np.ndarray:
    """All inks, their mixtures at smooth edges, and some shades [colours, 3]: the same in all frames."""
    smooth = [mixed(ink, share) for ink in INKS for share in (1, 0.6, 0.25)]
    shades = [shaded(step / 6) for step in range(-6, 7)]
    colours = dict.fromkeys((PAPER, FIELD, *smooth, *shades))
    return np.asarray([ImageColor.getrgb(colour)[:3] for colour in colours], np.int32)


@lru_cache(maxsize=64)
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"  # part of matplotlib
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), max(1, size))
