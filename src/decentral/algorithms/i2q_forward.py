"""I2Q with a forward model, which learns to predict a good next state among those that occur.

The published variant for differential games, adapted from actor-critic learning to discrete actions.
"""

from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from decentral.algorithms.optimisers import one_optimiser_per_part
from decentral.algorithms.q_learning import (
    episode_inputs,
    mask_unavailable,
    masked_mean,
    one_hot_actions,
)
from decentral.algorithms.value_learner import MultiNetworkLearner, ValueNetwork
from decentral.networks.layers import Perceptron
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics


class ForwardModels(eqx.Module):
    """Everything one agent learns. States are the agent's own observations."""

    value: ValueNetwork  # Q, which acts
    pair: Perceptron  # QSS(s, s')
    change: Perceptron  # f(s, a) - s

    def predict(self, state: Float[Array, " features"], action: Float[Array, " actions"]) -> Float[Array, " features"]:
        """f(s, a)."""
        return state + self.change(jnp.concatenate([state, action]))

    def worth(self, state: Float[Array, " features"], after: Float[Array, " features"]) -> Float[Array, ""]:
        """QSS(s, s')."""
        return self.pair(jnp.concatenate([state, after]))[0]


class I2QForward(MultiNetworkLearner):
    """I2Q with a forward model: values follow the best next state that is still likely."""

    cannot: ClassVar[dict[str, str]] = dict.fromkeys(
        ("n_step", "td_lambda"), "its targets follow a predicted next state, not the steps that were played"
    )

    ambition: float = setting(
        0.2, "alpha, weight of a good next state beside a likely one in the model's loss", at_least=0
    )
    follow: Literal["value", "pair"] = setting(
        "value", "target: the value of the better of the predicted and the real next state, or QSS of it"
    )
    width: int = setting(256, "units of the two hidden layers of QSS and of the model", at_least=1)

    def build(self, spec: AgentSpec) -> ForwardModels:
        state, action = spec.observation_size, spec.actions.count
        pair, change = Perceptron(2 * state, self.width, 1), Perceptron(state + action, self.width, state)
        return ForwardModels(ValueNetwork.described(spec, self.trunk_design, self.duelling), pair, change)

    def acting(self, models: ForwardModels) -> ValueNetwork:
        return models.value

    def loss_from_terms(self, terms: Metrics, happened: Bool[Array, "B T"]) -> tuple[Float[Array, ""], Metrics]:
        value_loss, pair_loss = self.mean_losses(terms, happened, "value_error", "pair_error")
        model_error = masked_mean(terms["model_error"], happened)
        promise = masked_mean(terms["promise"], happened)
        scale = jax.lax.stop_gradient(jnp.maximum(masked_mean(jnp.abs(terms["promise"]), happened), 1e-3))
        return value_loss + pair_loss + model_error - self.ambition / scale * promise, {
            "loss": value_loss,
            "pair_loss": pair_loss,
            "model_error": model_error,
            "q_taken_mean": masked_mean(terms["taken"], happened),
            **self.episode_errors(terms["value_error"], happened),
        }

    def td_terms(self, online: ForwardModels, target: ForwardModels, episode: Episode) -> Metrics:
        """The terms of the losses for one episode."""
        states, actions = episode.percepts.observation, one_hot_actions(episode)
        before, after = states[:-1], states[1:]
        memories = target.value.trunk.memories(episode_inputs(episode))
        hidden = target.value.trunk.output(memories)
        next_action_values = mask_unavailable(target.value.head(hidden), episode.percepts.available)[1:]
        next_actions = jax.nn.one_hot(jnp.argmax(next_action_values, axis=-1), actions.shape[-1])
        next_worth = jax.vmap(target.worth)(after, jax.vmap(target.predict)(after, next_actions))
        predicted = jax.vmap(online.predict)(before, actions)
        taken = jnp.sum(online.value.unroll(episode)[:-1] * actions, axis=-1)
        by_pair = self.targets(episode, next_worth)
        fixed = jax.lax.stop_gradient(online.pair)
        return {
            "taken": taken,
            "value_error": taken - self.wanted(target, episode, memories),
            "pair_error": jax.vmap(online.worth)(before, after) - by_pair,
            "model_error": jnp.mean(jnp.square(predicted - after), axis=-1),
            "promise": fixed(jnp.concatenate([before, predicted], axis=-1))[:, 0],
        }

    def wanted(self, target: ForwardModels, episode: Episode, memories: Float[Array, "P memory"]) -> Float[Array, " T"]:
        """The target of Q, from the better of the next state that occurred and the predicted one."""
        states, actions = episode.percepts.observation, one_hot_actions(episode)
        before, after = states[:-1], states[1:]
        predicted = jax.vmap(target.predict)(before, actions)
        worth, promised = jax.vmap(target.worth)(before, after), jax.vmap(target.worth)(before, predicted)
        if self.follow == "pair":
            return jax.lax.stop_gradient(jnp.maximum(worth, promised))
        ideal = jnp.where((promised > worth)[:, None], predicted, after)
        ideal_memories = jax.vmap(target.value.trunk.step)(memories[:-1], jnp.concatenate([ideal, actions], axis=-1))
        ideal_hidden = target.value.trunk.output(ideal_memories)
        values = mask_unavailable(target.value.head(ideal_hidden), episode.percepts.available[1:])
        return self.targets(episode, jnp.max(values, axis=-1))

    def build_optimiser(self) -> optax.GradientTransformation:
        return one_optimiser_per_part(self, "value", "pair", "change")
