"""Files that went bad are never gone on from: the checkpoint before is, and the user is told."""

import errno
import json
import random
import resource
import shutil

import pytest

from decentral.cli import main
from decentral.errors import Refused
from decentral.records import durable
from decentral.records.durable import sealed
from decentral.runs.checkpointing.files import MANIFEST, Checkpoints
from decentral.runs.checkpointing.restore import ResumePoint
from decentral.verification.files import verify
from tests.corruption import WAYS, remove, spoil, swap
from tests.saved_runs import PARTS, begin, is_turn, save

CASES = 40  # of each way and file
FILES = (MANIFEST, *(f"{part}.safetensors" for part in PARTS))


@pytest.fixture
def run(tmp_path):
    """A run with the checkpoints of turns 1 and 2."""
    directory = begin(tmp_path / "run")
    for turn in (1, 2):
        save(directory, turn)
    return directory


def falls_back(directory, file):
    """Goes on from turn 1, and names the file."""
    start = ResumePoint.find([directory], 2)
    assert start.turn == 1 and is_turn(directory, 1)
    assert len(start.notes) == 1 and str(file) in start.notes[0]
    assert start.notes[0].endswith("going back to an earlier checkpoint")
    assert any(str(file) in line for line in verify(directory).broken)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("way", WAYS)
def test_a_spoiled_checkpoint_is_passed_over_and_told_of(run, name, way):
    file, rng = Checkpoints.of(run).place(2) / name, random.Random(f"{name} {way.__name__}")
    whole = file.read_bytes()
    for _ in range(CASES):
        spoil(rng, file, way)
        falls_back(run, file)
        file.write_bytes(whole)
    assert ResumePoint.find([run], 2).turn == 2


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_passed_over_and_told_of(run, name):
    remove(Checkpoints.of(run).place(2) / name)
    falls_back(run, Checkpoints.of(run).place(2) / name)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_checkpoint_does_not_pass(run, name):
    swap(Checkpoints.of(run).place(1) / name, Checkpoints.of(run).place(2) / name)
    with pytest.raises(Refused, match="no other checkpoint can be resumed from"):
        ResumePoint.find([run], 2)


def test_parts_that_changed_places_do_not_pass(run):
    place = Checkpoints.of(run).place(2)
    swap(place / "agents.safetensors", place / "replays.safetensors")
    falls_back(run, place / "agents.safetensors")


@pytest.mark.parametrize("way", WAYS[:3])
def test_records_that_went_bad_are_noticed(run, way):
    """Where the part that both checkpoints know of is spoiled, neither will do; else the first one does."""
    rng, file = random.Random(way.__name__), run.path / "metrics.jsonl"
    whole, shared = file.read_bytes(), len((run.path / "metrics.jsonl").read_bytes().splitlines(keepends=True)[0]) * 2
    for _ in range(CASES):
        spoil(rng, file, way)
        if file.read_bytes()[:shared] == whole[:shared]:
            falls_back(run, file)
        else:
            with pytest.raises(Refused, match=r"metrics.jsonl"):
                ResumePoint.find([run], 2)
        file.write_bytes(whole)


def test_a_run_all_of_whose_checkpoints_are_broken_is_one_line_and_stays_as_it_is(run, capsys):
    for turn in (1, 2):
        spoil(random.Random(turn), Checkpoints.of(run).place(turn) / "agents.safetensors", WAYS[0])
    before = tree(run.path)
    with pytest.raises(Refused, match=r"agents.safetensors is broken.*no other checkpoint can be resumed from"):
        ResumePoint.find([run], 2)
    with pytest.raises(SystemExit) as stop:
        main(["verify", str(run.path)])
    said = capsys.readouterr()
    assert stop.value.code == 2 and said.err.count("\n") == 1 and "(and 1 more)" in said.err
    assert tree(run.path) == before


def tree(path):
    return {str(file): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_a_checkpoint_of_other_settings_does_not_pass(run):
    run.write_json("config.json", {"training": {"steps": 12, "seed": 3}})
    assert ResumePoint.find([run], 2).turn == 2  # longer is no other
    run.write_json("config.json", {"training": {"steps": 12, "seed": 4}})
    with pytest.raises(Refused, match="is of another configuration"):
        ResumePoint.find([run], 2)


def resealed(run, **changes):
    """The manifest of turn 2 with entries changed by someone who knows how to seal it."""
    file = Checkpoints.of(run).place(2) / MANIFEST
    content = json.loads(file.read_text())["content"] | changes
    file.write_bytes(sealed({key: value for key, value in content.items() if value is not None}))


NONE_OF_THEM = {"bytes": 1, "sha256": "0"}


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"../../../../etc/passwd": NONE_OF_THEM}},
        {"files": {"/etc/passwd": NONE_OF_THEM}},
        {"files": {"agents": {"bytes": 2**80, "sha256": "0"}}},
        {"files": {"agents": None}},
        {"files": []},
        {"format": 2},
        {"turn": 1},
        {"step": "many"},
        {"placement": [10**9, 1]},
        {"placement": "ab"},
        {"grown": {}},
        {"grown": {"metrics.jsonl": {"bytes": -5, "sha256": ""}}},
        {"diverged": [1]},
        {"more": 1},
        {"seconds": None},
    ],
)
def test_a_manifest_made_by_an_enemy_is_refused_and_leads_nowhere(run, changes):
    resealed(run, **changes)
    start = ResumePoint.find([run], 2)
    assert start.turn == 1 and len(start.notes) == 1


def test_links_are_refused_before_anything_behind_them_is_touched(run, tmp_path):
    precious = tmp_path / "precious"
    shutil.copytree(Checkpoints.of(run).place(1), precious)
    before = tree(precious)
    for name in ("000000000003", ".saving"):
        link = Checkpoints.of(run).path / name
        link.symlink_to(precious)
        with pytest.raises(Refused, match="no link"):
            ResumePoint.find([run], 2)
        with pytest.raises(Refused, match="no link"):
            Checkpoints.of(run).keep(set())
        link.unlink()
    file = Checkpoints.of(run).place(2) / "agents.safetensors"
    file.unlink()
    file.symlink_to(precious / "agents.safetensors")
    falls_back(run, file)
    assert tree(precious) == before


def test_hashes_of_a_finished_run_lead_nowhere_else(run, tmp_path):
    (tmp_path / "outside").write_text("secret")
    entry = {"bytes": 6, "sha256": "0"}
    (run.path / "finished.json").write_bytes(sealed({"files": {"../outside": entry}, "diverged": []}))
    assert any("outside the run" in line for line in verify(run).broken)


def test_a_full_disk_leaves_the_older_checkpoints(run):
    before, limits = tree(Checkpoints.of(run).path), resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            save(run, 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert ResumePoint.find([run], 2).turn == 2
    after = tree(Checkpoints.of(run).path)
    assert {name: after[name] for name in before} == before and all(".saving" in name for name in after.keys() - before)


def test_a_disk_that_became_read_only_leaves_the_older_checkpoints(run, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.EROFS, "Read-only file system")

    before = tree(run.path)
    monkeypatch.setattr(durable.os, "open", refuse)
    with pytest.raises(OSError, match="Read-only"):
        save(run, 3)
    monkeypatch.undo()
    assert tree(run.path) == before and ResumePoint.find([run], 2).turn == 2
