"""The interface of an algorithm, for ONE agent: how it is initialised, acts, annotates its episodes and learns.

No function here or in a sibling file has an axis over agents, so it can't see another agent's data. `training/` makes
the team.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.q_learning import Dice, Scene, epsilon_greedy, linear_ramp, mask_unavailable, roll
from decentral.settings import Settings, setting
from decentral.types import Action, AgentSpec, Episode, Metrics, Percept

Models = Any  # an algorithm's networks, or tables
Memory = Any  # the networks' hidden state within an episode
Statistics = Any  # what an agent keeps besides its networks, such as visit counts
Annotations = Any  # what an agent stores with the steps of an episode [T, ...]
Values = Float[Array, " actions"]


class AgentState(eqx.Module):
    """The state of one learning agent. Agents share none of it."""

    online: Models
    target: Models
    optimiser: Any
    target_age: Int[Array, ""]  # episodes since the target was copied
    statistics: Statistics
    key: Key[Array, ""]  # of its random stream
    priorities: Any = ()  # of the episodes in its replay, if it has any


class TeamClock(eqx.Module):
    """A clock that all agents can read, and this agent's place in the team: common knowledge, so no messages."""

    episodes: Int[Array, ""]  # so far
    number: Int[Array, ""]  # the agent's place in the team, counted from 0
    team_size: int = eqx.field(static=True)


@dataclass(frozen=True)
class Strictness:
    """Which parts of its learning an agent keeps to itself."""

    own_networks: bool = True
    own_replays: bool = True
    own_optimisers: bool = True

    @property
    def decentralised(self) -> bool:
        return self.own_networks and self.own_replays and self.own_optimisers


SHARE_OF_GAINS = "a batch's penalties count up to this share of what its positive rewards add up to (0: in full)"


class Algorithm(Settings):
    """The hyper-parameters of one agent, and the functions by which it acts and learns."""

    strictness: ClassVar[Strictness] = Strictness()
    on_policy: ClassVar[bool] = False  # it learns from the episodes played since its last update alone, each once

    takes_continuous: ClassVar[bool] = False  # can its agents have continuous actions?

    discount: float = setting(0.99, "gamma, the discount factor", at_least=0, at_most=1)
    forgive: float = setting(0.0, "episodes in which learning counts negative rewards as 0", at_least=0)
    forgive_fade: float = setting(0.0, "episodes over which they then come to count in full (0: at once)", at_least=0)
    forgive_beyond: float = setting(0.0, SHARE_OF_GAINS, at_least=0)

    @abstractmethod
    def build(self, spec: AgentSpec) -> Models:
        """A description of the agent's networks; `networks.layers.draw` draws their initial values from it."""

    @abstractmethod
    def init_agent(self, spec: AgentSpec, key: Key[Array, ""]) -> AgentState:
        """A new agent."""

    @abstractmethod
    def start(self, models: Models) -> Memory:
        """The memory before the first percept of an episode."""

    @abstractmethod
    def values(self, models: Models, memory: Memory, scene: Scene) -> tuple[Values, Memory]:
        """The action values at this step, and the memory after its percept."""

    @abstractmethod
    def learn(self, agent: AgentState, episodes: Episode, key: Key[Array, ""]) -> tuple[AgentState, Metrics]:
        """One update from a batch of the agent's own episodes [B, T], and its metrics."""

    def roll(self, key: Key[Array, ""], length: int) -> Dice:
        """The random numbers behind all choices of an episode; an algorithm may make some of them equal."""
        return roll(key, length)

    def explore(self, statistics: Statistics, percept: Percept, epsilon: Float[Array, ""]) -> Float[Array, ""]:
        """The probability of a random action, given the `epsilon` of the training plan."""
        return epsilon

    def choose(self, values: Values, scene: Scene, epsilon: Float[Array, ""]) -> Action:
        """The action, given what `values` and `explore` answered."""
        return epsilon_greedy(values, scene.percept.available, epsilon, scene.dice)

    def acts_by(self, models: Models) -> Any:
        """The network whose outputs make the `values`, by `values_from` and by nothing else; None if there is none.

        The outputs are those of its `head`, or under `every` context, and the memory is that of its `trunk`.
        """
        return None

    def values_from(self, outputs: Float[Array, "*contexts actions"], epsilon: Float[Array, ""], dice: Dice) -> Values:
        """The values, given the outputs of the network that the agent `acts_by`."""
        return outputs

    def gap(
        self, values: Values, scene: Scene, epsilon: Float[Array, ""], action: Action
    ) -> tuple[Float[Array, ""], Bool[Array, ""]]:
        """How far `values` are from an `action` being chosen, and whether chance chose, whatever they are. For audits.

        An action that rounding alone explains has a tiny gap.
        """
        usable = mask_unavailable(values, scene.percept.available)
        highest = jnp.max(usable, axis=-1)
        lost = (highest - usable[action]) / jnp.maximum(1.0, jnp.abs(highest))
        return lost, scene.dice.explore_action < epsilon

    def annotate(
        self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]
    ) -> tuple[AgentState, Annotations]:
        """Update the statistics after an episode, and annotate its steps before they are stored."""
        return agent, ()

    def contexts_in(self, models: Models, episode: Episode) -> Float[Array, "T contexts"] | None:
        """The likeliest context of every step of one episode, one-hot; zeros at steps without one. For analysis.

        None if the algorithm infers no contexts.
        """
        return None

    def learning_rewards(self, episodes: Episode, episodes_so_far: Int[Array, ""]) -> Episode:
        """The episodes with the rewards to learn from: early on, or beyond what is earned, penalties may count less."""
        rewards = episodes.rewards
        counts = linear_ramp(self.forgive, self.forgive_fade, episodes_so_far) * affordable(
            rewards, self.forgive_beyond
        )
        return replace(episodes, rewards=jnp.maximum(rewards, counts * rewards))

    def learns_now(self, clock: TeamClock) -> Bool[Array, ""] | bool:
        """Is it this agent's turn to learn?"""
        return True

    def after_episodes(self, agent: AgentState, episodes: int) -> AgentState:
        """Called after every turn of `episodes` episodes, to update target networks, counters and other schedules."""
        return agent


def affordable(rewards: Float[Array, "*batch T"], share: Float[Array, ""] | float) -> Float[Array, ""]:
    """The weight by which penalties add up to at most a share of the gains; 1 where there are no gains, or no share."""
    gains, losses = jnp.sum(jnp.maximum(rewards, 0.0)), -jnp.sum(jnp.minimum(rewards, 0.0))
    weight = jnp.minimum(1.0, share * gains / jnp.maximum(losses, 1e-6))
    return jnp.where((share > 0) & (gains > 0), weight, 1.0)
