"""Run a target piece by piece, or draw it again from its data: figure, table and what the paper's claims come to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.placement import use_every_core
from decentral.experiments.runner import Listener
from decentral.reproduction.record import Record
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
    name: str, scale: Scale, out: Path, listeners: Callable[[], list[Listener]], say: Callable[[str], None]
) -> Reproduction:
    """Run all pieces of a target that are not done yet, and write its files. Everything is checked first."""
    pieces, file = target_of(name).pieces(scale), out / f"{name}.json"
    record = Record.read(file) if file.exists() else Record(name, scale, {})
    if (record.target, record.scale) != (name, scale):
        found = f"{record.target} at {record.scale.name} scale with {record.scale.seeds} seeds"
        raise Refused(f"out must hold the same target, scale and seeds, got {file} of {found}: take another out")
    left = [piece for piece in pieces if not record.holds(piece, file)]
    record.write(file)
    use_every_core()
    keep_compiled_programs()
    if not scale.is_full:
        say(NO_EVIDENCE)
    for number, piece in enumerate(left, start=1 + len(pieces) - len(left)):
        say(f"{name}, piece {number} of {len(pieces)}: {piece.name}")
        record = record.with_piece(piece, Workplace(out, listeners, say))
        record.write(file)
    return render(record, file, out)


def redraw(file: Path, out: Path | None = None) -> Reproduction:
    """Figure and table again from the data alone; beside the data unless told otherwise."""
    record = read_finished(file)
    with sense_of(file):
        return render(record, file, file.parent if out is None else out)


def read_finished(file: Path) -> Record:
    """The data of a target all of whose pieces are done."""
    record = Record.read(file)
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
