"""Lowered programs are kept between the starts of a command, and found only by what they were made from."""

import os
import subprocess
import sys
from concurrent.futures import Future
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from decentral import source
from decentral.algorithms.iql import IQL
from decentral.cli import command, main
from decentral.configs.config import resolve
from decentral.environments.matrix_game import MatrixGame
from decentral.runs import kept, lanes
from decentral.runs.lanes import LaneBatch, programs
from decentral.source import code_may_change, source_at_start, unchanged_code
from decentral.training.loop import begin, turns
from decentral.training.setup import TrainingSetup
from tests.small_runs import QUICK, SMALL

pytestmark = pytest.mark.xdist_group("compilation")  # a process forgets its programs here: not where others share them


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A cache of the test's own, in a process that has no program yet."""
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", str(tmp_path))
    for made in (programs, kept._can_be_kept):
        made.cache_clear()
    yield tmp_path
    for made in (programs, kept._can_be_kept):
        made.cache_clear()


def setup_with(algorithm=(), environment=(), **training):
    return resolve(
        "iql", "matrix-game", SMALL | dict(algorithm), dict(environment), QUICK | {"batch_episodes": 4} | training
    ).setup


def trained(setup, prepared=lambda lane_batch: None):
    """All that a short run computes: what its tests measure, and its lanes in the end."""
    programs.cache_clear()
    LaneBatch.describe(setup)
    lane_batch = LaneBatch.start(setup)
    prepared(lane_batch)
    measured = [lane_batch.test()]
    lane_batch.advance(12)
    measured.append(lane_batch.test())
    states = jax.tree.map(lambda leaf: jax.random.key_data(leaf) if is_key(leaf) else leaf, lane_batch.lanes)
    return jax.tree.map(np.asarray, (measured, states))


def is_key(leaf):
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def refuse_to_trace(*_, **__):
    raise AssertionError("traced")


def never_traced(monkeypatch):
    """From here on neither play nor learning can be traced."""
    for name in ("turns", "evaluate_lane"):
        monkeypatch.setattr(lanes, name, refuse_to_trace)
    monkeypatch.setattr("decentral.training.loop._metrics_of_an_update", refuse_to_trace)


def test_the_next_start_traces_nothing_and_computes_the_same(monkeypatch, cache):
    setup = setup_with(seeds=2, diagnostics=True)
    outside = trained(setup)
    assert list(cache.iterdir()) == []  # only commands keep anything
    with unchanged_code():
        first = trained(setup)
        assert sorted(file.name.split("-")[0] for file in cache.iterdir()) == [
            "learning",
            "metrics",
            "playing",
            "testing",
        ]
        never_traced(monkeypatch)
        second = trained(setup)
        third = trained(setup, LaneBatch.prepare)
    with pytest.raises(AssertionError, match="traced"):
        trained(setup)
    for results in (first, second, third):
        assert jax.tree.structure(results) == jax.tree.structure(outside)
        for own, other in zip(jax.tree.leaves(results), jax.tree.leaves(outside), strict=True):
            np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(("cores", "fails"), [(2, False), (4, False), (4, True)])
def test_learning_is_made_ready_in_the_background_if_it_was_kept_or_cores_are_to_spare(
    monkeypatch, cache, cores, fails
):
    def prepare(lane_batch):
        lane_batch.prepare()
        learning = lane_batch.programs.prepare_learning.__self__
        waiting.append(len(learning.coming))
        for coming in learning.coming.values():
            assert fails == (coming.exception() is not None)
        made.append(learning.ready)

    setup, waiting, made, failed = setup_with(steps=100), [], [], Future()
    failed.set_exception(OSError("no memory"))
    monkeypatch.setattr(kept, "usable_cores", lambda: cores)
    if fails:
        monkeypatch.setattr(kept, "BACKGROUND", SimpleNamespace(submit=lambda make: failed))
    with unchanged_code():
        first, second = trained(setup, prepare), trained(setup, prepare)
        trained(setup_with(steps=2), prepare)
    assert waiting == [int(cores == 4), 1, 0] and [len(ready) for ready in made] == [1, 1, 1]
    for own, other in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-9],
        lambda content: content[:40] + b"?" + content[41:],
        lambda content: content.replace(b"loss", b"lost"),
    ],
)
def test_what_is_damaged_counts_as_missing(cache, damage):
    metrics = ((("loss", (2,), "float32"),),)
    program = export.export(jax.jit(lambda loss: {"loss": loss}))(1.0)
    with unchanged_code():
        setup = setup_with()
        file = cache / "program"
        kept.keep_program(file, program)
        kept.keep_metrics(setup, metrics)
        assert kept.read_program(file) is not None and kept.known_metrics(setup) == metrics
        for stored in cache.iterdir():
            stored.write_bytes(damage(stored.read_bytes()))
        assert kept.read_program(file) is None and kept.known_metrics(setup) is None


def place(setup, *more):
    with unchanged_code():
        return kept.file_for("learning", setup, *more)


@pytest.mark.parametrize(
    "same",
    [
        {"algorithm": {"learning_rate": 0.5}},  # numbers are arguments of a program
        {"environment": {"payoff": [[3.0, 0.0, 1.0], [0.0, 2.0, 1.0], [5.0, 5.0, 1.0]]}},
        {"seed": 7},
    ],
)
def test_a_program_is_found_for_other_numbers(cache, same):
    assert place(setup_with(**same)) == place(setup_with()) is not None


@pytest.mark.parametrize(
    "other", [{"algorithm": {"hidden": 17}}, {"epsilon_steps": 9}, {"seeds": 3}, {"algorithm": {"double_q": False}}]
)
def test_a_program_is_not_found_for_other_settings(cache, other):
    assert None is not place(setup_with(**other)) != place(setup_with()) is not None


def test_a_program_is_not_found_for_other_arguments(cache):
    setup = setup_with()
    some = [(), ("on one device",), ("", np.zeros(3)), ("", np.zeros(4)), ("", np.zeros(3, np.int8)), ("", (0.0, None))]
    assert len({place(setup, *arguments) for arguments in some}) == len(some)


def test_a_program_is_not_found_after_a_change_of_code_versions_or_configuration(monkeypatch, cache):
    found = [place(setup_with())]
    with jax.default_matmul_precision("float32"):
        found.append(place(setup_with()))
    monkeypatch.setattr(source, "source_tree", lambda _: "another")
    found.append(place(setup_with()))
    monkeypatch.setattr(kept, "_versions", dict)
    found.append(place(setup_with()))
    assert None not in found and len(set(found)) == len(found)


def test_nothing_is_kept_if_a_file_is_edited_while_a_command_starts(monkeypatch, cache):
    sources = iter(["read at the start", "edited"])
    monkeypatch.setattr(source, "source_tree", lambda _: next(sources))
    assert place(setup_with()) is None


def test_nothing_is_kept_that_was_traced_before_an_edit(monkeypatch, cache):
    with unchanged_code():
        setup = setup_with()
        assert kept.file_for("metrics", setup) is not None
        monkeypatch.setattr(source, "source_tree", lambda _: "edited")
        kept.keep_metrics(setup, ((("loss", (2,), "float32"),),))
    assert list(cache.iterdir()) == []


def test_nothing_is_kept_of_what_cannot_be_recognised(monkeypatch, cache):
    class Mine(MatrixGame):
        pass

    class MyIQL(IQL):
        pass

    setup = setup_with()
    mine = TrainingSetup.alike(setup.team.squads[0].algorithm, Mine(), setup.plan)
    my_algorithm = TrainingSetup.alike(MyIQL(), setup.environment, setup.plan)
    assert place(mine) is None and place(my_algorithm) is None
    with jax.disable_jit(), unchanged_code():
        assert kept.file_for("learning", setup) is None
    with unchanged_code():
        code_may_change()  # as before a module of the user's is imported
        assert kept.file_for("learning", setup) is None
    monkeypatch.setattr(source, "source_tree", lambda _: None)
    assert place(setup) is None
    monkeypatch.undo()
    monkeypatch.setattr(source, "__file__", source.__file__ + "c")
    kept._can_be_kept.cache_clear()
    assert place(setup) is None


def test_no_program_reads_the_seed_of_the_plan():
    def traced(seed):
        setup = setup_with(seed=seed)
        lane = jax.eval_shape(lambda: begin(setup, 0))
        return str(jax.make_jaxpr(lambda lane: turns(setup, lane, 2, True))(lane))

    assert traced(0) == traced(5)


@pytest.mark.parametrize("start, is_unchanged", [(command, True), (main, False)])
def test_code_is_unchanged_in_a_process_of_the_command_alone(monkeypatch, start, is_unchanged):
    seen = []
    monkeypatch.setattr(sys, "argv", ["decentral", "list"])
    monkeypatch.setattr(sys.modules["decentral.cli.main"], "_run", lambda *_: seen.append(source_at_start()))
    start()
    assert [told is not None for told in seen] == [is_unchanged] and source_at_start() is None


@pytest.mark.long
@pytest.mark.parametrize("seeds", [1, 2], ids=["agents on two devices", "seeds on two devices"])
def test_a_command_on_two_devices_computes_the_same(tmp_path, seeds):
    command = ["train", "dac", "predator-prey", "--seeds", str(seeds), "--steps", "1200"]
    settings = ["--training.batch-episodes", "4", "--training.test-interval", "400", "--algorithm.hidden", "8"]
    for name, cache in (("off", "off"), ("first", str(tmp_path / "cache")), ("second", str(tmp_path / "cache"))):
        surroundings = os.environ | {"JAX_NUM_CPU_DEVICES": "2", "DECENTRAL_CACHE_DIR": cache}
        out = ["--out", str(tmp_path / name)]
        subprocess.run([sys.executable, "-m", "decentral", *command, *settings, *out], env=surroundings, check=True)
    without = (tmp_path / "off" / "metrics.jsonl").read_text()
    assert {(tmp_path / name / "metrics.jsonl").read_text() for name in ("first", "second")} == {without}
    assert sum(1 for file in (tmp_path / "cache").iterdir() if file.name.startswith("learning-")) == 1
