"""A game in this process, in the place of StarCraft II, for the real SMAC package.

What happens in it is up to a battle: `units` lists what the game's protocol tells of each, `order(commands)`, `step()`
and `kill(tags)` are told what the package wants.
"""

import types

import numpy as np

from tests.environments.plain_smac import HEALTH, SHIELDED

SIZE = 32
OPEN = np.ones((SIZE, SIZE), bool)  # [x, y]: everything can be walked on
ALLY, ENEMY = 1, 2  # owners
ALLIED_TYPES = {"marine": 1970, "colossus": 1969, "stalker": 1970, "zealot": 1971}  # the maps' own: any in this order
ENEMY_TYPES = {"colossus": 4, "marine": 48, "zealot": 73, "stalker": 74, "spine_crawler": 98}


def as_told(tag, owner, unit):
    """A unit as the game's protocol tells of it."""
    kinds = ALLIED_TYPES if owner == ALLY else ENEMY_TYPES
    return {
        "tag": tag,
        "owner": owner,
        "unit_type": kinds[unit.kind],
        "pos": {"x": unit.x, "y": unit.y},
        "health": unit.health,
        "health_max": HEALTH[unit.kind],
        "shield": unit.shield,
        "shield_max": SHIELDED.get(unit.kind, 0.0),
        "weapon_cooldown": unit.cooldown,
    }


class Game:
    """What pysc2 starts, and all that was started."""

    version = None

    def __init__(self, new_battle, walkable=OPEN):
        self.new_battle, self.walkable = new_battle, walkable
        self.seeds, self.closed, self.lose_connection = [], 0, False

    def start(self, **_):
        return types.SimpleNamespace(controller=Controller(self, self.new_battle()), close=self.close)

    def close(self):
        self.closed += 1

    def map_data(self, path, **_):
        return b""


class Controller:
    """What the package talks to, in the messages of the game's protocol."""

    def __init__(self, game, battle):
        from s2clientprotocol import sc2api_pb2

        self.game, self.battle, self.messages = game, battle, sc2api_pb2

    def create_game(self, request):
        self.game.seeds.append(request.random_seed)

    def join_game(self, request):
        pass

    def game_info(self):
        told = self.messages.ResponseGameInfo()
        raw = told.start_raw
        raw.map_size.x = raw.map_size.y = SIZE
        raw.playable_area.p1.x = raw.playable_area.p1.y = SIZE
        rows = np.packbits(self.game.walkable.T, axis=1)  # from y = 0 upwards, eight cells a byte
        raw.pathing_grid.bits_per_pixel, raw.pathing_grid.data = 1, rows.tobytes()
        raw.terrain_height.bits_per_pixel, raw.terrain_height.data = 8, bytes(SIZE * SIZE)
        return told

    def observe(self):
        if self.game.lose_connection:
            from pysc2.lib import protocol

            self.game.lose_connection = False
            raise protocol.ConnectionError("gone")
        told = self.messages.ResponseObservation()
        for unit in self.battle.units:
            told.observation.raw_data.units.add(**unit)
        return told

    def actions(self, request):
        self.battle.order([action.action_raw.unit_command for action in request.actions])

    def step(self, count=1):
        self.battle.step()

    def debug(self, commands):
        self.battle.kill({tag for command in commands for tag in command.kill_unit.tag})
