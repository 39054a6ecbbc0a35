"""Where the cache is, and that exact returns are worked out once."""

from pathlib import Path

import pytest

from decentral.environments.registry import PredatorPrey
from decentral.runs.caches import cache_directory, known_returns, usable_cache


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.cache/decentral"),
        ({"HOME": "/home/ada", "XDG_CACHE_HOME": "/fast"}, "/fast/decentral"),
        ({"HOME": "/home/ada", "XDG_CACHE_HOME": "fast"}, "/home/ada/.cache/decentral"),
        ({"HOME": "/home/ada", "XDG_CACHE_HOME": "/fast", "DECENTRAL_CACHE_DIR": "/mine"}, "/mine"),
        ({"HOME": "/home/ada", "DECENTRAL_CACHE_DIR": ""}, "/home/ada/.cache/decentral"),
        ({"HOME": "/home/ada", "DECENTRAL_CACHE_DIR": "off"}, None),
        ({}, None),
    ],
)
def test_the_environment_says_where_the_cache_is(environment, place):
    assert cache_directory(environment) == (place and Path(place))


def test_a_place_that_cannot_be_written_is_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", str(tmp_path / "file" / "inside"))
    assert usable_cache() is None


class Counted(PredatorPrey):
    """Predator-prey that takes note whenever its exact returns are worked out."""

    __module__ = PredatorPrey.__module__

    def references(self):
        WORKED_OUT.append(self.penalty)
        return {"optimal": 0.1 + self.penalty}


WORKED_OUT: list[float] = []


def test_exact_returns_are_worked_out_once_for_each_world(monkeypatch, tmp_path):
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", str(tmp_path))
    WORKED_OUT.clear()
    answers = [known_returns(Counted(penalty=penalty))["optimal"] for penalty in (0.2, 0.2, 0.7, 0.2)]
    assert answers == [0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.7, 0.1 + 0.2]  # bit for bit
    assert WORKED_OUT == [0.2, 0.7]
    for file in tmp_path.iterdir():
        file.write_text("[1, 2")
    assert known_returns(Counted(penalty=0.2)) == {"optimal": 0.1 + 0.2} and WORKED_OUT == [0.2, 0.7, 0.2]


def test_without_a_cache_exact_returns_are_worked_out_each_time(monkeypatch):
    monkeypatch.setenv("DECENTRAL_CACHE_DIR", "off")
    WORKED_OUT.clear()
    assert [known_returns(Counted(penalty=0.2)) for _ in range(2)] == [{"optimal": 0.1 + 0.2}] * 2
    assert WORKED_OUT == [0.2, 0.2]
