"""A package with the methods, shapes and quirks of the real SMAC, but without the game."""

import sys
import types

import numpy as np

LIMITS = {"5m_vs_6m": 70, "3m": 60}


class StandIn:
    """On every map: five agents against six; an episode is won at its third step unless it is told otherwise.

    What is yet to come stands in `plan`, one entry per episode: a win, `time` (to the limit), or `lost line`.
    """

    started = []  # every game, in order of their starts  # noqa: RUF012
    plan = []  # noqa: RUF012
    late_units = 0  # starts at which units come late

    def __init__(self, map_name, seed=None, continuing_episode=False):
        self.episode_limit = LIMITS[map_name]
        self.seed, self.continuing = seed, continuing_episode
        self.max_reward = 260
        self.episodes = self.taken = 0
        self.closed = False
        self.actions = []

    def get_env_info(self):
        return {
            "state_shape": 98,
            "obs_shape": 55,
            "n_actions": 12,
            "n_agents": 5,
            "episode_limit": self.episode_limit,
            "agent_features": [],
            "enemy_features": [],
        }

    def reset(self):
        if self.episodes == 0:
            StandIn.started.append(self)
            self.max_reward += 270
            if StandIn.late_units:
                StandIn.late_units -= 1
                self.max_reward += 45
        self.taken = 0
        self.fate = StandIn.plan.pop(0) if StandIn.plan else "win"
        return self.get_obs(), np.full(98, np.nan)

    def step(self, actions):
        self.actions.append(actions)
        self.taken += 1
        if self.fate == "lost line" and self.taken == 2:
            return 0, True, {}
        won = self.fate == "win" and self.taken == 3
        out_of_time = self.taken == self.episode_limit
        info = {"battle_won": won, "dead_allies": 0, "dead_enemies": 6 * won}
        if out_of_time and self.continuing:
            info["episode_limit"] = True
        self.episodes += won or out_of_time
        return 20.0 * won, won or out_of_time, info

    def get_obs(self):
        return [np.full(55, agent + 10 * self.taken, np.float32) for agent in range(5)]

    def get_state(self):
        raise AssertionError("the state is nobody's business")

    def get_avail_actions(self):
        return [[int(action in (1, 2 + agent % 4)) for action in range(12)] for agent in range(5)]

    def close(self):
        self.closed = True


def install(monkeypatch):
    """Let `smac` be the stand-in, for one test."""
    names = (
        "smac",
        "smac.env",
        "smac.env.starcraft2",
        "smac.env.starcraft2.maps",
        "smac.env.starcraft2.maps.smac_maps",
    )
    modules = {name: types.ModuleType(name) for name in names}
    for module in modules.values():
        module.__path__ = []
        module.__spec__ = types.SimpleNamespace(submodule_search_locations=[])
    modules["smac.env"].StarCraft2Env = StandIn
    modules[names[-1]].get_smac_map_registry = lambda: LIMITS
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(StandIn, "started", [])
    monkeypatch.setattr(StandIn, "plan", [])
    monkeypatch.setattr(StandIn, "late_units", 0)
    return StandIn
