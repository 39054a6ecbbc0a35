"""The game loops of a step: one after the other on a CPU, all in one kernel on a GPU."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.combat import attack, damage_of, suffer, take_aim
from decentral.environments.battles.movement import walk
from decentral.environments.battles.opponent import choose_targets
from decentral.environments.battles.roster import Roster
from decentral.environments.battles.rules import Rules
from decentral.environments.battles.terrain import Ground

LOOPS_PER_STEP = 8
SMALLEST = 16  # the fewest units of a kernel: what a GPU multiplies at once
WARPS = 4  # of a kernel: one is slower for few units, eight for many

COLUMNS = (
    *("health", "shield", "armour", "speed", "separation", "regeneration", "period", "windup", "backswing", "slop"),
    *("missile_speed", "second_strike", "scan", "radius", "strides", "beam"),
)  # of the roster, that a loop reads
PAIRS = ("radii", "reach", "damage")
TIMED = (
    *("x", "y", "health", "shield", "goal_x", "goal_y", "cooldown", "windup", "backswing", "strike"),
    *("taken_x", "taken_y", "held", "help_wait", "facing"),
)  # of the battlefield: numbers, then whole numbers
COUNTED = ("target", "struck", "unhurt")


def fight(
    roster: Roster, ground: Ground, rules: Rules, field: Battlefield, jitter: Float[Array, " units"]
) -> Battlefield:
    """The battlefield after the loops of a step."""
    if jax.default_backend() == "gpu" and not rules.turning:
        return fight_in_kernel(roster, ground, rules, field, jitter)
    fought, _ = jax.lax.scan(
        lambda now, _: (fight_loop(roster, ground, rules, now, jitter), None), field, None, length=LOOPS_PER_STEP
    )
    return fought


def fight_loop(
    roster: Roster, ground: Ground, rules: Rules, field: Battlefield, jitter: Float[Array, " units"]
) -> Battlefield:
    """One game loop (a sixteenth of a second): attack, take damage, choose targets, walk."""
    aim = take_aim(roster, field)
    field, strikes = attack(roster, rules, field, aim, jitter)
    damage = damage_of(roster, field, strikes)
    field = suffer(roster, field, damage)
    field = choose_targets(roster, rules, field, aim, damage)
    return walk(roster, ground, rules, field, aim)


def fight_in_kernel(
    roster: Roster,
    ground: Ground,
    rules: Rules,
    field: Battlefield,
    jitter: Float[Array, " units"],
    interpret: bool = False,
) -> Battlefield:
    """The loops of a step as one program on one multiprocessor. Units that pad the arrays are dead."""
    room = max(SMALLEST, 1 << (roster.units - 1).bit_length())
    spare = room - roster.units

    def padded(rows: list[Any], axes: int = 1) -> Array:
        """Rows of numbers, or of squares of them, with room for the units that pad; of known numbers a constant."""
        known = all(isinstance(row, np.ndarray) for row in rows)
        stack, pad = (np.stack, np.pad) if known else (jnp.stack, jnp.pad)
        return jnp.asarray(pad(stack(rows), ((0, 0), *((0, spare),) * axes)))

    counted = [getattr(field, name).astype(jnp.float32) for name in COUNTED]  # far below what floats hold exactly
    given = (
        padded([*(getattr(field, name) for name in TIMED), *counted, jitter]),
        *(jnp.asarray(limit, jnp.float32).reshape(1) for limit in (rules.leash, rules.call_radius)),
        padded([getattr(roster, name) for name in COLUMNS]),
        padded([getattr(roster, name) for name in PAIRS], axes=2),
    )

    def program(now_in: Any, leash: Any, call: Any, columns: Any, pairs: Any, timed_out: Any, counted_out: Any) -> None:
        whole = replace(
            roster,
            our_side=slice(None),
            their_side=slice(None),
            **{name: columns[place] for place, name in enumerate(COLUMNS)},
            **{name: pairs[place] for place, name in enumerate(PAIRS)},
        )
        kernel_rules = eqx.tree_at(lambda old: (old.leash, old.call_radius), rules, (leash[0], call[0]))
        names = (*TIMED, *COUNTED)
        *values, jitter = (now_in[place] for place in range(len(names) + 1))
        values[len(TIMED) :] = [value.astype(jnp.int32) for value in values[len(TIMED) :]]
        now = _with(field, names, values)

        def loop(_: Array, values: list[Array]) -> list[Array]:
            after = fight_loop(whole, ground, kernel_rules, _with(now, names, values), jitter)
            return [getattr(after, name) for name in names]

        after = jax.lax.fori_loop(0, LOOPS_PER_STEP, loop, values)
        for place, value in enumerate(after[: len(TIMED)]):
            timed_out[place] = value
        for place, value in enumerate(after[len(TIMED) :]):
            counted_out[place] = value

    options: dict[str, Any] = {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=WARPS)}
    timed, counted = pallas.pallas_call(
        program,
        out_shape=[
            jax.ShapeDtypeStruct((len(TIMED), room), jnp.float32),
            jax.ShapeDtypeStruct((len(COUNTED), room), jnp.int32),
        ],
        interpret=interpret,
        **options,
    )(*given)
    return _with(field, (*TIMED, *COUNTED), [row[: roster.units] for row in (*timed, *counted)])


def _with(field: Battlefield, names: tuple[str, ...], values: list[Array]) -> Battlefield:
    """The battlefield with some of its columns replaced."""
    return eqx.tree_at(lambda old: [getattr(old, name) for name in names], field, values)
