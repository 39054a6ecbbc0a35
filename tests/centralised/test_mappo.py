"""MAPPO: each agent's policy learns by a value of what all of them see."""

import equinox as eqx
import jax
import numpy as np

from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import unpack
from decentral.training.setup import TrainingSetup
from tests.small import small
from tests.worlds import Noise

PLAN = Plan(batch_episodes=2, epsilon_start=0.0, epsilon_end=0.0)


def test_an_actor_learns_from_what_its_partner_sees_and_explores_without_an_epsilon():
    setup = TrainingSetup.alike(small("mappo", epochs=2), Noise(), PLAN)

    @jax.jit
    def taught(factor):
        """The team's buffer, and the learner after an update in which the second agent saw something else."""
        lane = turns(setup, begin(setup, 0), 2, False)
        lived = unpack(lane.replays[0].episodes)
        seen = lived.percepts.observation.at[:, 1].multiply(factor)
        lived = eqx.tree_at(lambda e: e.percepts.observation, lived, seen)
        return lane.replays[0], setup.team.squads[0].algorithm.learn(lane.agents[0], lived, jax.random.key(5))[0]

    (buffer, one), (_, other) = taught(1.0), taught(-1.0)
    pairs = zip(*(jax.tree.leaves(learner.online.acting_models) for learner in (one, other)), strict=True)
    assert any(bool((as_it_was[0] != changed[0]).any()) for as_it_was, changed in pairs)
    assert bool(buffer.full) and len(np.unique(buffer.episodes.actions)) > 1
