"""What docs/adding shows is complete: followed to the letter it trains, and the examples keep what all must promise."""

import jax
import pytest

import decentral
from decentral.configs import registry as names
from decentral.runs.caches import known_returns
from tests.algorithms import test_conformance as promised
from tests.environments import test_conformance as promised_of_worlds
from tests.pages import DOCS, run_page


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A new directory, whose modules are found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(names, "_imported", {})


def test_the_algorithm_of_the_page_learns_and_keeps_what_every_algorithm_promises(capsys):
    found = run_page(DOCS / "adding" / "algorithm.md")
    assert decentral.load("runs/soft").returns[:, -1].tolist() == [8.0, 8.0]
    assert "identical: each agent learned from and acted on its own percepts" in capsys.readouterr().out
    learner = found["SoftHysteretic"](hidden=4)
    newborn = {id(learner): promised.init_agent(learner, jax.random.key(0))}
    for promise in (
        promised.test_other_keys_give_other_agents,
        promised.test_the_loss_falls_along_its_gradient,
        promised.test_what_fills_the_padding_changes_neither_loss_nor_gradient,
        promised.test_only_a_step_that_ended_the_task_is_not_bootstrapped_from,
        promised.test_an_unavailable_action_is_never_bootstrapped_from,
    ):
        promise(learner, newborn)


def test_the_world_of_the_page_is_learned_and_keeps_what_every_world_promises():
    page = run_page(DOCS / "adding" / "environment.md")
    environment = page["Rowers"]()
    assert decentral.load("runs/rowers").returns[:, -1].tolist() == [3.0, 3.0]
    for promise in (
        promised_of_worlds.test_percepts_have_the_shapes_and_types_that_the_spec_says,
        promised_of_worlds.test_names_are_given_to_all_numbers_and_actions_or_to_none,
        promised_of_worlds.test_a_random_episode_is_finite_and_each_percept_allows_an_action,
        promised_of_worlds.test_there_is_one_reward_for_all,
        promised_of_worlds.test_running_out_of_time_is_not_termination,
        promised_of_worlds.test_a_world_that_never_ends_early_lasts_to_its_time_limit,
        promised_of_worlds.test_a_step_means_the_same_compiled_and_side_by_side,
        promised_of_worlds.test_numbers_may_differ_between_lanes_of_one_program,
    ):
        promise(environment)
    assert not known_returns(page["Stalemate"]())
