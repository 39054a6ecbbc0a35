"""Recorded episodes, played again by the simulator: step by step from the recorded states, or on its own.

What a state does not show (whom the enemies are after, when they may fire, what is in the air) is what the simulator
itself arrived at while it was led along the episode. So no rule of estimation stands between recording and simulator.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.environments.battles.battle import EARLIEST, LATEST, Battle
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.deployment import FULL_TURN, fresh_battlefield
from decentral.environments.battles.roster import Roster
from decentral.verification.battle_check.episodes import Column, RecordedEpisodes, Visible

Jitter = Float[Array, "*episodes T units"]


class Course(eqx.Module):
    """What the simulator says of every step."""

    before: Visible  # [E, T, ...]
    after: Visible
    rewards: Column  # [E, T]


def usual_jitter(environment: Battle, episodes: RecordedEpisodes) -> Jitter:
    """No chance: every period is as long as it is on average."""
    return jnp.full((*episodes.rewards.shape, environment.roster.units), (EARLIEST + LATEST) / 2)


def drawn_jitter(environment: Battle, episodes: RecordedEpisodes, key: Key[Array, ""]) -> Jitter:
    """The chance of a battle, as it is drawn in play."""
    return jax.random.uniform(key, (*episodes.rewards.shape, environment.roster.units), minval=EARLIEST, maxval=LATEST)


def foresee(environment: Battle, episodes: RecordedEpisodes, jitter: Jitter) -> Course:
    """Where each recorded step leads in the simulator, from the recorded state and by the recorded actions."""
    return _follow(environment, episodes, jitter, is_led=True)


def play_on(environment: Battle, episodes: RecordedEpisodes, jitter: Jitter) -> Course:
    """The recorded actions from the recorded starts, without a look at the recording in between."""
    return _follow(environment, episodes, jitter, is_led=False)


def shown(roster: Roster, field: Battlefield, visible: Visible) -> Battlefield:
    """A battlefield with all that is visible as it was recorded. The dead stay where they were."""
    alive, ours = visible.health > 0, roster.our_side
    waiting = jnp.where(visible.cooldown > 0, visible.cooldown, jnp.minimum(field.cooldown[ours], 0.0))
    return eqx.tree_at(
        lambda old: (old.x, old.y, old.health, old.shield, old.cooldown),
        field,
        (
            jnp.where(alive, visible.x, field.x),
            jnp.where(alive, visible.y, field.y),
            jnp.asarray(visible.health),
            jnp.asarray(visible.shield),
            jnp.concatenate([waiting, field.cooldown[roster.their_side]]),
        ),
    )


def start_of(roster: Roster, first: Visible, enemy_of_id: Column) -> Battlefield:
    """An episode before its first step, with everyone where it was recorded."""
    ahead = jnp.where(roster.is_enemy, FULL_TURN / 2, 0.0)
    return fresh_battlefield(roster, (jnp.asarray(first.x), jnp.asarray(first.y)), jnp.asarray(enemy_of_id), ahead)


def what_is_visible(roster: Roster, field: Battlefield) -> Visible:
    """What SMAC's state would show."""
    ready_at_0 = jnp.maximum(field.cooldown[roster.our_side], 0.0)
    return Visible(field.x, field.y, field.health, field.shield, ready_at_0)


def _follow(environment: Battle, episodes: RecordedEpisodes, jitter: Jitter, is_led: bool) -> Course:
    told = (episodes.visible, episodes.enemy_of_id, episodes.actions, jitter)
    return jax.device_get(_courses(environment, *told, jnp.asarray(is_led)))


@eqx.filter_jit
def _courses(
    environment: Battle, visible: Visible, enemy_of_id: Column, actions: Column, jitter: Jitter, is_led: Bool[Array, ""]
) -> Course:
    """Episodes side by side, by one program whether they are led or not."""
    roster = environment.roster

    def one(visible: Visible, enemy_of_id: Array, actions: Array, jitter: Array) -> Course:
        def step(field: Battlefield, now: tuple) -> tuple[Battlefield, Course]:
            seen, chosen, chance = now
            led = shown(roster, field, seen)
            field = jax.tree.map(lambda told, own: jnp.where(is_led, told, own), led, field)
            after, outcome = environment.step_with(field, chosen, chance)
            return after, Course(what_is_visible(roster, field), what_is_visible(roster, after), outcome.reward)

        start = start_of(roster, jax.tree.map(lambda column: column[0], visible), enemy_of_id)
        return jax.lax.scan(step, start, (visible, actions, jitter))[1]

    return jax.vmap(one)(visible, enemy_of_id, actions, jitter)
