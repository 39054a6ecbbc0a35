"""Nothing is imported before it is needed."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import decentral
import decentral.api
from decentral.cli.commands import COMMANDS
from decentral.cli.main import LOCATIONS, NEEDED
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


def test_what_only_looks_at_runs_waits_for_no_jax(tmp_path):
    """`matplotlib` is for those that draw."""
    looking = ", ".join(f"decentral.cli.commands.{name}" for name in ("runs", "report", "compare", "sweep"))
    look = f"import {looking}\nfrom decentral.cli import main\nmain(['runs', {str(tmp_path)!r}])"
    assert imported_by(look) == {"numpy", "rich"}


def test_a_verb_is_not_hidden_by_its_file_whichever_is_imported_first():
    importlib.import_module("decentral.api.sweep")
    assert callable(decentral.api.sweep) and decentral.api.sweep is decentral.sweep


def test_the_table_of_files_names_every_verb_once():
    names = [name for names in decentral.api.FILES.values() for name in names]
    assert sorted(names) == sorted(decentral.api.__all__)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there_and_explains_itself(capsys, name):
    code, out, _ = outcome(capsys, name, "--help")
    assert code == 0 and COMMANDS[name] in " ".join(out.split())


@pytest.mark.parametrize("own", [None, "3"])
def test_programs_of_a_command_carry_no_locations_unless_asked_to(monkeypatch, capsys, own):
    monkeypatch.setenv(LOCATIONS, own or "")
    if own is None:
        monkeypatch.delenv(LOCATIONS)
    assert outcome(capsys, "list")[0] == 0 and os.environ[LOCATIONS] == (own or "0")


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
