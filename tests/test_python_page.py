"""What docs/python.md shows can be run."""

from pathlib import Path

import decentral
from tests.pages import DOCS, blocks
from tests.small_runs import QUICK, SMALL, small_run


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    """With small networks and frequent tests, as everything else stands there."""
    monkeypatch.chdir(tmp_path)
    train, cheap = decentral.train, {"algorithm": SMALL, "training": QUICK, "progress": False}
    monkeypatch.setattr(decentral, "train", lambda *names, **settings: train(*names, **settings | cheap))
    Path("runs").mkdir()
    Path("runs/game").symlink_to(small_run().path)
    found: dict = {}
    for block in blocks(DOCS / "python.md", "python"):
        exec(block, found)
    assert found["played"].q_values.shape == (8, 2, 2, 3)
    assert len(found["columns"]["hidden_0"]) == 8 * 2
    stopped = decentral.load("runs/short").metrics[-1]["step"]
    assert f"callback Watchdog in on_test at step {stopped}: RuntimeError: good enough" in capsys.readouterr().out
    assert stopped < 2000
