"""The user's cache directory, for what is slow to compute: compiled programs and exact returns."""

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import jax

import decentral.environments
from decentral.environments.base import BaseEnvironment
from decentral.environments.inheritance import holds_of
from decentral.plain_files import read_json, read_plain
from decentral.settings import as_data


def usable_cache() -> Path | None:
    """The cache directory, created if missing; None if there is none or it can't be written."""
    place = cache_directory(os.environ)
    return place if place is not None and _can_be_written(place) else None


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """Where the cache is, by the environment variables; None if they say `off` or give no place."""
    setting = environment.get("DECENTRAL_CACHE_DIR", "")
    if setting == "off":
        return None
    if setting:
        return Path(setting).absolute()
    common = Path(environment.get("XDG_CACHE_HOME", ""))
    if not common.is_absolute():  # the XDG specification says to ignore relative paths
        home = environment.get("HOME", "")
        if not home:
            return None
        common = Path(home) / ".cache"
    return common / "decentral"


def _can_be_written(place: Path) -> bool:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)  # private: whoever can write there can run code here
    except OSError:
        return False
    return os.access(place, os.W_OK | os.X_OK)


OPTIONS: dict[str, dict[str, bool | int]] = {  # of XLA, by the kind of device
    "cpu": {"xla_cpu_copy_insertion_use_region_analysis": True},  # a finer analysis of what a loop need not copy
    "gpu": {
        "xla_gpu_autotune_level": 0,  # products are not chosen by timing them, which differs from start to start
        "xla_gpu_enable_triton_gemm": False,  # untimed, XLA's own products are slower than cuBLAS's
    },
}


def keep_compiled_programs() -> None:
    """Turn on JAX's persistent compilation cache, unless the user has set one."""
    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined,unused-ignore]
        return
    place = usable_cache()
    if place is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(place / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    # An entry that can't be read or written costs a compilation, which is nothing to warn of.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")


@cache
def compiler_options() -> dict[str, bool | int] | None:
    """The compiler options of a run on this kind of device; None where XLA does not know them, or was given them."""
    options = OPTIONS.get(jax.default_backend(), {})
    if any(name in os.environ.get("XLA_FLAGS", "") for name in options):
        return None
    try:
        jax.jit(lambda: 0, compiler_options=options)()
    except jax.errors.JaxRuntimeError:
        return None
    return options


MOST_BYTES = 2**24  # of stored returns, or of a source


def known_returns(environment: BaseEnvironment) -> dict[str, float]:
    """The result of `environment.references`, cached across processes; none for rules that it does not speak of."""
    if not holds_of(environment, "references"):
        return {}
    place = usable_cache()
    if place is None or not type(environment).__module__.startswith(
        "decentral.environments."
    ):  # a change of their code would go unnoticed
        return environment.references()
    file = place / f"references-{_fingerprint(environment)}.json"
    try:
        return {name: float(value) for name, value in read_json(file, MOST_BYTES).items()}
    except (ValueError, TypeError, AttributeError):  # missing or damaged
        returns = environment.references()
    write_whole(file, json.dumps(returns).encode())
    return returns


def _fingerprint(environment: BaseEnvironment) -> str:
    """A digest of the environment's settings and of the source of all environments."""
    digest = hashlib.sha256(json.dumps([type(environment).__qualname__, as_data(environment)]).encode())
    for file in sorted(Path(decentral.environments.__path__[0]).rglob("*.py")):
        digest.update(read_plain(file, MOST_BYTES, follow=True))  # an installed package may be made of links
    return digest.hexdigest()[:32]


def write_whole(file: Path, content: bytes) -> None:
    """Write a file of the cache atomically, so that no other process reads half of it."""
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(file)
    except OSError:  # a full disk, for example: go without
        with suppress(OSError):
            unfinished.unlink()
