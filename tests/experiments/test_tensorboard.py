import sys
import types
from pathlib import Path

import pytest

from decentral.experiments.runner import Planned
from decentral.experiments.tensorboard import TensorBoard
from decentral.settings import Refused


class Writer:
    """Takes note of what is written where."""

    written: list = []  # noqa: RUF012

    def __init__(self, place):
        self.place = Path(place).name

    def add_scalar(self, tag, value, step):
        self.written.append((self.place, tag, value, step))

    def flush(self):
        pass

    def close(self):
        self.written.append((self.place, "closed", 0.0, 0))


def test_every_number_of_a_record_becomes_a_scalar_of_its_seed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "tensorboard.summary", types.SimpleNamespace(Writer=Writer))
    board = TensorBoard()
    board.started([Planned(None, tmp_path)], "")
    board.tested([[{"seed": 3, "step": 20, "test_return_mean": 6.0, "loss": [0.5, None, 0.25]}]])
    board.closed()
    assert Writer.written == [
        ("seed-3", "test_return_mean", 6.0, 20),
        ("seed-3", "loss/agent-0", 0.5, 20),
        ("seed-3", "loss/agent-2", 0.25, 20),
        ("seed-3", "closed", 0.0, 0),
    ]


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setitem(sys.modules, "tensorboard.summary", None)
    with pytest.raises(Refused, match=r"pip install 'decentral\[tensorboard\]'"):
        TensorBoard()
