"""What pages that list many runs are made of: the page around them, tables, times and links. No script, no server."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from decentral.analysis.report.page import part, reload_tag

NUMBERS = ("step", "seeds", "return", "age")  # columns that stand to the right
STYLE = """
main { max-width: 1400px; }
td { white-space: nowrap; }
tbody th { font-weight: 400; min-width: 160px; }
polyline { fill: none; stroke: var(--c0); stroke-width: 1.5; }
.problem { white-space: normal; color: var(--quiet); max-width: 420px; overflow-wrap: anywhere; }
a { color: var(--focus); }
progress { width: 90px; height: 10px; accent-color: var(--c0); vertical-align: baseline; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0; }
summary { cursor: pointer; padding: 4px 0; overflow-wrap: anywhere; }
@media (max-width: 800px) {
  thead { display: none; }
  tr { display: flex; flex-wrap: wrap; gap: 0 14px; padding: 6px 0; border-bottom: 1px solid var(--line); }
  tbody tr > *, tbody tr > td.number { border: 0; padding: 0; text-align: left; }
  tbody tr > .number::before { content: attr(data-head) " "; color: var(--quiet); }
  tbody th { flex-basis: 100%; max-width: none; }
  tbody tr > .number + td { padding: 0; }
  td:empty { display: none; }
}
"""


def list_page(heading: str, title: str, body: str, reload_seconds: int | None = None) -> str:
    """A page that needs nothing else; optionally one that reloads itself. All texts are HTML."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{reload_tag(reload_seconds)}<title>{title}</title>
<style>
{part("report.css")}{STYLE}</style>
</head>
<body>
<main>
<h1>{heading}</h1>
{body}
</main>
</body>
</html>
"""


def table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """A table under these heads; on a narrow screen each row becomes a few lines."""
    cells = "".join(f'<th scope="col"{side(head)}>{head}</th>' for head in heads)
    body = "\n".join(rows)
    return f"""<div class="wide" tabindex="0" role="region" aria-label="runs">
<table>
<thead><tr>{cells}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>"""


def side(head: str) -> str:
    """What a cell under this head says of its place."""
    return f' class="number" data-head="{head}"' if head in NUMBERS else ""


def moment(time: float, seconds: bool = False) -> str:
    """A time since 1970 as one of the clock, in UTC."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def link(page: Path, place: Path) -> str:
    """A relative address; `quote` leaves no sign that HTML would read, and no colon that would make it a scheme."""
    return quote(os.fsencode(os.path.relpath(page, place)))
