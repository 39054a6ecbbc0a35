"""Whatever a world does instead of answering is one line and the promised exit code, with one worker as with two."""

import json
import re
import subprocess
import sys

import pytest

from tests.faults import FAULTS, UNTOLD
from tests.pages import DOCS


@pytest.fixture(scope="module")
def outcomes():
    done = subprocess.run([sys.executable, "-m", "tests.fault_runs"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


BY_CHANCE = {"a thread raises"}  # when it is heard depends on the scheduler: the soak meets it in whole runs


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - BY_CHANCE))
def test_a_fault_is_one_line_and_the_promised_exit_code(outcomes, name, workers):
    fault = FAULTS[name]
    promised = fault.one if workers == 1 else fault.two
    if promised is UNTOLD:
        assert str(workers) not in outcomes[name]
        return
    code, lines = outcomes[name][str(workers)]
    assert code == promised, lines
    assert len(set(lines)) <= 1 and re.search(fault.line or "^$", "".join(lines[:1])), lines


def test_the_documentation_says_how_many_faults_are_planted():
    assert f"{len(FAULTS)} of them" in (DOCS / "environments" / "host.md").read_text()
    assert f"| {len(FAULTS)} faults (" in (DOCS / "reliability.md").read_text()
