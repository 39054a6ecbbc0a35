"""Where the real SMAC comes from: the package, the game and its maps. What is missing is said in one line."""

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from decentral.refusal import Refused

INSTALL = "pip install git+https://github.com/oxwhirl/smac.git"


def starcraft_class() -> Any:
    """The package's class of worlds."""
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
    """Refuse to start where the game or the map is not to be found."""
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
