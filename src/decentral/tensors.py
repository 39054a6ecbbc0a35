"""Arrays in a file (safetensors): written at once, read with care. Reading runs nothing; no JAX is imported here."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from decentral.errors import Refused
from decentral.plain_files import parse_json, read_plain

MOST_BYTES = 2**36  # of a file, unless its reader allows less: the replay of a stored agent is in it
MOST_HEADER = 2**20  # bytes that names, shapes and notes may take
TYPES = {"BOOL", "I8", "U8", "I16", "U16", "I32", "U32", "F16", "F32"}


@dataclass(frozen=True)
class Stored:
    """What a file holds, and its hash."""

    arrays: dict[str, np.ndarray]
    notes: dict[str, str]
    sha256: str


def write_arrays(file: Path, arrays: dict[str, np.ndarray], notes: dict[str, str] | None = None) -> str:
    """Write a file as a whole or not at all, and tell its hash."""
    content = save({name: np.asarray(array, order="C") for name, array in arrays.items()}, notes)
    whole = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with whole.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        whole.replace(file)
    except OSError as error:
        raise Refused(f"{file} can't be written ({error.strerror})") from None
    finally:
        whole.unlink(missing_ok=True)
    return hashlib.sha256(content).hexdigest()


def read_arrays(file: Path, most_bytes: int = MOST_BYTES, follow: bool = False) -> Stored:
    """Read a plain file, or `follow` a link to it: no larger than allowed, with a small header and plain types only."""
    content = read_plain(file, most_bytes, follow)
    notes = _check_header(content, file)
    try:
        arrays = load(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise Refused(f"{file} can't be read as safetensors ({str(error).splitlines()[0]})") from None
    return Stored(arrays, notes, hashlib.sha256(content).hexdigest())


def _check_header(content: bytes, file: Path) -> dict[str, str]:
    """Refuse a header that is too long, broken or names other types; the notes in it."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 2 <= length <= min(MOST_HEADER, len(content) - 8):
        raise Refused(f"{file} can't be read as safetensors (its header must have 2 to {MOST_HEADER} bytes)")
    try:
        header = parse_json(content[8 : 8 + length])
        notes = header.pop("__metadata__", {})
        found = {str(entry["dtype"]) for entry in header.values()}
        sound = isinstance(notes, dict) and all(isinstance(note, str) for note in notes.values())
    except (ValueError, AttributeError, KeyError, TypeError):
        sound, found, notes = False, set(), {}
    if not sound:
        raise Refused(f"{file} can't be read as safetensors (its header is broken)")
    for other in sorted(found - TYPES):
        raise Refused(f"{file}: arrays must be of the types {', '.join(sorted(TYPES))}, got {other:.20}")
    return notes
