"""No algorithm has a way to another agent's data: by what it imports, by what it calls, by what it is given."""

import ast
import inspect
from pathlib import Path

import pytest

import decentral
from decentral.algorithms import ALGORITHMS
from decentral.algorithms.base import Algorithm
from decentral.algorithms.iql import IQL

SOURCE = Path(decentral.__file__).parent
FILES = [*sorted((SOURCE / "algorithms").rglob("*.py")), *sorted((SOURCE / "networks").glob("*.py"))]
ROOMS = ("algorithms", "networks", "types", "settings", "errors", "bounds")  # that know of one agent only

# What looks beyond the lane of a `vmap`: over a named axis, or out of the program.
BEYOND = {"psum", "pmean", "pmax", "pmin", "all_gather", "all_to_all", "ppermute", "axis_index", "pbroadcast"}
BEYOND |= {"pure_callback", "io_callback", "callback", "host_callback", "debug_callback", "global", "nonlocal"}

# Of one agent: its state and parts of it, its episodes, percepts and chance, what its networks say, sizes, and clocks
# that all can read.
OWN = {"agent", "models", "memory", "statistics", "episode", "episodes", "percept", "scene", "key", "spec", "length"}
OWN |= {"values", "outputs", "action", "dice", "epsilon", "episodes_so_far", "clock"}
ANSWERS = [name for name, part in vars(Algorithm).items() if inspect.isfunction(part) and not name.startswith("_")]


def ways_out(text):
    """What a module imports from rooms that know of more than one agent, and what it calls to look beyond a lane."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        rooms = (name.split(".")[1] for name in names if name.startswith("decentral."))
        found |= {room for room in rooms if room not in ROOMS}
        if isinstance(node, ast.ImportFrom) and node.module == "decentral":
            found |= {alias.name for alias in node.names} - set(ROOMS)
        word = {ast.Attribute: "attr", ast.Name: "id", ast.alias: "name"}.get(type(node))
        found |= {getattr(node, word)} & BEYOND if word else set()
        found |= {type(node).__name__.lower()} & BEYOND
    return found


def strangers(kind):
    """What the functions of an algorithm are given that is not one agent's own."""
    return {own for name in ANSWERS for own in inspect.signature(getattr(kind, name)).parameters} - OWN - {"self"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_module_imports_or_calls_a_way_to_another_agent(file):
    assert ways_out(file.read_text()) == set()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_function_of_an_algorithm_takes_one_agents_data(name):
    assert strangers(ALGORITHMS[name]) == set()


@pytest.mark.parametrize(
    ("leak", "name"),
    [
        ("from decentral.training.team import Team", "training"),
        ("import decentral.environments.base", "environments"),
        ("from decentral import centralised", "centralised"),
        ("import jax\nmean = jax.lax.pmean(1, 'agents')", "pmean"),
        ("from jax.experimental import io_callback", "io_callback"),
        ("def learn():\n    global seen", "global"),
    ],
)
def test_a_planted_way_out_is_found(leak, name):
    assert ways_out(leak) == {name}


def test_a_planted_parameter_is_found():
    class Gossip(IQL):
        """A learner that asks for the episodes of the others."""

        def learn(self, agent, episodes, key, others=None):
            return agent, {}

    assert strangers(Gossip) == {"others"}
