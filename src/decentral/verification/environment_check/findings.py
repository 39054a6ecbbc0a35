"""A finding of the environment check: one rule, and in plain words whether the environment keeps it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["right", "wrong", "unclear", "note"]


@dataclass(frozen=True)
class Finding:
    """A rule, and whether it is kept."""

    rule: str
    verdict: Verdict  # unclear: it could not be checked; note: for information only
    said: str


def finding_of_rule(rule: str, faults: Iterable[str], right: str) -> Finding:
    """The finding of a rule: right if there is no fault, otherwise the first fault."""
    fault = next(iter(faults), None)
    return Finding(rule, "right", right) if fault is None else Finding(rule, "wrong", fault)
