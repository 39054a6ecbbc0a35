"""Episodes of a trained team as arrays: whose numbers they are, and nothing in them that did not happen."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import decentral
from decentral.runs.trained import Trained
from tests.bundles.test_unequal import run_of_newborns
from tests.environments.zoo import Restless
from tests.small_runs import small_run


@pytest.fixture(scope="module")
def restless(tmp_path_factory):
    """Episodes of one step, two or three, of three unequal agents as they were born."""
    name, place = "pettingzoo:tests.environments.zoo:Restless", tmp_path_factory.mktemp("restless") / "run"
    run = decentral.load(run_of_newborns(place, name, time_limit=5, infos="lifted", rewards="own"))
    return run, run.rollout(episodes=8)


def test_the_episodes_are_those_of_an_evaluation():
    played = small_run().rollout(episodes=3, seed=1)
    np.testing.assert_array_equal(played.returns, small_run().evaluate(episodes=3)[1])
    assert played.seed == 1


def test_every_action_is_the_best_by_the_agents_own_values():
    played = small_run().rollout(episodes=3)
    assert played.q_values.shape == (3, 2, 2, 3) and played.actions.shape == (3, 1, 2)  # [B, P, N, ...], [B, T, N]
    np.testing.assert_array_equal(played.actions, np.nanargmax(played.q_values[:, :1], axis=-1))
    np.testing.assert_array_equal(np.isnan(played.q_values), ~played.available)


def test_values_follow_from_the_hidden_states(restless):
    run, played = restless
    for place, agent in enumerate(played.agents):
        _, network = Trained.load(run.directory).agent(0, place)
        values = agent.q_values[:, 0]
        by_hand = agent.hidden[:, 0] @ np.asarray(network.head.weight).T + np.asarray(network.head.bias)
        np.testing.assert_allclose(values, by_hand[:, : values.shape[1]], rtol=1e-4, atol=1e-5)


def test_nothing_is_told_of_what_comes_after_the_end(restless):
    _, played = restless
    assert set(played.lengths) == {1, 2, 3} and played.happened.shape == (8, 3)  # five were allowed
    assert not played.terminated.any()  # their time was up
    for number, length in enumerate(played.lengths):
        assert not np.isnan(played.agent("lifter").observations[number, : length + 1]).any()
        assert not np.isnan(played.hidden[number, : length + 1]).any()
        assert (played.actions[number, :length, :2] >= 0).all() and (played.actions[number, :2, 2] >= 0).sum() >= 1
        for array in (played.observations, played.q_values, played.hidden):
            assert np.isnan(array[number, length + 1 :]).all()
        assert (played.actions[number, length:] == -1).all() and not played.available[number, length + 1 :].any()


def test_each_is_told_its_own_rewards_and_takes_no_action_once_it_has_left(restless):
    _, played = restless
    lifter, guard = played.agent("lifter"), played.agent("guard")
    np.testing.assert_array_equal(lifter.rewards, lifter.actions == 4)
    np.testing.assert_array_equal(guard.actions >= 0, played.happened & [True, True, False])
    np.testing.assert_array_equal(guard.rewards, guard.actions == 1)
    earned = np.stack([agent.rewards for agent in played.agents], axis=2)  # [B, T, N]
    np.testing.assert_allclose(played.rewards, earned.mean(axis=2), rtol=1e-6)
    np.testing.assert_array_equal(played.columns()["reward"], earned[played.happened].reshape(-1))


def test_a_context_is_a_number_where_the_method_infers_them(restless):
    assert restless[1].contexts is None
    contexts = small_run().rollout(episodes=3).contexts
    assert contexts.shape == (3, 1, 2) and set(np.unique(contexts)) <= set(range(-1, 4))


def test_agents_of_unequal_sizes_have_arrays_of_their_own_sizes(restless):
    _, played = restless
    assert [agent.name for agent in played.agents] == ["scout", "lifter", "guard"]
    lifter, guard = played.agent("lifter"), played.agent(2)
    assert lifter.observations.shape == (8, 4, 7) and lifter.q_values.shape == (8, 4, 5)
    assert guard.q_values.shape == (8, 4, 2) and set(np.unique(guard.actions)) <= {-1, 0, 1}
    assert played.observations.shape == (8, 4, 3, 7) and np.isnan(played.observations[:, :, 0, 4:]).all()
    assert not np.isnan(played.observations[:, 0, 0, :4]).any() and not played.available[:, :, 0, 3:].any()
    with pytest.raises(decentral.Refused, match="agent must be one of scout, lifter, guard, or 0 to 2, got 'lift'"):
        played.agent("lift")


def test_what_is_named_is_found_by_its_name(restless):
    scout, lifter = restless[1].agent("scout"), restless[1].agent("lifter")
    assert scout.by_name == {} and [*lifter.by_name] == list(
        lifter.spaces.observation_names
    )  # nobody names the scout's
    for place, (name, numbers) in enumerate(lifter.by_name.items()):
        assert name == Restless.observation_names["lifter"][place]
        np.testing.assert_array_equal(numbers, lifter.observations[..., place])
    names = np.asarray([*Restless.action_names["lifter"], ""])
    np.testing.assert_array_equal(lifter.action_names, names[lifter.actions])  # -1, after the end, has none


def test_the_infos_are_reported_as_they_are_in_the_end(restless):
    played = restless[1]
    last = played.agent("lifter").actions[np.arange(8), played.lengths - 1]
    np.testing.assert_array_equal(played.reports["lifted"], last == 2)


def test_a_data_frame_has_a_row_for_every_step_of_every_agent(restless, monkeypatch):
    _, played = restless
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    frame = played.to_dataframe(hidden=True)
    assert {len(column) for column in frame.values()} == {3 * played.lengths.sum()}
    assert [*frame][:6] == ["episode", "step", "agent", "action", "action_name", "reward"] and "hidden_3" in frame
    row = list(zip(frame["episode"], frame["step"], frame["agent"], strict=True)).index((7, 0, "lifter"))
    assert frame["action"][row] == played.actions[7, 0, 1] and frame["q_1"][row] == played.q_values[7, 0, 1, 1]
    assert frame["action_name"][row] == Restless.action_names["lifter"][played.actions[7, 0, 1]]
    assert "hidden_0" not in played.columns() and "context" in small_run().rollout(episodes=3).columns()


def test_without_pandas_a_data_frame_is_refused_in_one_line(restless, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(decentral.Refused, match=r"pandas must be installed for a DataFrame: pip install 'decentral"):
        restless[1].to_dataframe()


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"episodes": 0}, "episodes must be a whole number at least 1"),
        ({"episodes": "x"}, "episodes must be a whole number, got 'x'"),
        ({"seed": 9}, "seed must be one of 0, 1, got 9"),
        ({"environment_seed": -1}, "seed must be a whole number at least 0"),
    ],
)
def test_what_can_not_be_played_is_refused(settings, refusal):
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.rollout(small_run(), **settings)


def test_a_notebook_shows_a_line_for_each_episode_and_no_markup_of_others(restless):
    shown = restless[1]._repr_html_()
    assert shown.count("<tr>") == 9 and "observations (8, 4, 3, 7)" in shown
    assert "&lt;b&gt;" in type(restless[1])(**{**vars(restless[1]), "title": "<b>"})._repr_html_()
    assert len(repr(restless[1])) < 200
