"""Arrays in files of the safetensors format: numbers and nothing else, checked before any of them is read.

The format: 8 bytes with the header's length, a JSON header of types, shapes and places, then the bytes of all arrays.
Written here and not by the library of that name because arrays that fill the memory must be written one after the
other, bfloat16 among them, and because a file must be refused by its header before memory is given to it.
"""

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import ml_dtypes
import numpy as np

from decentral.errors import Refused
from decentral.plain_files import open_plain, parse_json

MOST_HEADER = 2**23  # bytes
MOST_TENSORS = 20_000
TYPES: dict[str, np.dtype] = {
    "BOOL": np.dtype(np.bool_),
    "I8": np.dtype(np.int8),
    "I16": np.dtype(np.int16),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "U8": np.dtype(np.uint8),
    "U16": np.dtype(np.uint16),
    "U32": np.dtype(np.uint32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}
CODES = {kind: code for code, kind in TYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """An array to be written: its type and shape, and how to get at its numbers when their turn comes."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fetch: Callable[[], np.ndarray]

    @staticmethod
    def of(array: np.ndarray) -> "Tensor":
        """An array that is there already."""
        return Tensor(array.dtype, array.shape, lambda: array)

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Place:
    """Where an array lies in a file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int  # from the start of the file

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def pieces(tensors: Mapping[str, Tensor]) -> Iterator[bytes | memoryview]:
    """The bytes of a file that holds these arrays, in order of their names."""
    named, header, end = sorted(tensors.items()), {}, 0
    for name, tensor in named:
        begin, end = end, end + tensor.bytes
        header[name] = {"dtype": CODES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for _, tensor in named:
        array = np.ascontiguousarray(tensor.fetch())
        yield array.reshape(-1).view(np.uint8).data


def read_places(path: Path) -> dict[str, Place]:
    """What a file holds and where. One whose header makes no sense, or does not fit the file, is refused."""
    with open_plain(path) as file:
        return _places(file, path)


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file."""
    with open_plain(path) as file:
        return {name: _array(file, place) for name, place in _places(file, path).items()}


def _array(file: BinaryIO, place: Place) -> np.ndarray:
    file.seek(place.begin)
    array = np.empty(place.shape, place.dtype)
    file.readinto(array.reshape(-1).view(np.uint8).data)  # type: ignore[attr-defined]
    return array


def _places(file: BinaryIO, path: Path) -> dict[str, Place]:
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or not 2 <= length <= min(MOST_HEADER, size - 8):
        raise Refused(f"{path} is no safetensors file: its header can't be {length} bytes long")
    try:
        header = parse_json(file.read(length))
        header.pop("__metadata__", None)
        if len(header) > MOST_TENSORS:
            raise ValueError(f"more than {MOST_TENSORS} arrays")
        places = {name: _place(entry, 8 + length) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{path} is no safetensors file: its header makes no sense ({error!s:.80})") from None
    end = 8 + length
    for place in sorted(places.values(), key=lambda place: (place.begin, place.bytes)):
        if place.begin != end:
            raise Refused(f"{path} is no safetensors file: its arrays do not lie side by side")
        end += place.bytes
    if end != size:
        raise Refused(f"{path} is broken: its arrays take {end} bytes, it has {size}")
    return places


def _place(entry: dict[str, Any], start: int) -> Place:
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    numbers = [*shape, begin, end]
    if not isinstance(shape, list) or len(shape) > 32 or not all(type(n) is int and 0 <= n < 2**62 for n in numbers):
        raise ValueError("a shape or place that is none")
    place = Place(TYPES[entry["dtype"]], tuple(shape), start + begin)
    if place.bytes != end - begin:
        raise ValueError("a shape that does not fit its bytes")
    return place
