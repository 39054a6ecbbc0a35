"""What a page of the documentation shows, and running it as it stands."""

import re
import shlex
from pathlib import Path

from decentral.cli import main

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"Save it as\s+`(?P<file>[\w.]+)`:\s*$")


def blocks(page, *languages):
    """The blocks of a page that are marked as of these languages, in order."""
    return [block["content"] for block in BLOCK.finditer(page.read_text()) if block["language"] in languages]


def run_page(page):
    """Do in the working directory what a page shows, block by block; what its Python has defined by the end.

    What the page says to save is saved, other Python is run, and so are the command lines of this program.
    """
    text, found = page.read_text(), {"__name__": page.stem}
    for block in BLOCK.finditer(text):
        content = block["content"]
        if saved := SAVED.search(text[: block.start()]):
            Path(saved["file"]).write_text(content)
        elif block["language"] == "python":
            exec(content, found)
        else:
            for line in content.splitlines():
                assert line.startswith("decentral "), line
                main(shlex.split(line)[1:])
    return found
