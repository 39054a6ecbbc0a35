"""How a request ends that can't be met, or that a world outside of this program broke: in one line."""

import difflib
from collections.abc import Iterable

LONGEST_WORD = 500  # of a refusal: what is longer is cut


class Refused(ValueError):
    """A request that can't be met, said in one line: the key, the value and what is allowed."""


class Failed(RuntimeError):
    """A request that was fine, but a world outside of this program broke, said in one line: which, when and how."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What may have been meant by an unknown word, as a part of a refusal; empty where no known one is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" did you mean {near[0]}?" if near else ""


def in_one_line(message: str) -> str:
    """A message as it is printed: one line of words none of which is endless."""
    return " ".join(word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}..." for word in message.split())
