"""What an agent of an arena is told, and what it is not; here all agents live in this process."""

import numpy as np
import pytest

import decentral
from decentral.arenas.arena import agent_setups, opened
from decentral.arenas.arena_settings import ArenaSettings
from decentral.arenas.arena_state import ArenaState
from decentral.arenas.homes import FILE, Places, log_file
from decentral.arenas.wire import ACTION
from decentral.configs.config import Config
from decentral.configs.members import Member, team_of
from decentral.environments.host.wire import CLOSE, RESET, STEP
from decentral.errors import Failed
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.training.squads.separate import LearningSchedule
from tests.arenas.nearby import Nearby, scripted
from tests.host_worlds import Counting
from tests.small import small
from tests.worlds import Noise

PLAN = Plan(batch_episodes=2, replay_episodes=8, epsilon_start=0.5, test_episodes=2)
ACTIONS = np.random.default_rng(3).integers(2, size=12).tolist()


class Relabelled(Noise):
    """The second agent's actions bear each other's names."""

    def step(self, state, actions, key):
        return super().step(state, actions.at[1].set(1 - actions[1]), key)


def config_of(environment, clocks=(LearningSchedule(), LearningSchedule())):
    members = [Member("iql", small("iql"), clock) for clock in clocks]
    return Config(members, "noise", TrainingSetup(team_of(members), environment, PLAN))


def arena(path, *lines, environment=None, terms=None, clocks=(LearningSchedule(), LearningSchedule())):
    """An arena of two agents, whose messages are logged."""

    def line(agent_setup, home):
        return lines[agent_setup.agent_config.agent_settings.place](agent_setup, home)

    places = Places(path / "homes", path / "log")
    return opened(
        config_of(environment or Noise(), clocks), terms or ArenaSettings(), ArenaState(0, 0, True), places, line
    )


def wire_of(environment):
    return agent_setups(config_of(environment), ArenaSettings(), 0)[0].wire


def messages(path, place, environment=None):
    """All messages of one agent."""
    return list(wire_of(environment or Noise()).log(log_file(path / "log", 0, place)))


def lived(path, script, environment):
    """Four episodes of three steps beside someone who acts by a script."""
    with arena(path, Nearby, scripted(script), environment=environment) as playing:
        for _ in range(4):
            playing.play()
    return messages(path, 0), messages(path, 1)


def test_an_agent_hears_nothing_of_what_another_did_beyond_what_came_of_it(tmp_path):
    """The other's actions are called by other names in a world that calls them so too: percepts and rewards stay."""
    other = [1 - action for action in ACTIONS]
    plain, partner = lived(tmp_path / "a", ACTIONS, Noise())
    renamed, renamed_partner = lived(tmp_path / "b", other, Relabelled())
    assert plain == renamed
    assert [own for own in partner if own[0] != ACTION] == [own for own in renamed_partner if own[0] != ACTION]
    assert partner != renamed_partner
    assert plain != lived(tmp_path / "c", other, Noise())[0]  # other rewards are heard


def test_an_episode_is_told_as_percept_action_and_outcome_in_turn(tmp_path):
    told, _ = lived(tmp_path, ACTIONS, Noise())
    assert b"".join(kind for kind, _ in told) == b"w" + b"rasasas" * 4 + b"c"
    wire = wire_of(Noise())
    outcomes = [wire.step(body) for kind, body in told if kind == STEP]
    own = [wire.action(body)[0] for kind, body in told if kind == ACTION]
    assert [outcome.reward for outcome in outcomes] == [float(a == b) for a, b in zip(own, ACTIONS, strict=True)]
    assert [outcome.truncated for outcome in outcomes] == [False, False, True] * 4


def test_an_agent_that_was_killed_goes_on_from_its_own_file_and_the_others_go_on_meanwhile(tmp_path):
    """It saves itself after episodes 2 and 4, dies after the fifth, and misses the sixth."""
    with arena(tmp_path, Nearby, Nearby, terms=ArenaSettings(save_every=2)) as playing:
        for episode in range(8):
            if episode == 5:
                playing.seats[0].line.killed = True
            playing.play()
        assert [seat.missed for seat in playing.seats] == [1, 0]
        assert playing.seats[0].deaths == ["killed"]
    agents = [decentral.Agent.load(tmp_path / "homes" / "seed-0" / f"agent-{place}" / FILE) for place in (0, 1)]
    assert [agent.episodes for agent in agents] == [4 + 2, 8]
    steps = [[kind for kind, _ in messages(tmp_path, place)].count(STEP) for place in (0, 1)]
    assert steps == [7 * 3, 8 * 3]


def test_an_agent_that_dies_too_often_ends_the_arena(tmp_path):
    class Stillborn(Nearby):
        def receive(self, patience):
            self.killed = True
            raise EOFError

    with (
        pytest.raises(Failed, match="agent 1 died too often: 3 times, the last time killed"),
        arena(tmp_path, Nearby, Stillborn, terms=ArenaSettings(restarts=2)),
    ):
        raise AssertionError("it must not begin")


def test_an_action_that_is_none_ends_the_arena(tmp_path):
    with (
        pytest.raises(
            Failed, match=r"agent 1 broke the rules of the arena: .* action that is available \(0, 1\), got 7"
        ),
        arena(tmp_path, Nearby, scripted([7])) as playing,
    ):
        playing.play()


def test_agents_learn_by_clocks_of_their_own(tmp_path):
    """The second learns after every third episode only, and so not yet after two."""
    with arena(tmp_path, Nearby, Nearby, clocks=(LearningSchedule(), LearningSchedule(update_period=3))) as playing:
        born = [seat.line.answer.__self__.agent.parameters for seat in playing.seats]
        changed = []
        for _ in range(3):
            playing.play()
            now = [seat.line.answer.__self__.agent.parameters for seat in playing.seats]
            changed.append([any((a[name] != b[name]).any() for name in a) for a, b in zip(born, now, strict=True)])
    assert changed == [[False, False], [True, False], [True, True]]


def test_late_rewards_reach_the_agent_in_the_next_episode(tmp_path):
    with arena(
        tmp_path, scripted([0] * 6), scripted([0, 1, 0, 1, 1, 1]), terms=ArenaSettings(reward_delay=2)
    ) as playing:
        totals = [playing.play().total for _ in range(2)]
    assert totals == [2.0, 0.0]  # as the world paid: 1, 0, 1 and 0, 0, 0
    wire = wire_of(Noise())
    heard = [wire.step(body).reward for kind, body in messages(tmp_path, 0) if kind == STEP]
    assert heard == [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]


def test_a_test_changes_nothing_of_what_is_learned(tmp_path):
    learned = []
    for tests, name in ((0, "without"), (2, "with")):
        with arena(tmp_path / name, Nearby, Nearby) as playing:
            for _ in range(3):
                playing.play()
                assert all(played.steps == 3 for _ in range(tests) for played in playing.test())
        learned.append(decentral.Agent.load(tmp_path / name / "homes" / "seed-0" / "agent-0" / FILE).parameters)
    for part, array in learned[0].items():
        np.testing.assert_array_equal(array, learned[1][part])
    assert {kind for kind, _ in messages(tmp_path / "without", 0)} == {b"w", RESET, STEP, ACTION, CLOSE}


def test_a_world_that_lives_in_python_is_played_too(tmp_path):
    """Its task ends after three steps of four, and its third action is never available."""
    with arena(tmp_path, scripted([0, 1, 1]), scripted([0, 1, 0]), environment=Counting()) as playing:
        assert playing.play().total == 2.0
    wire = wire_of(Counting())
    told = [wire.step(body) for kind, body in messages(tmp_path, 0, Counting()) if kind == STEP]
    assert [(own.reward, own.terminated, own.truncated) for own in told] == [
        (1.0, False, False),
        (1.0, False, False),
        (0.0, True, False),
    ]
    assert told[0].percept.observation[0] == 1.0 and told[0].percept.available.tolist() == [True, True, False]


def test_an_episode_that_breaks_off_ends_the_arena(tmp_path):
    environment = Counting(trouble="break off", in_episode=0)
    with (
        pytest.raises(Failed, match=r"an episode broke off, .* can't play it again: the line went dead"),
        arena(tmp_path, scripted([0, 0]), scripted([0, 0]), environment=environment) as playing,
    ):
        playing.play()
