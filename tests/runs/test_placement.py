"""Seeds or agents side by side on the cores of a CPU."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from decentral.runs.placement import Placement, best_placement


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
import json, jax, numpy as np
from decentral.environments.matrix_game import MatrixGame
from decentral.runs.lanes import LaneBatch
from decentral.runs.placement import Placement
from decentral.training.setup import TrainingSetup
from decentral.training.plan import Plan
from tests.small import small

def show(*trainees):
    machine = LaneBatch.start(*trainees)
    machine.advance(3)
    scores, diagnosis, _ = machine.test()
    known = [*map(np.asarray, jax.tree.leaves((scores, diagnosis, machine.lanes.agents[0].online)))]
    lanes = np.concatenate([leaf.reshape(len(machine.seeds), -1) for leaf in known], axis=1)
    print(json.dumps([machine.programs.placement.seeds, machine.programs.placement.agents, lanes.tolist()]))


def trainee(seeds=1, learning_rate=0.005):
    plan = Plan(seeds=seeds, batch_episodes=1, replay_episodes=4, test_episodes=2, diagnostics=True)
    return TrainingSetup.alike(small("iql", learning_rate=learning_rate), MatrixGame(), plan)


show(trainee())
show(trainee(seeds=2))
show(trainee(), trainee(learning_rate=0.05))
Placement.of = staticmethod(lambda trainee, lanes: Placement())
show(trainee())
show(trainee(seeds=2))
show(trainee(learning_rate=0.05))
"""


def test_training_is_the_same_on_one_device_and_spread_over_two():
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": "2", "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", TRAINED], env=environment, capture_output=True, text=True, check=True)
    shown = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [placed for *placed, _ in shown] == [[1, 2], [2, 1], [2, 1], [1, 1], [1, 1], [1, 1]]
    by_agents, by_seeds, by_trainees, one, two, other = (lanes for *_, lanes in shown)
    for spread, alone in ((by_agents, one), (by_seeds, two), (by_trainees, one + other)):
        np.testing.assert_allclose(spread, alone, rtol=1e-4, atol=1e-5)
