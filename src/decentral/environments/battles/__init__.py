"""Battles on SMAC's maps and under SMACv2's names, simulated: a win rate here is not a result on either."""

from decentral.environments.battles.battle import Battle, battle_on
from decentral.environments.battles.drawn import DRAWN_BATTLES
from decentral.environments.battles.maps import MAPS

BATTLES: dict[str, type[Battle]] = {name: battle_on(chosen) for name, chosen in MAPS.items()}

__all__ = ["BATTLES", "DRAWN_BATTLES", "Battle", "battle_on"]
