"""Spoiled run directories through the commands that read them: one line, never a traceback. Many more in the soak."""

import sys
from pathlib import Path

import numpy as np
import pytest

from decentral.analysis.results import load_curves, load_tests
from decentral.bundles.card import write_card
from decentral.bundles.parity import Parity
from decentral.records import RunDirectory
from decentral.settings import Refused
from tests import spoiled_runs
from tests.cli.fuzzing import Reached, outcome
from tests.patching import patch
from tests.spoiled_runs import COMMANDS, RUN, SHARES, copy_of, fault_of, faults_of, nothing_trained, prepare, words_of

# Playing is compiled, which takes long; pages, plots and tables are made.
PLAYING = (
    "decentral.runs.trained._PLAY",
    "decentral.inspection.crossplay._PLAY",
    "decentral.api.watch.film",
    "decentral.bundles.export.record",
)
LOOKING = ("report", "compare", "plot", "verify", "show", "sweep")
WITHOUT_PAGES = ("compare", "verify", "show", "sweep")
SAMPLE = (3, 4, 7, 8, 10, 11, 12)  # of a few ways; many more in the soak


@pytest.fixture(scope="module", name="whole", autouse=True)
def whole_fixture(tmp_path_factory):
    def stop(*_, **__):
        raise Reached

    with pytest.MonkeyPatch.context() as patched, nothing_trained():
        patched.chdir(tmp_path_factory.mktemp("spoiled"))
        for place in PLAYING:
            patch(patched, place, stop)
        prepare()
        yield Path("matrix-game")


@pytest.mark.parametrize(("name", "looking"), [("matrix-game", LOOKING), ("predator-prey", WITHOUT_PAGES)])
def test_a_whole_run_goes_through_every_command(name, looking):
    """Else the others would be refused for a reason that all share."""
    copy_of(name)
    for forms in (own for own in COMMANDS if own[0].split()[0] in looking):
        assert outcome(*words_of(forms[0], name))[0] == 0, forms


def test_no_spoiled_run_breaks_a_command():
    known = set()
    told = [faults_of(seed, known) for seed in SAMPLE]
    assert [found for _, found in told] == [{}] * len(SAMPLE)
    assert {how.split(",")[0] for how, _ in told} == set(SHARES)
    assert len(known) > 5 * len(SAMPLE)


@pytest.mark.parametrize("order", ["\x1b[2J", "\x9b2J", "\r", "\x07", "\x7f", "\u202e", "\u2066", "\u2028"])
@pytest.mark.parametrize("place", ["stdout", "stderr"])
def test_an_order_to_the_terminal_is_a_fault(monkeypatch, place, order):
    said = f"decentral: {order}"
    monkeypatch.setattr(spoiled_runs, "main", lambda _: print(said, file=getattr(sys, place)))
    assert repr(order[0]) in fault_of([])
    said = "a line\n\twith ± and 🦊"
    assert fault_of([]) == ""


@pytest.mark.parametrize(
    ("file", "was", "put", "complaint"),
    [
        ("config.json", '"steps": 20', '"steps": NaN', "NaN is no number of JSON"),
        ("config.json", '"steps": 20', '"steps": "20"', "training.steps must be a number, got '20'"),
        ("config.json", '"steps": 20', '"steps": 20, "steps": 20', "'steps' comes twice"),
        ("config.json", '"dac"', '"\\u001b[31mdac"', "algorithm.name must be a line of text"),
        ("config.json", '"optimal"', '"[/bold]"', "references must be an object of numbers"),
        ("config.json", "8.0", "1e308", "references must be an object of numbers"),
        ("config.json", '"reports": []', '"reports": ["a", "a"]', "reports must be a list of different names"),
        ("versions.json", '"0"', "Infinity", "Infinity is no number of JSON"),
        ("times.jsonl", "2.0", "-Infinity", "seconds must be a number at least 0"),
        ("metrics.jsonl", "0.2", "-1e308", "at line 1 (context_partner_bits must be numbers, got [-1e+308])"),
        ("metrics.jsonl", "6.0", "9" * 400, "too large for a number"),
        ("metrics.jsonl", '"seed": 1', '"seed": Infinity', "at line 2 (seed must be a whole number at least 0"),
        ("metrics.jsonl", "0.2", '"0.2"', "context_partner_bits must be numbers, got ['0.2']"),
    ],
)
def test_what_makes_no_sense_is_one_line_that_names_it(whole, file, was, put, complaint):
    _put(copy_of(whole) / file, was, put)
    commands = [["report", RUN]]
    if file in ("config.json", "metrics.jsonl"):
        commands += [["compare", "--runs", RUN], ["plot", RUN], ["plot", RUN, "--diagnostics"]]
    for words in commands:
        code, _, err = outcome(*words)
        assert code == 2 and complaint in err and err.count("\n") == 1, (words, err)


@pytest.mark.parametrize(("file", "was", "put"), [("metrics.jsonl", "6.0", "7.0"), ("config.json", "8.0", "9.0")])
def test_a_finished_run_that_says_something_else_is_refused(whole, file, was, put):
    _put(copy_of(whole) / file, was, put)
    for words in (["compare", "--runs", RUN], ["plot", RUN], ["export-results", RUN], ["report", RUN]):
        code, _, err = outcome(*words)
        assert code == 2 and f"{file} is broken: its SHA-256 is not the one" in err and err.count("\n") == 1, (
            words,
            err,
        )


def _put(file, was, put):
    text = file.read_text()
    assert was in text
    file.write_text(text.replace(was, put))


def test_a_name_is_drawn_letter_by_letter(whole):
    """A dollar begins no formula, and a letter that no font has is no reason to warn."""
    run = copy_of(whole)
    _put(run / "config.json", '"dac"', PRETTY)
    (run / "finished.json").unlink()
    assert outcome("plot", RUN, "--out", "pretty.svg") == (0, "written to pretty.svg\n", "")
    assert "$" in Path("pretty.svg").read_text()


@pytest.mark.parametrize("packages", [{"jax": "\ud800"}, "jax", None, {"jax": ["0"]}])
def test_a_card_can_be_written_whatever_versions_are_told(whole, packages):
    spec = {"algorithm": "dac", "agent": "row", "origin": {"seed": 1, "agent": 0}, "parameters": {"sha256": "0"}}
    spec |= {"observation": {"size": 1, "entries": []}, "output": {"first": 0, "count": 1, "names": ["a1"]}}
    directory, one = RunDirectory(whole), np.ones(1)
    curves, tests = load_curves(directory), load_tests(directory)
    card = write_card(spec, curves, tests, one, Parity(1, 0.0), {"packages": packages})
    assert "# dac on matrix-game" in card.encode().decode()
    tests.seeds.remove(1)
    with pytest.raises(Refused, match="must have records of seed 1"):
        write_card(spec, curves, tests, one, Parity(1, 0.0), {})


PRETTY = '"$\\\\frac{ $ 🦊"'
