"""What notebooks show and take: HTML tables and pictures in which every text is escaped, and pandas' data frames."""

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path, PosixPath
from typing import Any

import numpy as np

from decentral.errors import Refused, printable
from decentral.plain_files import read_plain

LARGEST_PICTURE = 2**24  # bytes: a larger one would make the notebook's file too large, and is named instead
KINDS = {".png": "png", ".gif": "gif", ".svg": "svg+xml"}
RIGHT = ' style="text-align:right;padding:1px 8px"'
LEFT = ' style="text-align:left;padding:1px 8px"'


def escaped(text: Any) -> str:
    """A text that is shown as it is: no markup, and no control characters."""
    return html.escape(printable(str(text)))


def table_html(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], footer: str = "", texts: int = 1
) -> str:
    """A table whose first columns are `texts`, the others numbers; `footer` is a line below it."""
    head = _cells("th", headings, texts)
    body = "".join(f"<tr>{_cells('td', row, texts)}</tr>" for row in rows)
    below = f"<div><small>{escaped(footer)}</small></div>" if footer else ""
    title = f"<div><b>{escaped(caption)}</b></div>"
    return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"


def _cells(tag: str, row: Sequence[Any], texts: int) -> str:
    cells = ((LEFT if number < texts else RIGHT, escaped(cell)) for number, cell in enumerate(row))
    return "".join(f"<{tag}{style}>{text}</{tag}>" for style, text in cells)


def picture_html(file: Path, label: str) -> str:
    """A PNG, a GIF or an SVG inside the page itself; where it is too large or missing, the file's name."""
    content = picture_bytes(file)
    if content is None:
        return f"<div>{escaped(file)}</div>"
    data = base64.b64encode(content).decode()
    kind = KINDS[file.suffix.lower()]
    return f'<img style="max-width:100%" alt="{escaped(label)}" src="data:image/{kind};base64,{data}">'


def picture_bytes(file: Path) -> bytes | None:
    """The content of a picture's file, if it is there and not too large."""
    try:
        return read_plain(file, LARGEST_PICTURE, follow=True)
    except (OSError, Refused):
        return None


class Drawing(PosixPath):
    """The file of a picture that was drawn: a path as any other, which a notebook shows as the picture."""

    def _repr_png_(self) -> bytes | None:
        return picture_bytes(self) if self.suffix.lower() == ".png" else None

    def _repr_html_(self) -> str | None:
        """An SVG as an image, in which no script can run; None for others."""
        return picture_html(self, self.name) if self.suffix.lower() == ".svg" else None


def data_frame(columns: Mapping[str, np.ndarray]) -> Any:
    """A pandas DataFrame of these columns; refused where pandas is not installed."""
    try:
        import pandas  # optional, and slow to import
    except ImportError:
        raise Refused("pandas must be installed for a DataFrame: pip install 'decentral[pandas]'") from None
    return pandas.DataFrame(dict(columns))
