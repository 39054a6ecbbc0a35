"""What depends on the device that programs are compiled for: GPU kernels, and barriers that guide XLA."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import jax
from jaxtyping import Array

Tree = TypeVar("Tree")

WIDTHS = (64,)  # of hidden layers for which the kernels were tested on a GPU; they need powers of two, at least 16
OUTPUTS = 256  # the most of a decoder that takes the kernels: the program grows with its groups of outputs
BLOCK = 16  # episodes in one program of a kernel: the fewest rows that a tensor core multiplies

_kernels_enabled = ContextVar("_kernels_enabled", default=True)


def has_kernels(batch: int, width: int) -> bool:
    """Are there kernels for this batch size and layer width on the current device?"""
    return has_acting_kernel(width) and batch % BLOCK == 0


def has_acting_kernel(width: int) -> bool:
    """Is there a kernel for agents that act with layers of this width on the current device?"""
    return _kernels_enabled.get() and jax.default_backend() == "gpu" and width in WIDTHS


@contextmanager
def without_kernels() -> Iterator[None]:
    """Code traced inside uses the plain loops on every device."""
    before = _kernels_enabled.set(False)
    try:
        yield
    finally:
        _kernels_enabled.reset(before)


def apart(array: Array) -> Array:
    """The array itself; on a CPU it is computed once, separately from the operations that use it.

    Otherwise XLA would repeat a transposition in every iteration of a loop, or transpose the product before it.
    """
    return jax.lax.optimization_barrier(array) if jax.default_backend() == "cpu" else array


def gathered(batch: Tree) -> Tree:
    """The batch itself; on a GPU it is gathered once, for all operations that use it.

    Otherwise XLA would gather from the replay again wherever the batch is read.
    """
    return jax.lax.optimization_barrier(batch) if jax.default_backend() == "gpu" else batch
