"""I2Q (Jiang and Lu 2022), recurrent: values of pairs of successive hidden states, and their upper expectile.

The published variant for SMAC, the one that the DAC paper compares with. Two more: `i2q_tabular`, `i2q_forward`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from decentral.algorithms.optimisers import one_optimiser_per_part
from decentral.algorithms.q_learning import episode_inputs, masked_mean, values_and_targets
from decentral.algorithms.value_learner import MultiNetworkLearner, ValueNetwork
from decentral.networks.layers import Perceptron
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics


class I2QModels(eqx.Module):
    """Everything one I2Q agent learns."""

    value: ValueNetwork  # Q, which acts
    pair: Perceptron  # QSS(z, z')
    state: Perceptron  # V(z)


class I2Q(MultiNetworkLearner):
    """I2Q, recurrent: values lean towards the better of the next states that the team may bring about."""

    double_q: bool = setting(True, "choose the next action with the online network, value it with the target")
    mixing: float = setting(0.2, "lambda, share of the state's value in the target", at_least=0, at_most=1)
    expectile: float = setting(
        0.52, "tau, weight of pairs above the state's value; the others weigh 1 - tau", above=0, below=1
    )
    width: int = setting(256, "units of the two hidden layers of QSS and V", at_least=1)

    def build(self, spec: AgentSpec) -> I2QModels:
        pair, state = Perceptron(2 * self.hidden, self.width, 1), Perceptron(self.hidden, self.width, 1)
        return I2QModels(ValueNetwork.described(spec, self.trunk_design, self.duelling), pair, state)

    def acting(self, models: I2QModels) -> ValueNetwork:
        return models.value

    def loss_from_terms(self, terms: Metrics, happened: Bool[Array, "B T"]) -> tuple[Float[Array, ""], Metrics]:
        value_loss, pair_loss = self.mean_losses(terms, happened, "value_error", "pair_error")
        weights = jnp.where(terms["state_error"] < 0, self.expectile, 1 - self.expectile)
        state_loss = masked_mean(weights * self.error_loss(terms["state_error"], terms.get("weights")), happened)
        state_loss = state_loss / jax.lax.stop_gradient(jnp.maximum(masked_mean(weights, happened), 1e-9))
        return value_loss + pair_loss + state_loss, {
            "loss": value_loss,
            "pair_loss": pair_loss,
            "state_loss": state_loss,
            "q_taken_mean": masked_mean(terms["taken"], happened),
            **self.episode_errors(terms["value_error"], happened),
        }

    def td_terms(self, online: I2QModels, target: I2QModels, episode: Episode) -> Metrics:
        """The terms of the losses for one episode; z is the hidden state of the target network's trunk."""
        inputs = episode_inputs(episode)
        states = jax.lax.stop_gradient(target.value.trunk.unroll(inputs))
        values, target_values = online.value.head(online.value.trunk.unroll(inputs)), target.value.head(states)
        taken, by_value = values_and_targets(values, target_values, episode, self.targets, self.double_q)
        by_state = self.targets(episode, target.state(states[1:])[:, 0])
        pairs = jnp.concatenate([states[:-1], states[1:]], axis=-1)
        return {
            "taken": taken,
            "value_error": taken - (self.mixing * by_state + (1 - self.mixing) * by_value),
            "pair_error": online.pair(pairs)[:, 0] - by_state,
            "state_error": online.state(states[:-1])[:, 0] - jax.lax.stop_gradient(target.pair(pairs)[:, 0]),
        }

    def build_optimiser(self) -> optax.GradientTransformation:
        return one_optimiser_per_part(self, "value", "pair", "state")
