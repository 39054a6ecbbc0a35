"""TARGET.json: the data behind a figure and a table, and their provenance. Until all pieces are done, a file each."""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.plain_files import read_json
from decentral.reproduction.target import Data, Done, Piece, Results, Scale, Workplace
from decentral.runs.provenance import provenance
from decentral.settings import Refused

FORMAT = 1
MOST_BYTES = 2**28  # of the data of a target
PIECES = "pieces"  # the directory of the files of single pieces


@dataclass(frozen=True)
class Record:
    """The pieces of a target that are done, each with its settings, result, seconds and provenance."""

    target: str
    scale: Scale
    pieces: dict[str, Data]

    @property
    def results(self) -> Results:
        """The results that figures and tables are made from."""
        return {name: Done(piece["settings"], piece["result"]) for name, piece in self.pieces.items()}

    def holds(self, piece: Piece, file: Path) -> bool:
        """Whether a piece is done; one of the same name and other settings is refused."""
        if piece.name not in self.pieces:
            return False
        if difference := _difference(piece.complete(self.pieces[piece.name]["settings"]), piece.settings):
            raise Refused(
                f"out must hold pieces of the same settings, got {file} with {piece.name}'s {difference}: take another"
            )
        return True

    @staticmethod
    def of_piece(target: str, scale: Scale, piece: Piece, workplace: Workplace) -> "Record":
        """A record of one piece, which is run now."""
        begun, made_by = time.perf_counter(), _without_places(provenance())  # a later commit did not make it
        result = piece.produce(workplace)
        made = {
            "settings": piece.settings,
            "result": result,
            "seconds": round(time.perf_counter() - begun, 1),
            "provenance": made_by,
        }
        return Record(target, scale, {piece.name: made})

    @staticmethod
    def gather(target: str, scale: Scale, out: Path) -> "Record":
        """All pieces that are done in a directory; those of another target or scale are refused."""
        whole, pieces = out / f"{target}.json", dict[str, Data]()
        for file in [*([whole] if whole.exists() else []), *sorted(out.glob(f"{PIECES}/*.json"))]:
            part = Record.read(file)
            part.check_is(target, scale, file)
            pieces |= part.pieces
        return Record(target, scale, pieces)

    def check_is(self, target: str, scale: Scale, file: Path, flag: str = "out") -> None:
        """Refuse the record of another target, or of other seeds."""
        if (self.target, self.scale) != (target, scale):
            said = f"{self.target} at {self.scale.name} scale with {self.scale.seeds} seeds"
            raise Refused(
                f"{flag} must hold the same target, scale and seeds, got {file} of {said}: take another {flag}"
            )

    def joined(self, other: "Record", place: Path) -> "Record":
        """With the pieces of another record; a second result of the same piece is refused."""
        for name in self.pieces.keys() & other.pieces.keys():
            ours, theirs = (record.pieces[name]["result"] for record in (self, other))
            if json.dumps(ours) != json.dumps(theirs):
                raise Refused(f"collect must bring one result of each piece, got another of {name} in {place}")
        return Record(self.target, self.scale, self.pieces | other.pieces)

    def write(self, file: Path) -> None:
        """Write the file atomically: if interrupted, the earlier file remains."""
        header = {"format": FORMAT, "target": self.target, "scale": self.scale.name, "seeds": self.scale.seeds}
        unfinished = file.with_suffix(f".{os.getpid()}.new")  # others may write the same file
        with can_write(file.parent):
            unfinished.write_text(json.dumps(header | {"pieces": self.pieces}) + "\n")
            os.replace(unfinished, file)

    @staticmethod
    def read(file: Path, follow: bool = False) -> "Record":
        """What `write` wrote; `follow`: or a link to it, where the user names the file."""
        try:
            data = read_json(file, MOST_BYTES, follow)
        except Refused as refusal:
            raise Refused(f"data must be the JSON file of a reproduction, got {file} ({refusal})") from None
        try:
            if data["format"] != FORMAT:
                raise ValueError
            pieces = {str(name): _checked(piece) for name, piece in data["pieces"].items()}
            return Record(str(data["target"]), Scale.of(data["scale"], data["seeds"]), pieces)
        except (KeyError, TypeError, ValueError, AttributeError, Refused):
            raise Refused(f"data must be the JSON file of a reproduction, got {file}, which is none") from None


@contextmanager
def can_write(directory: Path) -> Iterator[None]:
    """Make a directory if need be; refuse one that can't be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise Refused(f"out must be a directory that can be written, got {directory} ({error.strerror})") from None


def piece_file(out: Path, name: str) -> Path:
    """The file of a finished piece, until all pieces of its target are done."""
    return out / PIECES / f"{name}.json"


def _checked(piece: Any) -> Data:
    if not all(isinstance(piece[key], dict) for key in ("settings", "result", "provenance")):
        raise ValueError
    float(piece["seconds"])
    return piece


def _difference(stored: Data, expected: Data) -> str:
    """The first setting in which a stored piece differs from the expected one, in words; empty if there is none."""
    ours, theirs = _flat(json.loads(json.dumps(expected))), _flat(stored)
    for key in ours | theirs:
        if ours.get(key) != theirs.get(key):
            return f"{key} {theirs.get(key)!r:.60} instead of {ours.get(key)!r:.60}"
    return ""


def _flat(settings: Data, before: str = "") -> Data:
    flat: Data = {}
    for key, value in settings.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return flat


def _without_places(made_by: Data) -> Data:
    """The provenance without paths, which say nothing about a result."""
    return made_by | {"command": re.sub(r" --out[ =]('[^']*'|\S+)", "", made_by["command"])}
