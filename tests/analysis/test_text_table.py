"""Tables as LaTeX prints them."""

from decentral.analysis.text_table import TextTable


def test_a_table_is_a_tabular_between_comments():
    table = TextTable(
        "returns, over seeds", ["run", "mean", "95 % interval"], [["a", "-3.11", "-"]], note="known: -1.00"
    )
    assert table.latex().splitlines() == [
        "% returns, over seeds; needs \\usepackage{booktabs}",
        "\\begin{tabular}{lrr}",
        "\\toprule",
        "run & mean & 95 \\% interval \\\\",
        "\\midrule",
        "a & $-$3.11 & -- \\\\",
        "\\bottomrule",
        "\\end{tabular}",
        "% known: -1.00",
    ]


def test_no_sign_of_a_name_means_anything_to_latex():
    row = ["a_b & {c} 5% $d$ #1 ~ ^ \\input", "-1.00 to -0.50", "2.00 ± 1.00"]
    (line,) = [line for line in TextTable("", ["", "", ""], [row]).latex().splitlines() if line.startswith("a")]
    name, interval, spread = line.removesuffix(" \\\\").split(" & ")[-3:]
    assert line.startswith("a\\_b \\& \\{c\\} 5\\% \\$d\\$ \\#1 ")
    assert name.endswith("\\textasciitilde{} \\textasciicircum{} \\textbackslash{}input")
    assert (interval, spread) == ("$-$1.00 to $-$0.50", "2.00 $\\pm$ 1.00")


def test_a_comment_stays_one():
    table = TextTable("over\nseeds", [""], [], note="known\r\\input{x}")
    lines = table.latex().splitlines()
    assert lines[0].startswith("% over") and lines[-1].startswith("% known") and len(lines) == 8
