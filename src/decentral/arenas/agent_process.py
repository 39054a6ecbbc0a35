"""The process of one agent: `python -m decentral.arenas.agent_process HOME BIRTH`.

It is told its birth as JSON, then messages on its standard input, which it answers on its standard output. It ends when
it is told to, or when whoever started it is gone; whatever it has not saved by then is lost.
"""

import json
import signal
import sys
from contextlib import suppress
from pathlib import Path

from decentral.arenas.resident import Birth, Resident
from decentral.arenas.wire import ACTION, AWAKE
from decentral.environments.host_wire import CLOSE, write
from decentral.environments.host_worker import private_streams
from decentral.experiments.compilation import keep_compiled_programs
from decentral.refusal import Failed, Refused, in_one_line


def main(home: str, birth: str) -> None:
    """Live until told to close."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this process, and it will close it
    told, said = private_streams()
    keep_compiled_programs()
    try:
        resident = Resident(Birth.from_data(json.loads(birth)), Path(home))
        with suppress(EOFError, BrokenPipeError):  # nobody is there any more
            write(said, AWAKE)
            kind = b""
            while kind != CLOSE:
                kind, body = resident.wire.receive(told)
                action = resident.hear(kind, body)
                if action is not None:
                    write(said, ACTION, action)
    except (Refused, Failed) as trouble:
        print(f"agent in {home}: {in_one_line(str(trouble))}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main(*sys.argv[1:])
