"""What an examination of an environment finds: one rule, and in plain words whether the environment keeps it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["right", "wrong", "unclear", "note"]


@dataclass(frozen=True)
class Finding:
    """A rule, and what was seen of it."""

    rule: str
    verdict: Verdict  # unclear: nothing could be seen of it; note: there is nothing to keep
    said: str


def judged(rule: str, faults: Iterable[str], right: str) -> Finding:
    """A rule that is kept if there is no fault; otherwise the first one is told."""
    fault = next(iter(faults), None)
    return Finding(rule, "right", right) if fault is None else Finding(rule, "wrong", fault)
