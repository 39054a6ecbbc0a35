"""What generated command lines and files are made of, and how far a command goes with them: to the resolved request."""

import contextlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from decentral.cli import main
from decentral.cli.commands import COMMANDS
from decentral.configs.config import resolve
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.registry import ENVIRONMENTS
from decentral.settings import setting_fields
from decentral.training.parameters import as_arrays
from decentral.training.plan import Plan
from decentral.training.squads.separate import LearningSchedule
from tests.patching import patch

MANY = os.environ.get("DECENTRAL_FUZZ_EXAMPLES")  # how many examples of each, instead of a few that never change
FEW = 60

# Where the work of a command would begin.
WORK = (
    "decentral.api.train.run_config",
    "decentral.api.resume.resume_run",
    "decentral.api.train.resume_in_place",
    "decentral.api.resume.resume_arena",
    "decentral.api.arena.run_arena",
    "decentral.api.arena.resume_arena",
    "decentral.api.watch.film",
    "decentral.inspection.learned_summary.learned_summary",
    "decentral.bundles.export.record",
    "decentral.api.probe._play_every_policy",
    "decentral.api.check_env.examine",
    "decentral.api.check_battles.record_game",
    "decentral.sweeps.comparison.run",
    "decentral.api.sweep.train_grid",
    "decentral.api.compare_suite.train_grid",
    "decentral.sweeps.units.SweepUnit.prepare",
    "decentral.benchmarking.benchmark.Benchmark.run",
    "decentral.runs.trained._PLAY",
    "decentral.inspection.crossplay._PLAY",
    "decentral.verification.audit.audit.retrain_with_log",
    "decentral.api.audit.audit_messages",
    "decentral.api.values.value_tables",
    "decentral.reproduction.record.Record.of_piece",
    "decentral.environments.registry.PredatorPrey.references",
    "decentral.api.oracle.hunt_returns",
    "decentral.analysis.plots.curves.plot_curves",
    "decentral.analysis.plots.diagnostics.plot_diagnostics",
)


class Reached(BaseException):
    """The request was understood: here the work would begin."""


def fuzzed(test):
    """A few hundred examples that never change, or as many new ones as the environment says."""
    how_many = int(MANY) if MANY else FEW
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(
        max_examples=how_many, derandomize=not MANY, deadline=None, database=None, suppress_health_check=slow
    )(test)


@pytest.fixture(scope="module", name="no_work")
def no_work_fixture(tmp_path_factory):
    """Nothing is trained, played or drawn, and what is written goes to a new directory, where `run` is a run."""

    def stop(*_, **__):
        raise Reached

    with pytest.MonkeyPatch.context() as patched:
        for place in WORK:
            patch(patched, place, stop)
        patched.chdir(tmp_path_factory.mktemp("fuzz"))
        untrained_run(Path("run"))
        yield


def untrained_run(path):
    """The directory of a run, as if it had been trained: a hunt if it is called so, else a matrix game."""
    hunts = path.name.endswith("predator-prey")
    config = resolve("iql", "predator-prey" if hunts else "matrix-game", {"hidden": 2}, None, {"steps": 10})
    member, environment = config.members[0], config.setup.environment
    (path / "agents" / "seed-0").mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config.as_data() | {"references": {}}))
    row = {"seed": 0, "step": 10, "episode": 10, "test_return_mean": 0.0, "test_return_std": 0.0}
    (path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    networks = {name: np.zeros_like(leaf) for name, leaf in as_arrays(member.algorithm.build(environment.spec)).items()}
    for place in range(2):
        save_file(networks, path / "agents" / "seed-0" / f"agent-{place}.safetensors")


def outcome(*words):
    """How a command line ends: its exit code (0 where the work would begin), what it printed and complained about."""
    out, err = _stream("strict"), _stream("backslashreplace")  # as a program has them
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as stop:
            code = stop.code
        except Reached:
            pass
    return code, _printed(out), _printed(err)


def _stream(errors):
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors, newline="")


def _printed(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()


def assert_understood_or_refused_in_one_line(words):
    """Nothing breaks: the request is met, or refused in one line with exit code 2."""
    code, _, err = outcome(*words)
    assert code in (0, 2), (words, code, err)
    if code == 2:
        assert err.startswith("decentral") and err.count("\n") == 1 and err.endswith("\n"), (words, err)
        assert len(err) < 2000, words


def flags_of(*kinds, prefixes=("",)):
    """The flags of the settings of some classes."""
    fields = {field.name for kind in kinds for field in setting_fields(kind)}
    return sorted(f"--{prefix}{name}" for prefix in prefixes for name in fields)


FLAGS = "--seeds --steps --seed --agents --agent --config --out --runs --episodes --penalty --track --live --list"
FLAGS += " --resume --format --environment --checkpoints.keep --diagnostics --scale --only --redraw --claims --against"
FLAGS += " --turns --repeats --window --contexts --help -h -- - --- --= -steps --Steps --training --training."
FLAGS += " --algorithm.name --log-messages --messages --arena.wait --collect --minutes"
NUMBERS = "nan NaN inf -inf 1e400 -1e400 1e-320 1e300 -1 -0 0 1 2 0.5 3e6 2147483647 2147483648 0x10 1_000 1,2 ٣ ½ ²"
DATA = 'true no None null [[1,2],[3,4]] [[1,2],[3]] {} [] "a" [[NaN]] [1e999] %s %(prog)s {0} \udcff 🦊'
RUNS = "run run/config.json . frozen:run frozen: frozen:run:0:1 frozen:run:9 frozen:run:0:0:0 dac,frozen:run"
WORDS = "iql,iql iql, , torch table-1 quick full Q"
ENDLESS = ("9" * 30, "9" * 4000, "9" * 5000, "-" + "9" * 30, "[" * 3000, "a" * 5000, "é" * 300)
ODD_VALUES = (
    *("", " ", "a\nb", *ENDLESS, *NUMBERS.split(), *DATA.split(), *RUNS.split(), *WORDS.split()),
    *(*EVERY_ALGORITHM, *ENVIRONMENTS),
)
letters = st.characters(exclude_characters="\0/")  # neither can stand in a name; lone surrogates are bytes of no text
values = st.one_of(
    st.sampled_from(ODD_VALUES),
    st.text(letters, max_size=12),
    st.integers().map(str),
    st.floats().map(repr),
)
any_flag = st.one_of(
    st.sampled_from(FLAGS.split()),
    st.sampled_from(
        flags_of(*EVERY_ALGORITHM.values(), LearningSchedule, prefixes=("", "algorithm.", "agents.0.", "agents.1."))
    ),
    st.text("-abcstep.", max_size=8).map("--".__add__),
)
any_names = st.lists(st.sampled_from((*EVERY_ALGORITHM, *ENVIRONMENTS, "run", "iql,dac", "table-1")), max_size=2)


def parts_with(flags):
    """A flag with a value in either form, without one, or a value alone."""
    pair = st.tuples(flags, values)
    return st.one_of(
        pair.map(list),
        pair.map(lambda both: [f"{both[0]}={both[1]}"]),
        st.tuples(flags).map(list),
        st.tuples(values).map(list),
    )


@st.composite
def command_lines(draw):
    """A command, mostly with the names that it asks for, and flags, mostly its own, with values of all kinds."""
    names = [draw(st.sampled_from(list(EVERY_ALGORITHM))), draw(st.sampled_from(list(ENVIRONMENTS)))]
    own = flags_of(EVERY_ALGORITHM[names[0]], prefixes=("algorithm.",))
    own += flags_of(ENVIRONMENTS[names[1]], prefixes=("environment.",)) + flags_of(Plan, prefixes=("training.",))
    said = draw(st.lists(parts_with(st.sampled_from(own)), max_size=3) | st.lists(parts_with(any_flag), max_size=3))
    command = draw(st.sampled_from(list(COMMANDS)) | st.sampled_from(["train", "show", "sweep", "compare"]))
    return [command, *(names if draw(st.booleans()) else draw(any_names)), *(word for part in said for word in part)]
