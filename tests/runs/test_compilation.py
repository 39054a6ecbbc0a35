"""Compiled programs are kept between processes, and never in the way."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import decentral
from decentral.configs.config import resolve
from decentral.inspection import crossplay, values
from decentral.runs import caches as compilation
from decentral.runs import lanes as lane_batch
from decentral.runs import runner, trained
from decentral.runs.caches import compiler_options, keep_compiled_programs
from tests.small_runs import QUICK, SMALL, small_run

pytestmark = pytest.mark.xdist_group("compilation")  # a process forgets its programs here: not where others share them

DOUBLE = """
import jax
from decentral.runs.caches import keep_compiled_programs
found = []
jax.monitoring.register_event_listener(lambda event, **_: found.append(event) if "cache_hits" in event else None)
keep_compiled_programs()
print(jax.jit(lambda number: 2 * number)(21), len(found))
"""


@pytest.fixture
def no_cache():
    """JAX without a cache, as users have it, for the length of a test."""
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    yield
    jax.config.update("jax_compilation_cache_dir", before)


def test_off_is_off(monkeypatch, no_cache):
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", "off")
    keep_compiled_programs()
    assert jax.config.jax_compilation_cache_dir is None


def test_a_place_that_cannot_be_written_is_no_cache_and_no_failure(monkeypatch, no_cache, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", str(tmp_path / "file" / "inside"))
    keep_compiled_programs()
    assert jax.config.jax_compilation_cache_dir is None


def test_a_cache_that_the_user_gave_to_jax_stays(monkeypatch, tmp_path):
    before = jax.config.jax_compilation_cache_dir  # the tests' own
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", str(tmp_path))
    keep_compiled_programs()
    assert jax.config.jax_compilation_cache_dir == before and before != str(tmp_path)


def double_in_a_fresh_process(cache):
    """Twice 21 and how many programs were found in the cache; whatever else is printed comes after."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JAX_")}
    environment["DECENTRAL_CACHE_DIR"] = str(cache)
    done = subprocess.run([sys.executable, "-c", DOUBLE], capture_output=True, text=True, check=True, env=environment)
    return done.stdout + done.stderr


def test_a_second_process_finds_what_the_first_compiled_and_a_broken_entry_goes_unnoticed(tmp_path):
    assert double_in_a_fresh_process(tmp_path) == "42 0\n"
    (stored,) = tmp_path.glob("programs/*")
    assert double_in_a_fresh_process(tmp_path) == "42 1\n"
    stored.write_bytes(b"nonsense")
    assert double_in_a_fresh_process(tmp_path) == "42 0\n"


class Kept(Exception):
    """Raised in the place of `keep_compiled_programs`: so far, nothing was compiled."""


@pytest.mark.parametrize(
    ("module", "work"),
    [
        (runner, lambda: decentral.train("iql", "matrix-game", progress=False)),
        (trained, lambda: small_run("iql").evaluate()),
        (crossplay, lambda: decentral.crossplay([small_run("iql").path])),
        (values, lambda: values.value_tables(trained.Trained.load(small_run("iql").directory))),
    ],
)
def test_whatever_compiles_keeps_it(monkeypatch, tmp_path, module, work):
    def kept():
        raise Kept

    small_run("iql")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "keep_compiled_programs", kept)
    with pytest.raises(Kept):
        work()


@pytest.fixture
def fresh_programs():
    """Whatever was compiled before is compiled again within the test, and after it."""
    for kept in (compiler_options, lane_batch.programs):
        kept.cache_clear()
    yield
    for kept in (compiler_options, lane_batch.programs):
        kept.cache_clear()


def test_options_that_xla_does_not_know_are_left_out(monkeypatch, fresh_programs):
    monkeypatch.setitem(compilation.OPTIONS, "cpu", {"xla_cpu_no_such_option": True})
    assert compiler_options() is None


def test_a_flag_of_the_user_stands(monkeypatch, fresh_programs):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_copy_insertion_use_region_analysis=false")
    assert compiler_options() is None


def test_no_product_of_a_run_on_a_gpu_is_chosen_by_its_time(monkeypatch, fresh_programs):
    seen = []
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(jax, "jit", lambda *_, **named: seen.append(named.get("compiler_options")) or (lambda: 0))
    lane_batch.programs(lane_batch.Placement(), False)
    options = {"xla_gpu_autotune_level": 0, "xla_gpu_enable_triton_gemm": False}
    assert seen.count(options) == 1 + 4  # the trial, then turns without and with learning, tests and references


def test_fewer_copies_change_no_number(monkeypatch, fresh_programs):
    setup = resolve("iql", "matrix-game", SMALL, {}, QUICK | {"seeds": 2}).setup

    def trained():
        training = lane_batch.LaneBatch.start(setup)
        training.advance(12)
        return jax.tree.leaves(training.lanes.agents[0].online)

    assert compiler_options() is not None
    with_fewer = trained()
    lane_batch.programs.cache_clear()
    monkeypatch.setattr(lane_batch, "compiler_options", lambda: None)
    for own, plain in zip(with_fewer, trained(), strict=True):
        np.testing.assert_array_equal(own, plain)
