"""What an environment is: pure functions of a state, the agents' actions and a key. It knows nothing of learning."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.pictures import Picture
from decentral.settings import Settings
from decentral.types import AgentSpec, Percept

State = Any  # each environment's own module of arrays
Randomness = Any  # what `draw` returns


class Outcome(eqx.Module):
    """What a joint action brought about. There is one reward: it is shared by construction."""

    reward: Float[Array, ""]
    terminated: Bool[Array, ""]  # the task is over; running out of time is not an end
    facts: dict[str, Array]  # for analysis alone: no agent is ever shown them


@dataclass(frozen=True)
class AgentSpaces:
    """One agent's own spaces and labels: what an exported agent carries."""

    name: str
    spec: AgentSpec
    observation_names: tuple[str, ...]  # none where nobody has said them
    action_names: tuple[str, ...]
    first_action: int = 0  # the environment's number of the agent's first action; the others follow


class Oracle(eqx.Module):
    """Someone who knows the best joint actions of an environment exactly. For analysis alone: no agent is ever told."""

    @abstractmethod
    def approves(self, percepts: Percept, actions: Int[Array, " agents"]) -> Bool[Array, ""]:
        """Is the joint action one of the best, where the agents together perceive this?"""


class Script(eqx.Module):
    """A hand-written policy that sees the whole state and acts for all agents. It tells how hard an environment is."""

    @abstractmethod
    def start(self) -> Any:
        """What it remembers before an episode."""

    @abstractmethod
    def choose(self, state: State, memory: Any) -> tuple[Array, Any]:
        """The joint action, and what it remembers after it."""


class BaseEnvironment(Settings):
    """What is known of an environment before anyone acts in it, whether it is compiled or stepped in Python.

    Episodes last at most `time_limit` steps and never reset by themselves.
    """

    @property
    @abstractmethod
    def num_agents(self) -> int:
        """How many agents act in this environment."""

    @property
    @abstractmethod
    def spec(self) -> AgentSpec:
        """The sizes that every agent of this environment shares; where agents differ, those of the largest."""

    @property
    @abstractmethod
    def time_limit(self) -> int:
        """How many steps an episode lasts unless the task ends earlier."""

    @property
    def may_end_early(self) -> bool:
        """Can the task end before the time limit? If never, saying so saves compiling updates of shorter episodes."""
        return True

    @property
    def has_action_mask(self) -> bool:
        """Can an action be unavailable at times? If never, saying so spares wrappers for other libraries a mask."""
        return True

    @property
    def observes_ids(self) -> bool:
        """Does every percept tell whose it is? If not, agents that share parameters are given their ids besides."""
        return False

    @property
    def reports(self) -> dict[str, str]:
        """What tests report besides returns: names of means over episodes, each of a fact at an episode's end."""
        return {}

    def references(self) -> dict[str, float]:
        """Returns that are known exactly (`optimal`, `random`), for tables and plots."""
        return {}

    def oracle(self) -> Oracle | None:
        """Who knows the best joint actions, where they are known exactly. Its numbers may be traced."""
        return None

    @property
    def agent_names(self) -> tuple[str, ...]:
        """What the agents are called where they are shown."""
        return tuple(f"agent {number}" for number in range(1, self.num_agents + 1))

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is, with its unit; none where nobody has said it. For people alone."""
        return ()

    @property
    def action_names(self) -> tuple[str, ...]:
        """What the actions are called where they are shown."""
        return tuple(f"action {number}" for number in range(1, self.spec.actions.count + 1))

    @property
    def agent_specs(self) -> tuple[AgentSpec, ...]:
        """Each agent's own sizes. What lies beyond them in `spec` is padding: zeros, and actions never available."""
        return (self.spec,) * self.num_agents

    def agent_spaces(self, place: int) -> AgentSpaces:
        """One agent by its own sizes and names; padding stands behind what is its own, and so do others' names."""
        own = self.agent_specs[place]
        observations, actions = self.observation_names[: own.observation_size], self.action_names[: own.actions.count]
        return AgentSpaces(self.agent_names[place], own, observations, actions)


class Environment(BaseEnvironment):
    """A cooperative environment of pure functions, so that whole episodes can be compiled.

    Percepts are a function of the physical state alone, so no agent can be shown what another one did except
    through what it changed in the environment.
    """

    @abstractmethod
    def reset(self, key: Key[Array, ""]) -> State:
        """The state in which an episode starts."""

    @abstractmethod
    def perceive(self, state: State) -> Percept:
        """What each agent perceives, stacked over agents."""

    @abstractmethod
    def step(self, state: State, actions: Array, key: Key[Array, ""]) -> tuple[State, Outcome]:
        """The next state and what the joint action brought about."""

    def draw(self, key: Key[Array, ""]) -> Randomness:
        """All the randomness of one step. Drawing it without the state saves much time in long episodes."""
        return key

    def step_with(self, state: State, actions: Array, randomness: Randomness) -> tuple[State, Outcome]:
        """`step`, with its randomness drawn before."""
        return self.step(state, actions, randomness)

    def recompute_outcome(self, before: State, actions: Array, randomness: Randomness, after: State) -> Outcome:
        """The outcome of a step once more; where steps take long, from the states before and after alone."""
        return self.step_with(before, actions, randomness)[1]

    def scripts(self) -> dict[str, Script]:
        """Policies written by hand for this environment, by name."""
        return {}

    def depict(self, state: State, actions: np.ndarray | None) -> Picture | None:
        """The environment in a state, where these actions are about to be taken; none where the episode is over.

        For people to look at, outside of compiled programs: the state's arrays are NumPy's. None: it has no picture.
        """
        return None

    def depict_views(self, percepts: Percept) -> tuple[Picture, ...] | None:
        """What each agent perceives, drawn from its percept alone. None: this is not drawn."""
        return None


def begin(environment: Environment, key: Key[Array, ""]) -> tuple[State, Randomness]:
    """The environment at the start of an episode, and the randomness of all its steps [T]."""
    keys = jax.random.split(key, environment.time_limit + 1)
    return environment.reset(keys[0]), jax.vmap(environment.draw)(keys[1:])
