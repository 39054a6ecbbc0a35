"""A battle as an environment: SMAC's interface in front of a simulation of its units, in eight game loops per step."""

from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.environments.base import Environment, Outcome, Script
from decentral.environments.battles.actions import ATTACK, give_orders
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.deployment import deploy
from decentral.environments.battles.fight import fight
from decentral.environments.battles.heuristic import Heuristic
from decentral.environments.battles.maps import Map
from decentral.environments.battles.percepts import observation_size, perceive, state_vector
from decentral.environments.battles.pictures import battle_picture
from decentral.environments.battles.reward import is_over, is_won, reward
from decentral.environments.battles.roster import Roster, roster_of
from decentral.environments.battles.rules import EnemyIds, KeepTarget, Packing, Prefer, Rules
from decentral.environments.battles.units import Profile
from decentral.pictures import Picture
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete, Percept

EARLIEST, LATEST = -1.0, 2.0  # jitter of a weapon's period, in loops


def preference(default: Prefer) -> Any:
    """The setting `prefer`, whose default depends on the map."""
    return setting(
        default,
        "whom an enemy attacks: the nearest whom it notices, or, if there are any, the nearest of those who attack or"
        " of those in its reach",
    )


class Battle(Environment):
    """Agents that command one unit each, against a scripted enemy, on a map. `battle_on` makes the class of a map."""

    battle_map: ClassVar[Map]

    profile: Profile = setting("lotv", "numbers of the units: as the live game has them, or as the maps declare")
    timeout_ends: bool = setting(True, "running out of time ends the task, as SMAC says (false: learners bootstrap)")
    regeneration_pays: bool = setting(
        True, "enemies that recover pay, as in SMAC (false: what they recover is taken off)"
    )
    swapped_types: bool = setting(True, "kinds of enemies are numbered the other way round, as in SMAC")
    enemy_ids: EnemyIds = setting(
        "shuffled",
        "which enemy 'attack k' means: drawn anew in every episode, among all or those of its kind, or fixed",
    )
    prefer: Prefer = preference("nearest")
    keep_target: KeepTarget = setting(
        "in_scan",
        "how long an enemy keeps a target: while it can hit it, notices it, or can hit it or is attacked by it, until"
        " it has been in reach and left or has been noticed and lost, while nobody else is near, or until it is dead",
    )
    scan_to: Literal["edge", "centre"] = setting("edge", "where a unit must be to be noticed within the scan range")
    leash: float = setting(21.0, "how far an enemy chases a target from where it took it", above=0)
    call_radius: float = setting(4.0, "distance at which enemies help one that is hurt", at_least=0)
    packing: Packing = setting(
        "rings",
        "how units appear around a point: on mirrored grids, on equal grids, or in randomly turned rings",
    )
    push_rounds: int = setting(1, "how often in a loop units that overlap are pushed apart", at_least=0, at_most=8)
    anchored: bool = setting(True, "units that attack are not pushed away, and others walk around them")
    turning: bool = setting(False, "units must turn towards what they attack")
    overkill: bool = setting(True, "shots may be wasted on one whom others kill in the same moment")

    @property
    def roster(self) -> Roster:
        """The numbers of all units."""
        return roster_of(self.battle_map, self.profile, self.packing)

    @property
    def rules(self) -> Rules:
        """The rules that the engine does not document."""
        return Rules(
            leash=self.leash,
            call_radius=self.call_radius,
            scan_to=self.scan_to,
            prefer=self.prefer,
            keep_target=self.keep_target,
            push_rounds=self.push_rounds,
            anchored=self.anchored,
            turning=self.turning,
            overkill=self.overkill,
        )

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
        if self.roster.type_bits and self.roster.by_kind is not None:
            return tuple(f"unit {number}" for number in range(self.num_agents))
        kinds = (self.roster.kinds[kind].replace("_", " ") for kind in self.roster.kind[self.roster.our_side])
        return tuple(f"{kind} {number}" for number, kind in enumerate(kinds))

    @property
    def action_names(self) -> tuple[str, ...]:
        attacks = (f"attack {number}" for number in range(self.roster.enemies))
        return ("no-op", "stop", "north", "south", "east", "west", *attacks)

    def depict(self, state: Battlefield, actions: np.ndarray | None) -> Picture:
        return battle_picture(self.roster.in_battle(state), self.battle_map.ground, state, actions)

    def depict_step(self, state: Battlefield, actions: np.ndarray, after: Battlefield) -> Picture:
        return battle_picture(self.roster.in_battle(state), self.battle_map.ground, state, actions, after)

    @property
    def reports(self) -> dict[str, str]:
        return {"win_rate": "won"}

    def reset(self, key: Key[Array, ""]) -> Battlefield:
        return deploy(self.roster, self.packing == "rings", self.enemy_ids, key)

    def perceive(self, state: Battlefield) -> Percept:
        return perceive(self.roster.in_battle(state), self.battle_map.ground, self.swapped_types, state)

    def state_vector(
        self, state: Battlefield, last_actions: Int[Array, " agents"] | None = None
    ) -> Float[Array, " features"]:
        """SMAC's state. For analysis and centralised references alone."""
        return state_vector(self.roster.in_battle(state), self.swapped_types, state, last_actions)

    def draw(self, key: Key[Array, ""]) -> Float[Array, " units"]:
        """The jitter of each unit's period: no weapon is so fast that a step needs two."""
        return jax.random.uniform(key, (self.roster.units,), minval=EARLIEST, maxval=LATEST)

    def step(
        self, state: Battlefield, actions: Int[Array, " agents"], key: Key[Array, ""]
    ) -> tuple[Battlefield, Outcome]:
        return self.step_with(state, actions, self.draw(key))

    def step_with(
        self, state: Battlefield, actions: Int[Array, " agents"], randomness: Float[Array, " units"]
    ) -> tuple[Battlefield, Outcome]:
        roster = self.roster.in_battle(state)
        ordered = give_orders(roster, self.battle_map.ground, state, actions)
        fought = fight(roster, self.battle_map.ground, self.rules, ordered, randomness)
        after = eqx.tree_at(lambda old: old.steps, fought, state.steps + 1)
        return after, self.recompute_outcome(state, actions, randomness, after)

    def recompute_outcome(
        self,
        before: Battlefield,
        actions: Int[Array, " agents"],
        randomness: Float[Array, " units"],
        after: Battlefield,
    ) -> Outcome:
        roster = self.roster.in_battle(after)
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
        ground = self.battle_map.ground
        return {
            "script": Heuristic(False, self.roster, ground),
            "restricted script": Heuristic(True, self.roster, ground),
        }


def battle_on(battle_map: Map) -> type[Battle]:
    """The environment of a map."""
    its_own = {"__annotations__": {"prefer": Prefer}, "prefer": preference(battle_map.prefer)}
    return type(battle_map.name, (Battle,), {"__doc__": f"{battle_map}.", "battle_map": battle_map, **its_own})
