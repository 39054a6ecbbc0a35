"""Lanes and agents side by side on the cores of a CPU, or on accelerators."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.placement import Placement, best_placement, even_placement


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


@pytest.mark.parametrize(
    ("lanes", "devices", "used", "padding"),
    [
        (1, 8, 1, 0),
        (5, 8, 5, 0),
        (8, 8, 8, 0),
        (9, 8, 5, 1),
        (15, 8, 8, 1),
        (20, 8, 7, 1),
        (5, 2, 2, 1),
        (64, 8, 8, 0),
        (5, 1, 1, 0),
    ],
)
def test_accelerators_have_shares_as_small_as_they_can_be(lanes, devices, used, padding):
    placement = even_placement(lanes, [2], devices)
    assert (placement.devices, placement.padding(lanes)) == (used, padding)
    assert (lanes + padding) // used == -(-lanes // devices)
    assert placement.apart == (used > 1) and Placement.from_counts(placement.counts) == placement


@pytest.mark.parametrize(
    ("lanes", "squads", "devices", "wanted"),
    [
        (1, [100], 8, (1, 5)),  # twenty on each of five
        (2, [64], 8, (2, 4)),
        (3, [32], 8, (3, 2)),
        (1, [64, 32], 8, (1, 2)),
        (1, [10], 8, (1, 1)),  # too few to gain from it
        (1, [64, 1], 8, (1, 1)),
        (5, [100], 8, (5, 1)),  # lanes before agents
    ],
)
def test_many_agents_are_spread_over_accelerators_that_have_no_lane_of_their_own(lanes, squads, devices, wanted):
    assert even_placement(lanes, squads, devices) == Placement(*wanted, apart=wanted[1] == 1 and wanted[0] > 1)


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
    learned = jax.tree.map(lambda leaf: leaf[: len(machine.seeds)], machine.lanes.agents[0].online)
    known = [*map(np.asarray, jax.tree.leaves((scores, diagnosis, learned)))]
    lanes = np.concatenate([leaf.reshape(len(machine.seeds), -1) for leaf in known], axis=1)
    print(json.dumps([machine.programs.placement.seeds, machine.programs.placement.agents, lanes.tolist()]))


def trainee(learning_rate, devices=2):
    plan = Plan(seeds=1, batch_episodes=1, replay_episodes=4, test_episodes=2, diagnostics=True, devices=devices)
    return TrainingSetup.alike(small("iql", learning_rate=learning_rate), MatrixGame(), plan)


show(trainee(0.005, devices=0))
trainees = [*map(trainee, (0.005, 0.02, 0.05))]
show(*trainees)
Placement.of = staticmethod(lambda trainee, lanes: Placement())
show(*trainees)
"""


def test_training_is_the_same_on_one_device_and_spread_over_two():
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": "2", "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", TRAINED], env=environment, capture_output=True, text=True, check=True)
    shown = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [placed for *placed, _ in shown] == [[1, 2], [2, 1], [1, 1]]
    by_agents, by_lanes, alone = (lanes for *_, lanes in shown)
    assert len(by_lanes) == 3  # and a fourth that fills up the second device
    for spread, together in ((by_agents, alone[:1]), (by_lanes, alone)):
        np.testing.assert_allclose(spread, together, rtol=1e-4, atol=1e-5)


FIVE_SEEDS, FIFTEEN_SEEDS = (["matrix-game", "--seeds", seeds] for seeds in ("5", "15"))
MANY_AGENTS = ["porters", "--environment.num_porters", "32", "--environment.length", "3"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "on_eight"), [(FIVE_SEEDS, [5, 1, 1]), (FIFTEEN_SEEDS, [8, 1, 1]), (MANY_AGENTS, [1, 2])]
)
def test_a_run_saved_on_eight_devices_goes_on_on_fewer_as_if_it_had_been_on_one(tmp_path, task, on_eight):
    """Five seeds on five devices, then on two of three and two, then on one; 32 agents on two devices, then on one.

    Fifteen seeds are two on each of eight devices, and eight on each of two: a lane that nobody needs fills them up.
    """

    def run(devices, *words):
        environment = os.environ | {"JAX_NUM_CPU_DEVICES": str(devices)}
        command = [sys.executable, "-m", "decentral", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    def train(devices, out, steps):
        plan = {"batch_episodes": 4, "replay_episodes": 16, "test_interval": 12}
        settings = [word for name, value in plan.items() for word in (f"--training.{name}", str(value))]
        run(devices, "train", "iql", *task, *settings, "--algorithm.hidden", "8", "--devices", "8",
            "--steps", str(steps), "--out", str(out))  # fmt: skip

    train(8, tmp_path / "moved", 12)
    saved = Checkpoints(tmp_path / "moved" / "checkpoints")
    assert saved.info(max(saved.turns())).placement == on_eight
    run(2, "resume", str(tmp_path / "moved"), "--steps", "24")
    run(1, "resume", str(tmp_path / "moved"), "--steps", "36")
    train(1, tmp_path / "stayed", 36)
    moved, stayed = (
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("moved", "stayed")
    )
    assert len(moved) == len(stayed) > 3
    for one, other in zip(moved, stayed, strict=True):
        assert (one["seed"], one["step"]) == (other["seed"], other["step"])
        assert one["test_return_mean"] == pytest.approx(other["test_return_mean"], abs=1e-4)
        assert one.get("loss", 0) == pytest.approx(other.get("loss", 0), rel=1e-3, abs=1e-5)


AUDITED = """
from decentral.environments.matrix_game import MatrixGame
from decentral.training.parameters import as_arrays
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.verification.audit.audit import fingerprint
from decentral.verification.audit.learning import retrain_alone
from decentral.verification.audit.logs import retrain_with_log
from tests.small import small

plan = Plan(seeds=3, batch_episodes=4, replay_episodes=8, steps=40, test_episodes=2, devices=2)
setup = TrainingSetup.alike(small("dac"), MatrixGame(), plan)
lived = retrain_with_log(setup, 2, [0])[0]
alone = retrain_alone(setup, 2, 0, lived.log)
assert fingerprint(as_arrays(lived.agent.online)) == fingerprint(as_arrays(alone.online))
"""


@pytest.mark.long
def test_an_agent_of_a_run_on_two_devices_is_not_accused_of_learning_from_more_than_its_own_log():
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": "2", "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", AUDITED], env=environment, check=True)
