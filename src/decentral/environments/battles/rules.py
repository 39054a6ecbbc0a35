"""What the engine does not tell: how units choose targets, stand in each other's way and turn. All of it can be set."""

from typing import Literal

import equinox as eqx
from jaxtyping import Array, Float

Packing = Literal["grid", "unmirrored", "rings"]
EnemyIds = Literal["shuffled", "shuffled_by_kind", "fixed"]
Prefer = Literal["nearest", "attackers", "in_reach"]
KeepTarget = Literal["in_reach", "in_scan", "in_duel", "until_left", "until_lost", "chase", "until_dead"]


class Rules(eqx.Module):
    """The open choices of a simulated battle."""

    leash: Float[Array, ""] | float  # how far a unit follows a target from where it took it
    call_radius: Float[Array, ""] | float  # within it friends of one that is hurt turn on the attacker too
    scan_to: Literal["edge", "centre"] = eqx.field(static=True)
    prefer: Prefer = eqx.field(static=True)
    keep_target: KeepTarget = eqx.field(static=True)
    push_rounds: int = eqx.field(static=True)
    anchored: bool = eqx.field(static=True)  # units that attack are not pushed; others walk around them
    turning: bool = eqx.field(static=True)  # units must face what they attack
    overkill: bool = eqx.field(static=True)  # shots that strike at once may be wasted on one who is already dead
