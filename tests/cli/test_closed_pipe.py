"""A reader that has seen enough, as in `decentral list | head -3`, ends a command silently, as it ends other tools."""

import os
import shlex
import subprocess
import sys
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout

import pytest

from decentral.cli import main
from tests.small_runs import FLAGS, small_run

ENDED_BY_A_CLOSED_PIPE = 141  # what a shell says of a process that SIGPIPE ended: 128 + 13


@contextmanager
def nobody_reads():
    """Standard output and standard error are pipes without a reader; at the end, nothing may be left in them."""
    with ExitStack() as streams:
        for redirected in (redirect_stdout, redirect_stderr):
            read, write = os.pipe()
            os.close(read)
            streams.enter_context(redirected(streams.enter_context(os.fdopen(write, "w"))))
        yield


def exit_code(words):
    with nobody_reads(), pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


COMMANDS = {
    "a table": lambda: ["list"],
    "lines": lambda: ["show", "dac", "matrix-game"],
    "the help": lambda: ["--help"],
    "the version": lambda: ["--version"],
    "no command": list,
    "a command's help": lambda: ["train", "iql", "matrix-game", "--help"],
    "a refusal": lambda: ["train", "iql", "nowhere"],
    "a look at a run": lambda: ["runs", str(small_run("iql").path.parent)],
}


@pytest.mark.parametrize("said", COMMANDS)
def test_a_closed_pipe_ends_a_command_silently(said):
    assert exit_code(COMMANDS[said]()) == ENDED_BY_A_CLOSED_PIPE


def test_a_closed_pipe_ends_a_training_which_can_be_resumed(tmp_path):
    words = ["train", "iql", "matrix-game", *FLAGS, "--out", str(tmp_path / "run"), "--resume"]
    assert exit_code(words) == ENDED_BY_A_CLOSED_PIPE
    assert not (tmp_path / "run" / "finished.json").exists()
    main(words)
    assert (tmp_path / "run" / "finished.json").exists()


def test_a_process_without_any_output_ends_well():
    command = f"exec {shlex.quote(sys.executable)} -m decentral --version >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_says_nothing_when_its_reader_has_gone():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "decentral", "--help"], stdout=nobody, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (ENDED_BY_A_CLOSED_PIPE, "")


def test_a_broken_pipe_of_another_kind_is_still_told(monkeypatch, capsys):
    def breaks(name, words):
        raise BrokenPipeError("the tracker's server has gone")

    monkeypatch.setattr(sys.modules["decentral.cli.main"], "run_command", breaks)
    with pytest.raises(SystemExit) as end:
        main(["list"])
    assert end.value.code == 1 and capsys.readouterr().err == "decentral list: failed: the tracker's server has gone\n"
