"""The opponent: whom the enemies attack on their advance. The engine's rule is secret; this is what is known of it.

An enemy without a target takes the nearest ally within its scan range, or one who has just hurt it or a friend who
called for help. Which of these it prefers, and how long it keeps a target, are rules of the battle.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.combat import IN_REACH, Aim, any_of, points_at
from decentral.environments.battles.roster import NEVER, Roster
from decentral.environments.battles.rules import Rules

HELP_PERIOD = 32.0  # loops between two calls for help of one unit


def choose_targets(
    roster: Roster, rules: Rules, field: Battlefield, aim: Aim, damage: Float[Array, "units units"]
) -> Battlefield:
    """The battlefield with the enemies' targets for the next loop."""
    ours, theirs = roster.our_side, roster.their_side
    hurt_by = damage[theirs, ours] > 0
    calls = any_of(hurt_by, axis=1) & (field.help_wait[theirs] <= 0)
    squared = _squared_distances(field, theirs, ours)
    heeded = near = _within_scan(roster, rules, squared)
    noticed = near | hurt_by | _called(roster, rules, field, hurt_by, calls)
    if rules.keep_target == "in_duel":
        heeded = points_at(field.target)[ours, theirs].T  # those who attack it
        noticed = noticed | heeded
    is_ally = jnp.arange(squared.shape[1]) < roster.allies
    candidates = noticed & (field.alive[ours] & is_ally)[None, :]
    if rules.prefer != "nearest":
        candidates, may_stay = _preferred_first(roster, field, candidates, _preferred(roster, rules, field, squared))
    nearest = _nearest(jnp.where(candidates, squared, jnp.inf))
    keeps, holds = _keeps(roster, rules, field, aim, heeded, nearest)
    if rules.prefer != "nearest":
        keeps = keeps & may_stay
    target = roster.joined(field.target[ours], jnp.where(keeps, field.target[theirs], nearest))
    changed = target != field.target
    waits = jnp.where(calls, HELP_PERIOD, field.help_wait[theirs]) - 1.0
    return eqx.tree_at(
        lambda old: (old.target, old.windup, old.taken_x, old.taken_y, old.held, old.help_wait),
        field,
        (
            target,
            jnp.where(changed, NEVER, field.windup),
            jnp.where(changed, field.x, field.taken_x),
            jnp.where(changed, field.y, field.taken_y),
            jnp.where(changed, 0.0, roster.joined(field.held[ours], jnp.where(holds, 1.0, field.held[theirs]))),
            roster.joined(field.help_wait[ours], waits),
        ),
    )


def _preferred(
    roster: Roster, rules: Rules, field: Battlefield, squared: Float[Array, "enemies allies"]
) -> Bool[Array, "#enemies allies"]:
    """Whom an enemy would rather attack: allies who attack, or those it can hit from where it stands."""
    if rules.prefer == "attackers":
        return (field.target[roster.our_side] != NOBODY)[None, :]
    return squared <= (roster.reach[roster.their_side, roster.our_side] + IN_REACH) ** 2


def _preferred_first(
    roster: Roster,
    field: Battlefield,
    candidates: Bool[Array, "enemies allies"],
    preferred: Bool[Array, "#enemies allies"],
) -> tuple[Bool[Array, "enemies allies"], Bool[Array, " enemies"]]:
    """The candidates who are preferred, or all if none is; and whether an enemy may keep its target for all that.

    It may if its target is preferred too, if nobody else is, or if its own attack has begun.
    """
    ours, theirs = roster.our_side, roster.their_side
    better = candidates & preferred
    there_are_some = any_of(better, axis=1)
    has_one = any_of(points_at(field.target)[theirs, ours] & preferred, axis=1)
    return jnp.where(there_are_some[:, None], better, candidates), (
        has_one | ~there_are_some | (field.windup < NEVER)[theirs]
    )


def _squared_distances(field: Battlefield, of: slice, to: slice) -> Float[Array, "of to"]:
    """Between centres."""
    x, y = (place[of, None] - place[None, to] for place in (field.x, field.y))
    return x**2 + y**2


def _within_scan(
    roster: Roster, rules: Rules, squared: Float[Array, "enemies allies"]
) -> Bool[Array, "enemies allies"]:
    ours, theirs = roster.our_side, roster.their_side
    scan = roster.scan[theirs, None] + (roster.radii[theirs, ours] if rules.scan_to == "edge" else 0.0)
    return squared <= scan**2


def _called(
    roster: Roster,
    rules: Rules,
    field: Battlefield,
    hurt_by: Bool[Array, "enemies allies"],
    calls: Bool[Array, " enemies"],
) -> Bool[Array, "enemies allies"]:
    """Whether a nearby friend calls an enemy for help against an ally."""
    theirs = roster.their_side
    hears = (_squared_distances(field, theirs, theirs) <= rules.call_radius**2) & calls[None, :]
    if jax.default_backend() == "cpu":
        return jnp.any(hears[:, :, None] & hurt_by[None, :, :], axis=1)
    if roster.allies <= 2 * _columns_a_number(roster.enemies):
        return any_between(hears, hurt_by, roster.allies, roster.enemies)
    return jnp.dot(hears.astype(jnp.bfloat16), hurt_by.astype(jnp.bfloat16), preferred_element_type=jnp.float32) > 0


def any_between(
    first: Bool[Array, "rows middle"], second: Bool[Array, "middle columns"], columns: int, most: int
) -> Bool[Array, "rows columns"]:
    """Whether both are true for some place in the middle, of which at most so many are. All columns beyond are false.

    Counted in sums of whole numbers that have a digit for each of several columns: for a product of matrices, a kernel
    would arrange all its arrays as tensor cores want them.
    """
    together, digit = _columns_a_number(most), most.bit_length()
    number = jnp.arange(second.shape[1])
    found = jnp.zeros((first.shape[0], second.shape[1]), bool)
    for begin in range(0, columns, together):
        are_counted = (number >= begin) & (number < min(begin + together, columns))
        shift = jnp.where(are_counted, digit * (number - begin), 0)[None, :]
        of_middle = jnp.sum(jnp.where(second & are_counted[None, :], 1 << shift, 0), axis=1)
        totals = jnp.sum(jnp.where(first, of_middle[None, :], 0), axis=1)
        count = (totals[:, None] >> shift) & ((1 << digit) - 1)
        found = found | (are_counted[None, :] & (count > 0))
    return found


def _columns_a_number(most: int) -> int:
    """For how many columns a whole number has a digit that counts so far."""
    return 31 // most.bit_length()


def _nearest(distance: Float[Array, "enemies allies"]) -> Int[Array, " enemies"]:
    """The number of the ally at the least distance, or NOBODY where all are infinitely far."""
    least = jnp.min(distance, axis=1)
    number = jnp.arange(distance.shape[1], dtype=jnp.int32)[None, :]
    first = jnp.min(jnp.where(distance == least[:, None], number, distance.shape[1]), axis=1)
    return jnp.where(jnp.isfinite(least), first, NOBODY)


def _keeps(
    roster: Roster,
    rules: Rules,
    field: Battlefield,
    aim: Aim,
    heeded: Bool[Array, "enemies allies"],
    nearest: Int[Array, " enemies"],
) -> tuple[Bool[Array, " enemies"], Bool[Array, " enemies"]]:
    """Whether an enemy keeps its target, and whether it holds it: can hit it or, by some rules, heeds it."""
    ours, theirs = roster.our_side, roster.their_side
    attacked = points_at(field.target)[theirs, ours] & field.alive[None, ours]
    still_there = any_of(attacked, axis=1)
    in_reach = (aim.in_reach | (field.windup < NEVER))[theirs]  # an attack that has begun may follow a little farther
    holds = still_there & in_reach
    if rules.keep_target in ("in_scan", "in_duel", "until_lost"):
        holds = holds | any_of(attacked & heeded, axis=1)
    if rules.keep_target in ("in_reach", "in_scan", "in_duel"):
        return holds, holds
    followed = ((field.x - field.taken_x) ** 2 + (field.y - field.taken_y) ** 2)[theirs]
    follows = still_there & (followed <= rules.leash**2)
    if rules.keep_target in ("until_left", "until_lost"):
        return follows & (holds | (field.held[theirs] == 0)), holds
    return follows if rules.keep_target == "until_dead" else follows & (in_reach | (nearest == NOBODY)), holds
