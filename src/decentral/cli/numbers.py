"""Numbers as people write them on a command line."""

import math

from decentral.errors import Refused


def whole_number(text: str) -> int:
    """A whole number, also when written as 50_000 or 3e6."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not math.isfinite(number) or number != int(number):
            raise ValueError from None
        return int(number)


def whole(key: str, text: str) -> int:
    """The whole number that a flag gives; anything else is refused by its key."""
    try:
        return whole_number(text)
    except (ValueError, OverflowError):
        raise Refused(f"{key} must be a whole number, got {text!r}") from None


def number(key: str, text: str | float) -> float:
    """The number that a flag gives; anything else is refused by its key."""
    try:
        return float(text)
    except ValueError:
        raise Refused(f"{key} must be a number, got {text!r}") from None
