"""Generated command lines and configuration files, through the real parser: nothing that is asked for breaks anything.

A few hundred that never change; `DECENTRAL_FUZZ_EXAMPLES=5000` makes as many new ones of each kind.
"""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.registry import ENVIRONMENTS
from decentral.settings import allowed, setting_fields
from decentral.training.plan import Plan
from tests.cli.fuzzing import (
    ODD_VALUES,
    assert_understood_or_refused_in_one_line,
    command_lines,
    fuzzed,
    no_work_fixture,  # noqa: F401
    outcome,
)
from tests.patching import patch

pytestmark = pytest.mark.usefixtures("no_work")
LEARNABLE = [name for name in ENVIRONMENTS if name != "switching-wind"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(ODD_VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@fuzzed
@given(command_lines())
def test_a_command_line_is_understood_or_refused_in_one_line(words):
    assert_understood_or_refused_in_one_line(words)


@st.composite
def faults(draw):
    """An algorithm and an environment, one of their settings that has a type, and a text that it does not take."""
    algorithm, environment = draw(st.sampled_from(list(EVERY_ALGORITHM))), draw(st.sampled_from(LEARNABLE))
    kinds = {"algorithm": EVERY_ALGORITHM[algorithm], "environment": ENVIRONMENTS[environment], "training": Plan}
    group = draw(st.sampled_from(list(kinds)))
    field = draw(st.sampled_from([f for f in setting_fields(kinds[group]) if not f.metadata["has_converter"]]))
    beyond = [f"{field.metadata[key] - 1}" for key in ("at_least", "above") if field.metadata[key] is not None]
    beyond += [f"{field.metadata[key] + 1}" for key in ("at_most", "below") if field.metadata[key] is not None]
    form, _ = field.metadata["form"] or ("", "")  # an empty one takes nothing that is tried here but the empty text
    texts = [*beyond, "nan", "inf", "-inf", "", "x", "maybe", "[1]", "9" * 400, "é"]
    wrong = draw(st.sampled_from([text for text in texts if not (form and re.fullmatch(form, text))]))
    return algorithm, environment, group, field, wrong


@fuzzed
@given(faults())
def test_a_refusal_names_key_value_and_what_is_allowed(fault):
    algorithm, environment, group, field, wrong = fault
    code, _, err = outcome("train", algorithm, environment, f"--{group}.{field.name}={wrong}")
    assert code == 2 and err.count("\n") == 1
    assert f"{group}.{field.name} must be {allowed(field)}" in err
    shown = err.rpartition(", got ")[2].strip().strip("'")
    if len(shown) > 35 and shown.endswith("..."):  # long ones are cut, numbers once they are written out
        assert wrong.startswith(shown[:-3]) or str(int(float(wrong))).startswith(shown[:-3])
    else:
        assert shown == wrong or float(shown) == float(wrong)


@fuzzed
@given(faults(), json_values, st.booleans())
def test_a_file_is_data_in_the_same_schema(fault, value, named):
    """Any value of JSON for a setting, in a file: refused in one line, by key and what is allowed, or of its type."""
    algorithm, environment, group, field, _ = fault
    content = {"algorithm": {"name": algorithm}, "environment": {"name": environment}, "training": {}}
    content[group] = content[group] | {field.name: value}
    Path("c.json").write_text(json.dumps(content))
    code, out, err = outcome("show", *([algorithm, environment] if named else []), "--config", "c.json")
    assert code in (0, 2) and err.count("\n") == (code == 2)
    if not is_json(content):
        assert "is no number of JSON" in err
    elif code == 2:
        assert f"{group}.{field.name} must be {allowed(field)}" in err or "must be at most" in err
    else:
        assert json.loads(out)[group][field.name] == value
        assert_the_same_from_its_own_configuration(out)


def is_json(content):
    """Whether all numbers are finite: Python writes others too."""
    try:
        json.dumps(content, allow_nan=False)
    except ValueError:
        return False
    return True


def assert_the_same_from_its_own_configuration(shown):
    Path("again.json").write_text(shown)
    assert outcome("show", "--config", "again.json") == (0, shown, "")


@fuzzed
@given(
    st.dictionaries(
        st.text(max_size=8) | st.sampled_from(["algorithm", "agents", "environment", "training"]), json_values
    )
)
def test_a_file_of_any_json_is_understood_or_refused_in_one_line(content):
    Path("any.json").write_text(json.dumps(content))
    for words in (["--config", "any.json"], ["iql", "matrix-game", "--config", "any.json"]):
        assert_understood_or_refused_in_one_line(["show", *words])


@fuzzed
@given(
    st.binary(max_size=40) | st.text("[]{}=\"'.,:\n#algorithm name1e-", max_size=40).map(str.encode),
    st.sampled_from(["toml", "json"]),
)
def test_a_file_of_any_bytes_is_understood_or_refused_in_one_line(content, ending):
    Path(f"any.{ending}").write_bytes(content)
    assert_understood_or_refused_in_one_line(["train", "iql", "matrix-game", "--config", f"any.{ending}"])


def test_a_name_that_is_no_text_can_be_printed(monkeypatch):
    """A byte that is no UTF-8, as the system gives it to a program."""
    patch(monkeypatch, "decentral.analysis.plots.curves.plot_curves", lambda runs, out, options: None)
    assert outcome("plot", "run", "--out", "\udcff.png") == (0, "written to \\udcff.png\n", "")
