"""What the device can do: the rates of matrix products and of copying, and the peak memory."""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

LARGEST_PRODUCT = 8192  # rows and columns
LONG_ENOUGH = 0.05  # seconds; long enough to be timed accurately
COPIED = 64 * 2**20  # numbers: more than any cache holds
ROUNDS = 8
ATTEMPTS = 3  # the fastest counts


@dataclass(frozen=True)
class Rates:
    """The device's rates, measured."""

    flops_per_second: float  # of a large matrix product in the precision that training has by default
    bytes_per_second: float  # read and written by adding one to a large array


@dataclass(frozen=True)
class Peak:
    """The peak memory so far, and what it was measured of."""

    bytes: int
    source: str  # "device", or "process" where the device does not tell


def measured_rates() -> Rates:
    """Rates of the default device, now."""
    return Rates(_product_rate(), _copy_rate())


def peak_memory() -> Peak:
    """The peak memory since this process began."""
    memory = jax.devices()[0].memory_stats() or {}
    if "peak_bytes_in_use" in memory:
        return Peak(memory["peak_bytes_in_use"], "device")
    unit = 1 if sys.platform == "darwin" else 1024
    return Peak(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, "process")


def _product_rate() -> float:
    """The rate of a product that is large enough to be timed accurately."""
    size, rate, seconds = 256, 0.0, 0.0
    while seconds < LONG_ENOUGH and size < LARGEST_PRODUCT:
        size *= 2
        seconds = _fastest(_multiply, jnp.full((size, size), 1 / size))
        rate = max(rate, ROUNDS * 2 * size**3 / seconds)
    return rate


def _copy_rate() -> float:
    numbers = jnp.zeros(COPIED)
    return ROUNDS * 2 * numbers.nbytes / _fastest(_add_one, numbers)


def _fastest(program: Callable[[Array], Array], argument: Array) -> float:
    jax.block_until_ready(program(argument))  # compiled
    seconds = []
    for _ in range(ATTEMPTS):
        begun = time.perf_counter()
        jax.block_until_ready(program(argument))
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


@jax.jit
def _multiply(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    return jax.lax.fori_loop(0, ROUNDS, lambda _, product: product @ matrix, matrix)


@jax.jit
def _add_one(numbers: Float[Array, " n"]) -> Float[Array, " n"]:
    return jax.lax.fori_loop(0, ROUNDS, lambda _, sums: sums + 1.0, numbers)
