"""A disk that stops at a chosen moment, as when the power fails: what was not forced to it may be lost."""

import contextlib
import os

from decentral.records import durable, run_directory
from decentral.runs.checkpointing import files as checkpoints

CHANGES = ("open", "write", "fsync", "ftruncate", "rename", "unlink", "mkdir", "rmdir")


class Crash(BaseException):
    """Raised where the power fails, and by everything that tries to change the disk later."""


class Disk:
    """Stands for `os`: counts changes, and fails before or after the one of a number."""

    def __init__(self, fail_at=None, after=False):
        self.changes, self.fail_at, self.after, self.dead = 0, fail_at, after, False
        self.names, self.unsynced = {}, {}  # descriptors and paths; lengths that the disk has for sure

    def __getattr__(self, name):
        real = getattr(os, name)
        return self._watched(name, real) if name in CHANGES else real

    def _watched(self, name, real):
        def change(*arguments):
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY):
                descriptor = real(*arguments)
                self.names[descriptor] = str(arguments[0])
                return descriptor
            if self.dead:
                raise Crash
            due = self.changes == self.fail_at
            self.changes += 1
            if due and not self.after:
                self._fail()
            result = real(*arguments) if name != "fsync" else None  # the test's own disk forgets nothing
            self._note(name, arguments, result)
            if due:
                self._fail()
            return result

        return change

    def _note(self, name, arguments, result):
        if name == "open":
            self.names[result] = str(arguments[0])
        elif name == "write":
            path = self.names[arguments[0]]
            self.unsynced.setdefault(path, os.path.getsize(path) - result)
        elif name == "fsync":
            self.unsynced.pop(self.names[arguments[0]], None)
        elif name == "rename":
            old, new = (str(path) for path in arguments)
            for path in [path for path in self.unsynced if path.startswith(old)]:
                self.unsynced[new + path.removeprefix(old)] = self.unsynced.pop(path)

    def _fail(self):
        self.dead = True
        for path, length in self.unsynced.items():
            with contextlib.suppress(OSError):
                os.truncate(path, length)
        raise Crash


@contextlib.contextmanager
def disk(fail_at=None, after=False):
    """The records on such a disk."""
    modules, one = (durable, checkpoints, run_directory), Disk(fail_at, after)
    try:
        for module in modules:
            module.os = one
        yield one
    finally:
        for module in modules:
            module.os = os


def every_crash(prepare, work, check):
    """Do `work` on what `prepare` makes, with a crash before and after each change, and `check` what is left.

    Gives the number of crashes.
    """
    with disk():
        place = prepare()
    with disk() as whole:
        work(place)
    for fail_at in range(whole.changes):
        for after in (False, True):
            with disk():
                place = prepare()
            with disk(fail_at, after), contextlib.suppress(Crash):
                work(place)
            with disk():
                check(place)
    return 2 * whole.changes
