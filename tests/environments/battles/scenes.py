"""Battlefields made by hand, and one compiled step per map for all tests.

Percepts, states and outcomes are arrays of NumPy: to look into one of JAX is a program to compile for every shape.
"""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles import BATTLES
from decentral.environments.battles.actions import STOP


@cache
def battle(name, **settings):
    """A battle whose enemies have the ids of their order, unless told otherwise."""
    return BATTLES[name](**{"enemy_ids": "fixed"} | settings)


@cache
def untouched(environment):
    """The battlefield at the start, by a compiled function: step by step many would be compiled."""
    return jax.jit(environment.reset)(jax.random.key(0))


def scene(environment, units, **more):
    """A battlefield with these units only: number to (x, y, health[, shield[, cooldown]]). The others are dead."""
    field = untouched(environment)
    columns = {
        name: np.zeros(environment.roster.units, np.float32) for name in ("x", "y", "health", "shield", "cooldown")
    }
    for number, values in units.items():
        for name, value in zip(columns, values, strict=False):
            columns[name][number] = value
    return changed(field, **columns | more)


def changed(field, **values):
    """A battlefield with some arrays replaced."""
    return eqx.tree_at(
        lambda old: [getattr(old, name) for name in values], field, [jnp.asarray(value) for value in values.values()]
    )


def put(array, at, value):
    """A copy of an array with one number replaced."""
    copy = np.array(array)
    copy[at] = value
    return copy


@cache
def stepper(environment):
    return jax.jit(environment.step_with)


def step(environment, field, actions=None, jitter=0.0):
    """One step by a compiled function; without actions all agents stop."""
    actions = [STOP] * environment.num_agents if actions is None else actions
    randomness = np.full(environment.roster.units, jitter, np.float32)
    return stepper(environment)(field, jnp.asarray(actions, jnp.int32), randomness)


def steps(environment, field, count, actions=None, jitter=0.0):
    """The battlefield and the sum of rewards after several steps of the same actions."""
    total = 0.0
    for _ in range(count):
        field, outcome = step(environment, field, actions, jitter)
        total += float(outcome.reward)
    return field, total


def judged(environment, before, after):
    """What a step from one battlefield to another would have brought about."""
    nothing = np.zeros(environment.num_agents, np.int32), np.zeros(environment.roster.units, np.float32)
    return jax.device_get(_told(environment)(before, *nothing, after))


@cache
def _told(environment):
    return jax.jit(environment.recompute_outcome)


@cache
def _perceived(environment):
    return jax.jit(environment.perceive)


@cache
def _described(environment):
    return jax.jit(environment.state_vector)


def perceived(environment, field):
    return jax.device_get(_perceived(environment)(field))


def described(environment, field, last_actions=None):
    """SMAC's state."""
    last_actions = None if last_actions is None else jnp.asarray(last_actions)
    return jax.device_get(_described(environment)(field, last_actions))


def played_on(name):
    """A mark of tests that look at the campaign on a map: one process plays it for all of them."""
    return pytest.mark.xdist_group(f"campaign on {name}")


fought = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=played_on(name)) for name in ("3m", "1c3s5z", "2s_vs_1sc")]
)
OFTEN = {"3m": 16}  # battles on maps where they are short
POLICIES = ("stop", "random", "restricted script", "script")


@cache
def campaign(name, battles=None, **rules):
    """Whole battles of each policy: states before each step and at the end [policies, battles, P], and outcomes."""
    environment = battle(name, **rules)
    scripts = [environment.scripts()[policy] for policy in POLICIES[2:]]

    def choose(policy, field, memories, key):
        scripted, memories = zip(*map(lambda script, own: script.choose(field, own), scripts, memories), strict=True)
        available = environment.perceive(field).available
        drawn = jnp.argmax(jnp.where(available, jax.random.uniform(key, available.shape), -1.0), axis=1)
        stopped = jnp.where(available[:, STOP], STOP, 0)
        return jnp.stack([stopped, drawn, *scripted])[policy].astype(jnp.int32), memories

    def fight(policy, key):
        def one(now, key):
            field, memory = now
            key_policy, key_world = jax.random.split(key)
            actions, memory = choose(policy, field, memory, key_policy)
            after, outcome = environment.step(field, actions, key_world)
            return (after, memory), (field, outcome)

        start = (environment.reset(key), tuple(script.start() for script in scripts))
        (final, _), (fields, outcomes) = jax.lax.scan(one, start, jax.random.split(key, environment.time_limit))
        return jax.tree.map(lambda every, last: jnp.concatenate([every, last[None]]), fields, final), outcomes

    keys = jax.random.split(jax.random.key(7), battles or OFTEN.get(name, 4))
    fought = jax.jit(jax.vmap(jax.vmap(fight, (None, 0)), (0, None)))(jnp.arange(len(POLICIES)), keys)
    return jax.tree.map(np.asarray, fought)


def returns_of(outcomes):
    """The return and whether it was won, of every battle up to its end."""
    ended = np.cumsum(outcomes.terminated, axis=-1) - outcomes.terminated > 0
    return np.where(ended, 0, outcomes.reward).sum(axis=-1), (outcomes.facts["won"] & ~ended).any(axis=-1)
