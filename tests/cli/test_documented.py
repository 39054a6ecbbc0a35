"""Every command line that README and docs print is one that the program understands."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.fuzzing import (
    no_work_fixture,  # noqa: F401
    outcome,
    untrained_run,
)
from tests.pages import blocks

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# To be replaced by the reader; an extra; a file that an earlier command left; or code that a page shows and its own
# test runs.
LATER = re.compile(
    r"[A-Z]{3,}|my\.world|my_package|python:|pettingzoo:spread|pettingzoo:envs|\.\.\.|\$|<|smac/|--track|frozen:"
    r"|lbforaging|foraging_penalty|rware|gymnasium:worlds|jaxmarl:(coin|small|storm)"
    r"|--redraw runs|--collect runs|--against runs|trust (runs|--remove)|pettingzoo:yard"
)
pytestmark = pytest.mark.usefixtures("no_work")


def commands():
    """The lines of blocks of code that call the program, without comments."""
    for page in PAGES:
        for block in blocks(page, "", "bash", "sh", "text"):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("decentral ") and not LATER.search(line.split("#")[0]):
                    yield pytest.param(
                        line.split("  #")[0].split(" # ")[0].strip(), id=f"{page.stem}: {line.strip()[:60]}"
                    )


@pytest.fixture(scope="module")
def shown_files(no_work):
    """The files that pages show, each under the name that its first line gives."""
    for page in PAGES:
        for block in blocks(page, "toml"):
            if named := re.match(r"# (\w+\.toml)$", block.splitlines()[0]):
                Path(named[1]).write_text(block)


@pytest.mark.parametrize("line", list(commands()))
@pytest.mark.usefixtures("shown_files")
def test_a_printed_command_is_understood(line):
    words = shlex.split(line)[1:]
    if not Path("results").exists():
        Path("results").symlink_to(ROOT / "results")
    for number, word in enumerate(words):
        of_an_earlier_command = word.startswith("runs/") and words[number - 1] != "--out"
        run = Path(*Path(word).parts[:2])
        if of_an_earlier_command and not run.exists():
            untrained_run(run)
    code, _, err = outcome(*words)
    assert code == 0, err
