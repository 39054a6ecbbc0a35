"""A report as one self-contained HTML page: no network, no server; it includes its data as JSON."""

import json
import os
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from decentral.settings import Refused

NAME = "report.html"
SCRIPTS = ("elements", "scales", "chart", "tables", "tints", "inside", "timeline", "settings", "page")


def page(data: dict[str, Any], reload_seconds: int | None = None) -> str:
    """The page that shows the data; optionally one that reloads itself."""
    again = "" if reload_seconds is None else f'<meta http-equiv="refresh" content="{reload_seconds}">'
    parts = {
        "title": escape(_title(data)),
        "again": again,
        "style": _part("report.css"),
        "data": _inert(json.dumps(data, allow_nan=False, separators=(",", ":"))),
        "script": "\n".join(_part(f"{name}.js") for name in SCRIPTS),
    }
    text = _part("report.html")
    for name, part in parts.items():
        text = text.replace(f"<!--{name}-->", part, 1)
    return text


def write_page(text: str, directory: Path) -> Path:
    """Replace an earlier page atomically: a reader never sees half of it."""
    file = directory / NAME
    try:
        directory.mkdir(parents=True, exist_ok=True)
        unready = file.with_suffix(".part")
        unready.write_text(text)
        os.replace(unready, file)
    except OSError as error:
        raise Refused(f"out must be a directory that can be written, got {directory} ({error.strerror})") from None
    return file


def _title(data: dict[str, Any]) -> str:
    algorithms, environments = (
        " and ".join(dict.fromkeys(run[key] for run in data["runs"])) for key in ("algorithm", "environment")
    )
    return f"{algorithms} on {environments}"


def _inert(text: str) -> str:
    """JSON that can't end the script that contains it: `<` is escaped."""
    return text.replace("<", "\\u003c")


def _part(name: str) -> str:
    return (files("decentral.analysis") / "page" / name).read_text(encoding="utf-8")
