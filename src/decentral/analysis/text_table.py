"""A table of words and numbers: the same cells in a terminal, in a notebook, and in LaTeX for a paper."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from decentral.errors import printable

SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}
MINUS = re.compile(r"(?<![\w.)])-(?=\d)")  # that is a number's sign, and no hyphen


@dataclass(frozen=True)
class TextTable:
    """Cells by row; the first `texts` columns are words, the others numbers. A cell without a number is `-`."""

    caption: str
    headings: list[str]
    rows: list[list[str]]
    texts: int = 1
    note: str = ""  # a line below

    def latex(self) -> str:
        """A tabular with the rules of the package booktabs, between comments that say what it is."""
        columns = "l" * self.texts + "r" * (len(self.headings) - self.texts)
        lines = [
            f"% {_in_one_line(self.caption)}; needs \\usepackage{{booktabs}}",
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            self._line(self.headings, len(self.headings)),
            "\\midrule",
            *(self._line(row, self.texts) for row in self.rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        return "\n".join([*lines, *([f"% {_in_one_line(self.note)}"] if self.note else []), ""])

    @staticmethod
    def _line(cells: Sequence[str], texts: int) -> str:
        words = [_escaped(cell) for cell in cells[:texts]]
        numbers = [MINUS.sub(r"$-$", _escaped(cell)) if cell != "-" else "--" for cell in cells[texts:]]
        return f"{' & '.join([*words, *numbers])} \\\\"


def _escaped(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(SPECIAL.get(sign, sign) for sign in _in_one_line(text))


def _in_one_line(text: str) -> str:
    return " ".join(printable(text).split())
