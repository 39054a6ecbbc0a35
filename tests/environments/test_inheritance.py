"""Environments that are made from others by inheritance."""

import jax.numpy as jnp
import pytest

from decentral.configs.config import resolve
from decentral.environments.battles import BATTLES
from decentral.environments.host.checks import build_environment
from decentral.environments.registry import MatrixGame, PredatorPrey
from decentral.runs.caches import known_returns
from decentral.settings import Refused


class Renamed(PredatorPrey):
    """Other words for people, the same rules."""

    @property
    def agent_names(self):
        return ("wolf", "fox")


class Dearer(PredatorPrey):
    """A reward of its own, which the solver asks for."""

    def reward_of(self, cells, before):
        reward, caught = super().reward_of(cells, before)
        return 2.0 * reward, caught


class Slippery(PredatorPrey):
    """Rules that the solver does not know."""

    def step_with(self, state, actions, randomness):
        return super().step_with(state, jnp.zeros_like(actions), randomness)


class StillPrey(PredatorPrey):
    """A prey whose chances nobody has said."""

    def prey_move(self, cells, drawn):
        return jnp.zeros_like(drawn)


class SaidAgain(Slippery):
    """Rules whose returns their author knows."""

    def references(self):
        return {"optimal": 0.0}


class Blurred(PredatorPrey):
    """Percepts from which the oracle can't read the state."""

    def perceive(self, state):
        percept = super().perceive(state)
        return type(percept)(0 * percept.observation, percept.available)


class OtherGame(MatrixGame):
    """Another payoff than the table's."""

    def step(self, state, actions, key):
        after, outcome = super().step(state, actions, key)
        return after, type(outcome)(-outcome.reward, outcome.terminated, outcome.facts)


@pytest.mark.parametrize(
    ("own", "optimum"), [(Renamed, 33.6), (Dearer, 67.3), (Slippery, None), (StillPrey, None), (SaidAgain, 0.0)]
)
def test_exact_returns_are_those_of_the_rules_that_are_played(own, optimum):
    known = known_returns(own(penalty=0.0))
    assert known.get("optimal") == (None if optimum is None else pytest.approx(optimum, abs=0.1))


def test_a_game_with_other_rewards_than_its_table_has_no_known_returns():
    assert known_returns(MatrixGame()) and not known_returns(OtherGame())


def test_an_oracle_speaks_of_the_percepts_too():
    def oracle(name):
        config = resolve("iql", f"python:{__name__}:{name}", {}, {"size": 3}, {"diagnostics": True})
        return config.setup.oracle()

    assert oracle("Renamed") is not None and oracle("Blurred") is None and oracle("Slippery") is None


class OnlyStep(PredatorPrey):
    def step(self, state, actions, key):
        return super().step(state, actions, key)


class OnlyOutcome(BATTLES["3m"]):
    def step_with(self, state, actions, randomness):
        return super().step_with(state, actions, randomness)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (OnlyStep, "mine must define step_with too, as it defines step, in place of which step_with of PredatorPrey"),
        (OnlyOutcome, "mine must define recompute_outcome too, as it defines step_with, in place of which"),
    ],
)
def test_a_change_that_nobody_would_notice_is_refused(kind, said):
    with pytest.raises(Refused, match=said):
        build_environment(kind, {}, "mine")
