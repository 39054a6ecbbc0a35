"""A function of small arrays, computed on their numbers one by one, as a GPU kernel of ours has to.

A kernel can hold arrays of 1, 2, 4, 8, ... numbers alone, and takes no number out of them. So a function is traced as
it is written, on arrays, and each of its operations is carried out on scalars: nothing has to be written twice.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

Numbers = np.ndarray  # of objects, each of which is a scalar

ONE_BY_ONE = frozenset(
    (
        *("abs", "add", "and", "ceil", "clamp", "convert_element_type", "cos", "div", "eq", "exp", "floor"),
        *("ge", "gt", "integer_pow", "le", "log", "logistic", "lt", "max", "min", "mul", "ne", "neg", "not", "or"),
        *("pow", "rem", "select_n", "sign", "sin", "sqrt", "square", "sub", "tanh", "xor"),
    )
)
REDUCING: dict[str, Callable[[Any, Any], Any]] = {
    "reduce_and": jnp.logical_and,
    "reduce_max": jnp.maximum,
    "reduce_min": jnp.minimum,
    "reduce_or": jnp.logical_or,
    "reduce_sum": jnp.add,
}
CALLING = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr"}  # and under which name they hold what they call


def _broadcast(given: Numbers, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...], **_: Any) -> Numbers:
    sizes = dict(zip(broadcast_dimensions, given.shape, strict=True))
    return np.broadcast_to(given.reshape([sizes.get(axis, 1) for axis in range(len(shape))]), shape)


def _slice(given: Numbers, *, start_indices: Any, limit_indices: Any, strides: Any) -> Numbers:
    return given[tuple(map(slice, start_indices, limit_indices, strides or [1] * given.ndim))]


def _split(given: Numbers, *, sizes: Any, axis: int) -> list[Numbers]:
    return np.split(given, np.cumsum(sizes)[:-1], axis)


def _unstack(given: Numbers, *, axis: int) -> list[Numbers]:
    return [part.squeeze(axis) for part in np.split(given, given.shape[axis], axis)]


REARRANGING: dict[str, Callable[..., Numbers | list[Numbers]]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda *given, dimension, **_: np.concatenate(given, dimension),
    "iota": lambda *, dtype, shape, dimension, **_: _constants(np.indices(shape)[dimension], dtype),
    "reshape": lambda given, *, new_sizes, **_: given.reshape(new_sizes),
    "slice": _slice,
    "split": _split,
    "squeeze": lambda given, *, dimensions, **_: given.squeeze(dimensions),
    "stack": lambda *given, axis, **_: np.stack(given, axis),
    "transpose": lambda given, *, permutation, **_: given.transpose(permutation),
    "unstack": _unstack,
}
TYPES = {"bool", "int32", "float32"}
OF_NUMBERS = ("clamp", "max", "min", "mul", "reduce_max", "reduce_min")  # which Pallas' Triton can't do with truths
OF_TRUTHS = ("reduce_and", "reduce_or", "select_n")  # and these are done with truths alone


@dataclass(frozen=True)
class OnScalars:
    """A traced function. It takes and returns the `Numbers` of arrays, in the order of the leaves, and in any shape."""

    traced: ClosedJaxpr
    result: Any  # shapes and types of what the function returns

    @staticmethod
    def of(function: Callable[..., Any], *examples: Any) -> "OnScalars | None":
        """The function of arrays like these; None if it is made of more than this file knows."""
        traced, result = jax.make_jaxpr(function, return_shape=True)(*examples)
        constant = not any(isinstance(const, jax.core.Tracer) for const in traced.consts)
        return OnScalars(traced, result) if constant and all(map(_is_known, _operations(traced))) else None

    @property
    def size(self) -> int:
        """How many operations on scalars it is made of, as it is written."""
        computing = [eqn for eqn in _operations(self.traced) if eqn.primitive.name not in REARRANGING]
        return sum(max(math.prod(var.aval.shape) for var in (*eqn.invars, *eqn.outvars)) for eqn in computing)

    def __call__(self, *given: Numbers) -> list[Numbers]:
        shapes = [var.aval.shape for var in self.traced.jaxpr.invars]
        return _evaluate(self.traced, [numbers.reshape(shape) for numbers, shape in zip(given, shapes, strict=True)])


def numbers_of(scalars: Iterable[Any], shape: tuple[int, ...]) -> Numbers:
    """An array of scalars, which NumPy must not take for arrays."""
    listed = list(scalars)
    numbers = np.empty(len(listed), object)
    for place, scalar in enumerate(listed):
        numbers[place] = scalar
    return numbers.reshape(shape)


def _constants(array: Any, dtype: Any = None) -> Numbers:
    array = np.asarray(array, dtype)
    return numbers_of(array.ravel(), array.shape)


def _operations(traced: ClosedJaxpr) -> Iterator[Any]:
    for eqn in traced.jaxpr.eqns:
        if eqn.primitive.name in CALLING:
            yield from _operations(_called(eqn))
        else:
            yield eqn


def _is_known(eqn: Any) -> bool:
    """Can this operation be carried out on scalars, in a kernel too?"""
    name, arrays = eqn.primitive.name, [var.aval for var in (*eqn.invars, *eqn.outvars)]
    if name not in ONE_BY_ONE | REDUCING.keys() | REARRANGING.keys():
        return False
    if any(str(array.dtype) not in TYPES or 0 in array.shape for array in arrays):
        return False
    of_truths = arrays[0].dtype == bool
    return not of_truths if name in OF_NUMBERS else of_truths or name not in OF_TRUTHS


def _called(eqn: Any) -> ClosedJaxpr:
    return eqn.params[CALLING[eqn.primitive.name]]


def _evaluate(traced: ClosedJaxpr, given: Sequence[Numbers]) -> list[Numbers]:
    values = dict(zip(traced.jaxpr.constvars, map(_constants, traced.consts), strict=True))
    values |= dict(zip(traced.jaxpr.invars, given, strict=True))

    def read(var: Any) -> Numbers:
        dtype = var.aval.dtype
        return _constants(var.val, dtype) if isinstance(var, Literal) else values[var]

    for eqn in traced.jaxpr.eqns:
        values |= dict(zip(eqn.outvars, _apply(eqn, [read(var) for var in eqn.invars]), strict=True))
    return [read(var) for var in traced.jaxpr.outvars]


def _apply(eqn: Any, given: list[Numbers]) -> list[Numbers]:
    """What one operation gives."""
    name, params, shape = eqn.primitive.name, eqn.params, eqn.outvars[0].aval.shape
    if name in CALLING:
        return _evaluate(_called(eqn), given)
    if name in REARRANGING:
        arranged = REARRANGING[name](*given, **params)
        return arranged if isinstance(arranged, list) else [arranged]
    if name in ONE_BY_ONE:
        rows = zip(*(np.broadcast_to(numbers, shape).flat for numbers in given), strict=True)
        return [numbers_of((_of_scalars(eqn.primitive, row, params) for row in rows), shape)]
    last = [-1 - place for place in range(len(params["axes"]))]
    groups = np.moveaxis(given[0], params["axes"], last).reshape(math.prod(shape), -1)
    return [numbers_of((reduce(REDUCING[name], group) for group in groups), shape)]


def _of_scalars(primitive: Any, given: Sequence[Any], params: dict[str, Any]) -> Any:
    if all(isinstance(number, np.generic) for number in given):  # Pallas' Triton can't negate a constant, for one
        with jax.ensure_compile_time_eval():
            return np.asarray(primitive.bind(*given, **params))[()]
    if primitive.name in ("div", "rem") and given[0].dtype == jnp.int32:
        return _divided(primitive, *given)
    return primitive.bind(*given, **params)


def _divided(primitive: Any, number: Any, by: Any) -> Any:
    """The quotient or the remainder of integers, as XLA has them where it divides by 0 or by -1.

    In a kernel the compiler takes it for granted that neither happens, and drops the checks around a division.
    """
    if isinstance(by, np.generic) and by not in (0, -1):
        return primitive.bind(number, by)
    by_zero, by_minus_one = (-1, 0 - number) if primitive.name == "div" else (number, 0)
    otherwise = primitive.bind(number, jnp.where((by == 0) | (by == -1), 1, by))
    return jnp.where(by == 0, by_zero, jnp.where(by == -1, by_minus_one, otherwise))
