"""Arrays in safetensors files: nothing but numbers, checked before any of them is read. No JAX is imported here.

The format: 8 bytes with the header's length, a JSON header of types, shapes and places, then the bytes of all arrays.
The library of that name is not used because arrays that fill the memory, bfloat16 among them, must be written one by
one, and because a bad header must be refused before memory is allocated for the file.
"""

import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from decentral.errors import Refused
from decentral.plain_files import open_plain, parse_json, read_plain

MOST_BYTES = 2**36  # of a file, unless its reader allows less: a stored agent holds its replay
MOST_HEADER = 2**23  # bytes
MOST_TENSORS = 20_000
PLAIN_TYPES: dict[str, np.dtype] = {
    "BOOL": np.dtype(np.bool_),
    "I8": np.dtype(np.int8),
    "I16": np.dtype(np.int16),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "U8": np.dtype(np.uint8),
    "U16": np.dtype(np.uint16),
    "U32": np.dtype(np.uint32),
    "F16": np.dtype(np.float16),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}
try:
    import ml_dtypes
except ImportError:  # a device with NumPy only: bfloat16 is used in replays, not for acting
    TYPES = PLAIN_TYPES
else:
    TYPES = PLAIN_TYPES | {"BF16": np.dtype(ml_dtypes.bfloat16)}
CODES = {kind: code for code, kind in TYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """An array to be written: its type, its shape, and a function that fetches it when it is written."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fetch: Callable[[], np.ndarray]

    @staticmethod
    def of(array: np.ndarray) -> "Tensor":
        """A tensor of an array in memory."""
        return Tensor(array.dtype, array.shape, lambda: array)

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Stored:
    """What a file holds, and its hash."""

    arrays: dict[str, np.ndarray]
    notes: dict[str, str]
    sha256: str


def pieces(tensors: Mapping[str, Tensor], notes: dict[str, str] | None = None) -> Iterator[bytes | memoryview]:
    """The bytes of a file that holds these arrays, in order of their names."""
    header: dict[str, Any] = {} if notes is None else {"__metadata__": notes}
    named, end = sorted(tensors.items()), 0
    for name, tensor in named:
        begin, end = end, end + tensor.bytes
        header[name] = {"dtype": CODES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for _, tensor in named:
        array = np.ascontiguousarray(tensor.fetch())
        yield array.reshape(-1).view(np.uint8).data


def write_arrays(file: Path, arrays: dict[str, np.ndarray], notes: dict[str, str] | None = None) -> str:
    """Write a file atomically, and return its hash."""
    digest, whole = hashlib.sha256(), file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with whole.open("wb") as stream:
            for piece in pieces({name: Tensor.of(np.asarray(array)) for name, array in arrays.items()}, notes):
                digest.update(piece)
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        whole.replace(file)
    except OSError as error:
        raise Refused(f"{file} can't be written ({error.strerror})") from None
    finally:
        whole.unlink(missing_ok=True)
    return digest.hexdigest()


def read_arrays(file: Path, most_bytes: int = MOST_BYTES, follow: bool = False) -> Stored:
    """The arrays, notes and hash of a plain file of at most `most_bytes`; `follow`: it may be a link to one."""
    content = read_plain(file, most_bytes, follow)
    stream = io.BytesIO(content)
    places, notes = _header(stream, len(content), file)
    arrays = {name: _array(stream, place) for name, place in places.items()}
    return Stored(arrays, notes, hashlib.sha256(content).hexdigest())


def read_tensors(file: Path) -> dict[str, np.ndarray]:
    """All arrays of a plain file, one after the other."""
    with open_plain(file) as stream:
        places, _ = _header(stream, os.fstat(stream.fileno()).st_size, file)
        return {name: _array(stream, place) for name, place in places.items()}


@dataclass(frozen=True)
class _TensorPlace:
    """The place of an array in a file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int  # from the start of the file

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def _array(stream: BinaryIO, place: _TensorPlace) -> np.ndarray:
    stream.seek(place.begin)
    array = np.empty(place.shape, place.dtype)
    stream.readinto(array.reshape(-1).view(np.uint8).data)  # type: ignore[attr-defined]
    return array


def _header(stream: BinaryIO, size: int, file: Path) -> tuple[dict[str, _TensorPlace], dict[str, str]]:
    """The arrays' places in a file, and its notes. A header that makes no sense or does not fit is refused."""
    length = int.from_bytes(stream.read(8), "little")
    if size < 8 or not 2 <= length <= min(MOST_HEADER, size - 8):
        raise Refused(f"{file} is no safetensors file: its header can't be {length} bytes long")
    try:
        header = parse_json(stream.read(length))
        notes = header.pop("__metadata__", {})
        if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
            raise ValueError("notes that are no texts")
        if len(header) > MOST_TENSORS:
            raise ValueError(f"more than {MOST_TENSORS} arrays")
        places = {name: _place(entry, 8 + length) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{file} is no safetensors file: its header makes no sense ({error!s:.80})") from None
    end = 8 + length
    for place in sorted(places.values(), key=lambda place: (place.begin, place.bytes)):
        if place.begin != end:
            raise Refused(f"{file} is no safetensors file: its arrays do not lie side by side")
        end += place.bytes
    if end != size:
        raise Refused(f"{file} is broken: its arrays take {end} bytes, it has {size}")
    return places, notes


def _place(entry: dict[str, Any], start: int) -> _TensorPlace:
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    sizes = [*shape, begin, end]
    if not isinstance(shape, list) or len(shape) > 32 or not all(type(n) is int and 0 <= n < 2**62 for n in sizes):
        raise ValueError("a shape or place that is none")
    place = _TensorPlace(TYPES[entry["dtype"]], tuple(shape), start + begin)
    if place.bytes != end - begin:
        raise ValueError("a shape that does not fit its bytes")
    return place
