"""Code that is trusted once is found again; whatever somebody else's files do, no other code is run."""

import importlib.util
import json
import os
import py_compile
import re
import sys
from pathlib import Path

import pytest

from decentral.api.trust import trust, trusted, untrust
from decentral.cli import main
from decentral.environments import registry
from decentral.environments.host import trust as store
from decentral.environments.host import trusted_import
from decentral.environments.host.sources import file_of, module_of, sources_of
from decentral.environments.host.stages import WorkerStageLine
from decentral.environments.registry import environment_class, recorded_class
from decentral.errors import Refused

YARD = """
import sys
from decentral.algorithms.iql import IQL
from tests.host_worlds import Counting
from trust_tools.parts import LIMIT
sys.ran.append(__file__)

class Yard(Counting):
    pass

class Harm(Counting):
    pass

class Learner(IQL):
    pass
"""
HARM = "import sys\nsys.ran.append('harm')\n"
NAME = "python:trust_yard:Yard"
METHOD = "python:trust_yard:Learner"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A user's project, with what it imports beside it, as the working directory of a new process would be."""
    place = tmp_path / "project"
    (place / "trust_tools").mkdir(parents=True)
    (place / "trust_yard.py").write_text(YARD)
    (place / "trust_tools" / "__init__.py").write_text("")
    (place / "trust_tools" / "parts.py").write_text("from . import limits\nLIMIT = limits.LIMIT\n")
    (place / "trust_tools" / "limits.py").write_text("LIMIT = 3\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "ran", [], raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(registry, "_imported", {})
    monkeypatch.setattr(trusted_import, "_loaded", set())
    yield place
    for name in [name for name in sys.modules if name.startswith("trust_")]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A directory from somebody else, in which the user now is."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def refusal(name=NAME):
    with pytest.raises(Refused) as refused:
        recorded_class(name)
    assert sys.ran == []
    return str(refused.value)


def run_naming(path, environment, **groups):
    """The directory of a run that names code."""
    path.mkdir()
    data = {"format": 1, "environment": {"name": environment}, "algorithm": {"name": "iql"}, "training": {}}
    (path / "config.json").write_text(json.dumps(data | groups))
    return path


def test_trusting_runs_nothing_and_what_is_trusted_is_found_again(project, tmp_path, capsys):
    main(["trust", str(run_naming(tmp_path / "run", NAME))])
    said = capsys.readouterr().out
    assert sys.ran == [] and f"trusted: {NAME}" in said and str(project / "trust_tools" / "limits.py") in said
    assert recorded_class(NAME).__name__ == "Yard" and sys.ran == [str(project / "trust_yard.py")]
    parts = {"trust_yard", *(f"trust_tools{part}" for part in ("", ".parts", ".limits"))}
    assert {*trusted()[0].sources} == parts | {"tests", "tests.host_worlds", "tests.worlds"}


def test_it_is_found_from_anywhere(elsewhere):
    os.chdir("../project")
    trust(NAME)
    os.chdir(elsewhere)
    assert recorded_class(NAME).__module__ == "trust_yard"


def test_without_trust_a_line_tells_what_would_be_run_and_how_it_is_trusted(project, capsys):
    assert refusal() == (
        f"environment {NAME} is code, and no file decides what is run: name it, --environment {NAME}, "
        f"or trust {project / 'trust_yard.py'} once: decentral trust {NAME}"
    )
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(run_naming(project / "run", NAME))])
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("file", ["trust_yard.py", "trust_tools/limits.py", "trust_tools/__init__.py"])
def test_what_has_changed_since_must_be_trusted_again(project, file, capsys):
    trust(NAME)
    (project / file).write_text((project / file).read_text() + "\n")
    assert refusal() == (
        f"environment {NAME} has changed since you trusted it ({project / file}): "
        f"look at it, then decentral trust {NAME}"
    )
    main(["trust", "--list"])
    assert f"{project / file} (changed since)" in capsys.readouterr().out
    trust(NAME)
    assert len(trusted()) == 1 and recorded_class(NAME)


def test_a_file_that_is_gone_has_changed(project):
    trust(NAME)
    (project / "trust_tools" / "limits.py").unlink()
    assert "has changed since" in refusal()


def test_what_is_removed_is_no_longer_trusted(project, capsys):
    for target in (NAME, str(project / "trust_yard.py"), str(run_naming(project / "run", NAME))):
        trust(NAME)
        main(["trust", "--remove", target])
        assert trusted() == [] and f"no longer trusted: {NAME}" in capsys.readouterr().out
    with pytest.raises(Refused, match="must be trusted to be removed"):
        untrust(NAME)
    main(["trust", "--list"])
    assert "nothing is trusted" in capsys.readouterr().out


# What somebody else's files may try.


def test_another_object_of_a_trusted_module_is_not_trusted():
    trust(NAME)
    assert "is code, and no file decides" in refusal("python:trust_yard:Harm")
    assert "is code, and no file decides" in refusal("pettingzoo:trust_yard:Yard")


def test_a_module_of_that_name_in_the_working_directory_is_not_what_was_trusted(project, elsewhere):
    os.chdir(project)
    trust(NAME)
    os.chdir(elsewhere)
    Path("trust_yard.py").write_text(HARM)
    assert f"(trusted is {project / 'trust_yard.py'})" in refusal()


def test_modules_beside_it_come_from_where_they_were_trusted(project, elsewhere, monkeypatch):
    """A package of their name in the working directory, or first on the path, is not looked at."""
    os.chdir(project)
    trust(NAME)
    os.chdir(elsewhere)
    Path("trust_tools").mkdir()
    for file in ("__init__", "parts", "limits"):
        Path("trust_tools", f"{file}.py").write_text(HARM)
    monkeypatch.syspath_prepend(str(elsewhere))
    recorded_class(NAME)
    assert sys.ran == [str(project / "trust_yard.py")]
    assert Path(sys.modules["trust_tools"].__file__).parent == project / "trust_tools"


@pytest.mark.parametrize("where", ["elsewhere", "project"])
def test_what_it_imports_by_other_means_is_refused(project, elsewhere, monkeypatch, where):
    """The text does not say which module that is, so nobody has trusted one."""
    text = YARD.replace("import sys\n", "import sys, importlib\nimportlib.import_module('trust_' + 'late')\n", 1)
    (project / "trust_yard.py").write_text(text)
    os.chdir(project)
    trust(NAME)
    os.chdir(elsewhere)
    place = {"elsewhere": elsewhere, "project": project}[where]
    (place / "trust_late.py").write_text(HARM)
    monkeypatch.syspath_prepend(str(place))
    assert f"imports trust_late ({place / 'trust_late.py'}), which is not trusted" in refusal()


def test_a_module_of_a_standard_name_is_not_imported_from_the_working_directory(project, elsewhere):
    text = YARD.replace("import sys\n", "import sys\ntry:\n    import trust_faster\nexcept ImportError:\n    pass\n", 1)
    (project / "trust_yard.py").write_text(text)
    os.chdir(project)
    trust(NAME)
    os.chdir(elsewhere)
    Path("trust_faster.py").write_text(HARM)
    assert "imports trust_faster" in refusal()
    Path("trust_faster.py").unlink()
    recorded_class(NAME)
    assert str(elsewhere) not in sys.path


def test_bytecode_beside_a_file_is_not_run(project):
    """One that claims to be of the file without being checked against it, as compilers can write it."""
    (project / "harm.py").write_text(HARM)
    cached = importlib.util.cache_from_source(str(project / "trust_yard.py"))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(project / "harm.py"), cached, doraise=True, invalidation_mode=unchecked)
    trust(NAME)
    assert recorded_class(NAME).__name__ == "Yard" and sys.ran == [str(project / "trust_yard.py")]


def test_a_link_is_trusted_as_what_it_leads_to(project):
    real = project / "real.py"
    (project / "trust_yard.py").rename(real)
    (project / "trust_yard.py").symlink_to(real)
    assert trust(NAME)[0].path == str(real)
    (project / "other.py").write_text(HARM)
    (project / "trust_yard.py").unlink()
    (project / "trust_yard.py").symlink_to(project / "other.py")
    assert f"(trusted is {real})" in refusal()


def test_a_library_of_machine_code_is_not_trusted(project):
    """It would be found before the file of Python of the same name."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (project / f"trust_yard{suffix}").write_bytes(b"\x7fELF")
    with pytest.raises(Refused, match="must be a file of Python to be trusted"):
        trust(NAME)


def test_a_file_that_changes_between_its_check_and_its_import_is_not_run(project, monkeypatch):
    trust(NAME)
    found = store.find_trusted("environment", NAME)
    (project / "trust_yard.py").write_text(HARM)
    monkeypatch.setattr(trusted_import, "find_trusted", lambda what, name: found)
    assert "has changed since you trusted it" in refusal()


def test_a_module_that_is_loaded_from_elsewhere_is_not_taken_for_it(project, elsewhere):
    os.chdir(project)
    trust(NAME)
    sys.modules["trust_tools"] = type(sys)("trust_tools")
    sys.modules["trust_tools"].__file__ = str(elsewhere / "trust_tools.py")
    assert f"trust_tools was imported from {elsewhere / 'trust_tools.py'}" in refusal()


def test_a_command_that_is_shown_runs_nothing_but_itself():
    """The name of an environment may be chosen so that a line for the shell does more."""
    said = refusal("gymnasium:x;touch /tmp/harm")
    assert "--environment 'gymnasium:x;touch /tmp/harm'" in said


@pytest.mark.parametrize(
    "name", ["python:", "python::", "python:a..b:C", "gymnasium:", "jaxmarl:x y", "pettingzoo:../x:y"]
)
def test_odd_names_are_refused_and_never_trusted(name):
    assert "is code, and no file decides" in refusal(name)
    with pytest.raises(Refused, match="to be trusted"):
        store.trust_name(name)


def test_a_relative_configuration_directory_is_ignored(project, monkeypatch, tmp_path):
    """It would be one of the working directory, in which somebody else's may lie."""
    trust(NAME)
    (project / "mine" / "decentral").mkdir(parents=True)
    store.store_file().rename(project / "mine" / "decentral" / "trusted.json")
    monkeypatch.setenv("XDG_CONFIG_HOME", "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert store.store_file() == tmp_path / ".config" / "decentral" / "trusted.json"
    assert "is code, and no file decides" in refusal()


def test_what_others_may_write_is_not_believed():
    trust(NAME)
    assert store.store_file().stat().st_mode & 0o777 == 0o600
    store.store_file().chmod(0o602)
    assert "no other user may write it" in refusal()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": 2, "trusted": []}', '{"format": 1, "trusted": [{"name": "x"}]}', "\x00"]
)
def test_a_broken_record_is_refused_in_one_line(content):
    trust(NAME)
    store.store_file().write_text(content)
    assert re.search(r"trusted\.json (must hold what decentral trust wrote|can't be read as JSON)", refusal())


def test_a_record_with_a_relative_path_is_refused(project):
    trust(NAME)
    file = store.store_file()
    file.write_text(file.read_text().replace(str(project), "."))
    assert "must hold what decentral trust wrote" in refusal()


def test_two_projects_with_one_name_are_told_apart(project, elsewhere):
    Path("trust_yard.py").write_text(YARD.replace("from trust_tools.parts import LIMIT\n", ""))
    trust(NAME)
    os.chdir(project)
    trust(NAME)
    assert len(trusted()) == 2
    recorded_class(NAME)
    assert sys.ran == [str(project / "trust_yard.py")]


def test_of_two_projects_with_one_name_neither_is_taken_from_elsewhere(project, elsewhere, tmp_path):
    Path("trust_yard.py").write_text(YARD)
    (elsewhere / "trust_tools").symlink_to(project / "trust_tools")
    trust(NAME)
    os.chdir(project)
    trust(NAME)
    os.chdir(tmp_path)
    assert "(trusted is " in refusal()


def test_other_processes_are_told_how_the_code_was_found(monkeypatch):
    words = []
    monkeypatch.setattr("decentral.environments.host.stages.Process", lambda *said: words.append(said) or Silent())
    monkeypatch.setattr("decentral.environments.host.stages.Pipes", lambda *ends: None)
    trust(NAME)
    WorkerStageLine(recorded_class(NAME)())
    monkeypatch.setattr(trusted_import, "_loaded", set())
    WorkerStageLine(environment_class(NAME)())
    assert [said[-1] for said in words] == ["trusted", "named"]


class Silent:
    """A process that is none."""

    questions = answers = None


def test_a_run_that_needs_no_code_has_none_to_trust(tmp_path):
    with pytest.raises(Refused, match="RUN must name code to be trusted"):
        trust(run_naming(tmp_path / "run", "matrix-game"))


def test_algorithms_of_a_run_are_trusted_with_it(tmp_path):
    agents = [{"name": METHOD}, {"name": "iql"}]
    found = trust(run_naming(tmp_path / "run", NAME, agents=agents))
    assert [one.name for one in found] == [NAME, METHOD]


def test_a_module_of_an_installed_package_is_trusted_with_its_packages():
    found = sources_of("pettingzoo.utils.env")
    assert {*found} == {"pettingzoo", "pettingzoo.utils", "pettingzoo.utils.env"}
    assert module_of("gymnasium:CartPole-v1") == "gymnasium" and file_of("os.path") is None


def test_a_flag_trusts_what_a_command_names(project, capsys):
    main(["check-env", NAME, "--episodes", "1", "--trust"])
    assert [one.name for one in trusted()] == [NAME]
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(run_naming(project / "run", NAME)), "--trust"])
    assert "trust must come with the name of code" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["train", "iql", NAME],
        ["arena", "iql", NAME],
        ["compare", "iql,vdn", NAME],
        ["compare", "--suite", "coordination", METHOD, "--only", "no-task"],  # its methods may be code
        ["sweep", "iql", NAME],
        ["check-env", NAME],
        ["evaluate", "no-run", "--environment", NAME],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_request_that_is_refused_trusts_nothing(words, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(sys.modules["decentral.api.trust"], "trust", lambda name: asked.append(name) or trust(name))
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--trust", *([] if {"--suite", "evaluate"} & {*words} else ["--seed", "none"])])
    assert " must " in capsys.readouterr().err  # what else is wrong is found after it
    assert asked == [next(word for word in words if word in (NAME, METHOD))] and trusted() == []


def test_what_was_trusted_before_a_refused_request_stays_as_it_was(project):
    other = "python:trust_yard:Harm"
    before = [*trust(other), *trust(NAME)]
    (project / "trust_yard.py").write_text(YARD + "\n")
    with pytest.raises(SystemExit, match="2"):
        main(["check-env", NAME, "--seed", "none", "--trust"])
    assert trusted() == before
