"""Where a result comes from."""

import subprocess

from decentral.runs.provenance import provenance
from decentral.source import PACKAGE, source_tree


def git(place, *words):
    return subprocess.run(["git", "-C", place, *words], capture_output=True, text=True, check=True).stdout.strip()


def test_the_source_is_told_by_the_hash_that_git_gives_it(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").write_text("one = 1\n")
    (tmp_path / "room.py").write_text("")  # sorts before the directory: "." comes before "/"
    (tmp_path / "script.sh").write_text("exit\n")
    (tmp_path / "script.sh").chmod(0o755)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    told = git(tmp_path, "write-tree")
    (tmp_path / ".git").rename(tmp_path.with_suffix(".git"))
    assert source_tree(tmp_path) == told
    (tmp_path / "room" / "__pycache__").mkdir()
    (tmp_path / "room" / "__pycache__" / "one.pyc").write_bytes(b"1")
    (tmp_path / "empty").mkdir()
    assert source_tree(tmp_path) == told  # what Python adds does not count, and git has no empty directories
    (tmp_path / "room" / "one.py").write_text("one = 2\n")
    assert source_tree(tmp_path) != told


def test_a_run_tells_the_hash_of_this_package(monkeypatch):
    made = provenance()
    assert made["source"] == source_tree(PACKAGE) and len(made["source"]) == 40
    assert source_tree(PACKAGE / "nowhere") is None
