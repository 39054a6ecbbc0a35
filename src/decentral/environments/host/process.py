"""Another Python that runs a module of this library. Messages go to its standard input and come from its output."""

import os
import subprocess
import sys
from contextlib import suppress
from typing import BinaryIO, cast

# How another Python is started. Without -P it would run modules of the working directory in place of the real ones.
PYTHON = [sys.executable, "-P"]


def search_path() -> str:
    """Where this Python looks for modules, as the PYTHONPATH of another: what is found here is found there."""
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
        """By which the system knows it."""
        return self.process.pid

    def end(self, patience: float) -> str:
        """Wait for the process to end, so many seconds; then make it. How it ended, in words."""
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
