"""Pages of the documentation that are made: the front page from the README, the reference from code, notebooks.

A hook of mkdocs, called by `make docs`. Figures under `results/`, one table there and files beside `docs/` are brought
into the site.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
ROOT_PAGES = {"index.md": "README.md"} | {
    f"{name}.md": f"{name}.md" for name in ("ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG")
}
TABLE = "results/reproduction/readings.md"
sys.path.insert(0, str(ROOT / "website"))

from maths import with_formulas  # noqa: E402
from notebooks import page_of  # noqa: E402
from reference import commands_page, python_page, settings_page  # noqa: E402


def on_files(files: Files, config: Any) -> Files:
    """Add what does not lie in `docs/`."""
    made: dict[str, str | bytes] = {
        "reference/commands.md": commands_page(),
        "reference/settings.md": settings_page(),
        "reference/python.md": python_page(),
    }
    made |= {name: from_the_root(file) for name, file in (ROOT_PAGES | {TABLE: TABLE}).items()}
    for notebook in sorted((ROOT / "docs" / "tutorials").glob("*.ipynb")):
        page, pictures = page_of(json.loads(notebook.read_text()), notebook.stem)
        made |= {f"tutorials/{name}": content for name, content in {f"{notebook.stem}.md": page, **pictures}.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for figure in sorted((ROOT / "results").rglob("*.png")):
        name = str(figure.relative_to(ROOT))
        files.append(File.generated(config, name, abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Formulas are drawn, figures under `results/` lie beside the pages in the site, and notebooks are pages there."""
    moved = re.sub(r"\]\(((?:\.\./)*)\.\./results/reproduction/", r"](\1results/reproduction/", markdown)
    return with_formulas(moved.replace(".ipynb)", ".md)"))


def from_the_root(file: str) -> str:
    """A file of the repository's root as a page of the site: what it calls docs/ is here."""
    return re.sub(r"\]\(docs/", "](", (ROOT / file).read_text())
