"""Films as an animated GIF: the field, and beside it what every agent does and sees."""

from pathlib import Path

from PIL import Image

from decentral.analysis.animation.canvas import (
    BAD,
    FAINT,
    GOOD,
    RULE,
    TEXT,
    Canvas,
    PictureFrame,
    Point,
    colour_of,
    fitted,
    framed_size,
    palette_with,
)
from decentral.pictures import Film, Frame, Picture, Turn, film_margin

FIELD, PANEL = 340, 170  # in points, like all sizes: the longer side of the field, and the width of the panel beside it
EDGE, HEAD, ROW = 12, 42, 16  # margins, the height of the title, of a row of text
TALLEST_AGENT, SMALLEST_VIEW = 160, 40
FRAME_TIME, END_TIME = 300, 1500  # milliseconds


def write_gif(films: list[Film], out: Path) -> None:
    """Write an animation that plays films side by side; a shorter one waits at its end."""
    length = max(len(film.frames) for film in films)
    shown = [frame.picture for film in films for frame in film.frames]
    seen = [turn.view for film in films for frame in film.frames for turn in frame.turns if turn.view is not None]
    palette = palette_with(list(dict.fromkeys(picture.image for picture in (*shown, *seen) if picture.image)))
    images = [draw_frame(films, number, palette) for number in range(length)]
    times = [FRAME_TIME] * (length - 1) + [END_TIME]
    images[0].save(out, save_all=True, append_images=images[1:], duration=times, loop=0, optimize=True)


def draw_frame(films: list[Film], number: int, palette: Image.Image | None = None) -> Image.Image:
    """One frame of all films; in the colours of a palette, if there is one."""
    texts = max(len(film.frames[0].picture.texts) for film in films)
    height = HEAD + max(map(_field_height, films)) + ROW * texts + EDGE
    canvas = Canvas(len(films) * (FIELD + PANEL + 3 * EDGE), height)
    for place, film in enumerate(films):
        _draw_film(canvas, EDGE + place * (FIELD + PANEL + 3 * EDGE), film, min(number, len(film.frames) - 1))
    return canvas.finished(palette)


def _draw_film(canvas: Canvas, left: float, film: Film, number: int) -> None:
    frame, steps = film.frames[number], len(film.frames) - 1
    canvas.text((left, 6), fitted(film.title, 12, FIELD + PANEL), 12, bold=True)
    step = f"step {min(number + 1, steps)} of {steps}"
    reward = frame.reward or 0.0
    earned = "the end" if frame.reward is None else f"reward {reward:+.4g}" if reward else "reward 0"
    canvas.text((left, 23), step, 11, FAINT)
    ink = GOOD if reward > 0 else BAD if reward < 0 else None
    canvas.text((left + 110, 23), earned, 11, ink or FAINT, bold=ink is not None)
    canvas.text((left + 240, 23), f"return {frame.total:.4g}", 11, TEXT, bold=True)
    PictureFrame(canvas, (left, HEAD), (FIELD, FIELD), frame.picture, film_margin(film)).draw(ink or RULE)
    for row, text in enumerate(frame.picture.texts):
        place = left, HEAD + _field_height(film) + 3 + ROW * row
        canvas.text(place, fitted(text, 11, FIELD + PANEL), 11, FAINT)
    _draw_agents(canvas, left + FIELD + EDGE, film, frame)


def _draw_agents(canvas: Canvas, left: float, film: Film, frame: Frame) -> None:
    tall = min(TALLEST_AGENT, _field_height(film) / len(frame.turns))
    everyone = zip(film.agent_names, film.action_names, frame.turns, strict=True)
    for number, (name, actions, turn) in enumerate(everyone):
        top, ink = HEAD + number * tall, _body_colour(frame.picture, number)
        if ink is not None:
            canvas.circle((left + 5, top + 7), 4, ink)
        did = [] if turn.action is None else [actions[turn.action]]
        did += [] if turn.context is None else [f"context {turn.context}"]
        did += [] if turn.reward is None else [f"reward {turn.reward:.4g}"]
        did = ["gone"] if turn.gone or _is_gone(frame.picture, number) else did
        rows = [name, ", ".join(did)] if tall >= 2 * ROW + 2 else [f"{name}: {', '.join(did)}"]
        for row, text in enumerate(rows):
            canvas.text((left + 14, top + ROW * row), fitted(text, 11, PANEL - 14), 11, bold=len(rows) > 1 and row == 0)
        corner, room = (left + 14, top + 2 * ROW + 2), tall - 2 * ROW - 8
        if turn.view is None:
            _draw_values(canvas, corner, room, turn, actions)
        elif room >= SMALLEST_VIEW:
            PictureFrame(canvas, corner, (PANEL - 14, room), turn.view).draw()


def _draw_values(canvas: Canvas, corner: Point, room: float, turn: Turn, names: tuple[str, ...]) -> None:
    """The action values of an agent, if there is room for all of them."""
    known = [(action, value) for action, value in enumerate(turn.values) if value is not None]
    if ROW * len(known) > room:
        return
    for row, (action, value) in enumerate(known):
        canvas.text((corner[0], corner[1] + ROW * row), names[action], 10, FAINT)
        end = corner[0] + PANEL - 2 * EDGE, corner[1] + ROW * row
        canvas.text(end, f"{value:.2f}", 10, TEXT, "ra", bold=action == turn.action)


def _field_height(film: Film) -> int:
    return framed_size(film.frames[0].picture, film_margin(film), FIELD)[1]


def _body_colour(picture: Picture, agent: int) -> str | None:
    return next((colour_of(mark.colour) for mark in picture.marks if mark.agent == agent), None)


def _is_gone(picture: Picture, agent: int) -> bool:
    return any(mark.gone for mark in picture.marks if mark.agent == agent)
