"""Which pieces of a target are requested, which of them comes next, and how long they may take."""

import fcntl
import os
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from decentral.records import RunDirectory
from decentral.reproduction.record import Record, piece_file
from decentral.reproduction.target import Piece, markdown_table
from decentral.runs.checkpointing.files import Checkpoints
from decentral.settings import Refused

MOST_NAMED = 20  # pieces in a line
BESIDE_OTHERS = "A piece takes longer beside others than alone."


def chosen(target: str, pieces: Sequence[Piece], only: Sequence[str]) -> list[Piece]:
    """The pieces that `only` names, by name or by a pattern such as `*-iql`; all, where it names none."""
    names = [piece.name for piece in pieces]
    for wish in only:
        if not any(fnmatchcase(name, wish) for name in names):
            each = ", ".join(map(repr, names)) if len(names) <= MOST_NAMED else f"those that {target} --list tells"
            raise Refused(f"only must name pieces of {target}, of {each}, got {wish!r}")
    return [piece for piece in pieces if not only or any(fnmatchcase(piece.name, wish) for wish in only)]


def check_needs(chosen_pieces: Sequence[Piece], record: Record) -> None:
    """Refuse pieces that depend on others which are neither done nor requested."""
    coming = record.pieces.keys() | {piece.name for piece in chosen_pieces}
    for piece in chosen_pieces:
        missing = [need for need in piece.needs if need not in coming]
        if missing and piece.name not in record.pieces:
            raise Refused(f"only must name {missing[0]} too, which {piece.name} rests on, or out must hold it")


def next_piece(chosen_pieces: Sequence[Piece], record: Record) -> Piece | None:
    """The first piece that is not done and rests on nothing that is not."""
    for piece in chosen_pieces:
        if piece.name not in record.pieces and set(piece.needs) <= record.pieces.keys():
            return piece
    return None


@contextmanager
def alone_at(out: Path, name: str) -> Iterator[bool]:
    """Keep a piece from other processes meanwhile; False: one of them has it already."""
    file = piece_file(out, name).with_suffix(".lock")
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        except OSError:  # a file system without locks
            free = True
        yield free
        if free:
            with suppress(OSError):
                os.unlink(file)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class PieceStatus:
    """How far one piece is."""

    piece: Piece
    minutes: float | None  # that it took, or is expected to take
    state: str

    @property
    def is_done(self) -> bool:
        return self.state == "done"


def standings(pieces: Sequence[Piece], record: Record, out: Path) -> list[PieceStatus]:
    """How far every piece is. What is expected of the others is corrected by those that are done."""
    took = {name: _minutes_of(record, name) for name in record.pieces}
    ratios = [took[piece.name] / piece.minutes for piece in pieces if piece.name in took and piece.minutes]
    median_ratio = statistics.median(ratios) if ratios else 1.0
    statuses = []
    for piece in pieces:
        if piece.name in took:
            statuses.append(PieceStatus(piece, took[piece.name], "done"))
        else:
            expected = piece.minutes and piece.minutes * median_ratio
            statuses.append(PieceStatus(piece, expected, _state_of(out / "runs" / piece.name)))
    return statuses


def standings_table(statuses: Sequence[PieceStatus]) -> str:
    """Every piece with its state and minutes, and what is left in all, as Markdown."""
    rows = [
        [
            status.piece.name,
            status.state,
            "" if status.minutes is None else f"{status.minutes:.1f}",
            ", ".join(status.piece.needs),
        ]
        for status in statuses
    ]
    return f"{markdown_table(['piece', 'state', 'minutes', 'rests on'], rows)}\n\n{left_in_words(statuses)}"


def left_in_words(statuses: Sequence[PieceStatus]) -> str:
    """How many are done, and what the others may take."""
    left = [status for status in statuses if not status.is_done]
    done = f"{len(statuses) - len(left)} of {len(statuses)} pieces are done"  # of those that are asked for
    known = [status.minutes for status in left if status.minutes is not None]
    if not known:
        return f"{done}."
    if len(left) < len(statuses):
        basis = "if they take as long as those that are done"
    else:
        basis = "a rough guess for one H200 and full scale"
    return f"{done}. The other {len(left)}: some {sum(known):.0f} minutes added up, {basis}. {BESIDE_OTHERS}"


def _minutes_of(record: Record, name: str) -> float:
    """What a piece took, before an interruption too where its result tells."""
    done_piece = record.pieces[name]
    runs = done_piece["result"].get("runs", [done_piece["result"]])
    seconds = [run["seconds"] for run in runs if isinstance(run, dict) and "seconds" in run]
    return max([float(done_piece["seconds"]), *map(float, seconds)]) / 60


def _state_of(place: Path) -> str:
    """Whether a run lies there that can go on, and from which step."""
    directory = RunDirectory(place if RunDirectory(place).has_begun else place / "1")
    if not directory.has_begun:
        return "missing"
    turns = Checkpoints.of(directory).turns()
    with suppress(Refused):
        if turns:
            return f"saved at step {Checkpoints.of(directory).info(turns[0]).step:,}"
    return "begun"
