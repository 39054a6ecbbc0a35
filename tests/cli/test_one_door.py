"""Whatever the command line can do, Python can do: the function of the same name, the same words, the same defaults."""

import inspect

import pytest

import decentral
from decentral.cli import commands, parser
from decentral.cli.commands import COMMANDS

NAMED = {"list": "listing", "runs": "list_runs"}  # `list` is Python's own, and `runs` a part of the package
# What a command asks of another function: by the flag that says so, none where its first words do.
MODES = {
    "sweep": {"status": "sweep_status", None: "sweep_file"},
    "compare": {"runs": "compare_runs", "suite": "compare_suite"},
    "check-battles": {"record": "record_battles"},
    "trust": {"list": "trusted", "remove": "untrust"},
    "reproduce": {"list": "worklist", "collect": "collect", "redraw": "redraw", "claims": "claims"},
}
# The words of each command by which all of its flags become known, where they depend on names.
NAMING = {
    "train": [["iql", "matrix-game"]],
    "arena": [["iql", "matrix-game"]],
    "bench": [["iql", "matrix-game"]],
    "show": [["iql", "matrix-game"]],
    "sweep": [["iql", "matrix-game"], ["grid.toml"]],
    "compare": [["iql,dac", "matrix-game"], ["--runs", "run"], ["--suite", "coordination", "iql"]],
    "probe": [["matrix-game"]],
    "check-env": [["matrix-game"]],
}
SHORT = {"seeds", "steps", "seed", "workers", "devices"}  # for `training.seeds` and so on
# The same, but that function is told nothing by the other flags.
TRUSTING = (
    "train",
    "arena",
    "compare",
    "check-env",
    "resume",
    "sweep",
    "search",
    "evaluate",
    "watch",
    "report",
    "crossplay",
    "values",
    "audit",
    "export",
)
AS_IT_IS = {command: {"trust": "trust"} for command in TRUSTING}
AS_IT_IS["watch"] |= {"list": "evaluate"}
GROUPS = {"arena": "terms"}  # whose keyword is not called as the group of flags is
PRINTED = {"rows"}  # how much is printed: functions return all
PYTHON_ALONE = {"progress", "listener", "callbacks"}  # who is told; the command line always shows it
SAID_LATER = {"scale": "full"}  # the flag must be told from one that was not given


class Parsed(BaseException):
    """The flags are known."""


def parsers_of(monkeypatch, command):
    """The parsers of a command, with all their flags."""
    known = []

    def stop(self, arguments):
        known.append(self)
        raise Parsed

    monkeypatch.setattr(parser.Parser, "parse_all", stop)
    for words in NAMING.get(command, [[]]):
        with pytest.raises(Parsed):
            commands.run_command(command, words)
    return known


def flags_of(monkeypatch, command):
    """What can be said to a command, as keywords with defaults; groups of settings have none."""
    found = {}
    for known in parsers_of(monkeypatch, command):
        for action in known._actions:
            names = {name.removeprefix("--").replace("-", "_") for name in action.option_strings}
            if "." in action.dest:
                group = action.dest.split(".")[0]
                found |= dict.fromkeys([GROUPS.get(group, group), *(names & SHORT)])
            elif names and action.dest != "help":
                found[action.dest] = action.default
    return found


def keywords_of(name):
    """The words that a function takes by name, with their defaults, but for what the user names first."""
    every = inspect.signature(getattr(decentral, name)).parameters.values()
    words = [one for one in every if one.kind is one.KEYWORD_ONLY or one.name == "out"]
    return {one.name: one.default for one in words if one.name not in PYTHON_ALONE}


def as_text(value):
    """A default as one would write it on the command line."""
    if value is None or value is False or value == ():
        return None
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def texts(words):
    return {word: as_text(value) for word, value in words.items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_and_its_function_take_the_same_words_with_the_same_defaults(monkeypatch, command):
    name = NAMED.get(command, command.replace("-", "_"))
    assert name in decentral.__all__
    modes, as_it_is = MODES.get(command, {}), AS_IT_IS.get(command, {})
    assert {*modes.values(), *as_it_is.values()} <= {*decentral.__all__}
    keywords = {**keywords_of(name)}
    for other in modes.values():
        for word, default in keywords_of(other).items():
            assert keywords.setdefault(word, default) == default, f"{word} of {other}"
    flags = flags_of(monkeypatch, command)
    assert {*modes, *as_it_is} - {None} <= flags.keys()
    silent = {*modes, *as_it_is, *PRINTED}
    said = {word: SAID_LATER.get(word, default) for word, default in flags.items() if word not in silent}
    assert texts(keywords) == texts(said)


def test_old_names_of_results_still_mean_the_same():
    for old, new in (("Meeting", "CrossPlay"), ("Showing", "Animation")):
        with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now"):
            assert getattr(decentral, old) is getattr(decentral, new)
        assert old not in decentral.__all__


def test_the_methods_of_a_run_take_the_words_of_the_functions():
    for name in {*decentral.__all__} & {*vars(decentral.Run)} - {"report"}:
        own = inspect.signature(getattr(decentral.Run, name)).parameters
        of_function = inspect.signature(getattr(decentral, name)).parameters
        assert {word: found.default for word, found in own.items() if word != "self"}.items() <= {
            word: found.default for word, found in of_function.items()
        }.items(), name
    assert {"evaluate", "audit", "plot", "verify"} <= {*decentral.__all__} & {*vars(decentral.Run)}
