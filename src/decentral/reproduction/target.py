"""The interface of a target, a figure or table of the paper: what it runs, draws and tabulates, and its findings."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from decentral.runs.listeners.base import Listener
from decentral.settings import Refused


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table from headings, and rows of as many cells."""
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = dict[str, Any]  # JSON-ready
SCALES = {"quick": 2, "full": 5}  # seeds; the paper has five
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Scale:
    """How much is run: the paper's protocol, or a quick look that is no evidence."""

    name: str
    seeds: int

    @staticmethod
    def of(name: str, seeds: int | None = None) -> "Scale":
        """The scale of a name, with its default number of seeds unless one is given."""
        if name not in SCALES:
            raise Refused(f"scale must be one of {', '.join(SCALES)}, got {name!r}")
        if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
            raise Refused(f"seeds must be a whole number from 1 to {MOST_SEEDS}, got {seeds}")
        return Scale(name, SCALES[name] if seeds is None else seeds)

    @property
    def is_full(self) -> bool:
        return self.name == "full"


@dataclass(frozen=True)
class Done:
    """A finished piece: its settings and its result."""

    settings: Data
    result: Data


Results = dict[str, Done]  # by the pieces' names


@dataclass(frozen=True)
class Workplace:
    """Where a piece may write files, who listens to its progress, its deadline, and the results it depends on."""

    path: Path
    listeners: Callable[[], list[Listener]]  # for a run
    say: Callable[[str], None]  # for what is no run
    deadline: float = math.inf  # by the clock time.monotonic
    results: Results = field(default_factory=dict)  # of pieces that are done


@dataclass(frozen=True)
class Piece:
    """One part of a target that is run as a whole, and not again once it is done.

    The settings are JSON-ready and decide everything: a stored piece of the same settings is taken as it is.
    `complete` adds to stored settings those that came later, at their defaults. `needs` names the pieces that must be
    done before, and `minutes` is a rough guess of how long it takes on one H200.
    """

    name: str
    settings: Data
    produce: Callable[[Workplace], Data]
    complete: Callable[[Data], Data] = lambda stored: stored
    needs: tuple[str, ...] = ()
    minutes: float | None = None


Verdict = Literal["reproduced", "partly reproduced", "not reproduced", "open", "not yet run"]


def verdict_of(met: Iterable[bool]) -> Verdict:
    """The verdict on a claim of several parts or seeds: all of them hold, some, or none."""
    each = list(met)
    return "reproduced" if all(each) else "partly reproduced" if any(each) else "not reproduced"


@dataclass(frozen=True)
class ClaimFinding:
    """The finding for one claim of the paper."""

    numbers: str
    verdict: Verdict
    reading: str  # of what the paper leaves open


class Target(ABC):
    """A figure or table of the paper, or one that is not in it and has no claims."""

    title: ClassVar[str]
    claims: ClassVar[tuple[str, ...]]
    grows: ClassVar[bool] = False  # piece by piece: it is drawn and speaks to claims before all of it is done

    @abstractmethod
    def pieces(self, scale: Scale) -> list[Piece]:
        """The pieces that it runs."""

    @abstractmethod
    def draw(self, results: Results) -> "Figure":
        """The figure, from results alone."""

    @abstractmethod
    def tabulate(self, results: Results) -> str:
        """The table, as Markdown, from results alone."""

    @abstractmethod
    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        """What the results say of each of its claims."""
