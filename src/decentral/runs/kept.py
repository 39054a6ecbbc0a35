"""Lowered programs kept in the user's cache: the next start of the same run need not trace them again.

JAX keeps what it has compiled, but finds it by tracing and lowering a program anew, which is Python and takes seconds.
Here a program is found by all that it is made from: settings, shapes, devices, versions, and the source itself. Only
commands keep programs: in a notebook, code may differ from what its files hold.
"""

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export

from decentral.algorithms.base import Algorithm
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.base import BaseEnvironment
from decentral.environments.registry import ENVIRONMENTS
from decentral.errors import Refused
from decentral.plain_files import read_plain
from decentral.runs.caches import usable_cache, write_whole
from decentral.runs.provenance import package_versions
from decentral.source import runs_its_source, source_at_start
from decentral.training.loop import Lane, MetricShapes
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup

MOST_BYTES = 2**26  # of a kept program
DIGEST_SIZE = hashlib.sha256().digest_size
OWN_KERNELS = [  # JAX does not promise that later versions understand them; a program is found by its own version alone
    export.DisabledSafetyCheck.custom_call(name) for name in ("__gpu$xla.gpu.triton", "triton_kernel_call")
]
BACKGROUND = ThreadPoolExecutor(1, "preparing")
ENOUGH_CORES = 4  # to make one program beside another: on two cores, compiling one keeps both busy
FROM_ANYWHERE = (BaseEnvironment, Algorithm)  # what users bring themselves
OURS = {*ENVIRONMENTS.values(), *EVERY_ALGORITHM.values()}


@dataclass(frozen=True)
class KeptProgram:
    """A program that advances lanes and may measure something of them: kept if it can be, and else just traced.

    `parts` splits its result into what it measured, in plain containers, and the lanes; `whole` joins the two, given
    the lanes before.
    """

    name: str
    made_for: str  # what it is traced from besides its arguments
    function: Callable[..., Any]  # of a setup, the lanes, whose memory it takes over, and more
    parts: Callable[[Any], tuple[Any, Lane]]
    whole: Callable[[Lane, Any, Lane], Any]
    traced: Callable[..., Any]  # the same function, compiled by JAX alone
    options: dict[str, bool | int] | None  # of the compiler
    placed: Callable[[], AbstractContextManager]  # where it is compiled
    ready: dict[Path, Callable[..., Any]] = field(default_factory=dict)
    coming: dict[Path, Future] = field(default_factory=dict)

    def __call__(self, setup: TrainingSetup, lanes: Lane, *more: Any) -> Any:
        file = file_for(self.name, setup, self.made_for, lanes, *more)
        if file is None:
            return self.traced(setup, lanes, *more)
        if (prepared := self.coming.pop(file, None)) is not None and prepared.exception() is None:
            self.ready[file] = prepared.result()
        if file not in self.ready:
            self.ready[file] = self._found_or_made(file, setup, lanes, *more)
        return self.ready[file](setup, lanes, *more)

    def prepare(self, setup: TrainingSetup, lanes: Lane, *more: Any) -> None:
        """Make the program ready in the background, if it was kept or there are cores to spare.

        Even to link it again takes seconds, and holds nothing else up.
        """
        file = file_for(self.name, setup, self.made_for, lanes, *more)
        if file is None or file in self.ready or file in self.coming:
            return
        if not file.exists() and usable_cores() < ENOUGH_CORES:
            return
        shapes = jax.tree.map(_shape, (setup, lanes, *more))  # the lanes go on meanwhile

        def find_or_make() -> Callable[..., Any]:
            with self.placed():
                return self._found_or_made(file, *shapes)

        self.coming[file] = BACKGROUND.submit(find_or_make)

    def _found_or_made(self, file: Path, *arguments: Any) -> Callable[..., Any]:
        """The program as it was kept, or as it is kept from now on."""
        leaves, structure = jax.tree.flatten(jax.tree.map(_shape, arguments))
        before, of_lanes = (len(jax.tree.leaves(part)) for part in arguments[:2])
        donated = tuple(range(before, before + of_lanes))
        shardings = [_sharding(leaf) for leaf in leaves]
        jit = partial(
            jax.jit,
            donate_argnums=donated,
            in_shardings=tuple(shardings),
            out_shardings=(None, [shardings[number] for number in donated]),
        )

        def flat(*leaves: Any) -> tuple[Any, list[Any]]:
            measured, lanes = self.parts(self.function(*jax.tree.unflatten(structure, leaves)))
            return measured, jax.tree.leaves(lanes)

        program = read_program(file)
        if program is None:
            try:
                program = export.export(jit(flat), disabled_checks=OWN_KERNELS)(*leaves)
            except (ValueError, NotImplementedError):  # it contains what can't be stored
                return self.traced
            keep_program(file, program)
        compiled = jit(program.call, compiler_options=self.options).lower(*leaves).compile()

        def call(setup: TrainingSetup, lanes: Lane, *more: Any) -> Any:
            measured, advanced = compiled(*jax.tree.leaves((setup, lanes, *more)))
            return self.whole(lanes, measured, jax.tree.unflatten(jax.tree.structure(lanes), advanced))

        return call


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_program(file: Path) -> export.Exported | None:
    """A kept program; None if it is missing or damaged."""
    stored = _read(file)
    return None if stored is None else export.deserialize(bytearray(stored))


def keep_program(file: Path, program: export.Exported) -> None:
    """Let the next start find a program."""
    _keep(file, bytes(program.serialize()))


def known_metrics(setup: TrainingSetup) -> MetricShapes | None:
    """What learning measures, if an earlier start found it out."""
    file = file_for("metrics", setup)
    stored = None if file is None else _read(file)
    if stored is None:
        return None
    return tuple(tuple((name, tuple(shape), kind) for name, shape, kind in of_squad) for of_squad in json.loads(stored))


def keep_metrics(setup: TrainingSetup, metrics: MetricShapes) -> None:
    """Let the next start know what learning measures."""
    file = file_for("metrics", setup)
    if file is not None:
        _keep(file, json.dumps(metrics).encode())


def _read(file: Path) -> bytes | None:
    """What is kept in a file, behind its digest; None if it is missing or damaged."""
    try:
        content = read_plain(file, MOST_BYTES)
    except (OSError, Refused):
        return None
    digest, stored = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
    return stored if hashlib.sha256(stored).digest() == digest else None


def _keep(file: Path, stored: bytes) -> None:
    if runs_its_source():
        write_whole(file, hashlib.sha256(stored).digest() + stored)


def file_for(name: str, setup: TrainingSetup, made_for: str = "", *arguments: Any) -> Path | None:
    """Where something is kept that is traced from a setup and these arguments; None if it must not be kept."""
    cache_place, source = usable_cache(), source_at_start()
    if cache_place is None or source is None or jax.config.jax_disable_jit or not _can_be_kept(source):  # type: ignore[attr-defined,unused-ignore]
        return None
    try:
        described = _described(setup)
    except TypeError:
        return None
    leaves, structure = jax.tree.flatten(arguments)
    shapes = [f"{jax.typeof(leaf)} {_sharding(leaf)}" for leaf in (*jax.tree.leaves(setup), *leaves)]
    origin = json.dumps([name, made_for, described, shapes, str(structure), _surroundings(), _versions(), source])
    return cache_place / f"{name}-{hashlib.sha256(origin.encode()).hexdigest()[:32]}"


def _described(value: Any, is_static: bool = False) -> Any:
    """What a program is traced from, as data: of the numbers and arrays that are its arguments, only that they are.

    A TypeError for code of somebody else, which only itself could describe.
    """
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        if kind not in OURS and (issubclass(kind, FROM_ANYWHERE) or not kind.__module__.startswith("decentral.")):
            raise TypeError(f"{kind} is not of this library")
        inside = {
            one.name: _described(getattr(value, one.name), is_static or bool(one.metadata.get("static")))
            for one in fields(value)
            if (kind, one.name) != (Plan, "seed")  # programs are given their seeds
        }
        return [kind.__module__, kind.__qualname__, inside]
    if isinstance(value, tuple | list):
        return [_described(one, is_static) for one in value]
    if isinstance(value, dict):
        return {name: _described(one, is_static) for name, one in value.items()}
    if value is None or isinstance(value, str):
        return value
    if is_static and isinstance(value, bool | int | float):
        return repr(value)
    if not is_static and isinstance(value, bool | int | float | np.ndarray | jax.Array):
        return "argument"
    raise TypeError(f"{type(value)} can't be described")


def _shape(leaf: Any) -> Any:
    """What stands for an array where a program is lowered."""
    if not isinstance(leaf, jax.Array):
        return leaf
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=_sharding(leaf), weak_type=jax.typeof(leaf).weak_type)


def _sharding(leaf: Any) -> Any:
    """How an array is spread over several devices; None if it is on one."""
    sharding = getattr(leaf, "sharding", None)
    return sharding if sharding is not None and len(sharding.device_set) > 1 else None


def _surroundings() -> list[Any]:
    """The devices, and how JAX is configured."""
    options = {name: str(value) for name, value in jax.config.values.items() if "cache" not in name}
    return [jax.default_backend(), [device.device_kind for device in jax.devices()], options]


@cache
def _versions() -> dict[str, str | None]:
    """The versions of what traces a program."""
    return package_versions()


@cache
def _can_be_kept(source: str) -> bool:
    """Do programs come from this source, and can they be written?"""
    return runs_its_source() and find_spec("flatbuffers") is not None
