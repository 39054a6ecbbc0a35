"""The interface of an environment: pure functions of a state, the agents' actions and a key. It knows no learning."""

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.bounds import Bounds, as_bounds
from decentral.pictures import Picture
from decentral.settings import Refused, Settings
from decentral.types import AgentSpec, Continuous, Percept

State = Any  # a module of arrays; each environment has its own
Randomness = Any  # what `draw` returns


class Outcome(eqx.Module):
    """The outcome of a joint action. All agents share one reward, unless each is given its own to learn from."""

    reward: Float[Array, ""]
    terminated: Bool[Array, ""]  # the task has ended; reaching the time limit is no such end
    facts: dict[str, Array]  # for analysis only: no agent sees them
    own_rewards: Float[Array, " agents"] | None = None  # where `has_own_rewards`


@dataclass(frozen=True)
class AgentSpaces:
    """The spaces and labels of one agent, as an exported agent carries them."""

    name: str
    spec: AgentSpec
    observation_names: tuple[str, ...]  # empty if the environment has none
    action_names: tuple[str, ...]
    first_action: int = 0  # the environment's number for the agent's first action; the others follow
    bounds: Bounds = ()  # of continuous actions, in the environment's own numbers; empty for discrete ones


class Oracle(eqx.Module):
    """Knows the best joint actions of an environment exactly. For analysis only: no agent sees it."""

    @abstractmethod
    def approves(self, percepts: Percept, actions: Int[Array, " agents"]) -> Bool[Array, ""]:
        """Is the joint action optimal, given the percepts of all agents?"""


class Script(eqx.Module):
    """A hand-written policy that sees the whole state and acts for all agents, as a measure of difficulty."""

    @abstractmethod
    def start(self) -> Any:
        """The memory before an episode."""

    @abstractmethod
    def choose(self, state: State, memory: Any) -> tuple[Array, Any]:
        """The joint action, and the memory after it."""


class BaseEnvironment(Settings):
    """The properties of an environment that are known before it is stepped, whether compiled or in Python.

    Episodes last at most `time_limit` steps and never reset by themselves.
    """

    @property
    @abstractmethod
    def num_agents(self) -> int:
        """How many agents act in this environment."""

    @property
    @abstractmethod
    def spec(self) -> AgentSpec:
        """The sizes that all agents share; where agents differ, those of the largest."""

    @property
    @abstractmethod
    def time_limit(self) -> int:
        """How many steps an episode lasts unless the task ends earlier."""

    @property
    def may_end_early(self) -> bool:
        """Can the task end before the time limit? Return False if it never does: fewer programs are then compiled."""
        return True

    @property
    def has_action_mask(self) -> bool:
        """Can an action be unavailable? Return False if never: wrappers for other libraries then need no mask."""
        return True

    @property
    def observes_ids(self) -> bool:
        """Does every percept contain its agent's id? If not, agents that share parameters get their ids added."""
        return False

    @property
    def has_own_rewards(self) -> bool:
        """Does every agent learn from a reward of its own? The reward of the team is then for tests and tables only."""
        return False

    @property
    def team_return(self) -> str:
        """What the return of a team is made of where every agent has its own, for people to read."""
        return "the environment's own figure for the team" if self.has_own_rewards else ""

    @property
    def own_return_names(self) -> tuple[str, ...]:
        """The names under which tests report every agent's own return; empty where all share one."""
        if not self.has_own_rewards:
            return ()
        names = [re.sub(r"[^\w.-]", "_", name)[:25] for name in self.agent_names]
        distinct = len(set(names)) == len(names)
        return tuple(f"return_{name if distinct else number}" for number, name in enumerate(names))

    @property
    def reports(self) -> dict[str, str]:
        """What tests report besides returns: names of means over episodes, and the final fact that each averages."""
        return {}

    def references(self) -> dict[str, float]:
        """Returns that are known exactly (`optimal`, `random`) or that none exceeds (`bound`), for tables and plots."""
        return {}

    def oracle(self) -> Oracle | None:
        """An oracle, if the best joint actions are known exactly. Its numbers may be traced."""
        return None

    @property
    def agent_names(self) -> tuple[str, ...]:
        """The names of the agents in tables and pictures."""
        return tuple(f"agent {number}" for number in range(self.num_agents))

    @property
    def observation_names(self) -> tuple[str, ...]:
        """The meaning and unit of each entry of an observation, for people to read; empty if not given."""
        return ()

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the actions, or of the numbers of a continuous one, in tables and pictures."""
        return tuple(f"action {number}" for number in range(self.spec.actions.count))

    @property
    def agent_specs(self) -> tuple[AgentSpec, ...]:
        """The sizes of each agent. What `spec` has beyond them is padding: zeros, and actions never available."""
        return (self.spec,) * self.num_agents

    def agent_spaces(self, place: int) -> AgentSpaces:
        """The spaces and labels of one agent, without the padding, which comes last."""
        spec = self.agent_specs[place]
        observations, actions = self.observation_names[: spec.observation_size], self.action_names[: spec.actions.count]
        bounds = as_bounds(None, spec.actions.count) if isinstance(spec.actions, Continuous) else ()
        return AgentSpaces(self.agent_names[place], spec, observations, actions, bounds=bounds)

    def place_of(self, agent: Any) -> int:
        """The place of the agent with this name, or else with this number, counted from 0."""
        names, given = self.agent_names, agent
        if isinstance(agent, str) and agent in names:
            return names.index(agent)
        if isinstance(agent, str) and agent.isascii() and agent.isdecimal():
            agent = int(agent)
        if type(agent) is not int or not 0 <= agent < len(names):
            known = f"{', '.join(names):.300}, or of their numbers 0 to {len(names) - 1}"
            raise Refused(f"agent must be one of {known}, got {given!r:.80}")
        return agent


class Environment(BaseEnvironment):
    """A cooperative environment of pure functions, so that whole episodes can be compiled.

    Percepts are a function of the physical state alone, so an agent can notice what another one did only by what it
    changed in the environment.
    """

    plays_in_kernel: ClassVar[bool] = False  # may a GPU play it in one kernel? Every class says so for itself alone

    @abstractmethod
    def reset(self, key: Key[Array, ""]) -> State:
        """The state in which an episode starts."""

    @abstractmethod
    def perceive(self, state: State) -> Percept:
        """What each agent perceives, stacked over agents."""

    @abstractmethod
    def step(self, state: State, actions: Array, key: Key[Array, ""]) -> tuple[State, Outcome]:
        """The next state, and the outcome of the joint action."""

    def draw(self, key: Key[Array, ""]) -> Randomness:
        """All the randomness of one step. It is drawn without the state, which saves much time in long episodes."""
        return key

    def step_with(self, state: State, actions: Array, randomness: Randomness) -> tuple[State, Outcome]:
        """`step`, with its randomness already drawn."""
        return self.step(state, actions, randomness)

    def recompute_outcome(self, before: State, actions: Array, randomness: Randomness, after: State) -> Outcome:
        """The outcome of a step again. Where a step is slow, compute it from the states before and after alone."""
        return self.step_with(before, actions, randomness)[1]

    def scripts(self) -> dict[str, Script]:
        """Hand-written policies for this environment, by name."""
        return {}

    def depict(self, state: State, actions: np.ndarray | None) -> Picture | None:
        """A picture of a state and of the actions about to be taken (None at the end of an episode), or None.

        It is drawn outside of compiled programs: the state's arrays are NumPy arrays.
        """
        return None

    def depict_step(self, state: State, actions: np.ndarray, after: State) -> Picture | None:
        """The picture of a step whose end is known too: what hits, and whom. Without it, `depict` is shown."""
        return self.depict(state, actions)

    def depict_views(self, percepts: Percept) -> tuple[Picture, ...] | None:
        """Pictures of what each agent perceives, drawn from its percept alone, or None."""
        return None


def begin(environment: Environment, key: Key[Array, ""]) -> tuple[State, Randomness]:
    """The first state of an episode, and the randomness of all its steps [T]."""
    keys = jax.random.split(key, environment.time_limit + 1)
    return environment.reset(keys[0]), jax.vmap(environment.draw)(keys[1:])


def changes_of_kind(before: State, after: State) -> Iterator[str]:
    """What a step must not do to a state: build it in another way, or change a shape or a type in it."""
    if str(jax.tree.structure(before)) != str(jax.tree.structure(after)):
        yield "the state after a step must be built as the one after a reset is"
    for (path, one), other in zip(jax.tree.leaves_with_path(before), jax.tree.leaves(after), strict=False):
        if kind_of_array(one) != kind_of_array(other):
            name = jax.tree_util.keystr(path) or " itself"
            yield f"the state{name} must stay {kind_of_array(one)} from step to step, got {kind_of_array(other)}"


def kind_of_array(leaf: Any) -> str:
    """The type and the shape of an array."""
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
