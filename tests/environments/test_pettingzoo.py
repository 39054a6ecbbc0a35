import numpy as np
import pytest

from decentral.environments.adapters.pettingzoo import pettingzoo_environment
from decentral.environments.host.checks import CheckedStage
from decentral.environments.registry import environment_class
from decentral.settings import Refused, build
from tests.environments import zoo


def environment(name, **settings):
    return build(environment_class(f"pettingzoo:tests.environments.zoo:{name}"), settings, "environment")


def stage(name="Zoo", **settings):
    return CheckedStage(environment(name, **settings))


def test_sizes_are_those_of_the_largest_agent():
    world = environment("Zoo", time_limit=7)
    assert (world.num_agents, world.spec.observation_size, world.spec.actions.count, world.time_limit) == (2, 4, 3, 7)


def test_what_an_agent_lacks_is_padded_with_zeros_and_never_available():
    observation, available = stage().reset(2**40 + 3)
    assert observation.tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]
    assert available.tolist() == [[True] * 3, [True, True, False]]


def test_a_world_is_seeded_with_31_bits():
    played = stage()
    played.reset(2**40 + 3)
    assert played.stage.environment.seed == 3


def test_actions_are_sent_by_name_and_counted_from_where_the_space_starts():
    played = stage()
    played.reset(0)
    played.step(np.asarray([2, 1]))
    assert played.stage.environment.sent == [{"tall": 7, "small": 1}]


def test_a_mask_of_the_info_says_what_is_available():
    played = stage()
    played.reset(0)
    assert played.step(np.asarray([0, 0])).percepts.available.tolist() == [[True, False, True], [True, False, False]]


def test_a_mask_beside_the_observation_says_what_is_available():
    played = stage("Masked")
    observation, available = played.reset(0)
    assert (observation.tolist(), available.tolist()) == ([[0.0]], [[False, True]])


def test_things_of_every_kind_are_seen_as_numbers_with_names():
    keeper = environment("Storehouse").agent_spaces(0)
    observation, _ = stage("Storehouse").reset(0)
    assert dict(zip(keeper.observation_names, observation[0].tolist(), strict=True)) == {
        "doors=1": 0,
        "doors=2": 1,
        "cards[0]=0": 0,
        "cards[0]=1": 1,
        "cards[1]=0": 1,
        "cards[1]=1": 0,
        "cards[1]=2": 0,
        "lamps[0]": 0,
        "lamps[1]": 1,
        "pair.0": 0.5,
        "pair.1.shelf[0,0]": 7,
        "pair.1.shelf[0,1]": 8,
    }


@pytest.mark.parametrize(
    ("entry", "value", "reason"),
    [
        ("doors", 3, "entry doors, must be a whole number from 1 to 2, got 3"),
        ("cards", [1, 3], r"entry cards, must be 2 whole numbers from 0 to 1, 0 to 2, got \[1, 3\]"),
        ("cards", [1, 0, 0], r"entry cards, must be 2 whole numbers from 0 to 1, 0 to 2, got \[1, 0, 0\]"),
        ("cards", "no", "entry cards, must be 2 whole numbers"),
        ("lamps", [0], r"entry lamps, must be 2 finite numbers that float32 can hold, got \[0\]"),
        ("pair", (0.5,), r"entry pair.1.shelf, must be given, got \(0.5,\)"),
        ("pair", (0.5, {"shelf": [[np.nan, 8]]}), "entry pair.1.shelf, must be 2 finite numbers"),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused_by_its_name(monkeypatch, entry, value, reason):
    monkeypatch.setattr(zoo.Storehouse, "seen", zoo.Storehouse.seen | {entry: value})
    with pytest.raises(Refused, match=f"at reset: observation of 'keeper', {reason}"):
        stage("Storehouse").reset(0)


def test_several_choices_at_once_are_one_action_for_each_combination():
    world = environment("Storehouse")
    assert world.agent_spaces(0).action_names == ("0,5", "0,6", "0,7", "1,5", "1,6", "1,7")
    played = CheckedStage(world)
    played.reset(0)
    for number in (1, 3):
        played.step(np.asarray([number]))
    assert [action["keeper"].tolist() for action in played.stage.environment.sent] == [[0, 6], [1, 5]]


@pytest.mark.parametrize("mask", [(0, 0, 0, 0, 1, 1), (0, 1, 0, 1, 1), ([0, 1], [0, 1, 1])])
def test_a_mask_is_of_all_combinations_or_of_each_choice(monkeypatch, mask):
    monkeypatch.setattr(zoo.Storehouse, "mask", mask)
    assert stage("Storehouse").reset(0).available.tolist() == [[False] * 4 + [True] * 2]


@pytest.mark.parametrize("mask", [(1, 1), ([0, 1], [1]), (1, 1, 1, 1, 1, 2), "all"])
def test_a_mask_of_another_kind_is_refused(monkeypatch, mask):
    monkeypatch.setattr(zoo.Storehouse, "mask", mask)
    with pytest.raises(Refused, match="action_mask of 'keeper' must be 5 or 6 times 1 or 0, got"):
        stage("Storehouse").reset(0)


def test_who_has_left_perceives_zeros_and_is_asked_for_nothing_while_the_others_go_on():
    played = stage()
    played.reset(0)
    steps = [played.step(np.asarray([0, 0])) for _ in range(3)]
    assert [step.terminated or step.truncated for step in steps] == [False] * 3
    for step in steps[1:]:
        assert step.percepts.observation[1].tolist() == [0, 0, 0, 0]
        assert step.percepts.available[1].tolist() == [True, False, False]
    assert played.stage.environment.sent[2] == {"tall": 5}


def test_where_time_runs_out_the_task_has_not_ended_and_the_last_percept_is_seen():
    played = stage()
    played.reset(0)
    last = [played.step(np.asarray([0, 0])) for _ in range(4)][-1]
    assert (last.terminated, last.truncated) == (False, True)
    assert last.percepts.observation[0].tolist() == [4, 4, 4, 4]


def test_a_reward_that_all_share_is_the_teams():
    played = stage()
    played.reset(0)
    assert [played.step(np.asarray([0, 0])).reward for _ in range(2)] == [1.0, 2.0]


@pytest.mark.parametrize(("rewards", "team"), [("sum", 5.0), ("mean", 2.5)])
def test_rewards_that_differ_are_added_or_averaged_where_told_so(rewards, team):
    played = stage("Greedy", rewards=rewards)
    played.reset(0)
    assert played.step(np.asarray([0, 0])).reward == team


def test_numbers_of_the_infos_are_reported_as_they_last_were_and_as_means_over_agents():
    played = stage("Telling", infos="success, taken")
    for _ in range(2):  # the second episode begins anew
        played.reset(0)
        told = [played.step(np.asarray([0, 0])).facts for _ in range(3)]
        assert [facts["taken"] for facts in told] == [1.5, 2.5, 3.0]  # the small one has left before the third step
        assert [facts["success"] for facts in told] == [0.0, 1.0, 1.0]
    assert environment("Telling", infos="taken").reports == {"taken": "taken"} and environment("Zoo").reports == {}


@pytest.mark.parametrize(
    ("infos", "reason"),
    [
        ("success,", "environment.infos must be names of entries of infos, with commas between them, got 'success,'"),
        ("a,a", "environment.infos must name each entry once, got 'a,a'"),
        ("return_mean", "environment.infos must not be named return_mean or return_std, which tests record already"),
    ],
)
def test_entries_that_can_not_be_reported_are_refused(infos, reason):
    with pytest.raises(Refused, match=reason):
        environment("Telling", infos=infos)


def test_an_entry_that_is_no_number_is_refused_with_the_name_of_the_agent():
    played = stage("Telling", infos="word")
    played.reset(0)
    with pytest.raises(Refused, match=r"at step 1: word in the info of 'tall' must be a number, .* got 'hm'"):
        played.step(np.asarray([0, 0]))


@pytest.mark.parametrize(("result", "team"), [("sum", (5.0, 1.0)), ("mean", (2.5, 0.5))])
def test_every_agent_is_given_its_own_reward_where_told_so_and_none_once_it_has_left(result, team):
    played = stage("Greedy", rewards="own", result=result)
    played.reset(0)
    steps = [played.step(np.asarray([0, 0])) for _ in range(3)]
    assert [step.own_rewards.tolist() for step in steps] == [[1, 4], [1, 4], [1, 0]]
    assert (steps[0].reward, steps[2].reward) == team


def test_rewards_that_differ_are_otherwise_refused():
    played = stage("Greedy")
    played.reset(0)
    with pytest.raises(Refused, match=r"at step 1: agents must share one reward.*rewards to sum, mean or own"):
        played.step(np.asarray([0, 0]))


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (
            "tests.environments.zoo:Wordy",
            "actions of .*: tall must be Discrete, MultiDiscrete, MultiBinary or Box for agents to learn, got .*Text",
        ),
        ("tests.box_worlds:Half", "must have agents whose actions are all discrete or all a Box"),
        ("tests.box_worlds:Unbounded", "gripper: bounds must be 1 pairs of finite numbers, .* got .*inf"),
        ("tests.box_worlds:Whole", "gripper must be 1 to 1024 numbers of a floating type where they are a Box, got .*"),
        (
            "tests.environments.zoo:Odd",
            "observations of .*: tall must be a Box, Discrete, .*, or a Dict or Tuple of such, got .*Text",
        ),
        ("tests.environments.zoo:Crane", "keeper must be at most 1024 combinations, got 2048 combinations of 2 x 2 x"),
        (
            "tests.environments.zoo:Turns",
            "got a turn-based one: use its parallel_env, or aec_to_parallel of pettingzoo.utils",
        ),
        ("tests.environments.zoo:NUMBER", "must name a function that makes an environment, got 3"),
        ("tests.environments.zoo:broken", "can't be made .KeyError: 'no such thing'"),
        ("tests.environments.zoo:Discrete", "can't be made"),
        ("tests.environments.zoo:Box", "must make a parallel environment of PettingZoo"),
        ("tests.environments.zoo:nothing", "the module tests.environments.zoo has no nothing"),
        ("tests.no_such_module:Zoo", "the module tests.no_such_module can't be imported"),
        ("Zoo", "must name its code as package.module:name, got 'pettingzoo:Zoo'"),
    ],
)
def test_what_can_not_be_played_is_refused_in_one_line(place, reason):
    with pytest.raises(Refused, match=reason) as refusal:
        environment_class(f"pettingzoo:{place}")
    assert "\n" not in str(refusal.value)


def test_a_world_of_pettingzoo_itself_can_be_played():
    pytest.importorskip("pettingzoo.classic.rps_v2", exc_type=ImportError)
    game = pettingzoo_environment("pettingzoo.classic.rps_v2:parallel_env")
    played = CheckedStage(game(rewards="mean"))
    observation, available = played.reset(0)
    assert observation.tolist() == [[0, 0, 0, 1]] * 2 and available.all()  # nobody has moved; rock, paper or scissors
    assert played.step(np.asarray([0, 1])).reward == 0.0
    played.close()
    greedy = CheckedStage(game())
    greedy.reset(0)
    with pytest.raises(Refused, match="agents must share one reward, got"):
        greedy.step(np.asarray([0, 1]))


def changed(place, name, value):
    """An answer to a step in which one entry of one of its parts is something else, or missing."""

    def change(answer):
        if value is MISSING:
            del answer[place][name]
        else:
            answer[place][name] = value
        return answer

    return change


MISSING = object()
OBSERVATION, REWARD, TERMINATION, INFO = 0, 1, 2, 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            changed(OBSERVATION, "tall", ["1", "2", "3", "4"]),
            "observation of 'tall' must be 4 finite numbers .* got .'1'",
        ),
        (changed(OBSERVATION, "tall", np.full((2, 2), 1j)), "observation of 'tall' must be 4 finite numbers"),
        (changed(OBSERVATION, "tall", [1, 2, 3]), r"observation of 'tall' must be 4 finite numbers .* got \[1, 2, 3\]"),
        (changed(OBSERVATION, "tall", np.full((2, 2), np.nan)), "observation of 'tall' must be 4 finite numbers"),
        (changed(OBSERVATION, "small", -1), "observation of 'small' must be a whole number from 0 to 2, got -1"),
        (changed(OBSERVATION, "small", 1.5), "observation of 'small' must be a whole number from 0 to 2, got 1.5"),
        (changed(OBSERVATION, "small", MISSING), "observations must have an entry for 'small', who has not left"),
        (changed(OBSERVATION, "nobody", 0), "observations must be of agents in possible_agents, got one of 'nobody'"),
        (changed(REWARD, "tall", "1"), "reward of 'tall' must be a number, .* got '1'"),
        (changed(REWARD, "tall", MISSING), "rewards must have an entry for 'tall', who has not left"),
        (changed(TERMINATION, "tall", "no"), "terminations of 'tall' must be true or false, got 'no'"),
        (changed(INFO, "tall", {"action_mask": [1, np.nan, 1]}), "action_mask of 'tall' must be 3 times 1 or 0"),
        (changed(INFO, "tall", {"action_mask": [1]}), r"action_mask of 'tall' must be 3 times 1 or 0, got \[1\]"),
        (changed(INFO, "tall", {"action_mask": [0.5, 1, 1]}), "action_mask of 'tall' must be 3 times 1 or 0"),
        (lambda answer: answer[:4], "the answer must be observations, rewards, terminations, truncations, infos, got"),
        (lambda answer: [None, *answer[1:]], "observations must be a dict by agent, got None"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_with_the_name_of_the_agent(monkeypatch, change, reason):
    played = stage()
    played.reset(0)
    step = played.stage.environment.step
    monkeypatch.setattr(played.stage.environment, "step", lambda actions: change(list(step(actions))))
    with pytest.raises(Refused, match=f"pettingzoo:tests.environments.zoo:Zoo at step 1: {reason}"):
        played.step(np.asarray([0, 0]))
