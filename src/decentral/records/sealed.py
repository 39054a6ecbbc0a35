"""JSON that tells whether a single bit of it has changed: the content beside its own SHA-256, in one spelling only."""

import hashlib
import json
from pathlib import Path
from typing import Any

from decentral.plain_files import read_plain
from decentral.plain_json import parse_json
from decentral.refusal import Refused

MOST_BYTES = 2**24  # of the file


def sealed(content: dict[str, Any]) -> bytes:
    """The content with its seal."""
    return (json.dumps({"content": content, "sha256": digest(content)}, indent=1, sort_keys=True) + "\n").encode()


def read_sealed(path: Path) -> dict[str, Any]:
    """The content of a sealed file; one that was changed, by accident or by hand, is refused."""
    text = read_plain(path, MOST_BYTES)
    try:
        content = parse_json(text, non_finite=True)["content"]
        whole = isinstance(content, dict) and sealed(content) == text
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise Refused(f"{path} is broken: it is not what was written")
    return content


def digest(content: dict[str, Any]) -> str:
    """The SHA-256 of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
