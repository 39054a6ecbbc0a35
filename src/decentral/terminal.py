"""Lines on their way to the terminal. With `screen` the one way out: no text can give the terminal orders."""

import sys

from decentral.errors import in_one_line, printable


def say(text: str) -> None:
    """Print to the standard output: lines as they are, control characters shown."""
    print(printable(text), flush=True)


def complain(message: str) -> None:
    """Print one line to the standard error."""
    print(in_one_line(message), file=sys.stderr, flush=True)
