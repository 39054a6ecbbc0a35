"""An agent by itself in a loop of somebody else's."""

import json

import numpy as np
import pytest

import decentral
from decentral.agents import Agent
from decentral.agents.agent_config import AgentConfig
from decentral.agents.storage import _digest
from decentral.settings import Refused
from decentral.tensors import read_arrays, write_arrays
from decentral.types import AgentSpec, Continuous, Discrete

TINY = {"hidden": 4, "batch_episodes": 2, "replay_episodes": 4, "time_limit": 3, "may_end_early": False}
SEEN = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)


def newborn(**settings):
    return decentral.Agent("iql", (2, 3), **TINY | settings)


def live(agent, episodes, start=0):
    """Episodes of two steps, the second of which ends the task; what was done and what learning told."""
    done = []
    for episode in range(start, start + episodes):
        first, second, last = SEEN[3 * episode : 3 * episode + 3]
        done.append(agent.act(first))
        agent.observe(1.0, second)
        done.append(agent.act())
        agent.observe(-1.0, last, terminated=True)
        done.append(agent.learn())
    return done


def test_actions_are_plain_integers_and_learning_starts_with_the_first_full_batch():
    agent = newborn()
    done = live(agent, 3)
    assert all(type(action) is int and 0 <= action < 3 for action in (*done[::3], *done[1::3]))
    assert done[2] == {} and done[5]["loss"] > 0 and done[8]["loss"] > 0
    assert agent.episodes == 3


def test_learning_is_for_the_time_between_two_episodes():
    agent = newborn()
    live(agent, 3)
    before = agent.parameters
    assert agent.learn() == {}  # once after each episode
    agent.act(SEEN[0])
    assert agent.learn() == {}
    assert all((before[name] == array).all() for name, array in agent.parameters.items())


def test_an_episode_is_over_when_the_task_ends_when_it_is_cut_off_and_at_the_time_limit():
    agent = newborn()
    agent.act(SEEN[0])
    assert agent.observe(0.0, SEEN[1], True) is True
    agent.act(SEEN[0])
    assert agent.observe(0.0, SEEN[1], truncated=True) is True
    agent.act(SEEN[0])
    over = [agent.observe(0.0, SEEN[1])]
    for _ in range(2):
        agent.act()
        over.append(agent.observe(0.0, SEEN[1]))
    assert over == [False, False, True]
    kept = agent._state.replay.episodes
    assert np.asarray(kept.terminated[0, :3]).tolist() == [[True, False, False], [False] * 3, [False] * 3]
    assert np.asarray(kept.happened[0, :3]).sum(axis=1).tolist() == [1, 1, 3]


def test_a_stored_agent_goes_on_as_if_nothing_had_been_between(tmp_path):
    first, file = newborn(replay_type="bfloat16"), tmp_path / "agent"
    live(first, 2)
    first.act(SEEN[20])  # in the middle of an episode
    first.save(file)
    second = decentral.Agent.load(file)
    assert repr(second) == repr(first) == "Agent('iql', (2, 3), episodes=2)"
    done = []
    for agent in (first, second):
        agent.observe(0.5, SEEN[21], truncated=True)
        done.append((agent.learn(), live(agent, 3, start=8), agent.epsilon))
    assert done[0] == done[1]
    for name, array in first.parameters.items():
        np.testing.assert_array_equal(array, second.parameters[name])


def test_greedy_actions_are_the_best_available_ones():
    agent = newborn(epsilon_start=1.0, epsilon_end=1.0)
    chosen = set()
    for available in ([True] * 3, [False, True, True], [True, False, False]):
        again = {decision(agent, available) for _ in range(3)}
        assert len(again) == 1  # the same networks, the same percept
        chosen |= again
    assert 0 in chosen


def test_a_greedy_episode_changes_nothing_of_the_agent():
    """The best action of a first percept, however much the agent explores; and it learns on as if nothing had been."""
    shown, alone = (newborn(epsilon_start=1.0, epsilon_end=1.0) for _ in range(2))
    best = decision(newborn(), [True] * 3)
    assert [shown.greedy_episode(number).act(SEEN[0]) for number in range(3)] == [best] * 3
    assert live(shown, 2) == live(alone, 2)
    with pytest.warns(DeprecationWarning, match="exhibit is called greedy_episode now"):
        old_name = shown.exhibit()
    assert old_name.act(SEEN[0], [False, True, False]) == old_name.act(SEEN[1], [False, True, False]) == 1
    assert live(shown, 2, start=2) == live(alone, 2, start=2)


def test_an_agent_with_a_slow_clock_learns_after_every_so_many_episodes():
    agent, changed = newborn(update_period=3), []
    for episode in range(6):
        before = agent.parameters
        live(agent, 1, start=episode)
        changed.append(any((before[name] != array).any() for name, array in agent.parameters.items()))
    assert changed == [False, False, True, False, False, True]


def decision(agent, available):
    """The greedy first action of an episode."""
    action = agent.act(SEEN[0], available, greedy=True)
    agent.observe(0.0, SEEN[1], True)
    assert available[action]
    return action


def test_calls_out_of_turn_are_refused_and_change_nothing():
    agent = newborn()
    with pytest.raises(Refused, match="observe must follow act"):
        agent.observe(0.0, SEEN[0])
    with pytest.raises(Refused, match="act needs the first observation of an episode"):
        agent.act()
    agent.act(SEEN[0])
    with pytest.raises(Refused, match="act must not be called twice in a row"):
        agent.act(SEEN[0])
    with pytest.raises(Refused, match="reward must be a finite number, got nan"):
        agent.observe(float("nan"), SEEN[1])
    with pytest.raises(Refused, match="terminated must be true or false, got 'no'"):
        agent.observe(0.0, SEEN[1], "no")
    with pytest.raises(Refused, match="truncated must be false where terminated is true"):
        agent.observe(0.0, SEEN[1], True, truncated=True)
    with pytest.raises(Refused, match="available must name at least one action"):
        agent.observe(0.0, SEEN[1], available=[False] * 3)
    agent.observe(0.0, SEEN[1], available=[True, False, True])
    with pytest.raises(Refused, match="act must be called with the observation that was observed last"):
        agent.act(SEEN[2])
    with pytest.raises(Refused, match="act must be called with the available actions that were observed last"):
        agent.act(available=[True, True, True])
    assert agent.act(SEEN[1], [True, False, True]) in (0, 2)


@pytest.mark.parametrize(
    ("name", "spec", "settings", "refusal"),
    [
        ("sarsa", (2, 3), {}, "algorithm must be one of iql, .*, got 'sarsa'"),
        ("vdn", (2, 3), {}, "algorithm must be one of iql, .*, got 'vdn'"),
        ("iql", (2,), {}, "spec must be an AgentSpec, or the size of an observation and the number of actions"),
        ("iql", (2, 0), {}, "spec must be an AgentSpec"),
        (
            "iql",
            AgentSpec(1, Continuous(1)),
            {},
            "one of ia2c, ippo, dpo, tvpo for continuous actions, as spec has, got iql",
        ),
        ("ippo", AgentSpec(1, Continuous(2)), {"bounds": [(0, 1), (1, 1)]}, "bounds must be 2 pairs of .*, got .1, 1."),
        ("ippo", AgentSpec(1, Continuous(1)), {"bounds": [(0, np.inf)]}, "bounds must be 1 pairs of finite numbers"),
        ("ippo", (1, 2), {"bounds": [(0, 1)]}, "bounds can't be set for discrete actions"),
        ("iql", (2, 3), {"window": 3}, "unknown setting window: iql has activation, .*, time_limit"),
        ("iql", (2, 3), {"steps": 3}, "unknown setting steps"),
        ("iql", (2, 3), {"time_limit": 0}, "agent.time_limit must be a whole number at least 1"),
        ("iql", (2, 3), {"hidden": 0}, "agent.hidden must be a whole number at least 1, got 0"),
        ("iql", (2, 3), {"batch_episodes": 9000}, "agent.batch_episodes must be at most replay_episodes"),
        ("iql", (10**6, 3), {}, "replay_episodes = 5000 with time_limit = 100 needs .* GiB of memory, .* lower one"),
        ("iql", (2, 3), {"place": 2, "team_size": 2}, "agent.place must be below team_size, 2, got 2"),
    ],
)
def test_bad_requests_are_refused_by_their_keys(name, spec, settings, refusal):
    with pytest.raises(Refused, match=refusal):
        decentral.Agent(name, spec, **settings)


def test_an_agent_that_knows_of_nobody_else_need_not_wait_for_its_turn():
    alone, second = (AgentConfig.of("ma2ql", (2, 3), {"place": 1, "team_size": size}) for size in (1, 2))
    assert alone.squad.places == (0,) and second.squad.places == (1,)


def test_a_spec_can_be_that_of_an_environment():
    assert repr(decentral.Agent("i2q-tabular", AgentSpec(2, Discrete(3)), states=4, replay_episodes=32, time_limit=1))


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"format": 1}, "must be an agent stored in format 2"),
        ({"algorithm": "sarsa"}, "algorithm must be one of"),
        ({"settings": 3}, "settings must be an object, got 3"),
        ({"phase": "asleep"}, "phase must be one of"),
        ({"step": 3, "phase": "to act"}, "step must be a whole number from 0 to 2, got 3"),
        ({"step": 4}, "step must be a whole number from 0 to 3, got 4"),
        ({"spec": [2, 4]}, r"diary.available must be bool\(4, 4\), got bool\(4, 3\)"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path, change, refusal):
    newborn().save(tmp_path / "agent")
    stored = read_arrays(tmp_path / "agent")
    note = json.dumps(json.loads(stored.notes["agent"]) | change)
    write_arrays(tmp_path / "agent", stored.arrays, {"agent": note, "sha256": _digest(note, stored.arrays)})
    with pytest.raises(Refused, match=refusal):
        decentral.Agent.load(tmp_path / "agent")


@pytest.mark.parametrize("place", [-1, -200, 40])
def test_a_flipped_bit_is_refused(tmp_path, place):
    newborn().save(tmp_path / "agent")
    content = bytearray((tmp_path / "agent").read_bytes())
    content[place] ^= 1
    (tmp_path / "agent").write_bytes(content)
    with pytest.raises(
        Refused, match=r"is broken: its SHA-256|must be an agent stored in format 2|no safetensors file"
    ):
        decentral.Agent.load(tmp_path / "agent")


def test_an_agent_of_a_team_of_unequal_ones_is_told_and_does_its_own_alone(tmp_path):
    named = TINY | {"name": "guard", "first_action": 6}
    inside = Agent.from_config(AgentConfig.of("iql", (1, 2), named, padded=AgentSpec(2, Discrete(3))))
    padded, two = newborn(), [True, True, False]
    for first, second in zip(SEEN[:12:2, 0], SEEN[1:12:2, 0], strict=True):
        assert inside.act([first]) - 6 == padded.act([first, 0.0], two) < 2
        inside.observe(1.0, [second], terminated=True)
        padded.observe(1.0, [second, 0.0], terminated=True, available=two)
        assert inside.learn() == padded.learn()
    inside.save(tmp_path / "agent")
    again = decentral.Agent.load(tmp_path / "agent")
    assert repr(again) == "Agent('iql', (1, 2), name='guard', episodes=6)"
    assert {again.greedy_episode().act([seen]) for seen in SEEN[:, 1]} <= {6, 7}
    assert all((array == padded.parameters[name]).all() for name, array in again.parameters.items())
    with pytest.raises(Refused, match=r"observation must have the shape \(1,\), got \(2,\)"):
        again.act([0.0, 0.0])
    with pytest.raises(Refused, match="padded must be at least the agent's own sizes"):
        AgentConfig.of("iql", (3, 2), TINY, padded=AgentSpec(2, Discrete(3)))
