"""What is trained, where and how, and what follows from it: batches, and how much an agent can remember."""

from functools import partial

import equinox as eqx
import jax

from decentral.algorithms.base import Algorithm
from decentral.centralised.sharing import Sharing
from decentral.environments.base import BaseEnvironment, Environment, Oracle
from decentral.environments.inheritance import holds_of
from decentral.errors import Refused
from decentral.training.batches import Batch
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode, bytes_of, room_for, stored_type
from decentral.training.team import Team
from decentral.types import Continuous

RESERVED_AT_ONCE = 2**28  # bytes of a seed's replays, whether or not the run will fill them


class TrainingSetup(eqx.Module):
    """What is trained, where and how."""

    team: Team
    environment: BaseEnvironment
    plan: Plan

    @staticmethod
    def alike(algorithm: Algorithm, environment: BaseEnvironment, plan: Plan) -> "TrainingSetup":
        """A team of one algorithm in an environment."""
        team = Team.alike(algorithm, environment.num_agents, sharing_in(environment, plan))
        return TrainingSetup(team, environment, plan)

    @property
    def compiled_environment(self) -> Environment:
        """The environment; refused unless whole episodes of it are compiled."""
        if not isinstance(self.environment, Environment):
            name = type(self.environment).__name__
            raise Refused(f"environment must be one that is compiled, got {name}, which is stepped in Python")
        return self.environment

    def oracle(self) -> Oracle | None:
        """The oracle of the best joint actions, if tests ask for it and the environment has one."""
        known = self.plan.diagnostics and holds_of(self.environment, "oracle", "perceive")
        return self.environment.oracle() if known else None

    @property
    def turns_per_update(self) -> int:
        """The turns that an update is made from: on-policy learners fill a batch first, the others learn every turn."""
        on_policy = any(squad.algorithm.on_policy for squad in self.team.squads)
        return self.plan.warmup_turns + 1 if on_policy else 1

    @property
    def replay_capacity(self) -> int:
        """The replay capacity of every agent in episodes: no more than a run of this plan can play.

        A power of two below `replay_episodes`, so that runs of about the same length share a compiled program.
        """
        return self._capacity_for(
            self._episodes_of(1 if self.environment.may_end_early else self.environment.time_limit)
        )

    @property
    def replay_type(self) -> str:
        """The type of observations in the replays."""
        return stored_type(self.environment.spec, self.plan.replay_type)

    def capacity_after(self, episodes: int) -> int:
        """For how many episodes every agent has room once so many were played; what it learns does not depend on it.

        With every growth a program is compiled anew. So there is room from the start for the episodes of a run in
        which all last to the time limit, and for as many as take little memory.
        """
        environment = self.environment
        blank = blank_episode(environment.spec, environment.time_limit)
        size = environment.num_agents * bytes_of(
            jax.eval_shape(partial(room_for, observations=self.replay_type), blank)
        )
        at_once = max(self._episodes_of(environment.time_limit), RESERVED_AT_ONCE // size)
        return min(self.replay_capacity, self._capacity_for(max(episodes, at_once)))

    def _episodes_of(self, length: int) -> int:
        """How many episodes of a length the run plays: its last turn is taken as a whole."""
        together = self.plan.num_environments
        return max(-(-self.plan.steps // (length * together)) * together, self.plan.batch_episodes)

    def _capacity_for(self, episodes: int) -> int:
        return min(self.plan.replay_episodes, 1 << (episodes - 1).bit_length())

    @property
    def batch(self) -> Batch:
        """What every update is made from."""
        return Batch.of(self.environment, self.plan.batch_episodes)


def sharing_in(environment: BaseEnvironment, plan: Plan) -> Sharing | None:
    """How agents share their parameters in an environment, if the plan says so; refused where they differ in size."""
    if not plan.sharing:
        return None
    _check_alike_in_size(environment)
    return Sharing(plan.agent_ids and not environment.observes_ids)


def _check_alike_in_size(environment: BaseEnvironment) -> None:
    names, (first, *others) = environment.agent_names, environment.agent_specs
    acting = "acts with {} numbers" if isinstance(first.actions, Continuous) else "has {} actions"
    for name, other in zip(names[1:], others, strict=True):
        for words, size, its in (
            ("sees {} numbers", first.observation_size, other.observation_size),
            (acting, first.actions.count, other.actions.count),
        ):
            if size != its:
                told = f"{names[0]:.40} {words.format(size)}, {name:.40} {its}"
                raise Refused(f"training.sharing must be false where agents differ in size, got true: {told}")
