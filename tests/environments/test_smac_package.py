"""The adapter with the real SMAC package, against toys and puppets in this process: it tests nothing of the game."""

import numpy as np
import pytest

from decentral.environments.adapters.smac import LARGEST_REWARDS, map_of_smac
from decentral.environments.host.checks import CheckedStage
from decentral.environments.host.interface import BrokenOff
from tests.environments.make_smac_fixtures import Puppets
from tests.environments.plain_smac import Unit
from tests.environments.smac_game import ALLY, ENEMY, Game, as_told
from tests.environments.smac_situations import scene_of

package = pytest.importorskip(
    "smac.env.starcraft2.starcraft2", reason="the real SMAC package is not installed", exc_type=ImportError
)

ATTACK = 23  # the game's number of the ability
DAMAGE = 15.0  # a third of a marine


class Toys:
    """Five marines against six that stand still, within reach. An attack hits at once."""

    def __init__(self):
        self.orders = []
        self.spawn()

    def spawn(self):
        allies = [as_told(1 + number, ALLY, Unit("marine", 9.0, 14.0 + number, 45.0)) for number in range(5)]
        enemies = [as_told(11 + number, ENEMY, Unit("marine", 12.0, 13.0 + number, 45.0)) for number in range(6)]
        self.units = allies + enemies

    def order(self, commands):
        self.orders = [command.target_unit_tag for command in commands if command.ability_id == ATTACK]

    def step(self):
        orders, self.orders = self.orders, []
        for unit in self.units:
            unit["health"] -= DAMAGE * orders.count(unit["tag"])
        self.units = [unit for unit in self.units if unit["health"] > 0]

    def kill(self, tags):
        self.units = [unit for unit in self.units if unit["tag"] not in tags]
        if not self.units:
            self.spawn()


@pytest.fixture
def start(monkeypatch):
    """Let pysc2 start a game."""
    return lambda game: monkeypatch.setattr(package.run_configs, "get", lambda *_, **__: game)


@pytest.fixture
def game(start):
    made = Game(Toys)
    start(made)
    return made


@pytest.fixture
def stage(game):
    opened = CheckedStage(map_of_smac("5m_vs_6m")())
    yield opened
    opened.close()


def attack_first(percepts):
    """Every agent attacks the first enemy that it can."""
    assert percepts.available[:, 6:].any(axis=1).all()
    return (6 + percepts.available[:, 6:].argmax(axis=1)).astype(np.int32)


def win(stage, seed):
    """The rewards of an episode that is played to its end."""
    percepts, rewards, step = stage.reset(seed), [], None
    while step is None or not (step.terminated or step.truncated):
        step = stage.step(attack_first(percepts))
        percepts = step.percepts
        rewards.append(step.reward)
    assert step.terminated and step.facts == {"won": 1.0}
    return rewards


@pytest.mark.parametrize(
    ("name", "sizes"), {"5m_vs_6m": (5, 55, 12, 70), "2s_vs_1sc": (2, 17, 7, 300), "3s5z": (8, 128, 14, 150)}.items()
)
def test_sizes_are_those_of_the_maps(name, sizes):
    environment = map_of_smac(name)()
    assert (
        environment.num_agents,
        environment.spec.observation_size,
        environment.spec.actions.count,
        environment.time_limit,
    ) == sizes


@pytest.mark.parametrize("name", LARGEST_REWARDS)
def test_games_start_on_every_map_whose_rewards_are_compared(name, start):
    start(Game(lambda: Puppets([scene_of(name)])))
    opened = CheckedStage(map_of_smac(name)())
    opened.reset(1)
    assert opened.stage.game.max_reward == LARGEST_REWARDS[name]
    opened.close()


def test_a_win_returns_exactly_20_in_one_game_after_another(stage, game):
    for seed in (2**33 + 4, 5):
        assert sum(win(stage, seed)) == pytest.approx(20.0)
    assert game.seeds == [4]


def test_a_lost_connection_drops_the_episode_and_rewards_stay_right(stage, game):
    percepts = stage.reset(1)
    game.lose_connection = True
    with pytest.raises(BrokenOff):
        stage.step(attack_first(percepts))
    assert sum(win(stage, 2)) == pytest.approx(20.0)
    assert stage.stage.game.max_reward == 530


def test_an_agent_is_not_shown_what_another_one_did(stage):
    percepts = stage.reset(1)
    stop = np.ones(5, np.int32)
    one = stage.step(stop).percepts
    north = stop.copy()
    north[1:] = 2  # toys do not move
    other = stage.step(north).percepts
    np.testing.assert_array_equal(one.observation[0], other.observation[0])
    np.testing.assert_array_equal(percepts.observation[0], other.observation[0])


def test_the_game_is_closed(game):
    opened = CheckedStage(map_of_smac("5m_vs_6m")())
    opened.reset(1)
    opened.close()
    assert game.closed == 1
