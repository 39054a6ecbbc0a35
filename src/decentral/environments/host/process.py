"""A Python process that runs a module of this library, with messages over its standard input and output."""

import os
import subprocess
import sys
from contextlib import suppress
from typing import BinaryIO, cast

# How another Python is started. Without -P it would run modules of the working directory in place of the real ones.
PYTHON = [sys.executable, "-P"]


def search_path() -> str:
    """This Python's module path as the PYTHONPATH of another, so that both find the same modules."""
    return os.pathsep.join(os.path.abspath(place) for place in sys.path)


class Process:
    """A process started by a command line: it shares nothing with this one but two pipes."""

    def __init__(self, module: str, *words: str, **variables: str):
        self.process = subprocess.Popen(
            [*PYTHON, "-m", module, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=variables | os.environ | {"PYTHONPATH": search_path()},
            start_new_session=True,  # so that Ctrl-C reaches neither it nor what it has started
        )
        self.questions = cast(BinaryIO, self.process.stdin)
        self.answers = cast(BinaryIO, self.process.stdout)

    @property
    def number(self) -> int:
        """The process id."""
        return self.process.pid

    def end(self, patience: float) -> str:
        """Wait for the process to end; after `patience` seconds terminate it, then kill it. Returns how it ended."""
        with suppress(BrokenPipeError):
            self.questions.close()
        for harder in (self.process.terminate, self.process.kill, lambda: None):
            try:
                self.process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                harder()
        self.answers.close()
        code = self.process.returncode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        return f"process {self.number} ended {how}"
