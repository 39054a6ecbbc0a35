"""Tabular I2Q: variant (B) of the published ones, entry by entry."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import AgentState
from decentral.algorithms.i2q_tabular import NEVER, I2QTabular, Tables
from decentral.algorithms.q_learning import Dice, Scene
from decentral.settings import Refused
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
STATES = 64
PLACES = np.asarray(I2QTabular(states=STATES).state_of(jnp.asarray(np.arange(4.0, dtype=np.float32)[:, None])))
A, B, C, D = PLACES.tolist()  # the states that the observations 0, 1, 2 and 3 are hashed to


def i2q(**settings):
    return I2QTabular(**{"states": STATES, "successors": 3, "learning_rate": 0.5, "discount": 0.5} | settings)


def agent(values=None, seen=None, successors=3):
    """An agent with these entries of Q, and these next states with their QSS; all else is 0 or unseen."""
    table, following, pairs = (
        np.zeros((STATES, 2), np.float32),
        np.full((STATES, 2, successors), NEVER, np.int32),
        np.zeros((STATES, 2, successors), np.float32),
    )
    for at, value in (values or {}).items():
        table[at] = value
    for at, states in (seen or {}).items():
        for place, (after, worth) in enumerate(states):
            following[(*at, place)], pairs[(*at, place)] = after, worth
    tables = Tables(jnp.asarray(table), jnp.asarray(following), jnp.asarray(pairs))
    return AgentState(tables, target=(), optimiser=(), target_age=jnp.asarray(0), statistics=(), key=jax.random.key(0))


def lived(places, actions, rewards=None, terminated=None, happened=None):
    """An episode through places by their observations."""
    steps = len(actions)
    percepts = Percept(jnp.asarray(np.asarray(places, np.float32)[:, None]), jnp.asarray(np.ones((steps + 1, 2), bool)))
    return Episode(
        percepts,
        jnp.asarray(np.asarray(actions, np.int32)),
        jnp.asarray(np.asarray(rewards or [0.0] * steps, np.float32)),
        jnp.asarray(np.asarray(terminated or [False] * steps)),
        jnp.asarray(np.asarray(happened or [True] * steps)),
    )


@jax.jit
def _learn(algorithm, one, episodes):
    return algorithm.learn(one, episodes, jax.random.key(0))


def learn(algorithm, one, *episodes):
    """The tables after one update, and its metrics."""
    batch = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *episodes)
    taught, metrics = _learn(algorithm, one, batch)
    return jax.tree.map(np.asarray, taught.online), metrics


@jax.jit
def annotate(algorithm, one, episode):
    return algorithm.annotate(one, episode, jnp.zeros(()))[0]


def test_the_four_places_are_four_states():
    assert len({A, B, C, D}) == 4


# From A, action 0 has led to B and to C. From B both actions were tried, from C the first alone.
VALUES = {(A, 0): 0.0, (B, 0): 3.0, (B, 1): 5.0, (C, 0): 7.0, (C, 1): 100.0}


def known(worth_of_c):
    return {(A, 0): [(B, 1.0), (C, worth_of_c)], (B, 0): [(A, 2.0)], (B, 1): [(C, 6.0)], (C, 0): [(A, 0.0)]}


def test_values_follow_the_best_next_state_seen_and_not_the_one_that_came():
    tables, _ = learn(i2q(), agent(VALUES, known(4.0)), lived([0, 1], [0], [1.0]))
    # QSS(A, B) = 1 moves halfway to 1 + 0.5 * max(2, 6) = 4
    np.testing.assert_allclose(tables.pairs[A, 0], [2.5, 4.0, 0.0])
    # C is the best of B (2.5) and C (4); there, the first action alone was tried: 1 + 0.5 * 7 = 4.5, halfway from 0
    np.testing.assert_allclose(tables.values[A], [2.25, 0.0])


def test_pairs_are_updated_first_and_then_judged():
    tables, _ = learn(i2q(), agent(VALUES, known(2.0)), lived([0, 1], [0], [1.0]))
    # QSS(A, B) rises from 1 to 2.5, above the 2 of C: now B is the best, and there the better action is worth 5
    np.testing.assert_allclose(tables.values[A, 0], 0.5 * (1 + 0.5 * 5))


def test_all_other_entries_stay_as_they_are():
    before = agent(VALUES, known(4.0))
    tables, _ = learn(i2q(), before, lived([0, 1], [0], [1.0]))
    for name, at in (("values", (A, 0)), ("pairs", (A, 0, 0))):
        untouched = np.ones_like(getattr(tables, name), bool)
        untouched[at] = False
        old, new = np.asarray(getattr(before.online, name)), getattr(tables, name)
        np.testing.assert_array_equal(old[untouched], new[untouched])
    np.testing.assert_array_equal(tables.seen, before.online.seen)


def test_nothing_follows_a_step_that_ended_the_task():
    tables, _ = learn(i2q(), agent(VALUES, known(4.0)), lived([0, 1], [0], [1.0], [True]))
    np.testing.assert_allclose(tables.pairs[A, 0, 0], (1 + 1) / 2)
    np.testing.assert_allclose(tables.values[A, 0], 1 / 2)


def test_where_nothing_was_tried_yet_nothing_is_promised():
    tables, _ = learn(i2q(), agent({(D, 0): 9.0, (D, 1): 9.0}, {(A, 0): [(D, 1.0)]}), lived([0, 3], [0], [1.0]))
    np.testing.assert_allclose(tables.pairs[A, 0, 0], (1 + 1) / 2)
    np.testing.assert_allclose(tables.values[A, 0], 1 / 2)


def test_a_next_state_that_found_no_room_moves_no_pair_but_the_value():
    full = {(A, 0): [(B, 1.0), (C, 4.0), (A, 3.0)], (C, 0): [(A, 0.0)]}
    tables, metrics = learn(i2q(), agent(VALUES, full), lived([0, 3], [0], [1.0]))
    np.testing.assert_allclose(tables.pairs[A, 0], [1.0, 4.0, 3.0])
    assert float(metrics["pair_loss"]) == 0.0
    np.testing.assert_allclose(tables.values[A, 0], 0.5 * (1 + 0.5 * 7))


def test_several_samples_of_an_entry_move_it_as_often_to_their_mean():
    ends = [lived([0, 1], [0], [reward], [True]) for reward in (1.0, 2.0, 6.0)]
    other = lived([1, 2], [1], [10.0], [True])
    start = agent({(A, 0): 1.0}, {(A, 0): [(B, -1.0)], (B, 1): [(C, 0.0)]})
    tables, metrics = learn(i2q(learning_rate=0.1), start, ends[0], other, ends[1], ends[2])
    # three moves of 0.1 to the mean, 3, go 1 - 0.9^3 = 0.271 of the way; the one to 10 goes 0.1 of it
    np.testing.assert_allclose(tables.values[A, 0], 1 + 0.271 * (3 - 1), rtol=1e-5)
    np.testing.assert_allclose(tables.pairs[A, 0, 0], -1 + 0.271 * (3 + 1), rtol=1e-5)
    np.testing.assert_allclose((tables.values[B, 1], tables.pairs[B, 1, 0]), (1.0, 1.0), rtol=1e-5)
    # errors: 0, 1, 5 and 10 of the values; 2, 3, 7 and 10 of the pairs
    np.testing.assert_allclose(metrics["loss"], (0 + 1 + 25 + 100) / 4, rtol=1e-5)
    np.testing.assert_allclose(metrics["pair_loss"], (4 + 9 + 49 + 100) / 4, rtol=1e-5)


def test_samples_with_different_next_states_share_their_value_and_not_their_pair():
    start = agent({}, {(A, 0): [(B, 0.0), (C, 0.0)]})
    ends = [lived([0, after], [0], [reward], [True]) for after, reward in ((1, 4.0), (2, 8.0))]
    tables, _ = learn(i2q(), start, *ends)
    np.testing.assert_allclose(tables.pairs[A, 0], [2.0, 4.0, 0.0])
    np.testing.assert_allclose(tables.values[A, 0], 0.75 * 6)


def test_padding_leaves_no_trace():
    padded = lived([0, 1, 2], [0, 0], [1.0, 50.0], happened=[True, False])
    tables, metrics = learn(i2q(), agent(VALUES, known(4.0)), padded)
    np.testing.assert_allclose(tables.values[[A, B, C], 0], [2.25, 3.0, 7.0])
    np.testing.assert_allclose(tables.pairs[[A, B, C], 0, 0], [2.5, 2.0, 0.0])
    np.testing.assert_allclose(metrics["loss"], 4.5**2, rtol=1e-6)
    seen = np.asarray(annotate(i2q(), agent(), padded).online.seen)
    np.testing.assert_array_equal(seen[A, 0], [B, NEVER, NEVER])
    assert int(np.sum(seen != NEVER)) == 1


def test_padding_of_the_very_same_entry_is_no_second_sample():
    start = agent(VALUES, known(4.0))
    lone, padded = (lived([0, 1], [0], [1.0], happened=[real]) for real in (True, False))
    tables, _ = learn(i2q(), start, lone, padded)
    np.testing.assert_allclose(tables.values[A, 0], 2.25)
    np.testing.assert_allclose(tables.pairs[A, 0], [2.5, 4.0, 0.0])


def test_next_states_are_entered_in_order_of_appearance_and_once():
    older = annotate(i2q(), agent(), lived([0, 2, 0, 1, 0, 2, 0, 3], [0, 1, 0, 1, 0, 0, 1]))
    seen = np.asarray(older.online.seen)
    np.testing.assert_array_equal(seen[A, 0], [C, B, NEVER])
    np.testing.assert_array_equal(seen[A, 1], [D, NEVER, NEVER])
    np.testing.assert_array_equal(seen[C], [[A, NEVER, NEVER], [A, NEVER, NEVER]])
    np.testing.assert_array_equal(seen[B, 1], [A, NEVER, NEVER])
    assert int(np.sum(seen != NEVER)) == 6


def test_where_the_list_is_full_new_states_are_dropped():
    algorithm = i2q(successors=2)
    older = annotate(algorithm, agent(successors=2), lived([0, 1, 0, 2, 0, 3, 0], [0, 1, 0, 1, 0, 1]))
    seen = np.asarray(older.online.seen)
    np.testing.assert_array_equal(seen[A, 0], [B, C])
    np.testing.assert_array_equal(seen[D, 1], [A, NEVER])
    np.testing.assert_array_equal(seen[A, 1], [NEVER, NEVER])  # nothing spills over to the next entry


def test_a_newborn_has_seen_nothing_and_values_all_within_one_half():
    born = jax.jit(lambda key: i2q().init_agent(SPEC, key))(jax.random.key(0)).online
    assert np.all(np.asarray(born.seen) == NEVER)
    values = np.asarray(born.values)
    assert np.abs(values).max() <= 0.5
    assert values.std() == pytest.approx(12**-0.5, abs=0.05)


def test_tables_that_are_too_large_are_refused():
    i2q(states=2**22, successors=16)
    with pytest.raises(Refused, match="states must be at most 4194304 with 16 successors"):
        i2q(states=2**22 + 1, successors=16)


def test_an_agent_acts_on_the_values_of_its_state_alone():
    algorithm, tables = i2q(), agent({(C, 0): 7.0, (C, 1): -2.0}).online
    dice = Dice(*(jnp.asarray(0.0) for _ in range(4)))
    scene = Scene(
        Percept(jnp.asarray([2.0]), jnp.asarray([True, True])), jnp.asarray([1.0, 0.0]), jnp.asarray(0.3), dice
    )
    values, _ = algorithm.values(tables, algorithm.start(tables), scene)
    np.testing.assert_array_equal(values, [7.0, -2.0])
