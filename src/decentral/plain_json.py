"""JSON from files that may have gone bad: what this library writes, and nothing that only Python's reader takes."""

import json
from collections import Counter
from typing import Any

MOST_DIGITS = 25  # of a whole number: hashes and 64-bit counters have fewer
MOST_NESTING = 100  # of lists and objects in data: deeper ones can't be walked through safely


def parse_json(text: bytes | str, non_finite: bool = False) -> Any:
    """Data from JSON in UTF-8.

    Refused with a ValueError: keys that come twice, numbers that no float holds, and nesting without end; NaN and
    infinities too, unless they may be there.
    """
    constant = float if non_finite else _refuse_constant
    try:
        content = json.loads(
            text if isinstance(text, str) else text.decode(),
            parse_constant=constant,
            parse_float=_number,
            parse_int=_whole,
            object_pairs_hook=_object,
        )
    except RecursionError:
        raise ValueError(f"it must be nested at most {MOST_NESTING} times") from None
    return not_too_deep(content)


def not_too_deep(data: Any) -> Any:
    """The data itself, unless lists and objects in it are nested too deeply."""
    layer = [data]
    for _ in range(MOST_NESTING):
        containers = [own.values() if isinstance(own, dict) else own for own in layer if isinstance(own, dict | list)]
        if not containers:
            return data
        layer = [inner for own in containers for inner in own]
    raise ValueError(f"it must be nested at most {MOST_NESTING} times")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _number(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text:.40} is too large for a number")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text:.40}... is too large for a number")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"{twice!r:.40} comes twice")
    return content
