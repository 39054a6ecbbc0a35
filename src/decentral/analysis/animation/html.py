"""Films as one self-contained HTML page: no network, no server, no other file."""

import base64
import dataclasses
import html
import json
from importlib import resources
from pathlib import Path
from typing import Any

from decentral.analysis.plots.curves import COLOURS
from decentral.pictures import Film, film_margin, overhang

DIGITS = 3  # decimals of the numbers in a page


def write_page(films: list[Film], out: Path) -> None:
    """Write a page that plays films side by side."""
    out.write_text(page(films), encoding="utf-8")


def page(films: list[Film]) -> str:
    """The page: the template with its parts filled in."""
    colours = "".join(f"--c{number}: {colour}; " for number, colour in enumerate(COLOURS))
    parts = {
        "title": html.escape(" and ".join(film.title for film in films)),
        "style": f":root {{ {colours}}}\n{_file('film.css')}",
        "films": json.dumps(list(map(film_data, films)), separators=(",", ":"), allow_nan=False).replace(
            "<", "\\u003c"
        ),
        "script": f"const COLOURS = {len(COLOURS)};\n{_file('film.js')}",
    }
    before, *rest = _file("film.html").split("{{")
    return before + "".join(parts[name] + text for name, text in (part.split("}}", 1) for part in rest))


def film_data(film: Film) -> dict[str, Any]:
    """A film as JSON data, without default values; tiles and images only where they changed.

    All its fields have one margin.
    """
    data, margin = _brief(film), _brief(film_margin(film))
    before: dict[str, Any] = {"tiles": None, "image": ""}
    for frame, filmed in zip(data["frames"], film.frames, strict=True):
        frame["picture"]["margin"] = margin
        for turn, seen in zip(frame["turns"], filmed.turns, strict=True):
            if seen.view is not None:
                turn["view"]["margin"] = _brief(overhang(seen.view))
        for part, none in (("tiles", []), ("image", "")):
            now = frame["picture"].pop(part, none)
            if now != before[part]:
                frame["picture"][part] = before[part] = now
    return data


def _brief(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        held = {field: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {field.name: _brief(entry) for field, entry in held.items() if entry != field.default}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return [_brief(entry) for entry in value]
    if isinstance(value, float):
        return int(value) if value == int(value) else round(value, DIGITS)
    return value


def _file(name: str) -> str:
    return (resources.files("decentral.analysis") / "page" / name).read_text(encoding="utf-8").strip()
