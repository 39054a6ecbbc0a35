import numpy as np
import pytest

from decentral.environments.host.checks import CheckedStage
from decentral.environments.registry import environment_class
from decentral.settings import Refused, build
from tests.environments.registered import Foragers

HERE = "gymnasium:tests.environments.registered"


def environment(name, **settings):
    return build(environment_class(name), settings, "environment")


def stage(name, **settings):
    return CheckedStage(environment(f"{HERE}:{name}", **settings))


def test_a_tuple_is_a_team_with_the_registrys_time_limit():
    team = environment(f"{HERE}:Foragers-v0")
    assert (team.agent_names, team.time_limit) == (("agent_0", "agent_1"), 3)
    assert [(spec.observation_size, spec.actions.count) for spec in team.agent_specs] == [(2, 2), (3, 4)]


def test_actions_are_called_as_the_enumeration_beside_the_class_calls_them():
    team = environment(f"{HERE}:Foragers-v0")
    assert team.agent_spaces(1).action_names == ("none", "north", "south", "pick up")
    assert team.agent_spaces(0).action_names == ("0", "1")  # it has fewer actions: they may be others


def test_actions_go_as_a_tuple_and_rewards_are_added():
    played = stage("Foragers-v0")
    assert played.reset(0).observation.tolist() == [[0, 0, 0], [1, 1, 1]]
    step = played.step(np.asarray([1, 3]))
    assert step.reward == 4.0 and step.percepts.observation.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert Foragers.sent[-1] == (1, 3)


def test_rewards_are_averaged_where_told_so():
    played = stage("Foragers-v0", rewards="mean")
    played.reset(0)
    assert played.step(np.asarray([1, 3])).reward == 2.0


@pytest.mark.parametrize(("name", "ends"), [("Foragers-v0", (True, False)), ("CutOff-v0", (False, True))])
def test_an_end_and_running_out_of_time_are_told_apart(name, ends):
    played = stage(name, time_limit=9)
    played.reset(0)
    steps = [played.step(np.asarray([0, 0])) for _ in range(3)]
    assert [(step.terminated, step.truncated) for step in steps] == [(False, False)] * 2 + [ends]


def test_an_environment_of_a_single_agent_is_a_team_of_one():
    pole = environment("gymnasium:CartPole-v1")
    assert (pole.num_agents, pole.spec.observation_size, pole.spec.actions.count, pole.time_limit) == (1, 4, 2, 500)
    played = CheckedStage(pole)
    played.reset(0)
    assert played.step(np.asarray([1])).reward == 1.0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gymnasium:", "must name an id of Gymnasium's registry"),
        ("gymnasium:Nowhere-v0", "can't be made"),
        (f"{HERE}:HalfTuple-v0", "must both be a Tuple over agents"),
    ],
)
def test_what_can_not_be_played_is_refused_in_one_line(name, reason):
    with pytest.raises(Refused, match=reason) as refusal:
        environment_class(name)
    assert "\n" not in str(refusal.value)


def test_an_answer_for_too_few_agents_is_refused():
    played = stage("Silent-v0")
    played.reset(0)
    with pytest.raises(Refused, match="observations must be one for each of 2 agents"):
        played.step(np.asarray([0, 0]))
