"""Planted leaks, and what finds each: the table of docs/decentralisation.md is what the audits really find."""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from decentral.runs.lanes import LaneBatch
from decentral.types import Episode, Percept
from decentral.verification.audit.learning import retrain_alone
from decentral.verification.audit.logs import retrain_with_log
from decentral.verification.audit.play import Chosen, Difference, Play, PlayAudit, compared
from decentral.verification.environment_check.check import examine
from tests.leaks import LEAKS, WORLDS, Telling, trainee_with
from tests.training.test_isolation import isolated
from tests.verification.test_retraining import same

pytestmark = pytest.mark.xdist_group("leaks")
PAGE = Path(__file__).parents[2] / "docs" / "decentralisation.md"


@functools.cache
def audited(leak):
    """Of every agent: does it learn the same alone, and its play."""
    setup, found = trainee_with(leak), []
    for place, lived in retrain_with_log(setup, 0, [0, 1]).items():
        play = PlayAudit(setup, 0, place, lived)
        alone = retrain_alone(setup, 0, place, lived.log, play.watch)
        found.append((same(alone, lived.agent), play))
    return found


def by_learning(leak):
    return not all(same for same, _ in audited(leak))


def by_play(leak):
    return any(same and not (play.training.agrees and play.testing.agrees) for same, play in audited(leak))


def by_isolation(leak):
    lane_batch = LaneBatch.start(trainee_with(leak))
    lane_batch.advance(3)
    return not isolated(lane_batch.setup, jax.tree.map(lambda leaf: leaf[0], lane_batch.lanes))


def by_check_env(leak):
    """Wrong, or not certain."""
    environment = Telling(leak=trainee_with(leak).environment.leak)
    (found,) = (finding for finding in examine(environment, 2, 0) if finding.rule == "secrets")
    return "may be" if "may be a copy" in found.said else found.verdict == "wrong"


def table():
    """The rows of the page: by leak, what finds it."""
    lines = PAGE.read_text().split("| planted leak |")[1].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found_by_what_the_page_says(leak):
    tools = [by_learning, by_play, by_isolation, *([by_check_env] if leak in WORLDS else [])]
    words = {True: "found", False: "-"}
    found = [words.get(said := tool(leak), said) for tool in tools]
    assert found == table()[leak][: len(tools)]
    assert set(found) != {"-"}


def test_where_nothing_leaks_nothing_is_found():
    assert not any(tool("none") for tool in (by_learning, by_play, by_isolation, by_check_env))
    for _, play in audited("none"):
        assert play.training.actions == 30 and play.testing.actions == 2 * 4 * 3
        assert play.training.ties == play.testing.ties == 0


def test_the_first_action_that_differs_is_named():
    (_, zero), (same, one) = audited("dice of agent 0 for all")
    assert zero.training.agrees, "the dice are its own"
    assert same and one.training.others > 0
    assert str(one.training.first).startswith("episode 0, step ")
    first = one.training.first
    assert {first.taken, first.alone} == {0, 1}


def test_another_action_of_the_same_value_is_a_tie_which_is_counted_and_granted_once_in_a_thousand():
    """Alone always the first action; the second was taken at two steps of four, of which one did not happen."""
    actions, happened = jnp.asarray([0, 1, 0, 1]), jnp.asarray([True, True, True, False])
    percepts = Percept(jnp.zeros((5, 1)), jnp.ones((5, 2), bool))
    episode = Episode(percepts, actions, jnp.zeros(4), jnp.zeros(4, bool), happened)
    no_number = (jnp.nan, False, False)  # values that are none are no tie either
    for lost, by_chance, tie in ((1e-6, False, True), (1e-3, False, False), (1e-6, True, False), no_number):
        alone = Chosen(jnp.zeros(4, int), jnp.full(4, lost), jnp.full(4, by_chance))
        play = compared(Play(), episode, alone, Difference(7, 0, 0, 0))
        assert (play.actions, play.ties, play.others) == (3, int(tie), int(not tie))
        assert str(play.first) == "episode 7, step 1: action 1 in the run, 0 alone"
        assert play.agrees == tie
    assert Play(actions=3000, ties=3).agrees and not Play(actions=3000, ties=4).agrees


def test_leaks_that_nothing_finds_are_on_the_page_too():
    assert {leak: cells for leak, cells in table().items() if set(cells) == {"-"}} == {
        "another's action in the time that a step takes": ["-", "-", "-", "-"]
    }
