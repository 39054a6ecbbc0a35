"""Shapes are checked at run time in every test, and no array may gain an axis by accident."""

import functools
import gc
import os
import signal
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

# Started by `nohup` or in the background these are ignored, and so they would be by all that the tests start.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

# Most of the tests' time goes into compiling small programs: compile them less hard, and each only once.
FLAGS = ["--xla_backend_optimization_level=1"]
# Passes of XLA that check its own work, or help programs alone that run for longer than they take to compile.
LEFT_OUT = ("hlo-verifier", "tree_reduction_rewriter", "while-loop-invariant-code-motion", "small-while-loop-hoisting")
FLAGS.append(f"--xla_disable_hlo_passes={','.join(LEFT_OUT)}")
if version("jaxlib").startswith("0.10."):  # a flag that later versions don't know ends the process
    FLAGS.append("--xla_cpu_use_fusion_emitters=false")
    FLAGS.append("--xla_cpu_parallel_codegen_split_count=1")  # both cores are busy: in parts it takes 7% more
os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *FLAGS])

# In variables, so that the processes that tests start share it.
_run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))  # the same for all workers of one run of the tests
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"decentral-tests-{_run}")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.2"

os.environ["XDG_CONFIG_HOME"] = os.environ["JAX_COMPILATION_CACHE_DIR"] + "-config"  # and nobody's own is touched

os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"  # nobody reads where a program's operations were written

os.environ["JAX_NUM_CPU_DEVICES"] = "1"  # the workers of pytest share the cores already

from jaxtyping import install_import_hook  # noqa: E402 (the flags come first)

# Host environments are stepped in Python: where no shape is named, checking every call takes longer than the steps.
SOURCES = Path(__file__).parents[1] / "src" / "decentral"
ENVIRONMENTS = [
    ".".join(file.relative_to(SOURCES).with_suffix("").parts)
    for file in sorted((SOURCES / "environments").rglob("*.py"))
    if "jaxtyping" in file.read_text()
]
CHECKED = (
    *ENVIRONMENTS,
    "networks",
    "algorithms",
    "centralised",
    "training",
    "runs.lanes",
    "verification.audit",
    "types",
)
install_import_hook([f"decentral.{name}" for name in (*CHECKED, "types")], "beartype.beartype")

import jax  # noqa: E402 (the hook comes first)
from jax._src import pjit  # noqa: E402
from jax._src.interpreters import mlir, pxla  # noqa: E402

jax.config.update("jax_numpy_rank_promotion", "raise")
os.environ["DECENTRAL_CACHE_DIR"] = "off"  # the tests leave nothing in the user's

# Tracing makes very many objects, few of them in cycles: to look for cycles as often as usual takes 6% of the time.
gc.set_threshold(100_000)


# What takes long goes first, so that no worker is left with it in the end, when the others have nothing to do.
SMALL_RUNS = "small runs"
FIRST = (SMALL_RUNS, "tests/test_adding_pages.py", "tests/test_tutorials.py", "tests/runs/test_placement.py", "leaks")


def pytest_configure(config):
    config.option.loadscopereorder = False  # groups are handed out in the order of their tests


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker runs a file: else each would compile its programs and train its runs. So with all who share a run."""
    groups = {}
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is None:
            mark = pytest.mark.xdist_group(SMALL_RUNS if "small_run" in vars(item.module) else item.location[0])
            item.add_marker(mark)
        groups[item] = mark.args[0]
    items.sort(key=lambda item: groups[item] not in FIRST)


def pytest_collection_finish():
    """What was imported lives as long as the process: it need not be looked through again and again."""
    gc.collect()
    gc.freeze()


MOST_MAPPINGS = 20_000  # of memory: Linux allows a process 65,530, a compiled program takes several
LOWERED = [getattr(pjit, "_pjit_lower", None), getattr(pxla, "_cached_lowering_to_hlo", None)]  # JAX's, of each program
if hasattr(mlir, "make_ir_context"):  # making one takes longer than writing a small program in it: one for a module
    mlir.make_ir_context = functools.cache(mlir.make_ir_context)
    LOWERED.append(mlir.make_ir_context)


@pytest.fixture(scope="module", autouse=True)
def forget_programs():
    """Let go of what programs were compiled from: the more of it a process holds, the longer each new one takes.

    Of the programs too when there are very many: at the limit, the next one would crash the process.
    """
    yield
    for kept in LOWERED:
        if kept is not None:
            kept.cache_clear()
    mappings = Path("/proc/self/maps")
    if mappings.exists() and mappings.read_bytes().count(b"\n") > MOST_MAPPINGS:
        jax.clear_caches()
        gc.collect()
