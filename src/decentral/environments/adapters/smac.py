"""The real StarCraft Multi-Agent Challenge: the package `smac`, which plays the game itself.

An agent is given its own row of the observations and of the available actions, and nothing else: the package's state,
which holds all agents' last actions, is never read.
"""

import importlib
import importlib.util
import math
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Stage, Step
from decentral.errors import Refused
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete

INSTALL = "pip install git+https://github.com/oxwhirl/smac.git"


def starcraft_class() -> Any:
    """The package's class of environments."""
    if importlib.util.find_spec("smac") is None:
        raise Refused(f"the package smac is missing: {INSTALL}")
    try:
        return importlib.import_module("smac.env").StarCraft2Env
    except (ModuleNotFoundError, AttributeError) as error:
        if isinstance(error, AttributeError) or (error.name or "").startswith("smac"):
            raise Refused(
                f"the package smac is another one of that name, an optimiser: pip uninstall smac, then {INSTALL}"
            ) from None
        raise Refused(f"the package smac needs {error.name}, which is missing: {INSTALL}") from None
    except Exception as error:  # such as a protobuf that is too new
        why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise Refused(
            f"the package smac can't be imported ({why}): docs/environments/host.md says what it needs"
        ) from None


def known_maps() -> list[str]:
    """The maps that the package knows."""
    return sorted(importlib.import_module("smac.env.starcraft2.maps.smac_maps").get_smac_map_registry())


def check_game(map_name: str) -> None:
    """Refuse to start if the game or the map is missing."""
    place = Path(os.environ.get("SC2PATH", "~/StarCraftII")).expanduser()
    if not (place / "Versions").is_dir():
        raise Refused(
            f"the game StarCraft II is missing: no {place / 'Versions'}; install version 4.10 for Linux from "
            f"https://github.com/Blizzard/s2client-proto and let SC2PATH say where it is"
        )
    if not any((place / "Maps").rglob(f"{map_name}.SC2Map")):
        raise Refused(
            f"the map {map_name} is missing: no {map_name}.SC2Map in {place / 'Maps'}; copy the directory SMAC_Maps of "
            f"https://github.com/oxwhirl/smac there"
        )


PREFIX = "smac/"
LARGEST_REWARDS = {  # what the package must count on a map: 10 for each enemy, 200 for the win, all enemies' health
    "3m": 365,
    "8m": 640,
    "27m_vs_30m": 1850,
    "2s3z": 1020,
    "1c3s5z": 1870,
    "2s_vs_1sc": 510,
    "3s5z": 1510,
    "3s_vs_3z": 680,
    "3s_vs_4z": 840,
    "3s_vs_5z": 1000,
    "5m_vs_6m": 530,
    "8m_vs_9m": 695,
    "10m_vs_11m": 805,
}


class Smac(HostEnvironment):
    """A map of SMAC in the game StarCraft II: install both yourself."""

    timeout_ends: bool = setting(True, "running out of time ends the task, as SMAC says (false: learners bootstrap)")

    map_name: ClassVar[str]
    sizes: ClassVar[dict[str, Any]]

    @property
    def num_agents(self) -> int:
        return self.sizes["n_agents"]

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(self.sizes["obs_shape"], Discrete(self.sizes["n_actions"]))

    @property
    def time_limit(self) -> int:
        return self.sizes["episode_limit"]

    @property
    def address(self) -> str:
        return f"{PREFIX}{self.map_name}"

    @property
    def fact_names(self) -> tuple[str, ...]:
        return ("won",)

    @property
    def reports(self) -> dict[str, str]:
        return {"win_rate": "won"}

    @property
    def one_per_process(self) -> bool:
        return True  # each is a whole game

    @property
    def may_restart(self) -> bool:
        return True  # a game that crashes is started again

    def check_ready(self) -> None:
        check_game(self.map_name)

    def open(self) -> Stage:
        return SmacStage(self.map_name, self.timeout_ends)


@cache
def map_of_smac(name: str) -> type[Smac]:
    """The environment of a map, with the sizes that the installed package gives it. No game is started."""
    starcraft = starcraft_class()
    try:
        info = starcraft(map_name=name).get_env_info()
    except KeyError:
        raise Refused(f"unknown map {name!r:.60} of smac: choose one of {', '.join(known_maps())}") from None

    class OnMap(Smac):
        """A map of SMAC in the game StarCraft II: install both yourself."""

        map_name: ClassVar[str] = name
        sizes: ClassVar[dict[str, Any]] = info

    return OnMap


class SmacStage(Stage):
    """One game. The first episode starts it, with the episode's seed; later ones use the game's own randomness."""

    def __init__(self, map_name: str, timeout_ends: bool):
        self.map_name = map_name
        self.timeout_ends = timeout_ends
        self.game: Any = None
        self.has_finished = False  # at least one episode

    def reset(self, seed: int) -> Percepts:
        if not self.has_finished:
            self.close()  # a second reset before the first end would count the enemies' health twice
        if self.game is None:
            self._start(seed)
        else:
            self.game.reset()
        return self._percepts()

    def step(self, actions: np.ndarray) -> Step:
        reward, over, info = self.game.step(actions.tolist())
        if "battle_won" not in info:  # the package lost the game and started another one, without saying more
            self.close()
            raise BrokenOff("the connection with the game was lost")
        self.has_finished = self.has_finished or over
        terminated = over and (self.timeout_ends or not info.get("episode_limit", False))
        return Step(
            self._percepts(), reward, bool(terminated), bool(over and not terminated), {"won": info["battle_won"]}
        )

    def render(self) -> Any:
        return self.game.render(mode="rgb_array")

    def close(self) -> None:
        game, self.game, self.has_finished = self.game, None, False
        if game is not None:
            with suppress(Exception):  # it may have died already
                game.close()

    def _start(self, seed: int) -> None:
        # told as continuing, the package says where an episode ended for want of time; nothing else changes
        self.game = starcraft_class()(map_name=self.map_name, seed=seed % 2**31, continuing_episode=True)
        self.game.reset()
        counted = float(self.game.max_reward)
        expected = LARGEST_REWARDS.get(self.map_name, counted)
        if not math.isclose(counted, expected):
            self.close()
            raise BrokenOff(
                f"max_reward is {counted:g} instead of {expected}: units came late, so rewards would be wrong"
            )

    def _percepts(self) -> Percepts:
        return Percepts(np.asarray(self.game.get_obs()), np.asarray(self.game.get_avail_actions()))
