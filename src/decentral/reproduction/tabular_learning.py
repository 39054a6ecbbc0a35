"""Two tabular DAC learners side by side, simulated: each is the other's partner, and both change."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.reproduction.tabular_dac import EPSILON, Learned
from decentral.reproduction.tabular_worlds import TabularWorld

DECAY = 0.7  # a learning rate of visits^-0.7 meets the conditions of stochastic approximation
SLOWEST = 0.02  # but it keeps following a partner that changes

Tables = tuple[Float[Array, "states own others"], Float[Array, "states own others"]]  # of both agents, each in its view
Pair = tuple[Int[Array, ""], Int[Array, ""]]


@dataclass(frozen=True)
class PairPlan:
    """How long two learners learn, and how: epsilon falls from 1 to its last value in the first half."""

    target: str
    steps: int
    seeds: int
    discount: float


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class LearningPair:
    """Both agents' tables, how often each joint action was met, and what they are about to do."""

    values: Tables
    visits: Float[Array, "states first second"]
    state: Int[Array, ""]
    actions: Pair


def learn_together(world: TabularWorld, plan: PairPlan) -> list[tuple[Learned, Learned]]:
    """What both agents have learned, seed by seed."""
    following, rewards = jnp.asarray(world.following), jnp.asarray(world.rewards, jnp.float32)
    odds, begin = (jnp.asarray(np.cumsum(part, axis=-1), jnp.float32) for part in (world.chances, world.start))
    keys = jax.random.split(jax.random.key(0), plan.seeds)
    lives = jax.vmap(_live, (None, None, 0))((following, rewards, odds, begin), plan, keys)
    first, second = (np.asarray(table, float) for table in lives.values)
    met = np.asarray(lives.visits) > 0
    return [
        (Learned(first[seed], met[seed]), Learned(second[seed], met[seed].swapaxes(1, 2))) for seed in range(plan.seeds)
    ]


@partial(jax.jit, static_argnums=1)
def _live(tables: tuple[Array, Array, Array, Array], plan: PairPlan, key: Key[Array, ""]) -> LearningPair:
    following, rewards, odds, begin = tables
    states, first, second = rewards.shape[:3]

    def step(life: LearningPair, number: Int[Array, ""]) -> tuple[LearningPair, None]:
        key_outcome, key_start, *key_acts = jax.random.split(jax.random.fold_in(key, number), 4)
        here = (life.state, *life.actions)
        outcome = _drawn(odds[here], key_outcome)
        after, reward = following[here][outcome], rewards[here][outcome]
        ended = after == states
        state = jnp.where(ended, _drawn(begin, key_start), after)
        epsilon = jnp.maximum(EPSILON, 1 - 2 * (1 - EPSILON) * number / plan.steps)
        first_act, second_act = (
            _act(table[state], epsilon, of_agent) for table, of_agent in zip(life.values, key_acts, strict=True)
        )
        visits = life.visits.at[here].add(1.0)
        later = (reward, jnp.where(ended, 0.0, plan.discount))
        rate = jnp.maximum(SLOWEST, visits[here] ** -DECAY)
        one = _updated(life.values[0], here, (state, second_act), later, rate, plan.target)
        mirrored = (life.state, life.actions[1], life.actions[0])
        other = _updated(life.values[1], mirrored, (state, first_act), later, rate, plan.target)
        return LearningPair((one, other), visits, state, (first_act, second_act)), None

    zero = jnp.zeros((), jnp.int32)
    blank = (jnp.zeros((states, first, second)), jnp.zeros((states, second, first)))
    born = LearningPair(blank, jnp.zeros((states, first, second)), _drawn(begin, key), (zero, zero))
    return jax.lax.scan(step, born, jnp.arange(plan.steps))[0]


def _act(values: Float[Array, "own others"], epsilon: Array, key: Key[Array, ""]) -> Int[Array, ""]:
    """The paper's exploration: with probability epsilon a drawn context instead of phi, then epsilon-greedy."""
    coin_context, coin_action, which = jax.random.uniform(key, (3,))
    own, others = values.shape
    of_drawn = values[:, jnp.floor(which * others).astype(jnp.int32)]
    greedy = jnp.argmax(jnp.where(coin_context < epsilon, of_drawn, jnp.max(values, axis=1)))
    drawn = jnp.minimum(jnp.floor(coin_action / epsilon * own), own - 1).astype(jnp.int32)
    return jnp.where(coin_action < epsilon, drawn, greedy)


def _updated(
    table: Array, here: tuple[Array, ...], there: Pair, later: tuple[Array, Array], rate: Array, target: str
) -> Array:
    """One agent's table after a step. `there`: the next state and the partner's action; `later`: reward, discount."""
    state, next_context = there
    best_reply = jnp.max(table[state], axis=0)  # max_a' Q(s', a', c)
    context = here[2] if target == "same context" else next_context
    following = jnp.max(best_reply) if target == "optimistic" else best_reply[context]
    reward, discount = later
    return table.at[here].add(rate * (reward + discount * following - table[here]))


def _drawn(cumulated: Float[Array, " outcomes"], key: Key[Array, ""]) -> Int[Array, ""]:
    """An outcome by its probability."""
    return jnp.minimum(jnp.sum(jax.random.uniform(key) >= cumulated), len(cumulated) - 1)
