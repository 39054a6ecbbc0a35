"""Which device the programs are made for: some things are written differently for a CPU and for a GPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import jax
from jaxtyping import Array

Tree = TypeVar("Tree")

WIDTHS = (64,)  # of hidden layers that the kernels were tried with on a GPU; they need powers of two of at least 16
OUTPUTS = 16  # the most of a decoder that they were tried with
BLOCK = 16  # episodes of one program of a kernel: the least that a tensor core multiplies at once

_kernels_wanted = ContextVar("_kernels_wanted", default=True)


def has_kernels(batch: int, width: int) -> bool:
    """Are there kernels for so many episodes and so wide a layer on the device at hand?"""
    return _kernels_wanted.get() and jax.default_backend() == "gpu" and batch % BLOCK == 0 and width in WIDTHS


@contextmanager
def without_kernels() -> Iterator[None]:
    """What is traced within takes the plain loops on every device."""
    before = _kernels_wanted.set(False)
    try:
        yield
    finally:
        _kernels_wanted.reset(before)


def apart(array: Array) -> Array:
    """The array itself; on a CPU it is made once, apart from what is done with it.

    XLA would repeat a transposition in every round of a loop, or turn round the product that it follows.
    """
    return jax.lax.optimization_barrier(array) if jax.default_backend() == "cpu" else array


def gathered(batch: Tree) -> Tree:
    """The batch itself; on a GPU it is put together once, for whatever is done with it.

    XLA would look up every number in the replay again wherever it is read.
    """
    return jax.lax.optimization_barrier(batch) if jax.default_backend() == "gpu" else batch
