"""Battles on SMAC's maps, simulated: a win rate here is not a result on SMAC."""

from decentral.environments.battles.battle import Battle, battle_on
from decentral.environments.battles.maps import MAPS

BATTLES: dict[str, type[Battle]] = {name: battle_on(chosen) for name, chosen in MAPS.items()}
