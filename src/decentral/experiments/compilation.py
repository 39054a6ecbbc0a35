"""How programs are compiled, and where they are kept, so that the same training starts sooner the next time.

Neither makes a run fail, nor changes a number of it.
"""

import warnings
from functools import cache

import jax

from decentral.experiments.cache import usable_cache

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
    """What a training's compiler is told on a CPU; nothing where XLA does not know it."""
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: 0, compiler_options=FEWER_COPIES)()
    except jax.errors.JaxRuntimeError:
        return None
    return FEWER_COPIES
