"""Bring together pieces of a target that were run in several places, and see how far it is. Nothing is trained."""

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
    """Take over the pieces of other directories, or of TARGET.json files, into the one in `out`, and draw it."""
    pieces = {piece.name: piece for piece in target_of(name).pieces(scale)}
    everything = {place: _found_in(name, scale, place) for place in places}
    record = Record.gather(name, scale, out)
    for place, found in everything.items():
        for own in found.pieces:
            if own not in pieces:
                raise Refused(f"collect must bring pieces of {name}, got {own!r} in {place}")
            found.holds(pieces[own], place)
        record = record.joined(found, place)
    file = out / f"{name}.json"
    record = replace(record, pieces={own: record.pieces[own] for own in pieces if own in record.pieces})  # in order
    check_finished(record, out)
    record.write(file)
    return render(record, file, out)


def standings_in(name: str, scale: Scale, out: Path) -> list[PieceStatus]:
    """How far every piece of a target is in a directory."""
    return standings(target_of(name).pieces(scale), Record.gather(name, scale, out), out)


def _found_in(name: str, scale: Scale, place: Path) -> Record:
    """The pieces that were done in a place; there must be some."""
    if place.is_dir():
        found = Record.gather(name, scale, place)
    else:
        found = Record.read(place, follow=True)
        found.check_is(name, scale, place, "collect")
    if not found.pieces:
        raise Refused(f"collect must be a directory or a file with pieces of {name}, got {place}, which has none")
    return found
