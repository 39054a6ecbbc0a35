"""Pieces that are chosen, shared among processes, stopped in time and brought together; nothing is trained."""

import fcntl
import json
import re
import time
from pathlib import Path

import pytest

from decentral.errors import Interrupted
from decentral.reproduction import reproduce as reproducing
from decentral.reproduction import targets
from decentral.reproduction.collecting import collect, standings_in
from decentral.reproduction.record import Record
from decentral.reproduction.reproduce import reproduce
from decentral.reproduction.target import Piece, Scale, Target, Workplace
from decentral.reproduction.worklist import left_in_words, standings_table
from decentral.settings import Refused

FULL = Scale.of("full")
ROOT = Path(__file__).parents[2]
ADDED_UP = "A piece takes longer beside others than alone."


class Growing(Target):
    """Three pieces: a number, another, and their sum."""

    title, claims, grows = "Numbers", (), True

    def __init__(self, number=1):
        self.number, self.made = number, []

    def pieces(self, scale):
        def made(name, value):
            self.made.append(name)
            return {"value": value}

        def total(workplace):
            return made("sum", sum(workplace.results[name].result["value"] for name in ("one", "two")))

        return [
            Piece("sum", {}, total, needs=("one", "two"), minutes=10.0),
            Piece("one", {"number": self.number}, lambda workplace: made("one", self.number), minutes=2.0),
            Piece("two", {}, lambda workplace: made("two", 2), minutes=4.0),
        ]

    def draw(self, results):
        from matplotlib.figure import Figure

        return Figure()

    def tabulate(self, results):
        return ", ".join(results)

    def findings(self, results):
        return {}


@pytest.fixture
def target(monkeypatch):
    growing = Growing()
    monkeypatch.setitem(targets.TARGETS, "numbers", growing)
    monkeypatch.setattr(reproducing, "use_every_core", lambda: None)
    return growing


def run(out, only=(), deadline=float("inf")):
    told = []
    reproduce("numbers", FULL, Workplace(out, list, told.append, deadline), only)
    return told


def stored(file):
    return {name: own["result"] for name, own in json.loads(file.read_text())["pieces"].items()}


def test_it_says_first_what_it_expects_to_take(target, tmp_path):
    assert run(tmp_path, ["one", "two"])[0] == (
        "numbers: 0 of 2 pieces are done. The other 2: some 6 minutes added up, "
        f"a rough guess for one H200 and full scale. {ADDED_UP}"
    )


def test_a_piece_waits_for_those_it_rests_on_and_is_given_their_results(target, tmp_path):
    run(tmp_path)
    assert target.made == ["one", "two", "sum"]
    assert stored(tmp_path / "numbers.json")["sum"] == {"value": 3}


def test_a_pattern_chooses_and_what_is_done_is_written_though_pieces_are_missing(target, tmp_path):
    assert run(tmp_path, ["t*"])[-1] == "1 of 3 pieces are done, left: sum, one"
    assert stored(tmp_path / "numbers.json") == {"two": {"value": 2}}
    with pytest.raises(Refused, match="only must name one too, which sum rests on, or out must hold it"):
        run(tmp_path, ["sum"])
    run(tmp_path, ["sum", "one"])
    assert target.made == ["two", "one", "sum"]


def test_a_piece_that_another_process_has_is_left_to_it_and_so_is_what_rests_on_it(target, tmp_path):
    (tmp_path / "pieces").mkdir()
    with open(tmp_path / "pieces" / "one.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(tmp_path)[-1] == "1 of 3 pieces are done, left: sum, one"
    run(tmp_path)
    assert target.made == ["two", "one", "sum"]


def test_when_time_is_up_no_further_piece_is_begun(target, tmp_path):
    with pytest.raises(Interrupted, match="to resume: the same command with --out"):
        run(tmp_path, deadline=time.monotonic() - 1)
    assert target.made == []


def test_what_is_left_is_expected_to_take_as_long_as_what_is_done_did(target, tmp_path):
    assert left_in_words(standings_in("numbers", FULL, tmp_path)) == (
        "0 of 3 pieces are done. The other 3: some 16 minutes added up, "
        f"a rough guess for one H200 and full scale. {ADDED_UP}"
    )
    run(tmp_path, ["one"])
    file = tmp_path / "pieces" / "one.json"
    took_a_minute = json.loads(file.read_text())
    took_a_minute["pieces"]["one"]["result"]["seconds"] = 60.0  # with what was before an interruption: half as long
    file.write_text(json.dumps(took_a_minute))
    lines = standings_table(standings_in("numbers", FULL, tmp_path)).splitlines()
    assert lines[2:5] == ["| sum | missing | 5.0 | one, two |", "| one | done | 1.0 |  |", "| two | missing | 2.0 |  |"]
    left = "The other 2: some 7 minutes added up, if they take as long as those that are done."
    assert lines[-1] == f"1 of 3 pieces are done. {left} {ADDED_UP}"


def test_the_page_says_what_the_list_of_battles_adds_up_and_what_a_piece_costs_the_gpu():
    """Those that are done ran six to nine at a time: what is added up is several times what a GPU is busy."""
    words = " ".join((ROOT / "docs" / "reproduction.md").read_text().split())
    left = left_in_words(standings_in("smac", FULL, ROOT / "results" / "reproduction"))
    count, minutes = re.findall(r"The other (\d+): some (\d+) minutes added up", left)[0]
    assert "took 25 minutes, so 1.8 minutes each" in words and "took 27, so 3.0 each" in words
    busy = [round(int(count) * each) for each in (25 / 14, 27 / 9)]
    assert f"the other {count} at {minutes} minutes, where the GPU would be busy for {busy[0]} to {busy[1]}" in words


def test_pieces_of_several_places_come_together_and_are_drawn(target, tmp_path):
    run(tmp_path / "a", ["one"])
    run(tmp_path / "b", ["two"])
    done = collect("numbers", FULL, [tmp_path / "a", tmp_path / "b" / "numbers.json"], tmp_path / "all")
    assert stored(tmp_path / "all" / "numbers.json") == {"one": {"value": 1}, "two": {"value": 2}}
    assert done.table == "one, two" and done.file("png").is_file()
    collect("numbers", FULL, [tmp_path / "a"], tmp_path / "all")  # the same again adds nothing
    assert len(stored(tmp_path / "all" / "numbers.json")) == 2


def test_a_second_result_or_other_settings_or_nothing_at_all_are_refused(target, tmp_path):
    run(tmp_path / "a", ["one"])
    other = json.loads((tmp_path / "a" / "numbers.json").read_text())
    other["pieces"]["one"]["result"]["value"] = 9
    (tmp_path / "other.json").write_text(json.dumps(other))
    with pytest.raises(Refused, match=r"one result of each piece, got another of one in .*other\.json"):
        collect("numbers", FULL, [tmp_path / "other.json"], tmp_path / "a")
    other["pieces"] = {"three": other["pieces"]["one"]}
    (tmp_path / "other.json").write_text(json.dumps(other))
    with pytest.raises(Refused, match="collect must bring pieces of numbers, got 'three'"):
        collect("numbers", FULL, [tmp_path / "other.json"], tmp_path / "a")
    with pytest.raises(Refused, match=r"with pieces of numbers, got .*, which has none"):
        collect("numbers", FULL, [tmp_path], tmp_path / "a")
    target.number = 2
    with pytest.raises(Refused, match="with one's number 1 instead of 2"):
        collect("numbers", FULL, [tmp_path / "a"], tmp_path / "new")


def test_what_does_not_grow_is_not_collected_before_it_is_whole(target, tmp_path, monkeypatch):
    run(tmp_path / "a", ["one"])
    monkeypatch.setattr(Growing, "grows", False)
    with pytest.raises(Refused, match="data must be of a finished reproduction"):
        collect("numbers", FULL, [tmp_path / "a"], tmp_path / "new")
    assert not Record.gather("numbers", FULL, tmp_path / "new").pieces


def test_a_piece_names_the_commit_with_which_it_began(monkeypatch, tmp_path):
    commits = iter(["before", "after"])
    monkeypatch.setattr(
        "decentral.reproduction.record.provenance", lambda: {"command": "decentral", "commit": next(commits)}
    )
    piece = Piece("one", {}, lambda workplace: {"ended_with": next(commits)})
    made = Record.of_piece("smac", Scale.of("quick", 1), piece, Workplace(tmp_path, list, print)).pieces["one"]
    assert (made["provenance"]["commit"], made["result"]["ended_with"]) == ("before", "after")
