"""The process of one agent: `python -m decentral.arenas.agent_process HOME SETUP`.

It gets its setup as JSON, then messages on its standard input, which it answers on its standard output. It ends when it
is told to, or when the process that started it is gone; whatever it has not saved by then is lost.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from decentral.arenas.arena_agent import AgentSetup, ArenaAgent
from decentral.arenas.homes import alone_in
from decentral.arenas.wire import AWAKE
from decentral.environments.host.wire import CLOSE, write
from decentral.environments.host.worker import private_streams
from decentral.errors import Failed, Refused
from decentral.runs.caches import keep_compiled_programs
from decentral.terminal import complain


def main(home: str, agent_setup: str) -> None:
    """Answer messages until told to close."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process, which will close this one
    os.umask(0o077)  # nobody else may read what it has learned
    incoming, outgoing = private_streams()
    keep_compiled_programs()
    try:
        with alone_in(Path(home)):
            _serve(ArenaAgent(AgentSetup.from_data(json.loads(agent_setup)), Path(home)), incoming, outgoing)
    except (Refused, Failed, OSError) as trouble:
        complain(f"agent in {home}: {trouble}")
        raise SystemExit(1) from None


def _serve(arena_agent: ArenaAgent, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    with suppress(EOFError, BrokenPipeError):  # the other side is gone
        write(outgoing, AWAKE)
        kind = b""
        while kind != CLOSE:
            kind, body = arena_agent.wire.receive(incoming)
            answer = arena_agent.answer(kind, body)
            if answer is not None:
                write(outgoing, *answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
