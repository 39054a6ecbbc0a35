"""A process that steps one world for another process: `python -m decentral.environments.host_worker ADDRESS SETTINGS`.

It answers on its standard output what it is asked on its standard input. What the world itself prints goes to the
standard error. It ends, and closes its world, when it is told to or when whoever started it is gone.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from typing import BinaryIO

from decentral.environments.checked import CheckedStage
from decentral.environments.host import BrokenOff
from decentral.environments.host_wire import CLOSE, Wire, read, trouble_as_message, write
from decentral.environments.names import host_environment
from decentral.refusal import Failed, Refused


def main(address: str, settings: str) -> None:
    """Serve until told to close."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this process, and it will close it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    questions, answers = private_streams()
    with suppress(EOFError, BrokenPipeError):  # nobody is there any more
        try:
            _serve(address, json.loads(settings), questions, answers)
        except (Refused, Failed) as trouble:
            write(answers, *trouble_as_message(trouble))


def _serve(address: str, settings: dict, questions: BinaryIO, answers: BinaryIO) -> None:
    environment = host_environment(address, settings)
    wire, stage = Wire(environment), CheckedStage(environment)
    try:
        while (message := read(questions))[0] != CLOSE:
            question = wire.question(*message)
            try:
                wire.tell(answers, stage.reset(question) if isinstance(question, int) else stage.step(question))
            except BrokenOff as broken:
                write(answers, *trouble_as_message(broken))
    finally:
        stage.close()


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """The standard streams, for messages alone: nobody else in this process can read or write them."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return questions, answers


if __name__ == "__main__":
    main(*sys.argv[1:])
