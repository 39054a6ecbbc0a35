"""Seeds or agents side by side on the cores of a CPU."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from decentral.experiments.placement import Placement, best_placement


@pytest.mark.parametrize(
    ("seeds", "squads", "devices", "wanted"),
    [
        (1, [2], 1, (1, 1)),
        (1, [2], 2, (1, 2)),
        (2, [2], 2, (2, 1)),  # seeds before agents
        (5, [2], 2, (1, 2)),
        (5, [3], 2, (1, 1)),
        (1, [1, 1], 2, (1, 1)),  # agents that differ can't be divided
        (6, [4], 8, (2, 4)),
        (16, [2], 4, (4, 1)),
    ],
)
def test_as_many_devices_are_used_as_can_have_equal_shares(seeds, squads, devices, wanted):
    assert best_placement(seeds, squads, devices) == Placement(*wanted)


TRAINED = """
import json, jax
from decentral.environments import MatrixGame
from decentral.experiments.machine import Machine
from decentral.experiments.placement import Placement
from decentral.training.loop import Trainee
from decentral.training.plan import Plan
from tests.small import small

spread = Placement.of
for place in (spread, lambda trainee: Placement()):
    Placement.of = staticmethod(place)
    for seeds in (1, 2):
        plan = Plan(seeds=seeds, batch_episodes=1, replay_episodes=4, test_episodes=2)
        machine = Machine.start(Trainee.alike(small("iql"), MatrixGame(), plan))
        machine.advance(3)
        learned = [leaf.ravel().tolist() for leaf in jax.tree.leaves(machine.lanes.agents[0].online)]
        placed = (machine.placement.seeds, machine.placement.agents)
        print(json.dumps([placed, learned, machine.test()[0].tolist()]))
"""


def test_training_is_the_same_on_one_device_and_spread_over_two():
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": "2", "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", TRAINED], env=environment, capture_output=True, text=True, check=True)
    by_agents, by_seeds, *alone = (json.loads(line) for line in ran.stdout.splitlines())
    assert [by_agents[0], by_seeds[0], *(placed for placed, *_ in alone)] == [[1, 2], [2, 1], [1, 1], [1, 1]]
    for (_, learned, returns), (_, others, their_returns) in zip((by_agents, by_seeds), alone, strict=True):
        for one, other in zip(learned, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(returns, their_returns)
