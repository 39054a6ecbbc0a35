"""QMIX (Rashid et al. 2018): Q_tot is a monotonic function of the agents' values, which depends on the state."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.centralised.factorisation import Factorisation
from decentral.networks.layers import Linear
from decentral.settings import setting
from decentral.types import AgentSpec


class Layered(eqx.Module):
    """A hidden ReLU layer and a linear one."""

    first: Linear
    second: Linear

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        return self.second(jax.nn.relu(self.first(x)))


class Mixer(eqx.Module):
    """Hyper-networks of the state that make the weights, never negative, of a small network of the agents' values."""

    first_weight: Layered
    first_bias: Linear
    second_weight: Layered
    second_bias: Layered  # V(s)

    def __init__(self, state: int, agents: int, width: int, hyper_width: int):
        self.first_weight = Layered(Linear(state, hyper_width), Linear(hyper_width, agents * width))
        self.first_bias = Linear(state, width)
        self.second_weight = Layered(Linear(state, hyper_width), Linear(hyper_width, width))
        self.second_bias = Layered(Linear(state, width), Linear(width, 1))

    def __call__(self, values: Float[Array, " agents"], state: Float[Array, " features"]) -> Float[Array, ""]:
        weight = jnp.abs(self.first_weight(state)).reshape(values.shape[0], -1)
        hidden = jax.nn.elu(values @ weight + self.first_bias(state))
        return hidden @ jnp.abs(self.second_weight(state)) + self.second_bias(state)[0]


class QMIX(Factorisation):
    """Monotonic factorisation: one learner mixes all agents' values by a network of the state."""

    mixing_width: int = setting(32, "units of the mixing network", at_least=1)
    hyper_width: int = setting(64, "units of the hidden layer of its hyper-networks", at_least=1)

    def build_common(self, spec: AgentSpec, team_size: int) -> Mixer:
        return Mixer(team_size * spec.observation_size, team_size, self.mixing_width, self.hyper_width)

    def mix(self, common: Mixer, values: Float[Array, " agents"], state: Float[Array, " features"]) -> Float[Array, ""]:
        return common(values, state)
