"""Collect pieces of a target that were run in several places, and show its progress. Nothing is trained."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from decentral.reproduction.record import Record
from decentral.reproduction.reproduce import Reproduction, check_finished, render
from decentral.reproduction.target import Scale
from decentral.reproduction.targets import target_of
from decentral.reproduction.worklist import PieceStatus, standings
from decentral.settings import Refused


def collect(name: str, scale: Scale, places: Sequence[Path], out: Path) -> Reproduction:
    """Add the pieces of other directories, or of TARGET.json files, to the target in `out`, and draw it."""
    pieces = {piece.name: piece for piece in target_of(name).pieces(scale)}
    everything = {place: _found_in(name, scale, place) for place in places}
    record = Record.gather(name, scale, out)
    for place, collected in everything.items():
        for piece_name in collected.pieces:
            if piece_name not in pieces:
                raise Refused(f"collect must bring pieces of {name}, got {piece_name!r} in {place}")
            collected.holds(pieces[piece_name], place)
        record = record.joined(collected, place)
    file = out / f"{name}.json"
    record = replace(
        record, pieces={piece_name: record.pieces[piece_name] for piece_name in pieces if piece_name in record.pieces}
    )  # in order
    check_finished(record, out)
    record.write(file)
    return render(record, file, out)


def standings_in(name: str, scale: Scale, out: Path) -> list[PieceStatus]:
    """The state of every piece of a target in a directory."""
    return standings(target_of(name).pieces(scale), Record.gather(name, scale, out), out)


def _found_in(name: str, scale: Scale, place: Path) -> Record:
    """The finished pieces in a place; there must be at least one."""
    if place.is_dir():
        collected = Record.gather(name, scale, place)
    else:
        collected = Record.read(place, follow=True)
        collected.check_is(name, scale, place, "collect")
    if not collected.pieces:
        raise Refused(f"collect must be a directory or a file with pieces of {name}, got {place}, which has none")
    return collected
