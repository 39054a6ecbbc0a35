"""A report as one self-contained HTML page: no network, no server; it includes its data as JSON."""

import json
import os
from contextlib import suppress
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from decentral.errors import Refused

NAME = "report.html"
SCRIPTS = ("elements", "scales", "chart", "tables", "tints", "inside", "timeline", "settings", "page")


def page(data: dict[str, Any], reload_seconds: int | None = None) -> str:
    """The page that shows the data; optionally one that reloads itself."""
    parts = {
        "title": escape(_title(data)),
        "again": reload_tag(reload_seconds).rstrip(),
        "style": part("report.css"),
        "data": _inert(json.dumps(data, allow_nan=False, separators=(",", ":"))),
        "script": "\n".join(part(f"{name}.js") for name in SCRIPTS),
    }
    text = part("report.html")
    for name, content in parts.items():
        text = text.replace(f"<!--{name}-->", content, 1)
    return text


def reload_tag(seconds: int | None) -> str:
    """What makes a page load itself again; nothing where it need not."""
    return "" if seconds is None else f'<meta http-equiv="refresh" content="{seconds}">\n'


def write_page(text: str, directory: Path, name: str = NAME) -> Path:
    """Replace an earlier page atomically: a reader never sees half of it."""
    file = directory / name
    unready = file.with_suffix(".part")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        unready.write_text(text, encoding="utf-8")
        os.replace(unready, file)
    except OSError as error:
        with suppress(OSError):
            unready.unlink(missing_ok=True)
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


def part(name: str) -> str:
    """The text of a file that pages are made of."""
    return (files("decentral.analysis") / "page" / name).read_text(encoding="utf-8")
