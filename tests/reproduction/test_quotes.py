"""Readings quote the paper at the line that they name; checked where the paper's source lies beside the repository."""

import re
from pathlib import Path

import pytest

from decentral.reproduction.readings import READINGS

PAPER = Path(__file__).parents[3] / "shared" / "paper.tex"


def plain(line):
    """A line of LaTeX without citations, commands, dollars, and the braces of groups."""
    line = re.sub(r"~?\\cite\{[^}]*\}", "", line)
    line = re.sub(r"\\(mathcal|boldsymbol|operatorname|emph)\b", "", line).replace(r"\in", " in ")
    kept = line.replace(r"\{", "<").replace(r"\}", ">").translate(str.maketrans("", "", "\\${}"))
    return " ".join(kept.translate(str.maketrans("<>", "{}")).split())


def test_commands_are_left_out_and_braces_of_sets_are_not():
    assert plain(r"each agent $i$ takes $a_{t}^{i}$~\cite{son2019qtran}") == "each agent i takes a_t^i"
    assert plain(r"$k \in \{5,10\}$, $c\in\mathcal{C}$ and $\beta$=0.1") == "k in {5,10}, c in C and beta=0.1"


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper's source is no part of the repository")
@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_a_quote_stands_in_the_line_that_is_named(reading):
    assert reading.quote in plain(PAPER.read_text().splitlines()[reading.line - 1])
