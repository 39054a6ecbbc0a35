"""Keeps compiled programs on disk, so that the same training starts at once the next time.

They go to the user's cache directory; `DECENTRAL_CACHE_DIR` names another one, or is `off`. A cache that the user has
given to JAX is left alone. The cache can be deleted at any time and never makes a run fail.
"""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import jax


def keep_compiled_programs() -> None:
    """From now on, store what is compiled and look there first; call it before compiling."""
    if jax.config.jax_compilation_cache_dir is not None:
        return
    place = cache_directory(os.environ)
    if place is None or not _can_be_written(place):
        return
    jax.config.update("jax_compilation_cache_dir", str(place))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    # An entry that can't be read or written costs a compilation, which is nothing to warn of.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """Where compiled programs go, by the environment's variables; nowhere if it says `off` or knows no place."""
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
