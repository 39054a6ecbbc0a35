"""The paper's figures and tables, run or drawn again."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from decentral.api.arguments import listeners_of
from decentral.api.places import PathLike
from decentral.reproduction.claims import claims_table, findings_from, results_in
from decentral.reproduction.claims_by_reading import readings_table
from decentral.reproduction.collecting import collect as collect_pieces
from decentral.reproduction.collecting import standings_in
from decentral.reproduction.reproduce import Reproduction
from decentral.reproduction.reproduce import redraw as redraw_file
from decentral.reproduction.reproduce import reproduce as reproduce_target
from decentral.reproduction.target import ClaimFinding, Scale, Workplace
from decentral.reproduction.worklist import PieceStatus, standings_table
from decentral.runs.listeners.progress import announce
from decentral.settings import Refused

MOST_MINUTES = 1_000_000


@dataclass(frozen=True)
class Worklist:
    """The pieces of a target, and how far each is."""

    pieces: list[PieceStatus]

    @property
    def table(self) -> str:
        """In Markdown."""
        return standings_table(self.pieces)


@dataclass(frozen=True)
class Claims:
    """What reproductions say of the paper's claims, by name."""

    findings: dict[str, ClaimFinding]
    by_reading: str  # a row for each claim, a column for each reading of the paper, in Markdown

    @property
    def table(self) -> str:
        """A row for each claim, in Markdown."""
        return claims_table(self.findings)


def reproduce(
    target: str,
    /,
    *,
    scale: str = "full",
    seeds: int | None = None,
    out: PathLike | None = None,
    only: Sequence[str] = (),
    minutes: float | None = None,
    progress: bool = True,
) -> Reproduction | None:
    """Run a figure or table of the paper again.

    Targets: `table-1`, `switching-wind`, `matrix-game`, `predator-prey`, `smac`, `ablation`; not in the paper:
    `controls`, `extensions`, `readings`, `appendix-a`.
    What is already done in `out` is not done again, so that an interrupted reproduction goes on where it was. With
    `only`, just those pieces, by name or by a pattern such as `*-iql`. Several processes can share the work in one
    `out`. None as long as pieces are missing. With `minutes` it saves and stops in time: `Interrupted` is raised, and
    the same call goes on.
    """
    deadline = _deadline(minutes)
    size = Scale.of(scale, seeds)
    say = announce if progress else lambda line: None
    workplace = Workplace(place_of(target, size, out), lambda: listeners_of(progress, ()), say, deadline)
    return reproduce_target(target, size, workplace, only)


def place_of(target: str, scale: Scale, out: PathLike | None) -> Path:
    """Where a target goes."""
    name = target if scale.is_full else f"{target}-{scale.name}"
    return Path(out) if out is not None else Path("runs") / "reproduction" / name


def _deadline(minutes: float | None) -> float:
    if minutes is None:
        return math.inf
    if not 0 < minutes <= MOST_MINUTES:
        raise Refused(f"minutes must be a number above 0 and at most {MOST_MINUTES}, got {minutes:g}")
    return time.monotonic() + 60 * minutes


def collect(
    target: str,
    places: Sequence[PathLike],
    /,
    *,
    scale: str = "full",
    seeds: int | None = None,
    out: PathLike | None = None,
) -> Reproduction:
    """Take over the pieces of a target that were run elsewhere, from directories or TARGET.json files, and draw it."""
    size = Scale.of(scale, seeds)
    return collect_pieces(target, size, [Path(place) for place in places], place_of(target, size, out))


def worklist(target: str, /, *, scale: str = "full", seeds: int | None = None, out: PathLike | None = None) -> Worklist:
    """Which pieces of a target are done, which are not, and how long those are expected to take."""
    size = Scale.of(scale, seeds)
    return Worklist(standings_in(target, size, place_of(target, size, out)))


def redraw(file: PathLike, /, *, out: PathLike | None = None) -> Reproduction:
    """Draw a reproduction again from its data, TARGET.json, without training; beside it unless told otherwise."""
    return redraw_file(Path(file), None if out is None else Path(out))


def claims(directory: PathLike, /) -> Claims:
    """What the full-scale data of every target that lies in a directory say of the paper's claims."""
    place = Path(directory)
    found = results_in(place)
    findings = findings_from(found, place)
    return Claims(findings, readings_table(found, findings, place))
