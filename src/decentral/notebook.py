"""What notebooks show and take: HTML tables and pictures in which every text is escaped, and pandas' data frames."""

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from decentral.errors import Refused, printable

LARGEST_PICTURE = 2**24  # bytes: a larger one would make the notebook's file too large, and is named instead
RIGHT = ' style="text-align:right"'
LEFT = ' style="text-align:left"'


def escaped(text: Any) -> str:
    """A text that is shown as it is: no markup, and no control characters."""
    return html.escape(printable(str(text)))


def table_html(caption: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], footer: str = "") -> str:
    """A table whose first column is the name of the row; `footer` is a line below it."""
    head = "".join(f"<th{RIGHT if number else LEFT}>{escaped(text)}</th>" for number, text in enumerate(headings))
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    below = f"<div><small>{escaped(footer)}</small></div>" if footer else ""
    title = f"<div><b>{escaped(caption)}</b></div>"
    return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"


def _cells(row: Sequence[Any]) -> str:
    return "".join(f"<td{RIGHT if number else LEFT}>{escaped(cell)}</td>" for number, cell in enumerate(row))


def picture_html(file: Path, label: str) -> str:
    """A PNG or a GIF inside the page itself; where it is too large or missing, the file's name."""
    content = picture_bytes(file)
    if content is None:
        return f"<div>{escaped(file)}</div>"
    data = base64.b64encode(content).decode()
    kind = file.suffix.lower().removeprefix(".")
    return f'<img style="max-width:100%" alt="{escaped(label)}" src="data:image/{kind};base64,{data}">'


def picture_bytes(file: Path) -> bytes | None:
    """The content of a picture's file, if it is there and not too large."""
    try:
        return file.read_bytes() if file.stat().st_size <= LARGEST_PICTURE else None
    except OSError:
        return None


def data_frame(columns: Mapping[str, np.ndarray]) -> Any:
    """A pandas DataFrame of these columns; refused where pandas is not installed."""
    try:
        import pandas  # optional, and slow to import
    except ImportError:
        raise Refused("pandas must be installed for a DataFrame: pip install 'decentral[pandas]'") from None
    return pandas.DataFrame(dict(columns))
