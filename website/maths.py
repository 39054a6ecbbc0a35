"""Formulas: LaTeX between dollar signs, as MathML, which browsers draw by themselves; nothing has to be fetched."""

import re

from latex2mathml.converter import convert

CODE_OR_FORMULA = re.compile(r"(```.*?```|`[^`\n]*`)|\$\$(.+?)\$\$|\$([^$\s](?:[^$\n]*[^$\s])?)\$(?!\d)", re.DOTALL)


def with_formulas(markdown: str) -> str:
    """A page whose formulas are drawn. What stands in code is left alone."""

    def drawn(found: re.Match[str]) -> str:
        code, block, inline = found.groups()
        if code:
            return code
        if block:
            return convert(block, display="block")
        return f"<span>{convert(inline)}</span>"  # a line that begins with <math> would become a paragraph of its own

    return CODE_OR_FORMULA.sub(drawn, markdown)
