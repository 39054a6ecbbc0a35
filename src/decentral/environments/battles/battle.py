"""A battle as an environment: SMAC's interface in front of a simulation of its units, in eight game loops per step."""

from functools import partial
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.environments.base import Environment, Outcome, Script
from decentral.environments.battles.actions import ATTACK, give_orders
from decentral.environments.battles.battlefield import Battlefield, fresh_battlefield
from decentral.environments.battles.combat import attack, damage_of, suffer, take_aim
from decentral.environments.battles.heuristic import Heuristic
from decentral.environments.battles.judge import is_over, is_won, reward
from decentral.environments.battles.maps import Map
from decentral.environments.battles.movement import walk
from decentral.environments.battles.opponent import Temper, choose_targets
from decentral.environments.battles.percepts import observation_size, perceive
from decentral.environments.battles.pictures import battle_picture
from decentral.environments.battles.roster import Roster, roster_of
from decentral.environments.battles.state_vector import state_vector
from decentral.environments.battles.units import Profile
from decentral.pictures import Picture
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete, Percept

LOOPS_PER_STEP = 8
EARLIEST, LATEST = -1.0, 2.0  # jitter of a weapon's period, in loops


class Battle(Environment):
    """Agents that command one unit each, against a scripted enemy, on a map. `battle_on` makes the class of a map."""

    battle_map: ClassVar[Map]

    profile: Profile = setting("lotv", "numbers of the units: as the live game has them, or as the maps declare")
    timeout_ends: bool = setting(True, "running out of time ends the task, as SMAC says (false: learners bootstrap)")
    regeneration_pays: bool = setting(
        True, "enemies that recover pay, as in SMAC (false: what they recover is taken off)"
    )
    swapped_types: bool = setting(True, "kinds of enemies are numbered the other way round, as in SMAC")
    keep_target: bool = setting(True, "enemies keep a target that is out of reach (false: they take the nearest)")
    scan_to: Literal["edge", "centre"] = setting("edge", "where a unit must be to be noticed within the scan range")
    leash: float = setting(21.0, "distance at which an enemy gives a target up", above=0)
    call_radius: float = setting(4.0, "distance at which enemies help one that is hurt", at_least=0)
    push_rounds: int = setting(1, "how often in a loop units that overlap are pushed apart", at_least=0, at_most=8)

    @property
    def roster(self) -> Roster:
        """The numbers of all units."""
        return roster_of(self.battle_map, self.profile)

    @property
    def num_agents(self) -> int:
        return self.roster.allies

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(observation_size(self.roster), Discrete(ATTACK + self.roster.enemies))

    @property
    def time_limit(self) -> int:
        return self.battle_map.limit

    @property
    def agent_names(self) -> tuple[str, ...]:
        kinds = (self.roster.kinds[kind].replace("_", " ") for kind in self.roster.kind[self.roster.our_side])
        return tuple(f"{kind} {number}" for number, kind in enumerate(kinds, start=1))

    @property
    def action_names(self) -> tuple[str, ...]:
        attacks = (f"attack {number}" for number in range(1, self.roster.enemies + 1))
        return ("no-op", "stop", "north", "south", "east", "west", *attacks)

    def depict(self, state: Battlefield, actions: np.ndarray | None) -> Picture:
        return battle_picture(self.roster, self.battle_map.ground, state, actions)

    @property
    def reports(self) -> dict[str, str]:
        return {"win_rate": "won"}

    def reset(self, key: Key[Array, ""]) -> Battlefield:
        return fresh_battlefield(self.roster)

    def perceive(self, state: Battlefield) -> Percept:
        return perceive(self.roster, self.battle_map.ground, self.swapped_types, state)

    def state_vector(
        self, state: Battlefield, last_actions: Int[Array, " agents"] | None = None
    ) -> Float[Array, " features"]:
        """SMAC's state. For analysis and centralised references alone."""
        return state_vector(self.roster, self.swapped_types, state, last_actions)

    def draw(self, key: Key[Array, ""]) -> Float[Array, " units"]:
        """The jitter of each unit's period: no weapon is so fast that a step needs two."""
        return jax.random.uniform(key, (self.roster.units,), minval=EARLIEST, maxval=LATEST)

    def step(
        self, state: Battlefield, actions: Int[Array, " agents"], key: Key[Array, ""]
    ) -> tuple[Battlefield, Outcome]:
        return self.step_by(state, actions, self.draw(key))

    def step_by(
        self, state: Battlefield, actions: Int[Array, " agents"], chance: Float[Array, " units"]
    ) -> tuple[Battlefield, Outcome]:
        ordered = give_orders(self.roster, self.battle_map.ground, state, actions)
        loop = partial(self.loop, chance)
        fought, _ = jax.lax.scan(loop, ordered, None, length=LOOPS_PER_STEP)
        after = eqx.tree_at(lambda old: old.steps, fought, state.steps + 1)
        return after, self.tell(state, actions, chance, after)

    def tell(
        self,
        before: Battlefield,
        actions: Int[Array, " agents"],
        chance: Float[Array, " units"],
        after: Battlefield,
    ) -> Outcome:
        roster = self.roster
        out_of_time = (after.steps >= self.time_limit) & self.timeout_ends
        dead = ~after.alive
        facts = {
            "won": is_won(roster, after),
            "dead_allies": jnp.sum(dead[roster.our_side]),
            "dead_enemies": jnp.sum(dead[roster.their_side]),
        }
        earned = reward(roster, before, after, self.regeneration_pays)
        return Outcome(earned, is_over(roster, after) | out_of_time, facts)

    def scripts(self) -> dict[str, Script]:
        return {"heuristic": Heuristic(self.roster, self.battle_map.ground)}

    def loop(self, jitter: Float[Array, " units"], field: Battlefield, _: None = None) -> tuple[Battlefield, None]:
        """One sixteenth of a second: attack, suffer, choose targets, walk."""
        roster = self.roster
        aim = take_aim(roster, field)
        field, strikes = attack(roster, field, aim, jitter)
        damage = damage_of(roster, field, strikes)
        field = suffer(roster, field, damage)
        temper = Temper(self.leash, self.call_radius, self.scan_to, self.keep_target)
        field = choose_targets(roster, temper, field, aim, damage)
        return walk(roster, self.battle_map.ground, self.push_rounds, field, aim), None


def battle_on(battle_map: Map) -> type[Battle]:
    """The environment of a map."""
    return type(battle_map.name, (Battle,), {"__doc__": f"{battle_map}.", "battle_map": battle_map})
