"""What is slow to make and easy to make again, kept in the user's cache directory: compiled programs, exact returns."""

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jax

import decentral.environments
from decentral.environments.base import BaseEnvironment
from decentral.plain_files import read_json, read_plain
from decentral.settings import as_data


def usable_cache() -> Path | None:
    """The cache directory, made if need be; nothing if there is none or it can't be written."""
    place = cache_directory(os.environ)
    return place if place is not None and _can_be_written(place) else None


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """Where the cache is, by the environment's variables; nowhere if it says `off` or knows no place."""
    asked = environment.get("DECENTRAL_CACHE_DIR", "")
    if asked == "off":
        return None
    if asked:
        return Path(asked).absolute()
    common = Path(environment.get("XDG_CACHE_HOME", ""))
    if not common.is_absolute():  # such a one does not count, says its specification
        home = environment.get("HOME", "")
        if not home:
            return None
        common = Path(home) / ".cache"
    return common / "decentral"


def _can_be_written(place: Path) -> bool:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)  # private: who can write there can run code here
    except OSError:
        return False
    return os.access(place, os.W_OK | os.X_OK)


FEWER_COPIES = {"xla_cpu_copy_insertion_use_region_analysis": True}  # a closer look at what a loop need not copy


def keep_compiled_programs() -> None:
    """From now on, store what is compiled and look there first. A cache that the user has given to JAX stays."""
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
def compiler_options() -> dict[str, bool] | None:
    """What a run's compiler is told on a CPU; nothing where XLA does not know it."""
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: 0, compiler_options=FEWER_COPIES)()
    except jax.errors.JaxRuntimeError:
        return None
    return FEWER_COPIES


MOST_BYTES = 2**24  # of stored returns, or of a source


def known_returns(environment: BaseEnvironment) -> dict[str, float]:
    """What `environment.references` answers, or answered in an earlier process."""
    place = usable_cache()
    if place is None or not type(environment).__module__.startswith(
        "decentral.environments."
    ):  # whose code we can't see
        return environment.references()
    file = place / f"references-{_fingerprint(environment)}.json"
    try:
        return {name: float(value) for name, value in read_json(file, MOST_BYTES).items()}
    except (ValueError, TypeError, AttributeError):  # not there yet, or not what was written
        found = environment.references()
    _write(file, json.dumps(found))
    return found


def _fingerprint(environment: BaseEnvironment) -> str:
    """Changes with the environment's settings and with any word of the environments' code."""
    digest = hashlib.sha256(json.dumps([type(environment).__qualname__, as_data(environment)]).encode())
    for file in sorted(Path(decentral.environments.__path__[0]).rglob("*.py")):
        digest.update(read_plain(file, MOST_BYTES, follow=True))  # an installed package may be made of links
    return digest.hexdigest()[:32]


def _write(file: Path, text: str) -> None:
    """All of it or nothing, so that no other process reads a half."""
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_text(text)
        unfinished.replace(file)
    except OSError:  # a full disk: without
        unfinished.unlink(missing_ok=True)
