"""I2Q with tables: values of pairs of states, and the best next state among those seen so far.

The published variant for matrix games on trees. States are the agent's own observations, hashed; there is no memory
of the past within an episode.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import AgentState, Algorithm, Values
from decentral.algorithms.hashing import bucket_of
from decentral.algorithms.q_learning import Scene, masked_mean
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Episode, Metrics

NEVER = -1  # no state
LARGEST_TABLE = 2**26  # pairs for each action
WORST = -jnp.inf


class Tables(eqx.Module):
    """Everything one agent learns."""

    values: Float[Array, "states actions"]  # Q(s, a)
    seen: Int[Array, "states actions successors"]  # the states that ever followed, in order of appearance
    pairs: Float[Array, "states actions successors"]  # QSS(s, s') for each of them, separately for each action


class Steps(eqx.Module):
    """Transitions as entries of the tables."""

    state: Int[Array, " steps"]
    action: Int[Array, " steps"]
    after: Int[Array, " steps"]
    reward: Float[Array, " steps"]
    going_on: Bool[Array, " steps"]
    happened: Bool[Array, " steps"]


class I2QTabular(Algorithm):
    """I2Q with tables: values follow the best next state that was ever seen."""

    learning_rate: float = setting(
        0.1, "alpha, how far an entry moves to its target at each sample", above=0, at_most=1
    )
    states: int = setting(4096, "buckets that states are hashed into", at_least=1, at_most=2**24)
    successors: int = setting(16, "next states remembered for each state and action", at_least=1, at_most=1024)
    resolution: float = setting(0.1, "what observations are rounded to before they are hashed", above=0)

    def check_together(self) -> None:
        most = LARGEST_TABLE // self.successors
        if self.states > most:
            raise Refused(f"states must be at most {most} with {self.successors} successors, got {self.states}")

    def build(self, spec: AgentSpec) -> Tables:
        shape = (self.states, spec.actions.count)
        seen = jnp.full((*shape, self.successors), NEVER, jnp.int32)
        return Tables(jnp.zeros(shape), seen, jnp.zeros((*shape, self.successors)))

    def init_agent(self, spec: AgentSpec, key: Key[Array, ""]) -> AgentState:
        key_build, key_agent = jax.random.split(key)
        empty = self.build(spec)
        values = jax.random.uniform(key_build, (empty.values.size,), minval=-0.5, maxval=0.5).reshape(
            empty.values.shape
        )
        online = eqx.tree_at(lambda tables: tables.values, empty, values)
        return AgentState(
            online, target=(), optimiser=(), target_age=jnp.zeros((), jnp.int32), statistics=(), key=key_agent
        )

    def start(self, models: Tables) -> tuple[()]:
        return ()

    def values(self, models: Tables, memory: tuple[()], scene: Scene) -> tuple[Values, tuple[()]]:
        return models.values[self.state_of(scene.percept.observation)], memory

    def annotate(self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]) -> tuple[AgentState, tuple[()]]:
        """Add the episode's next states that are new for their state and action, while there is room."""

        def enter(seen: Int[Array, "states actions successors"], step: Steps) -> tuple[Array, None]:
            row = seen[step.state, step.action]
            room = row == NEVER
            new = step.happened & ~jnp.any(row == step.after) & jnp.any(room)
            slot = jnp.where(new, jnp.argmax(room), self.successors)  # out of the table: dropped
            return seen.at[step.state, step.action, slot].set(step.after, mode="drop"), None

        seen, _ = jax.lax.scan(enter, agent.online.seen, self.steps_of(episode))
        return eqx.tree_at(lambda a: a.online.seen, agent, seen), ()

    def learn(self, agent: AgentState, episodes: Episode, key: Key[Array, ""]) -> tuple[AgentState, Metrics]:
        tables: Tables = agent.online
        steps = jax.tree.map(jnp.ravel, jax.vmap(self.steps_of)(episodes))
        tables, pair_error = self.learn_pairs(tables, steps)
        tables, error = self.learn_values(tables, steps)
        return eqx.tree_at(lambda a: a.online, agent, tables), {
            "loss": masked_mean(jnp.square(error), steps.happened),
            "pair_loss": masked_mean(jnp.square(pair_error), steps.happened),
            "q_taken_mean": masked_mean(tables.values[steps.state, steps.action], steps.happened),
        }

    def learn_pairs(self, tables: Tables, steps: Steps) -> tuple[Tables, Float[Array, " steps"]]:
        """QSS(s, s') <- r + gamma max_{s''} QSS(s', s'')."""
        known = tables.seen[steps.state, steps.action] == steps.after[:, None]
        slot = jnp.argmax(known, axis=-1)
        best = best_of(tables.pairs[steps.after], tables.seen[steps.after] != NEVER, axis=(1, 2))
        goal = steps.reward + self.discount * jnp.where(steps.going_on, best, 0.0)
        at = (steps.state, steps.action, slot)
        tables, error = self.move(tables, lambda t: t.pairs, at, goal, steps.happened & jnp.any(known, axis=-1))
        return tables, jnp.where(jnp.any(known, axis=-1), error, 0.0)

    def learn_values(self, tables: Tables, steps: Steps) -> tuple[Tables, Float[Array, " steps"]]:
        """Q(s, a) <- r + gamma max_a' Q(s*, a'), with s* the best next state seen, and a' any action tried there."""
        seen = tables.seen[steps.state, steps.action]
        pairs = jnp.where(seen == NEVER, WORST, tables.pairs[steps.state, steps.action])
        ideal = jnp.take_along_axis(seen, jnp.argmax(pairs, axis=-1)[:, None], axis=-1)[:, 0]
        ideal = jnp.where(ideal == NEVER, steps.after, ideal)
        best = best_of(tables.values[ideal], tables.seen[ideal, :, 0] != NEVER, axis=(1,))
        goal = steps.reward + self.discount * jnp.where(steps.going_on, best, 0.0)
        return self.move(tables, lambda t: t.values, (steps.state, steps.action), goal, steps.happened)

    def move(
        self,
        tables: Tables,
        which: Callable[[Tables], Array],
        at: tuple[Int[Array, " steps"], ...],
        goal: Float[Array, " steps"],
        counts: Bool[Array, " steps"],
    ) -> tuple[Tables, Float[Array, " steps"]]:
        """Move entries of a table towards their targets: n samples of an entry act as n moves to their mean."""
        table = which(tables)
        entry = jnp.where(counts, jnp.ravel_multi_index(at, table.shape, mode="wrap"), table.size)
        in_order = jnp.sort(entry)
        alike = jnp.searchsorted(in_order, entry, side="right") - jnp.searchsorted(in_order, entry, side="left")
        error = goal - table[at]
        share = (1 - (1 - self.learning_rate) ** alike) / alike
        moved = table.ravel().at[entry].add(share * error, mode="drop").reshape(table.shape)
        return eqx.tree_at(which, tables, moved), error

    def steps_of(self, episode: Episode) -> Steps:
        states = self.state_of(episode.percepts.observation)
        return Steps(states[:-1], episode.actions, states[1:], episode.rewards, ~episode.terminated, episode.happened)

    def state_of(self, observation: Float[Array, "*batch features"]) -> Int[Array, "*batch"]:
        return bucket_of(observation, self.resolution, self.states)


def best_of(entries: Float[Array, "..."], counts: Bool[Array, "..."], axis: tuple[int, ...]) -> Float[Array, " steps"]:
    """The largest entry that counts; 0 where none does."""
    best = jnp.max(jnp.where(counts, entries, WORST), axis=axis)
    return jnp.where(jnp.isfinite(best), best, 0.0)
