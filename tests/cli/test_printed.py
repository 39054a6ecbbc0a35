"""The commands of the README and of the first steps, run one after another as they are printed, but for fewer steps."""

import re
import shlex
from pathlib import Path

import pytest

from decentral.cli import main
from tests.pages import blocks

ROOT = Path(__file__).parents[2]
FEWER = {  # what would take hours, by command
    "train": ["--steps", "400"],
    "compare": ["--steps", "400"],
    "sweep": ["--steps", "400"],
    "bench": ["--turns", "1", "--repeats", "1"],
}
TO_BE_REPLACED = re.compile(r"\b[A-Z]{3,}\b")  # by the reader
WORLD = "from tests.environments.zoo import Trio as parallel_env\n"


def printed(page):
    """The command lines of a page, in order, without comments."""
    lines = [line.split(" #")[0].strip() for block in blocks(page, "") for line in block.splitlines()]
    return [line for line in lines if line.startswith("decentral ") and not TO_BE_REPLACED.search(line)]


def ended(words):
    try:
        main(words)
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.mark.long
@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "first_steps.md"], ids=lambda page: page.stem)
def test_every_command_runs_as_it_is_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "world.py").write_text(WORLD)
    for line in printed(page):
        words = shlex.split(line)[1:]
        fewer = FEWER.get(words[0], [])
        assert ended([*words, *([] if {*fewer} & {*words} or "--help" in words else fewer)]) == 0, line


def test_the_pages_print_commands():
    assert len(printed(ROOT / "README.md")) >= 10 and len(printed(ROOT / "docs" / "first_steps.md")) >= 25
