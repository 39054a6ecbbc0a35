"""An agent by itself, fed with what an agent of a compiled training lived through, learns the same."""

import jax
import numpy as np

import decentral
from decentral.algorithms import ALGORITHMS
from decentral.settings import as_data
from decentral.training.loop import begin, turns
from decentral.training.parameters import as_arrays
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.small import each_of, small
from tests.worlds import Fuse

PLAN = {"batch_episodes": 2, "replay_episodes": 8, "epsilon_steps": 12, "updates_per_turn": 2}
TURNS, PLACE, SEED, LIMIT = 6, 1, 5, 4


class Short(Fuse):
    """Learned from as if no episode ended early, which changes nothing but the time to compile."""

    may_end_early = False


def settings_of(name):
    often = {"target_period": 3, "turn_length": 2, "contexts": 3}
    return often | {"learning_rate": 0.1} if name == "i2q-tabular" else often


def played(setup):
    """A run of two agents, and the episodes of one of them: an on-policy learner keeps the last two alone."""
    lane = jax.jit(lambda: turns(setup, begin(setup, SEED), 1, False))()
    advance, parts = jax.jit(lambda lane, count: turns(setup, lane, count, True)), []
    for count in (1, *[2] * (TURNS // 2 - 1)):
        lane = advance(lane, count)
        parts.append(jax.tree.map(lambda kept: np.asarray(kept[PLACE]), lane.replays[0].episodes))
    if not setup.team.squads[0].algorithm.on_policy:
        return lane, parts[-1]
    return lane, jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


@each_of(ALGORITHMS, always=["iql", "i2q-tabular"])
def test_the_same_stream_of_percepts_and_rewards_makes_the_same_agent(name):
    algorithm = small(name, **settings_of(name))
    planned = PLAN | ({"updates_per_turn": 1} if algorithm.on_policy else {})
    setup = TrainingSetup.alike(algorithm, Short(limit=LIMIT, longest=5.0), Plan(**planned))
    lane, lived = played(setup)

    agent = decentral.Agent(
        name, setup.environment.spec, **as_data(algorithm), **planned, seed=SEED, place=PLACE, team_size=2,
        time_limit=LIMIT, may_end_early=False,
    )  # fmt: skip
    for episode in range(TURNS):
        observed, steps = lived.percepts.observation[episode], int(lived.happened[episode].sum())
        for step in range(steps):
            assert agent.act(observed[step]) == lived.actions[episode, step]
            over = agent.observe(lived.rewards[episode, step], observed[step + 1], lived.terminated[episode, step])
            assert over == (step == steps - 1)
        assert bool(agent.learn()) == (episode % 2 == 1 if algorithm.on_policy else episode >= 1)

    assert not lived.terminated[:TURNS].any(axis=1).all()  # some episodes end early, others at the time limit
    expected = as_arrays(jax.tree.map(lambda leaf: leaf[PLACE], lane.agents[0].online))
    assert agent.parameters.keys() == expected.keys()
    for part, array in expected.items():
        np.testing.assert_allclose(agent.parameters[part], array, rtol=0, atol=2e-6, err_msg=part)
