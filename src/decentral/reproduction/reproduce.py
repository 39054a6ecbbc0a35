"""Run a target piece by piece, or draw it again from its data: figure, table and what the paper's claims come to."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.placement import use_every_core
from decentral.experiments.runner import Listener
from decentral.interruption import Interrupted
from decentral.reproduction.record import Record, can_write, piece_file
from decentral.reproduction.target import Finding, Scale, Target, Workplace
from decentral.reproduction.targets import target_of
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
        """What must be said beside its numbers; empty at full scale."""
        return "" if self.record.scale.is_full else NO_EVIDENCE

    @property
    def findings(self) -> dict[str, Finding]:
        return self.target.findings(self.record.results)

    def file(self, ending: str) -> Path:
        """Figure or table: png, svg or md."""
        return self.path / f"{self.record.target}.{ending}"


def reproduce(
    name: str,
    scale: Scale,
    out: Path,
    listeners: Callable[[], list[Listener]],
    say: Callable[[str], None],
    only: Sequence[str] = (),
) -> Reproduction | None:
    """Run all pieces of a target, or `only` some, that are not done yet; write its files once all are done.

    Everything is checked first. Every piece is written to a file of its own, so that several processes may share the
    work in one directory, each with pieces of its own.
    """
    pieces, file = target_of(name).pieces(scale), out / f"{name}.json"
    names = [piece.name for piece in pieces]
    if unknown := [piece for piece in only if piece not in names]:
        raise Refused(f"only must name pieces of {name}, of {', '.join(map(repr, names))}, got {unknown[0]!r}")
    with can_write(out):
        record = Record.gather(name, scale, out)
    done = [piece.name for piece in pieces if record.holds(piece, file)]
    left = [piece for piece in pieces if piece.name not in done and (not only or piece.name in only)]
    use_every_core()
    keep_compiled_programs()
    if not scale.is_full:
        say(NO_EVIDENCE)
    for piece in left:
        say(f"{name}, piece {1 + names.index(piece.name)} of {len(names)}: {piece.name}")
        try:
            made = Record.of_piece(name, scale, piece, Workplace(out, listeners, say))
        except Interrupted as saved:
            raise Interrupted(saved.step, f"the same command with --out {out}") from None
        made.write(piece_file(out, piece.name))
    record = Record.gather(name, scale, out)
    if missing := [name for name in names if name not in record.pieces]:
        say(f"{len(names) - len(missing)} of {len(names)} pieces are done, left: {', '.join(missing)}")
        return None
    record.write(file)
    return render(record, file, out)


def redraw(file: Path, out: Path | None = None) -> Reproduction:
    """Figure and table again from the data alone; beside the data unless told otherwise."""
    record = read_finished(file)
    with sense_of(file):
        return render(record, file, file.parent if out is None else out)


def read_finished(file: Path) -> Record:
    """The data of a target all of whose pieces are done."""
    record = Record.read(file, follow=True)
    missing = {piece.name for piece in target_of(record.target).pieces(record.scale)} - record.pieces.keys()
    if missing:
        raise Refused(f"data must be of a finished reproduction, got {file}, which has no {sorted(missing)[0]}")
    return record


@contextmanager
def sense_of(file: Path) -> Iterator[None]:
    """Refuse data that a target can't make sense of."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise Refused(f"data must be the JSON file of a reproduction, got {file}, which is broken ({error})") from None


def render(record: Record, data: Path, out: Path) -> Reproduction:
    """Write figure and table of a record."""
    from decentral.analysis.plots import save_all

    done = Reproduction(record, data, out)
    save_all(done.target.draw(record.results), [done.file("png"), done.file("svg")])
    parts = [f"# {done.target.title}", done.warning, done.table]
    done.file("md").write_text("\n\n".join(part for part in parts if part) + "\n")
    return done
