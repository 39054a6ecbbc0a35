"""Recorded episodes, replayed by the simulator: step by step from the recorded states, or freely.

A state does not show everything (whom the enemies target, when they may fire, what is in the air). The simulator keeps
its own values of these while it follows the episode, so nothing has to be estimated from the recording.
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


class SimulatedSteps(eqx.Module):
    """The simulator's result of every step."""

    before: Visible  # [E, T, ...]
    after: Visible
    rewards: Column  # [E, T]


def usual_jitter(environment: Battle, episodes: RecordedEpisodes) -> Jitter:
    """No randomness: every period has its average length."""
    return jnp.full((*episodes.rewards.shape, environment.roster.units), (EARLIEST + LATEST) / 2)


def drawn_jitter(environment: Battle, episodes: RecordedEpisodes, key: Key[Array, ""]) -> Jitter:
    """The randomness of a battle, drawn as in play."""
    return jax.random.uniform(key, (*episodes.rewards.shape, environment.roster.units), minval=EARLIEST, maxval=LATEST)


def simulate_steps(environment: Battle, episodes: RecordedEpisodes, jitter: Jitter) -> SimulatedSteps:
    """Where each recorded step leads in the simulator, from the recorded state and by the recorded actions."""
    return _follow(environment, episodes, jitter, is_led=True)


def simulate_episodes(environment: Battle, episodes: RecordedEpisodes, jitter: Jitter) -> SimulatedSteps:
    """The recorded actions from the recorded starts, without correction by the recording in between."""
    return _follow(environment, episodes, jitter, is_led=False)


def shown(roster: Roster, field: Battlefield, visible: Visible) -> Battlefield:
    """A battlefield with everything visible set to what was recorded. The dead stay where they were."""
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


def visible_units(roster: Roster, field: Battlefield) -> Visible:
    """What SMAC's state would show."""
    ready_at_0 = jnp.maximum(field.cooldown[roster.our_side], 0.0)
    return Visible(field.x, field.y, field.health, field.shield, ready_at_0)


def _follow(environment: Battle, episodes: RecordedEpisodes, jitter: Jitter, is_led: bool) -> SimulatedSteps:
    recorded = (episodes.visible, episodes.enemy_of_id, episodes.actions, jitter)
    return jax.device_get(_courses(environment, *recorded, jnp.asarray(is_led)))


@eqx.filter_jit
def _courses(
    environment: Battle, visible: Visible, enemy_of_id: Column, actions: Column, jitter: Jitter, is_led: Bool[Array, ""]
) -> SimulatedSteps:
    """Episodes side by side, in one program whether they follow the recording or not."""
    roster = environment.roster

    def one(visible: Visible, enemy_of_id: Array, actions: Array, jitter: Array) -> SimulatedSteps:
        def step(field: Battlefield, inputs: tuple) -> tuple[Battlefield, SimulatedSteps]:
            visible_now, chosen, jitter_now = inputs
            led = shown(roster, field, visible_now)
            field = jax.tree.map(lambda corrected, free: jnp.where(is_led, corrected, free), led, field)
            after, outcome = environment.step_with(field, chosen, jitter_now)
            return after, SimulatedSteps(visible_units(roster, field), visible_units(roster, after), outcome.reward)

        start = start_of(roster, jax.tree.map(lambda column: column[0], visible), enemy_of_id)
        return jax.lax.scan(step, start, (visible, actions, jitter))[1]

    return jax.vmap(one)(visible, enemy_of_id, actions, jitter)
