"""The paper's figures and tables, run or drawn again."""

from collections.abc import Sequence
from pathlib import Path

from decentral.api.requests import Place, listeners_of
from decentral.experiments.progress import announce
from decentral.reproduction.reproduce import Reproduction
from decentral.reproduction.reproduce import redraw as redraw_file
from decentral.reproduction.reproduce import reproduce as reproduce_target
from decentral.reproduction.target import Scale


def reproduce(
    target: str,
    /,
    *,
    scale: str = "full",
    seeds: int | None = None,
    out: Place | None = None,
    only: Sequence[str] = (),
    progress: bool = True,
) -> Reproduction | None:
    """Run a figure or table of the paper again.

    Targets: `table-1`, `switching-wind`, `matrix-game`, `predator-prey`, `ablation`; not in the paper:
    `controls`, `extensions`.
    What is already done in `out` is not done again, so that an interrupted reproduction goes on where it was. With
    `only`, just those pieces: several processes can share the work in one `out`. None as long as pieces are missing.
    """
    size = Scale.of(scale, seeds)
    name = target if size.is_full else f"{target}-{size.name}"
    place = Path(out) if out is not None else Path("runs") / "reproduction" / name
    say = announce if progress else lambda line: None
    return reproduce_target(target, size, place, lambda: listeners_of(progress, False), say, only)


def redraw(file: Place, /, *, out: Place | None = None) -> Reproduction:
    """Draw a reproduction again from its data, TARGET.json, without training; beside it unless told otherwise."""
    return redraw_file(Path(file), None if out is None else Path(out))
