"""What docs/deployment.md shows can be run."""

from pathlib import Path

from tests.pages import DOCS, blocks
from tests.runtime.by_hand import write


def test_the_examples_of_the_page_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bundle").mkdir()
    write(Path("bundle"))
    learning, running = blocks(DOCS / "deployment.md", "python")
    found: dict = {}
    exec(learning, found)
    assert found["told"]["loss"] >= 0 and found["agent"].episodes == 3
    exec(running, found)
    assert found["action"] in (0, 1) and found["state"].last_action == found["action"]
