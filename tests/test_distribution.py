"""What is published: the wheel, the source archive, one version, and the habits that other files promise."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WHEEL = f"decentral-{PROJECT['version']}-py3-none-any.whl"

pytestmark = pytest.mark.xdist_group("distribution")  # one process builds for all of them


def build(tree, out, *kinds):
    """Build a wheel, a source archive or both of a tree, with the backend that is installed: nothing is fetched."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        *(f"--target={kind}" for kind in kinds),
        f"--directory={out}",
    ]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with a wheel and a source archive of this tree."""
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out, "wheel", "sdist")
    return out


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """A folder that holds what installing the wheel puts there."""
    place = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(built / WHEEL) as wheel:
        wheel.extractall(place)
    return place


def python(place, *words):
    """What Python prints that finds the package in a folder."""
    environment = os.environ | {"PYTHONPATH": str(place)}
    done = subprocess.run(
        [sys.executable, *words], cwd=place.parent, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_wheel_holds_the_package_with_its_pages_and_nothing_else(built):
    names = set(zipfile.ZipFile(built / WHEEL).namelist())
    package = {name for name in names if not name.startswith(f"decentral-{PROJECT['version']}.dist-info/")}
    files = [file for file in (ROOT / "src").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert package == {file.relative_to(ROOT / "src").as_posix() for file in files}
    assert "decentral/py.typed" in package
    assert {".html", ".css", ".js"} <= {Path(name).suffix for name in package}


def test_the_source_archive_builds_the_same_wheel(built, tmp_path):
    with tarfile.open(built / f"decentral-{PROJECT['version']}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    tree = tmp_path / f"decentral-{PROJECT['version']}"
    assert {"tests", "docs", "results", "CHANGELOG.md", "CITATION.cff"} <= {path.name for path in tree.iterdir()}
    build(tree, tmp_path, "wheel")
    assert (tmp_path / WHEEL).read_bytes() == (built / WHEEL).read_bytes()


def test_an_installed_wheel_answers_by_itself(installed):
    assert "usage: decentral" in python(installed, "-m", "decentral", "--help")
    assert python(installed, "-c", "import decentral; print(decentral.__file__)").startswith(str(installed))


def test_the_version_stands_in_one_place_and_is_told_by_all(installed):
    assert python(installed, "-m", "decentral", "--version") == f"decentral {PROJECT['version']}\n"
    assert python(ROOT / "src", "-S", "-m", "decentral", "--version") == "decentral unknown\n"  # bare sources
    assert (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1].startswith(PROJECT["version"])
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_every_python_that_is_promised_is_tested_by_the_workflow():
    versions = re.findall(
        r"^Programming Language :: Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE
    )
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert re.search(r"python: (\[.*\])", workflow)[1] == str(versions).replace("'", '"')
    assert PROJECT["requires-python"] == f">={versions[0]}" and "run: .ci/run\n" in workflow


def test_the_changelog_knows_one_mark():
    marks = set(re.findall(r"^- \((\w+)\)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE))
    assert marks == {"curves"}
