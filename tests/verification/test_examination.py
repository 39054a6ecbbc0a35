"""`decentral check-env` finds what is wrong with a world, and nothing wrong with a sound one."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from decentral.cli import main
from decentral.environments.registry import environment_class
from decentral.settings import Refused
from decentral.verification.environment_check import branches, secrets
from decentral.verification.environment_check.check import examine
from tests.environments.test_pettingzoo import environment as zoo
from tests.faulty_worlds import Gossip, Growing, Walk
from tests.leaky_worlds import Yard, YardStage

PAGE = Path(__file__).parents[2] / "docs" / "environments" / "host.md"
WALK = "python:tests.faulty_worlds:Walk"


def verdicts(environment, verdict, episodes=8):
    """What was said with a verdict, by rule."""
    found = examine(environment, episodes, 0)
    return {finding.rule: finding.said for finding in found if finding.verdict == verdict}


@pytest.mark.parametrize(
    ("fault", "rule", "said"),
    [
        ("closed", "play", "the environment when opened: OSError: nobody is at home"),
        ("raises", "play", "seed 0 in play: KeyError: 'way'"),
        ("breaks off", "play", "an episode broke off: the line is dead"),
        ("tuple", "play", "the answer must be Step, got"),
        ("shape", "shapes", r"seed 0, at reset: observation must be numbers of the shape \(2, 3\)"),
        ("not finite", "finite", "seed 0, at step 3: the observation of agent 1 must be finite, got .*nan"),
        ("half a mask", "actions", r"seed 0, at step 2: available of agent 1 must be true or false .*, got \[0.5, 0.5"),
        ("stuck", "actions", "seed 0, at step 2: agent 1 must have at least one available action"),
        (
            "endless reward",
            "reward",
            r"seed 0, at step 1: reward must be a number, finite and at most 3.4e\+38 in size, got inf",
        ),
        ("no flag", "ends", "seed 0, at step 1: terminated must be true or false, got 0"),
        ("copy", "secrets", "number 2 of agent 0's observation is decided by agent 1's last action alone"),
        ("copy in the mask", "secrets", "whether action 2 is available to agent 0 is decided by agent 1's last"),
        ("remembers", "repeats", "seed 0, the same actions, on the same stage: observation differs at reset"),
        ("tires", "repeats", "seed [0-9]+, the same actions once more: the episode ended at step 2, and had gone on"),
        ("new stage", "repeats", "seed 0, the same actions, on a stage opened anew: observation differs at reset"),
    ],
)
def test_a_world_that_breaks_one_rule_is_told_so_and_nothing_else(fault, rule, said):
    wrong = verdicts(Walk(fault=fault), "wrong")
    assert list(wrong) == [rule]
    assert re.search(said, wrong[rule]), wrong


def test_a_sound_world_is_found_sound_though_agents_see_each_other_move():
    assert verdicts(Walk(), "wrong") == {}
    right = verdicts(Walk(), "right")
    assert list(right) == ["play", "shapes", "finite", "actions", "reward", "ends", "repeats", "secrets"]
    assert right["ends"] == "episodes of 5 to 5 steps: 8 ended, 0 ran out of time"
    # for either agent 24 moments at which the task goes on, and two actions besides the first at each
    assert "of 96 times that one action alone was changed, 96 changed what others perceived" in right["secrets"]
    assert "steps per second" in verdicts(Walk(), "note")["speed"]


def test_an_agent_whose_actions_change_nothing_is_named():
    said = verdicts(Walk(fault="deaf"), "unclear")["secrets"]
    assert said.startswith("nothing differed in 48 times that agent 1's action alone was changed: its actions may not")


def test_a_slow_world_is_looked_at_in_fewer_moments(monkeypatch):
    monkeypatch.setattr(branches, "MOST_SECONDS", 0.0)
    assert "of 48 times that one action alone was changed" in verdicts(Walk(), "right", episodes=1)["secrets"]


def test_no_step_of_a_past_is_played_in_vain():
    stage = Walk().open()
    assert len(branches.moments_of(Walk(), stage, 0, np.random.default_rng(0))) == 24
    assert stage.resets == 24 * (1 + 3)  # a past, and the way back to its end for each of three actions
    early = branches._past(Walk(), stage, 0, np.random.default_rng(0))
    assert len(early.steps) == 0 and stage.taken == 1


def test_what_is_too_large_to_be_searched_is_told(monkeypatch):
    monkeypatch.setattr(secrets, "MOST_NUMBERS", 2)
    assert verdicts(Walk(), "unclear")["secrets"].startswith("observations of 3 numbers, such as large images, are not")


def kinds():
    """The rows of the page: how an action may be told, and what is said of it."""
    lines = PAGE.read_text().split("| how a partner's action is told |")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(("kind", "verdict", "said"), kinds())
def test_an_action_that_is_told_is_found_as_the_page_says(kind, verdict, said):
    (found,) = (finding for finding in examine(Yard(kind=kind), 1, 0) if finding.rule == "secrets")
    assert found.verdict == {"wrong": "wrong", "may be a copy": "unclear", "not found": "right"}[verdict]
    assert said in found.said and ("it may be a copy" in found.said) == (verdict == "may be a copy")


def test_the_page_tells_of_every_kind_that_is_planted():
    planted = re.findall(r'case "(.*)"|self.kind == "(.*?)"', inspect.getsource(YardStage))
    assert {"".join(kind) for kind in planted} == {kind for kind, *_ in kinds()}
    assert verdicts(Yard(), "right")["secrets"].startswith("no copy of another's action was found")


def test_where_all_moments_look_alike_nothing_is_said_of_secrets():
    blind = Walk(fault="blind")
    assert verdicts(blind, "wrong") == {}
    assert "too few looked different" in verdicts(blind, "unclear")["secrets"]


def test_a_world_that_goes_on_is_cut_off_and_one_that_ends_too_early_is_wrong():
    assert verdicts(Walk(fault="never ends"), "right")["ends"].endswith("8 went on and were cut off at time_limit 8")
    said = verdicts(Walk(never_early=True), "wrong")["ends"]
    assert said == "seed 0: it ended after 5 steps, but says that it never ends early"


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("Outside", "spaces", "episode 1, at reset: the observation of small must lie in .*got 3"),
        ("Greedy", "sharing", "episode 1, at step 1: agents must share one reward, got .*--environment.rewards sum"),
        ("Overstaying", "leaving", "episode 1, at step 2: small has ended or run out of time and must leave"),
    ],
)
def test_a_world_of_pettingzoo_is_listened_to(name, rule, said):
    wrong = verdicts(zoo(name), "wrong", episodes=1)
    assert re.search(said, wrong[rule]), wrong


def test_a_sound_world_of_pettingzoo_is_found_sound_and_rewards_may_differ_where_told_so():
    assert verdicts(zoo("Telling"), "wrong") == {}
    assert verdicts(zoo("Telling"), "note")["infos"].endswith("--environment.infos taken,success")
    assert (
        verdicts(zoo("Greedy", rewards="sum"), "right")["sharing"] == "the team's reward is the sum of the agents' own"
    )


def test_compiled_worlds_are_examined_too():
    assert (
        "number 0 of agent 1's observation is decided by agent 0's last action"
        in verdicts(Gossip(), "wrong")["secrets"]
    )
    said = verdicts(Growing(), "wrong", episodes=1)["compiled"]
    assert said == "the state itself must stay int32[] from step to step, got float32[]"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("matrix-game", {}),
        ("predator-prey", {"length": 10}),
        ("predator-prey", {"length": 10, "observe_teammate": True}),
        ("switching-wind", {}),
        ("3m", {}),
    ],
)
def test_nothing_is_wrong_with_our_own_worlds(name, settings):
    found = examine(environment_class(name)(**settings), 2, 0)
    assert [finding for finding in found if finding.verdict == "wrong" or "may be a copy" in finding.said] == []


def test_the_exit_code_says_whether_something_is_wrong(capsys):
    main(["check-env", WALK, "--episodes", "2"])
    assert "nothing wrong was found" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="1"):
        main(["check-env", WALK, "--environment.fault", "stuck"])
    assert "wrong   actions  seed 0, at step 2: agent 1" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["check-env", "python:tests.faulty_worlds:Nobody"])
    assert capsys.readouterr().err.count("\n") == 1


def test_how_much_is_played_must_make_sense():
    with pytest.raises(Refused, match="episodes must be a whole number at least 1"):
        examine(Walk(), 0, 0)
