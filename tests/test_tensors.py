"""Files of arrays: whole or not at all, and read with care."""

import json

import numpy as np
import pytest

from decentral import tensors
from decentral.errors import Refused
from decentral.tensors import read_arrays, write_arrays


def raw(header, body=b""):
    """A file with this header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


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


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"", "its header must have 2 to"),
        ((2**40).to_bytes(8, "little") + b"{}", "its header must have 2 to"),
        (raw(b"[1]"), "its header is broken"),
        (raw(b"{" * 5), "its header is broken"),
        (raw({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, b"\0" * 8), "of the types .*, got F64"),
        (raw({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, b"\0" * 4), "can't be read as safetensors"),
        (raw({"__metadata__": [1]}), "its header is broken"),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, content, refusal):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(Refused, match=refusal) as refused:
        read_arrays(tmp_path / "x")
    assert "\n" not in str(refused.value)


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
