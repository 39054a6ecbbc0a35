"""Run a target piece by piece, or draw it again from its data: figure, table and findings for the paper's claims."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from decentral.errors import Interrupted, shell_words
from decentral.reproduction.record import Record, can_write, piece_file
from decentral.reproduction.target import ClaimFinding, Piece, Scale, Target, Workplace
from decentral.reproduction.targets import target_of
from decentral.reproduction.worklist import alone_at, check_needs, chosen, left_in_words, next_piece, standings
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.placement import use_every_core
from decentral.settings import Refused

NO_EVIDENCE = "quick scale: few seeds and a short training. It shows how things look and is no evidence."


@dataclass(frozen=True)
class Reproduction:
    """A finished target, and where its files lie."""

    record: Record
    data: Path  # TARGET.json
    path: Path  # of the directory with figure and table

    @property
    def target(self) -> Target:
        return target_of(self.record.target)

    @property
    def table(self) -> str:
        return self.target.tabulate(self.record.results)

    @property
    def warning(self) -> str:
        """The caveat beside its numbers; empty at full scale."""
        return "" if self.record.scale.is_full else NO_EVIDENCE

    @property
    def findings(self) -> dict[str, ClaimFinding]:
        return self.target.findings(self.record.results)

    def file(self, ending: str) -> Path:
        """Figure or table: png, svg or md."""
        return self.path / f"{self.record.target}.{ending}"


def reproduce(name: str, scale: Scale, workplace: Workplace, only: Sequence[str] = ()) -> Reproduction | None:
    """Run all pieces of a target, or `only` some, that are not done yet; write its files once all are done.

    Everything is checked first. Every piece is written to a file of its own, so that several processes may share the
    work in one directory: each takes the next piece that nobody has.
    """
    pieces, out = target_of(name).pieces(scale), workplace.path
    chosen_pieces, file = chosen(name, pieces, only), out / f"{name}.json"
    with can_write(out):
        record = Record.gather(name, scale, out)
    for piece in pieces:
        record.holds(piece, file)
    check_needs(chosen_pieces, record)
    use_every_core()
    keep_compiled_programs()
    if not scale.is_full:
        workplace.say(NO_EVIDENCE)
    if target_of(name).grows:
        workplace.say(f"{name}: {left_in_words(standings(chosen_pieces, record, out))}")
    _work_through(name, scale, chosen_pieces, workplace)
    record = Record.gather(name, scale, out)
    if missing := [piece.name for piece in pieces if piece.name not in record.pieces]:
        workplace.say(f"{len(pieces) - len(missing)} of {len(pieces)} pieces are done, left: {', '.join(missing)}")
        return None
    record.write(file)
    return render(record, file, out)


def _work_through(name: str, scale: Scale, chosen_pieces: Sequence[Piece], workplace: Workplace) -> None:
    """Run the chosen pieces that are not done, one after another, except those that another process runs."""
    places, waiting = (
        {piece.name: place for place, piece in enumerate(target_of(name).pieces(scale), 1)},
        list(chosen_pieces),
    )
    record = Record.gather(name, scale, workplace.path)
    while (piece := next_piece(waiting, record)) is not None:
        waiting.remove(piece)
        with alone_at(workplace.path, piece.name) as free:
            record = Record.gather(name, scale, workplace.path)  # others may have gone on meanwhile
            if not free or piece.name in record.pieces:
                continue
            if time.monotonic() >= workplace.deadline:
                raise Interrupted(0, _the_same_command(workplace))
            workplace.say(f"{name}, piece {places[piece.name]} of {len(places)}: {piece.name}")
            try:
                made = Record.of_piece(name, scale, piece, replace(workplace, results=record.results))
            except Interrupted as saved:
                raise Interrupted(saved.step, _the_same_command(workplace)) from None
            made.write(piece_file(workplace.path, piece.name))
        record = Record.gather(name, scale, workplace.path)
        if target_of(name).grows:
            record.write(workplace.path / f"{name}.json")


def _the_same_command(workplace: Workplace) -> str:
    return f"the same command with {shell_words(['--out', str(workplace.path)])}"


def redraw(file: Path, out: Path | None = None) -> Reproduction:
    """Figure and table again from the data alone; beside the data unless told otherwise."""
    record = read_finished(file)
    with sense_of(file):
        return render(record, file, file.parent if out is None else out)


def read_finished(file: Path) -> Record:
    """The data of a target whose pieces are all done, or that grows piece by piece."""
    record = Record.read(file, follow=True)
    check_finished(record, file)
    return record


def check_finished(record: Record, file: Path) -> None:
    """Refuse the data of a target that lacks pieces, unless it grows piece by piece."""
    target = target_of(record.target)
    if target.grows:
        return  # its hundreds of configurations take seconds to make
    missing = {piece.name for piece in target.pieces(record.scale)} - record.pieces.keys()
    if missing:
        raise Refused(f"data must be of a finished reproduction, got {file}, which has no {sorted(missing)[0]}")


@contextmanager
def sense_of(file: Path) -> Iterator[None]:
    """Refuse data that a target can't make sense of."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise Refused(f"data must be the JSON file of a reproduction, got {file}, which is broken ({error})") from None


def render(record: Record, data: Path, out: Path) -> Reproduction:
    """Write figure and table of a record."""
    from decentral.analysis.plots.curves import save_all

    done = Reproduction(record, data, out)
    save_all(done.target.draw(record.results), [done.file("png"), done.file("svg")])
    parts = [f"# {done.target.title}", done.warning, done.table]
    done.file("md").write_text("\n\n".join(part for part in parts if part) + "\n")
    return done
