"""No text of a file or of somebody else's code gives the terminal orders."""

import ast
import io
import os
import subprocess
from pathlib import Path

import pytest
from rich.table import Table

import decentral
from decentral.cli import main
from decentral.configs.config import resolve
from decentral.errors import in_one_line, printable, shell_words
from decentral.runs.listeners.progress import Bar, Lines, Speed
from decentral.runs.planned import PlannedRun
from decentral.screen import Screen

HOSTILE = "a\x1b]0;owned\x07\x1b[2J[red]b[/red] :smile: \u202ec"
SHOWN = r"a\x1b]0;owned\x07\x1b[2J[red]b[/red] :smile: \u202ec"
OWN = ("terminal.py", "screen.py")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HOSTILE, SHOWN),
        ("plain [bold] ± é 漢 👩", "plain [bold] ± é 漢 👩"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("back\rover \x9b1A \x7f", r"back\rover \x9b1A \x7f"),
        ("\ud800 \u2028", r"\ud800 \u2028"),
    ],
)
def test_control_characters_are_shown_and_all_else_stays(text, shown):
    assert printable(text) == shown == printable(shown)


@pytest.mark.parametrize(
    "word", ["runs/game", "my run", "a\nb", "a  b", " a'\t\\b\n", "é\r1", "\x1b[2J", "\udcff0", ""]
)
def test_a_shell_takes_a_word_that_was_told_in_one_line(word):
    told = in_one_line(f"to resume: {shell_words(['printf', '%s', word])}").removeprefix("to resume: ")
    assert subprocess.run(["bash", "-c", told], capture_output=True, check=True).stdout == os.fsencode(word)
    assert shell_words(["decentral", "resume", "my run"]) == "decentral resume 'my run'"


def test_a_message_of_many_lines_becomes_one_without_orders():
    assert (
        in_one_line("first\r\n\x1b[31msecond\u2028third " + "x" * 600) == rf"first \x1b[31msecond third {'x' * 500}..."
    )


def on_screen(show):
    """What a terminal is sent, without the colours and moves that are no text."""
    out = io.StringIO()
    show(Screen(file=out, force_terminal=True, color_system=None, width=100))
    return out.getvalue()


def table_of(text):
    table = Table(title=text)
    table.add_column(text)
    table.add_row(text)
    return table


@pytest.mark.parametrize(
    "show", [lambda screen: screen.say(HOSTILE), lambda screen: screen.print(table_of(HOSTILE))], ids=["line", "table"]
)
def test_a_screen_shows_text_as_it_is(show):
    printed = on_screen(show)
    assert SHOWN in printed and "\x1b" not in printed and "\x07" not in printed


def test_a_bar_shows_names_as_they_are():
    def show(screen):
        bar = Bar(screen)
        bar.progress.add_task(printable(HOSTILE), total=1, speed="", returns="")
        screen.print(bar.progress.get_renderable())

    assert SHOWN[:30] in on_screen(show)


def test_a_refusal_quotes_what_was_given_without_obeying_it(capsys):
    with pytest.raises(SystemExit):
        main(["train", "iql", f"\x1b[31m{HOSTILE}"])
    with pytest.raises(SystemExit):
        main(["train", "iql", "matrix-game", "--no-such-\x1b[31mflag"])
    printed = capsys.readouterr().err
    assert "\x1b" not in printed and printed.count(r"\x1b[31m") == 2


def calls(file):
    """The names of all functions that a file calls."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call):
            yield node.func.id if isinstance(node.func, ast.Name) else ""


def test_nothing_else_prints():
    sources = [file for file in Path(decentral.__file__).parent.rglob("*.py") if file.name not in OWN]
    assert len(sources) > 200
    assert [str(file) for file in sources if {"print", "Console"} & set(calls(file))] == []


def test_the_speed_leaves_out_the_chunk_that_compiled(monkeypatch):
    """A hundred steps a second, but for ten seconds before the second hundred."""
    clock, speed = iter([5.0, 16.0, 17.0, 19.0]), Speed()
    monkeypatch.setattr("decentral.runs.listeners.progress.time.perf_counter", lambda: next(clock))
    told = []
    for steps in (100, 200, 300, 500):
        speed.reached(steps)
        told.append(speed.words)
    assert told == ["compiling", "compiling", "100 steps/s", "100 steps/s"] and speed.seconds_for(1000) == 10


def test_progress_is_that_of_the_seed_furthest_behind():
    """Seeds whose episodes are longer play more steps in the same turns."""

    def show(screen):
        lines, plan = Lines(screen), {"steps": 20, "seeds": 2}
        lines.started([PlannedRun(resolve("iql", "matrix-game", training_settings=plan), Path("run"))], "")
        lines.tested([[{"step": 30, "test_return_mean": 1.0}, {"step": 10, "test_return_mean": 2.0}]])

    assert "step 10 of 20  return 1.00 2.00" in on_screen(show)
