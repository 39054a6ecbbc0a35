"""Whether the code of this process is what its files hold: then what was made from it before can be used again.

Of a command that is so. In a notebook or a test, code may be replaced while it runs. No JAX is imported here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_unchanged = ContextVar("_unchanged", default=False)


@contextmanager
def unchanged_code() -> Iterator[None]:
    """Inside, nothing replaces any code of this library."""
    before = _unchanged.set(True)
    try:
        yield
    finally:
        _unchanged.reset(before)


def code_is_unchanged() -> bool:
    """Are we inside?"""
    return _unchanged.get()
