"""An environment of JaxMARL, compiled as ours are: `jaxmarl:MPE_simple_spread_v3`, or `jaxmarl:package.module:factory`.

Agents whose observations or actions are fewer than others' have them padded with zeros, and the actions that they lack
are never available. JaxMARL's own restart at the end of an episode is not used.
"""

import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.environments.adapters.action_spaces import Choices, choices_of
from decentral.environments.adapters.jaxmarl_images import image_of
from decentral.environments.adapters.rewards import TeamReturn, check_result, team_return_in_words
from decentral.environments.base import AgentSpaces, Environment, Outcome, Randomness
from decentral.environments.host.filmed import picture_of_image
from decentral.environments.host.user_code import imported
from decentral.errors import Refused, did_you_mean
from decentral.pictures import Picture
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete, Percept

PREFIX = "jaxmarl"
LIMIT = 100  # steps, for an environment that declares no limit
TIME_LIMIT = "steps after which an episode is cut off, unless it ends before"

ByAgent = Mapping[Any, Any] | Sequence[Any]  # part of an environment's answer: by the names, or numbers, of its agents
TAKEN = "Discrete, MultiDiscrete or MultiBinary"  # kinds of actions; continuous ones are not adapted yet


class JaxMARLState(eqx.Module):
    """The state of an environment, and its latest answer."""

    inner: Any  # JaxMARL's own state
    percepts: Percept
    rewards: Float[Array, " agents"]
    over: Bool[Array, ""]  # the environment has reported its end: the state no longer changes
    taken: Int[Array, ""]  # steps


@dataclass(frozen=True)
class JaxMARLSizes:
    """The agents of an environment and the sizes of their spaces."""

    names: tuple[Any, ...]  # of its agents; some have numbers
    observations: tuple[int, ...]  # numbers in the observation of every agent
    entries: tuple[tuple[str, ...], ...]  # what they mean; nothing where an observation has no parts with names
    actions: tuple[Choices, ...]  # of every agent
    masks: str | None  # the method that returns the available actions; None if there is none

    @property
    def numbered(self) -> bool:
        """Are the agents 0, 1 and so on? STORM then unpacks the actions, and would get the keys of a dictionary."""
        return self.names == tuple(range(len(self.names)))

    @property
    def features(self) -> int:
        """Of the largest observation."""
        return max(self.observations)

    @property
    def most_actions(self) -> int:
        """Of the agent that has most."""
        return max(actions.count for actions in self.actions)


class JaxMARL(Environment):
    """An environment of JaxMARL."""

    time_limit: int = setting(LIMIT, TIME_LIMIT, at_least=1)
    rewards: Literal["mean", "sum", "own"] = setting(
        "mean", "what agents learn from: the mean (a shared reward stays itself) or sum of theirs, or each its own"
    )
    result: TeamReturn = setting("mean", "with rewards own: the team's return in tests, of the agents' own")
    may_end_early: bool = setting(True, "can an episode end before the time limit? (false saves compiling)")
    timeout_ends: bool = setting(False, "an end at the time limit ends the task (false: it is running out of time)")

    environment: ClassVar[Any]
    sizes: ClassVar[JaxMARLSizes]

    @property
    def num_agents(self) -> int:
        return len(self.sizes.names)

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(self.sizes.features, Discrete(self.sizes.most_actions))

    @property
    def agent_specs(self) -> tuple[AgentSpec, ...]:
        pairs = zip(self.sizes.observations, self.sizes.actions, strict=True)
        return tuple(AgentSpec(size, Discrete(actions.count)) for size, actions in pairs)

    @property
    def has_action_mask(self) -> bool:
        return self.sizes.masks is not None or len({actions.count for actions in self.sizes.actions}) > 1

    @property
    def agent_names(self) -> tuple[str, ...]:
        return tuple(map(str, self.sizes.names))

    @property
    def has_own_rewards(self) -> bool:
        return self.rewards == "own"

    @property
    def team_return(self) -> str:
        return team_return_in_words(self.rewards, self.result)

    def check_together(self) -> None:
        check_result(self.rewards, self.result)

    def agent_spaces(self, place: int) -> AgentSpaces:
        actions = self.sizes.actions[place].names
        return AgentSpaces(self.agent_names[place], self.agent_specs[place], self.sizes.entries[place], actions)

    def reset(self, key: Key[Array, ""]) -> JaxMARLState:
        observations, inner = self.environment.reset(key)
        nothing = jnp.zeros(self.num_agents)
        return JaxMARLState(
            inner, self._percepts(observations, inner), nothing, jnp.zeros((), bool), jnp.zeros((), int)
        )

    def perceive(self, state: JaxMARLState) -> Percept:
        return state.percepts

    def step(
        self, state: JaxMARLState, actions: Int[Array, " agents"], key: Key[Array, ""]
    ) -> tuple[JaxMARLState, Outcome]:
        chosen = tuple(_decoded(*pair) for pair in zip(self.sizes.actions, actions, strict=True))
        asked = chosen if self.sizes.numbered else dict(zip(self.sizes.names, chosen, strict=True))
        observations, inner, rewards, dones, _ = self.environment.step_env(key, state.inner, asked)
        moved = JaxMARLState(
            inner,
            self._percepts(observations, inner),
            jnp.stack([jnp.asarray(rewards[name], jnp.float32) for name in self.sizes.names]),
            jnp.asarray(dones["__all__"], bool),
            state.taken + 1,
        )
        after = jax.tree.map(lambda before, now: jnp.where(state.over, before, now), state, moved)
        return after, self.recompute_outcome(state, actions, key, after)

    def recompute_outcome(
        self, before: JaxMARLState, actions: Array, randomness: Randomness, after: JaxMARLState
    ) -> Outcome:
        own = after.rewards if self.has_own_rewards else None
        gather = jnp.sum if "sum" in (self.rewards, self.result) else jnp.mean
        in_time = jnp.asarray(self.timeout_ends) | (after.taken < self.time_limit)
        apart = jnp.max(after.rewards, axis=0) - jnp.min(after.rewards, axis=0)
        return Outcome(gather(after.rewards, axis=0), after.over & in_time, {"rewards_apart": apart}, own)

    def depict(self, state: JaxMARLState, actions: np.ndarray | None) -> Picture | None:
        """The image that the environment renders of a state. Most have none, or one that only a window shows."""
        try:
            with _silence():
                return picture_of_image(image_of(self.environment, state.inner))
        except Exception:
            return None

    def _percepts(self, observations: ByAgent, inner: Any) -> Percept:
        """The percepts of all agents, padded to the same sizes."""
        rows = [_flat(observations[name]) for name in self.sizes.names]
        padded = jnp.stack([jnp.pad(row, (0, self.sizes.features - row.size)) for row in rows])
        most = self.spec.actions.count
        if self.sizes.masks is None:
            return Percept(
                padded,
                jnp.asarray(np.arange(most)[None, :] < np.asarray([own.count for own in self.sizes.actions])[:, None]),
            )
        available = getattr(self.environment, self.sizes.masks)(inner)
        masks = [jnp.ravel(available[name]).astype(bool) for name in self.sizes.names]
        return Percept(padded, jnp.stack([jnp.pad(mask, (0, most - mask.size)) for mask in masks]))


@cache
def jaxmarl_environment(place: str) -> type[JaxMARL]:
    """The environment of a name that JaxMARL registers, or of the user's own factory."""
    name = f"{PREFIX}:{place}"
    make = imported(place, name) if ":" in place else _maker(place, name)
    if not callable(make):
        raise Refused(f"environment {name} must name a function that makes an environment, got {make!r:.80}")
    try:
        made = make()
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise Refused(f"environment {name} can't be made ({why})") from error
    read_sizes = _sizes(made, name)

    class MadeByJaxMARL(JaxMARL):
        """An environment of JaxMARL."""

        time_limit: int = setting(int(getattr(made, "max_steps", None) or LIMIT), TIME_LIMIT, at_least=1)
        environment: ClassVar[Any] = made
        sizes: ClassVar[JaxMARLSizes] = read_sizes

    return MadeByJaxMARL


def _maker(place: str, name: str) -> Callable[[], Any]:
    """A function that makes the environment that JaxMARL registers under a name."""
    try:
        with _silence():
            import jaxmarl
    except ImportError as error:
        why = " ".join(str(error).split())[:120]
        raise Refused(
            f"jaxmarl must be installed for environment {name}: pip install 'decentral[jaxmarl]' ({why})"
        ) from None
    if place not in jaxmarl.registered_envs:
        meant = did_you_mean(place, jaxmarl.registered_envs)
        raise Refused(f"environment {name:.120} must be one that JaxMARL knows:{meant or ' see its registered_envs'}")
    return lambda: jaxmarl.make(place)


@contextmanager
def _silence() -> Iterator[None]:
    """Print nothing: JaxMARL prints about itself when it is imported, and resets the standard output meanwhile."""
    kept = sys.stdout, sys.__stdout__
    sys.stdout = sys.__stdout__ = io.StringIO()  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        sys.stdout, sys.__stdout__ = kept  # type: ignore[misc]


def _sizes(environment: Any, name: str) -> JaxMARLSizes:
    """Read an environment's spaces, and refuse those that agents can't learn in."""
    try:
        agents = tuple(environment.agents)
        actions = tuple(choices_of(environment.action_space(agent), f"{name}: {agent}", TAKEN) for agent in agents)
        observations, inner = jax.eval_shape(environment.reset, jax.random.key(0))
        entries = tuple(tuple(_names_of(observations[agent])) for agent in agents)
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        if isinstance(error, Refused):
            raise
        why = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise Refused(
            f"environment {name} must be an environment of JaxMARL with an observation per agent ({why})"
        ) from None
    sizes = tuple(len(names) for names in entries)
    named = tuple(() if names[0].startswith("[") else names for names in entries)
    return JaxMARLSizes(agents, sizes, named, actions, _masks(environment, inner))


def _names_of(observation: Any) -> Iterator[str]:
    """A name for every number of one agent's observation: the parts of a dictionary, and the place in each."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(observation):
        part = jax.tree_util.keystr(path, simple=True, separator=".")
        yield from (f"{part}[{','.join(map(str, place))}]" if place else part for place in np.ndindex(leaf.shape))


def _flat(observation: Any) -> Float[Array, " features"]:
    return jnp.concatenate([jnp.ravel(leaf).astype(jnp.float32) for leaf in jax.tree.leaves(observation)])


def _decoded(actions: Choices, number: Int[Array, ""]) -> Array:
    """An action as the environment takes it."""
    if not actions.several:
        return number
    return jnp.stack(jnp.unravel_index(number, actions.counts)).astype(jnp.int32)


def _masks(environment: Any, inner: Any) -> str | None:
    """The name of the method that returns the available actions, which differs between environments."""
    for method in ("get_avail_actions", "get_legal_moves"):
        try:
            jax.eval_shape(getattr(environment, method), inner)
        except (AttributeError, NotImplementedError):
            continue
        return method
    return None
