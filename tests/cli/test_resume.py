"""`decentral resume` and `verify` as a user meets them."""

import shutil
import sys

import pytest

from decentral.cli.main import main
from decentral.errors import Interrupted
from decentral.runs import runner
from tests.cli.test_cli import outcome
from tests.small_runs import small_run


@pytest.fixture
def copied(tmp_path):
    """A copy of a finished run, to be spoiled."""
    return shutil.copytree(small_run("iql").path, tmp_path / "run")


def test_a_finished_run_has_nothing_to_do(capsys, copied):
    code, out, err = outcome(capsys, "resume", str(copied))
    assert (code, err) == (0, "") and "is finished: nothing to do" in " ".join(out.split())


def test_verify_lists_what_is_whole(capsys, copied):
    code, out, err = outcome(capsys, "verify", str(copied))
    assert (code, err) == (0, "")
    assert "whole   agents/seed-1/agent-0.safetensors" in out and "whole   checkpoint of turn 100" in out


@pytest.mark.parametrize(
    "name", ["config.json", "metrics.jsonl", "finished.json", "agents/seed-0/agent-1.safetensors", "versions.json"]
)
def test_a_changed_file_is_found_and_named(capsys, copied, name):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    code, _, err = outcome(capsys, "verify", str(copied))
    assert code == 2 and err.count("\n") == 1 and name in err


def test_agents_that_went_bad_are_not_played_with(capsys, copied):
    file = copied / "agents" / "seed-0" / "agent-1.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    code, _, err = outcome(capsys, "evaluate", str(copied))
    assert code == 2 and err.count("\n") == 1 and "agent-1.safetensors is broken" in err


def test_agents_that_went_bad_are_written_again_from_the_last_checkpoint(capsys, copied):
    file, records = copied / "agents" / "seed-0" / "agent-1.safetensors", copied / "metrics.jsonl"
    whole, told = file.read_bytes(), records.read_bytes()
    file.write_bytes(whole[:60])
    code, _, err = outcome(capsys, "resume", str(copied))
    assert (code, err) == (0, "") and file.read_bytes() == whole and records.read_bytes() == told
    assert outcome(capsys, "verify", str(copied))[0] == 0


def test_what_cannot_go_on_is_one_line(capsys, copied, tmp_path):
    shutil.rmtree(copied / "checkpoints")
    for words, complaint in [
        (["resume", str(tmp_path)], "RUN must be the directory of a run"),
        (["resume", str(copied), "--steps", "many"], "steps must be a whole number, got 'many'"),
        (["resume", str(copied), "--steps", "50"], "training.steps must be at least 100"),
        (["resume", str(copied), "--steps", "200"], "RUN must have a checkpoint to be trained further"),
        (["resume", str(copied), "--checkpoints.interval", "-1"], "checkpoints.interval must be a number at least 0"),
        (["verify", str(tmp_path)], "RUN must be the directory of a run"),
        (["train", "iql", "matrix-game", "--resume"], "out must be given with resume"),
    ]:
        code, _, err = outcome(capsys, *words)
        assert code == 2 and err.count("\n") == 1 and complaint in err


def test_an_interrupted_training_exits_with_75_and_says_how_to_go_on(capsys, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise Interrupted(3, "decentral resume here")

    monkeypatch.setattr(runner.Training, "run_until_done", interrupted)
    code, _, err = outcome(capsys, "train", "iql", "matrix-game", "--steps", "9", "--out", str(tmp_path / "new"))
    assert code == 75 and err == "decentral train: interrupted at step 3 and saved; to resume: decentral resume here\n"


def test_running_out_of_memory_is_one_line_and_exit_code_1(capsys, monkeypatch):
    def no_room(*arguments):
        raise MemoryError

    monkeypatch.setattr(sys.modules[main.__module__], "run_command", no_room)
    assert outcome(capsys, "list") == (1, "", "decentral list: failed: out of memory\n")
