"""Texts in figures: shown literally, and wrapped to the room that they have."""

import textwrap

from matplotlib.font_manager import FontProperties

HANDLE, LETTER = 0.65, 0.08  # inches that a legend entry takes: its line with the space around it, and each letter
POINTS = 10  # of the letters for which these hold
DOLLAR = "\ue000"  # stands for an escaped dollar, which must not be torn; `shown` lets no such letter through


def shown(text: str) -> str:
    """A text shown literally: a dollar starts no formula, and unprintable characters are escaped."""
    spelled = (letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return "".join(spelled).replace("$", r"\$")


def wrapped(text: str, letters: int) -> str:
    """A text that `shown` gave, in lines of so many letters."""
    whole = text.replace(r"\$", DOLLAR)
    lines = textwrap.wrap(whole, letters) if len(whole) > letters else [whole]
    return "\n".join(lines).replace(DOLLAR, r"\$")


def points(size: str = "medium") -> float:
    """The size of letters in the style that is drawn in."""
    return FontProperties(size=size).get_size_in_points()
