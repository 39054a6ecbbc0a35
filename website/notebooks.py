"""Notebooks: run without Jupyter, and shown as pages of the site.

`python website/notebooks.py FILE...` runs them and stores what their cells print and draw.
"""

import ast
import base64
import contextlib
import io
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Output = dict[str, Any]


def run_notebook(notebook: Notebook) -> dict[str, Any]:
    """Run all cells in one namespace, as `__main__`, and put what they print and draw into the notebook.

    Returns what they have defined.
    """
    own, before = types.ModuleType("__main__"), sys.modules["__main__"]
    sys.modules["__main__"] = own
    try:
        for number, cell in enumerate(code_cells(notebook), start=1):
            cell["outputs"] = _run(source(cell), own.__dict__)
            cell["execution_count"] = number
    finally:
        sys.modules["__main__"] = before
    return own.__dict__


def page_of(notebook: Notebook, name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and the pictures that it shows, by file name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(source(cell))
            continue
        parts.append(f"```python\n{source(cell)}\n```")
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(output["data"]["image/png"])
                parts.append(f"![{output['metadata'].get('alt', 'figure')}]({file})")
            else:
                parts.append(f"```text\n{_text(output).rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


def code_cells(notebook: Notebook) -> Iterator[dict[str, Any]]:
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _run(code: str, namespace: dict[str, Any]) -> list[Output]:
    """Run one cell: what it prints, what its last expression comes to, and its figures."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    *body, last = ast.parse(code).body
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(
            compile(ast.Module([*body, *([] if isinstance(last, ast.Expr) else [last])], []), "cell", "exec"), namespace
        )
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        text = repr(value).splitlines(keepends=True)
        outputs.append(
            {"output_type": "execute_result", "data": {"text/plain": text}, "metadata": {}, "execution_count": None}
        )
    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(drawn, format="png", dpi=100)
        picture = base64.b64encode(drawn.getvalue()).decode()
        alt = plt.figure(number).get_suptitle() or "figure"
        outputs.append({"output_type": "display_data", "data": {"image/png": picture}, "metadata": {"alt": alt}})
    plt.close("all")
    return outputs


def _text(output: Output) -> str:
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        content = json.loads(file.read_text())
        run_notebook(content)
        file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
