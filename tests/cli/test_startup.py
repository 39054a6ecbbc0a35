"""Nothing is imported before it is needed."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import decentral
import decentral.api
from decentral.cli.commands import COMMANDS
from decentral.cli.main import NEEDED
from tests.cli.test_cli import outcome

HEAVY = {"jax", "equinox", "optax", "numpy", "matplotlib", "rich"}


def imported_by(statement):
    """The heavy packages that a fresh Python has imported after a statement."""
    program = f"import sys\n{statement}\nprint(*(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_help_imports_none_of_the_heavy_packages():
    assert imported_by("from decentral.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass") == set()


def test_a_training_does_not_import_what_only_plots_need():
    assert imported_by("import decentral.cli.commands.train") == HEAVY - {"matplotlib"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there_and_explains_itself(capsys, name):
    code, out, _ = outcome(capsys, name, "--help")
    assert code == 0 and COMMANDS[name] in " ".join(out.split())


def test_public_names_are_those_of_the_api():
    assert decentral.train is decentral.api.train and decentral.Run is decentral.api.Run
    assert set(decentral.__all__) <= set(dir(decentral))
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        decentral.trian  # noqa: B018


def test_where_numpy_alone_is_installed_a_command_says_in_one_line_what_it_needs():
    program = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in NEEDED if name != "numpy")
    program += "from decentral.cli import main\nmain(['list'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("decentral list: equinox must be installed: pip install decentral; NumPy alone is enough")


def test_what_a_command_needs_is_what_the_package_depends_on():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(NEEDED) == {requirement.split(">")[0] for requirement in project["dependencies"]}
