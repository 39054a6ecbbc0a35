"""Nobody stands idle who could fire, however a battle is played: by chance, by script or by a trained team."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.environments.battles.maps import MAPS
from decentral.environments.battles.reward import is_over
from decentral.runs.trained import Trained
from decentral.training.rollout import greedy_player, play, play_script, random_player, retrace
from tests.environments.battles.scenes import POLICIES, battle, campaign, fought, played_on

EPISODES, AT_ONCE = 256, 32
CLOSE = 0.001  # cells: a target that is farther out of reach by less is in reach
STILL = 0.01  # cells: who has moved less in a step has stood
STEPS = {"2s_vs_1sc": 100_000}  # of training, else 20,000: after so few, the two still keep away from the crawler


def may_fire(roster, field):
    """Who has a living target in reach and a weapon that is ready: 8 loops later it must be spent."""
    alive = field.health > 0
    x, y = (place[..., :, None] - place[..., None, :] for place in (field.x, field.y))
    aimed = (field.target[..., :, None] == np.arange(roster.units)[None, :]) & alive[..., None, :]
    near = (aimed & ((x**2 + y**2) ** 0.5 <= roster.reach + CLOSE)).any(axis=-1)
    return near & alive & (field.cooldown <= 0)


def idles(roster, before, after):
    """Who could fire at one and the same target before and after a step in which it stood."""
    moved = ((after.x - before.x) ** 2 + (after.y - before.y) ** 2) ** 0.5
    same = (moved < STILL) & (before.target == after.target)
    return may_fire(roster, before) & may_fire(roster, after) & same


class Count(NamedTuple):
    """Of some episodes: how often a unit could fire, how often it idled, and whether time ran out."""

    ready: np.ndarray
    idle: np.ndarray
    out_of_time: np.ndarray


def count_of(environment, player, key):
    """The count of one episode; `player(key)` plays it."""
    lived = player(key)
    fields, happened = retrace(environment, lived.actions, key), lived.happened[:, None]
    before, after = jax.tree.map(lambda leaf: leaf[:-1], fields), jax.tree.map(lambda leaf: leaf[1:], fields)
    ready = jax.vmap(partial(may_fire, environment.roster))(before) & happened
    idle = jax.vmap(partial(idles, environment.roster))(before, after) & happened
    final = jax.tree.map(lambda leaf: leaf[-1], fields)
    return Count(jnp.sum(ready), jnp.sum(idle), lived.happened[-1] & ~is_over(environment.roster, final))


def counted(environment, player):
    """The counts of EPISODES episodes, a few at once."""
    some = jax.jit(jax.vmap(partial(count_of, environment, player)))
    keys = jax.random.split(jax.random.key(5), (EPISODES // AT_ONCE, AT_ONCE))
    return Count(*map(np.concatenate, zip(*(jax.device_get(some(few)) for few in keys), strict=True)))


def untrained_players(environment):
    """What plays an episode without any training, by name."""
    scripts = {name: partial(play_script, environment, script) for name, script in environment.scripts().items()}
    return {
        "random": lambda key: play(environment, random_player(environment, jax.random.fold_in(key, 1)), key)
    } | scripts


def trained_player(name, directory):
    """A map, and what plays an episode on it greedily after a short training."""
    steps = STEPS.get(name, 20_000)
    shorter = {"epsilon_steps": steps // 2, "test_interval": steps}
    run = decentral.train("iql", name, steps=steps, training=shorter, out=directory, progress=False)
    trained = Trained.load(run.directory)
    team, environment = trained.config.setup.team, trained.config.setup.environment
    acting_models = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), trained.by_squad)
    return environment, lambda key: play(
        environment, greedy_player(team, acting_models, environment.time_limit, key), key
    )


@fought
def test_nobody_stands_idle_with_a_target_in_reach_and_a_weapon_that_is_ready(name):
    roster, fields = battle(name).roster, campaign(name)[0]
    before, after = (jax.tree.map(lambda leaf, own=part: leaf[:, :, own], fields) for part in (np.s_[:-1], np.s_[1:]))
    assert may_fire(roster, before).any() and not idles(roster, before, after).any()


@played_on("3m")
def test_no_battle_of_a_script_on_3m_runs_out_of_time():
    _, outcomes = campaign("3m")
    scripted = outcomes.terminated[POLICIES.index("restricted script") :]
    assert scripted[:, :, :-1].any(axis=2).all()


@pytest.mark.long
@pytest.mark.parametrize("name", MAPS)
def test_nobody_idles_in_256_episodes_of_random_and_of_scripted_play(name):
    environment = battle(name, enemy_ids="shuffled")
    for policy, player in untrained_players(environment).items():
        count = counted(environment, player)
        assert count.ready.sum() > EPISODES and count.idle.sum() == 0, policy
        assert not (name == "3m" and "script" in policy and count.out_of_time.any())


@pytest.mark.long
@pytest.mark.parametrize("name", MAPS)
def test_nobody_idles_in_256_episodes_of_a_trained_team(name, tmp_path):
    count = counted(*trained_player(name, tmp_path / name))
    assert count.ready.sum() > EPISODES and count.idle.sum() == 0
