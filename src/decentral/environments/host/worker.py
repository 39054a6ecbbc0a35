"""A process that steps an environment for another, on one stage or on several.

`python -m decentral.environments.host.worker ADDRESS SETTINGS [HOW]`: HOW says that its code is trusted, not named. It
answers on its standard output what it is asked on its standard input. What the environment itself prints goes to the
standard error. It ends, and closes its stages, when it is told to or when whoever started it is gone.
"""

import json
import os
import signal
import sys
import threading
from collections import defaultdict
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, BinaryIO

from decentral.environments.host.checks import CheckedStage
from decentral.environments.host.interface import BrokenOff, HostEnvironment
from decentral.environments.host.wire import CLOSE, MANY, Wire, joined, parted, read, trouble_as_message, write
from decentral.environments.registry import host_environment
from decentral.errors import Failed, Refused
from decentral.terminal import complain

LONGEST = 2**30  # bytes of a message of questions
GRACE = 1.0  # seconds that threads and handlers which the environment has left may take once it is closed


class Terminated(BaseException):
    """A signal asked this process to end."""


def main(address: str, settings: str, how: str = "named") -> None:
    """Answer questions until a message says to close."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process, which will close this one
    signal.signal(signal.SIGTERM, _terminate)
    questions, answers = private_streams()
    threading.excepthook = sys.unraisablehook = partial(_say, address)
    try:
        environment = host_environment(address, json.loads(settings), how == "trusted")
        _serve(environment, questions, answers)
    except (EOFError, BrokenPipeError, Terminated):
        pass  # the parent process is gone, or this one is to end
    except OSError:
        os._exit(1)  # the environment has closed the pipe to the parent process
    except (Refused, Failed, BrokenOff) as trouble:
        with suppress(OSError):
            write(answers, *trouble_as_message(trouble))
    late = threading.Timer(GRACE, os._exit, (0,))
    late.daemon = True
    late.start()


def _terminate(*_: Any) -> None:
    raise Terminated("this process was told to end")


def _say(address: str, trouble: Any) -> None:
    """Print one line for an error in a thread or a handler that the environment left behind."""
    complain(f"{address} outside of its calls: {trouble.exc_type.__name__}: {trouble.exc_value}")


def _serve(environment: HostEnvironment, questions: BinaryIO, answers: BinaryIO) -> None:
    wire, stages = Wire(environment), defaultdict[int, CheckedStage](lambda: CheckedStage(environment))

    def answer(number: int, kind: bytes, body: bytes) -> tuple[int, bytes, bytes]:
        question = wire.question(kind, body)
        try:
            stage = stages[number]
            answer = stage.reset(question) if isinstance(question, int) else stage.step(question)
        except BrokenOff as broken:
            return number, *trouble_as_message(broken)
        except Failed as failure:
            if not environment.may_restart:
                raise
            if number in stages:
                with suppress(Refused, Failed, BrokenOff):
                    stages.pop(number).close()
            return number, *trouble_as_message(BrokenOff(str(failure)))
        return number, *wire.encode(answer)

    try:
        while (message := read(questions, LONGEST))[0] != CLOSE:
            write(answers, MANY, joined([answer(*part) for part in parted(message[1])]))
    except BaseException:
        for stage in stages.values():
            with suppress(Refused, Failed, BrokenOff):  # the first error is the one to report
                stage.close()
        raise
    with ExitStack() as every:  # even if some fail
        for stage in stages.values():
            every.callback(stage.close)


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve the standard streams for messages: no other code in this process can read or write them."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return questions, answers


if __name__ == "__main__":
    main(*sys.argv[1:])
