"""`decentral COMMAND ...`. A request that can't be met is one line and exit code 2."""

import atexit
import gc
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from decentral.cli.commands import COMMANDS, run_command
from decentral.cli.parser import Parser, TellVersion, parser_for
from decentral.errors import Failed, Interrupted, Refused, what_was_raised
from decentral.runs.signals import second_interrupt_ends
from decentral.source import unchanged_code
from decentral.terminal import complain, leave_closed_pipes, nobody_reads

LOCATIONS = "JAX_TRACEBACK_IN_LOCATIONS_LIMIT"
RUN_ME_AGAIN = 75  # as sysexits.h has it: a failure that passes
CLOSED_PIPE = 128 + signal.SIGPIPE  # as a shell says of a tool that wrote to a pipe without a reader
NEEDED = (
    "jax",
    "equinox",
    "optax",
    "jaxtyping",
    "numpy",
    "ml_dtypes",
    "flatbuffers",
    "rich",
    "matplotlib",
)  # to run a command
WITHOUT = "NumPy alone is enough for exported agents, in Python: decentral.runtime"


def command() -> None:
    """The command line in a process of its own, where nothing replaces any code."""
    main(surroundings=unchanged_code)


def main(
    arguments: list[str] | None = None, surroundings: Callable[[], AbstractContextManager[None]] = nullcontext
) -> None:
    """Run one command and exit; in silence if nobody reads what it writes any more, as after `| head`."""
    try:
        try:
            _main(sys.argv[1:] if arguments is None else arguments, surroundings)
        finally:
            if sys.stdout is not None:  # as it is where the standard output was closed
                sys.stdout.flush()  # here, where a closed pipe can be caught
    except BrokenPipeError:
        leave_closed_pipes()
        raise SystemExit(CLOSED_PIPE) from None


def _main(words: list[str], surroundings: Callable[[], AbstractContextManager[None]]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may hold what a terminal can't show
    parser = parser_for()
    parser.add_argument("--version", action=TellVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, meaning in COMMANDS.items():
        commands.add_parser(name, help=meaning, add_help=False)
    if not words:
        parser.print_help()
        return
    chosen, rest = parser.parse_known_args(words[:1]), words[1:]
    name = chosen[0].command
    gc.set_threshold(100_000)  # tracing makes many objects that stay; looking through them often costs half a second
    os.environ.setdefault(LOCATIONS, "0")  # of operations in files: a tenth of compiling for a GPU
    atexit.register(gc.freeze)  # or the interpreter looks through all of them once more when it ends
    with surroundings():
        _run(name, rest)


def _run(name: str, words: list[str]) -> None:
    """Run a command; however it ends, say so in a line and by an exit code."""
    try:
        with second_interrupt_ends():
            _call(name, words)
    except Refused as refusal:
        complain(f"decentral {name}: {refusal}")
        raise SystemExit(2) from None
    except Failed as failure:
        complain(f"decentral {name}: failed: {failure}")
        raise SystemExit(1) from None
    except MemoryError:
        complain(f"decentral {name}: failed: out of memory")
        raise SystemExit(1) from None
    except (OSError, RuntimeError) as failure:
        if not _is_of_the_machine(failure) or (isinstance(failure, BrokenPipeError) and nobody_reads()):
            raise
        complain(f"decentral {name}: failed: {(str(failure).strip() or type(failure).__name__).splitlines()[0]}")
        raise SystemExit(1) from None
    except Interrupted as interruption:
        complain(f"decentral {name}: {interruption}")
        raise SystemExit(RUN_ME_AGAIN) from None
    except SystemExit as end:
        if _is_of_this_program(end):
            raise
        complain(f"decentral {name}: failed: user code ended the program: {what_was_raised(end)}")
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        complain(f"decentral {name}: interrupted; what was written so far stays")
        raise SystemExit(130) from None


def _call(name: str, words: list[str]) -> None:
    """Run a command; refused where a package is missing, as on a device that was given NumPy alone."""
    try:
        with _trusted_if_accepted(words):
            run_command(name, words)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        if package not in NEEDED:
            raise
        raise Refused(f"{package} must be installed: pip install decentral; {WITHOUT}") from None


def _trusted_if_accepted(words: list[str]) -> AbstractContextManager[None]:
    """While the words of a command are followed: what they name stays trusted by the flag unless they are refused."""
    if "--trust" not in words:
        return nullcontext()
    from decentral.api.trust import unless_refused  # with JAX, which the help must not wait for

    return unless_refused({name for word in words for name in re.split("[,=]", word)})


def _is_of_this_program(end: SystemExit) -> bool:
    """Was it raised here or by the parser? After somebody else's `sys.exit(0)` nothing would look unfinished."""
    *_, (frame, _) = traceback.walk_tb(end.__traceback__)
    return frame.f_globals.get("__name__", "").split(".")[0] in ("decentral", "argparse")


def _is_of_the_machine(failure: Exception) -> bool:
    """A full disk or too little memory, and no mistake of the program."""
    from jax.errors import JaxRuntimeError  # only here, for the help must not wait for it

    return isinstance(failure, OSError | JaxRuntimeError)
