"""Signals that ask a training to stop: the first lets it save and leave, a second Ctrl-C ends the process at once."""

import os
import signal
import sys
import threading
from types import TracebackType
from typing import Any

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
AT_ONCE = 130  # the exit code of a process that Ctrl-C has ended


class Signals:
    """While it is entered, signals are noted and do nothing else.

    Python runs a handler only between two of its own instructions, and a compiled program can take long. So a thread
    reads the signals' numbers from a pipe as they come, and needs nobody to end the process.
    """

    def __init__(self) -> None:
        self.asked = False  # to stop
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Signals":
        if threading.current_thread() is not threading.main_thread():  # signals are the main thread's business
            return self
        read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, lambda *_: None) for number in STOPPING}
        self._listener = threading.Thread(target=self._listen, args=(read,), daemon=True)
        self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._before:
            return
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._write)  # the listener's end of the pipe then is at its end
        self._listener.join()

    def _listen(self, read: int) -> None:
        presses = 0
        with os.fdopen(read, "rb", buffering=0) as numbers:
            while number := numbers.read(1):
                self.asked = self.asked or number[0] in STOPPING
                presses += number[0] == signal.SIGINT
                if presses > 1:
                    _end_at_once()


def _end_at_once() -> None:
    """Leave without a word to anyone: what is on the disk is whole at every moment."""
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")  # a progress bar hides the cursor
    os._exit(AT_ONCE)
