"""Arrays in files: what the library safetensors writes and reads, whole or not at all, and nothing else."""

import json
import os
import pickle

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from decentral import tensors
from decentral.errors import Refused
from decentral.tensors import TYPES, Tensor, pieces, read_arrays, read_tensors, write_arrays

ARRAYS = {
    "b": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a": np.array([True, False]),
    "scalar": np.array(7, np.int32),
    "empty": np.zeros((0, 4), np.int8),
}


def write(path, arrays):
    path.write_bytes(b"".join(pieces({name: Tensor.of(array) for name, array in arrays.items()})))


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_the_library_reads_what_is_written_here(tmp_path):
    write(tmp_path / "x", ARRAYS)
    same(load_file(tmp_path / "x"), ARRAYS)


def test_what_the_library_writes_is_read_here(tmp_path):
    save_file(ARRAYS, tmp_path / "x", metadata={"made": "elsewhere"})
    same(read_tensors(tmp_path / "x"), ARRAYS)


@pytest.mark.parametrize("code", TYPES)
def test_every_type_comes_back_to_the_bit(tmp_path, code):
    arrays = {"x": np.array([0, 1, 1]).astype(TYPES[code])}
    write(tmp_path / "x", arrays)
    same(read_tensors(tmp_path / "x"), arrays)


def test_half_precision_without_a_numpy_type_comes_back_too(tmp_path):
    write(tmp_path / "x", {"x": np.array([1.5, -2.0], ml_dtypes.bfloat16)})
    assert read_tensors(tmp_path / "x")["x"].astype(float).tolist() == [1.5, -2.0]


def with_header(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
HOSTILE = {
    "nothing": b"",
    "a few bytes": b"\0" * 5,
    "a pickle": pickle.dumps({"weight": [1.0]}, protocol=4),
    "a header longer than the file": with_header({"x": ONE}, b"1234", length=2**40),
    "a header of 100 MB": with_header(b"{" + b" " * 10**8 + b"}"),
    "no JSON": with_header(b"{nonsense"),
    "a list": with_header([1, 2]),
    "a deep list": with_header(b"[" * 100_000),
    "objects": with_header({"x": ONE | {"dtype": "O"}}, b"1234"),
    "an unknown type": with_header({"x": ONE | {"dtype": "F128"}}, b"1234"),
    "a giant shape": with_header({"x": ONE | {"shape": [2**40, 2**40]}}, b"1234"),
    "a shape that overflows": with_header({"x": ONE | {"shape": [2**61, 2**61, 0]}}, b"1234"),
    "a negative shape": with_header({"x": ONE | {"shape": [-1, -1]}}, b"1234"),
    "a shape of text": with_header({"x": ONE | {"shape": "11"}}, b"1234"),
    "no shape": with_header({"x": {"dtype": "F32", "data_offsets": [0, 4]}}, b"1234"),
    "true for a number": with_header({"x": ONE | {"shape": [True]}}, b"1234"),
    "places that overlap": with_header({"x": ONE, "y": ONE}, b"1234"),
    "a hole": with_header({"x": ONE | {"data_offsets": [4, 8]}}, b"12345678"),
    "too few bytes": with_header({"x": ONE}, b"123"),
    "too many bytes": with_header({"x": ONE}, b"12345"),
    "notes that are a list": with_header({"__metadata__": [1]}),
    "a note that is a number": with_header({"__metadata__": {"a": 1}}),
    "too many arrays": with_header({str(n): ONE | {"shape": [0], "data_offsets": [0, 0]} for n in range(20_001)}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_refused(tmp_path, what):
    (tmp_path / "x").write_bytes(HOSTILE[what])
    for read in (read_tensors, read_arrays):
        with pytest.raises(Refused, match=str(tmp_path / "x")) as refused:
            read(tmp_path / "x")
        assert "\n" not in str(refused.value)


def test_a_link_a_pipe_and_a_directory_are_no_files(tmp_path):
    write(tmp_path / "real", ARRAYS)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("link", "pipe", "directory", "missing"):
        with pytest.raises(Refused, match=name):
            read_tensors(tmp_path / name)


def test_what_is_written_is_read_again_with_its_notes_and_its_hash(tmp_path):
    own = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "b": np.asarray(True)}
    sha256 = write_arrays(tmp_path / "x", own, {"note": "ü"})
    stored = read_arrays(tmp_path / "x")
    np.testing.assert_array_equal(stored.arrays["a"], own["a"])
    assert (
        stored.arrays["b"].shape == ()
        and bool(stored.arrays["b"])
        and stored.notes == {"note": "ü"}
        and stored.sha256 == sha256
    )
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_files_that_are_too_large_or_missing_are_refused_before_they_are_read(tmp_path):
    write_arrays(tmp_path / "x", {"a": np.zeros(100, np.float32)})
    with pytest.raises(Refused, match="must have at most 100 bytes, got"):
        read_arrays(tmp_path / "x", most_bytes=100)
    with pytest.raises(Refused, match=r"can't be read \(No such file"):
        read_arrays(tmp_path / "y", 100)


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    write_arrays(tmp_path / "x", {"a": np.zeros(1, np.float32)})

    def fail(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensors.os, "fsync", fail)
    with pytest.raises(Refused, match="No space left on device"):
        write_arrays(tmp_path / "x", {"a": np.ones(1, np.float32)})
    assert read_arrays(tmp_path / "x").arrays["a"].tolist() == [0.0]
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
