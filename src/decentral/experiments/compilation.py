"""Keeps compiled programs on disk, so that the same training starts sooner the next time. It never makes a run fail."""

import warnings

import jax

from decentral.experiments.cache import usable_cache


def keep_compiled_programs() -> None:
    """From now on, store what is compiled and look there first. A cache that the user has given to JAX stays."""
    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    place = usable_cache()
    if place is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(place / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    # An entry that can't be read or written costs a compilation, which is nothing to warn of.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")
