"""What a world is: pure functions of a state, the agents' actions and a key. It knows nothing of learning."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.settings import Settings
from decentral.types import AgentSpec, Percept

State = Any  # each world's own module of arrays
Chance = Any  # what `draw` draws


class Outcome(eqx.Module):
    """What a joint action brought about. There is one reward: it is shared by construction."""

    reward: Float[Array, ""]
    terminated: Bool[Array, ""]  # the task is over; running out of time is not an end
    facts: dict[str, Array]  # for analysis alone: no agent is ever shown them


class Oracle(eqx.Module):
    """Someone who knows the best joint actions of a world exactly. For analysis alone: no agent is ever told."""

    @abstractmethod
    def approves(self, percepts: Percept, actions: Int[Array, " agents"]) -> Bool[Array, ""]:
        """Is the joint action one of the best, where the agents together perceive this?"""


class Environment(Settings):
    """A cooperative world. Episodes last at most `time_limit` steps and are never restarted behind one's back.

    Percepts are a function of the physical state alone, so no agent can be shown what another one did except
    through what it changed in the world.
    """

    @property
    @abstractmethod
    def num_agents(self) -> int:
        """How many agents act in this world."""

    @property
    @abstractmethod
    def spec(self) -> AgentSpec:
        """The sizes that every agent of this world shares."""

    @property
    @abstractmethod
    def time_limit(self) -> int:
        """How many steps an episode lasts unless the task ends earlier."""

    @property
    def may_end_early(self) -> bool:
        """Can the task end before the time limit? If never, saying so saves compiling updates of shorter episodes."""
        return True

    @abstractmethod
    def reset(self, key: Key[Array, ""]) -> State:
        """The state in which an episode starts."""

    @abstractmethod
    def perceive(self, state: State) -> Percept:
        """What each agent perceives, stacked over agents."""

    @abstractmethod
    def step(self, state: State, actions: Array, key: Key[Array, ""]) -> tuple[State, Outcome]:
        """The next state and what the joint action brought about."""

    def draw(self, key: Key[Array, ""]) -> Chance:
        """All the chance of one step. A world that can draw it without its state saves much time in a long episode."""
        return key

    def step_by(self, state: State, actions: Array, chance: Chance) -> tuple[State, Outcome]:
        """`step`, with its chance drawn before."""
        return self.step(state, actions, chance)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is, with its unit; none where nobody has said it. For people alone."""
        return ()

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action is called; none where nobody has said it. For people alone."""
        return ()

    def references(self) -> dict[str, float]:
        """Returns that are known exactly (`optimal`, `random`), for tables and plots."""
        return {}

    def oracle(self) -> Oracle | None:
        """Who knows the best joint actions, where they are known exactly. Its numbers may be traced."""
        return None
