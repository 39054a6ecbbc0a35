"""Plain lines to the terminal. With `screen`, the only way to write to it: no text can control the terminal."""

import sys

from decentral.errors import in_one_line, printable


def say(text: str) -> None:
    """Print to the standard output: lines as they are, control characters shown."""
    print(printable(text), flush=True)


def complain(message: str) -> None:
    """Print one line to the standard error, at once: other processes may be printing theirs."""
    print(f"{in_one_line(message)}\n", end="", file=sys.stderr, flush=True)
