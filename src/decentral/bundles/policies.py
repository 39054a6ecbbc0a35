"""What a trained agent needs to act greedily, and nothing else: its arrays, folded where values stay the same."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.actor_critic import ActorCritic
from decentral.algorithms.base import Algorithm, Models
from decentral.algorithms.dac import DAC, DACModels
from decentral.algorithms.dac.attainable import prior_of
from decentral.algorithms.dac.extensions import ExtendedDAC
from decentral.algorithms.hashing import multipliers
from decentral.algorithms.i2q_tabular import I2QTabular
from decentral.algorithms.policies import PolicyNetwork
from decentral.algorithms.value_learner import ValueActor, ValueNetwork
from decentral.centralised.fingerprints import Fingerprints
from decentral.networks.heads import ContextHead, DuellingHead, GaussianHead, HiddenNormalNet, HyperNet, NormalNet
from decentral.networks.images import ImageTrunk
from decentral.networks.layered_trunk import LayeredTrunk
from decentral.networks.layers import Linear
from decentral.networks.trunk import Trunk
from decentral.settings import Refused
from decentral.training.parameters import as_arrays
from decentral.types import AgentSpec

ENTRIES = ("trunk.entry", "trunk.layers.0.linear")  # layers that read the inputs
LAST_LAYERS = ("head", "head.second", "prior.second")
ROWS_OF_ACTIONS = {
    f"{layer}.{part}" for layer in LAST_LAYERS for part in ("weight", "bias")
}  # repeated for each context


@dataclass(frozen=True)
class Policy:
    """How an agent acts: the kind of its model, further entries of `spec.json`, and its arrays."""

    kind: str
    hidden: int  # 0: it has no memory
    details: dict[str, Any]
    arrays: dict[str, np.ndarray]


def policy_of(name: str, algorithm: Algorithm, models: Models, spec: AgentSpec) -> Policy:
    """The policy of an agent, whose algorithm has this name."""
    if isinstance(algorithm, Fingerprints):
        raise Refused(
            f"export needs an agent that acts on its own percepts alone, got {name}, which is told how far others are"
        )
    if not type(algorithm).values.__module__.startswith("decentral."):  # a bundle would compute other values
        raise _unknown(name, f"whose {type(algorithm).__name__}.values is code of its own")
    models = jax.tree.map(jnp.asarray, models)
    if isinstance(algorithm, I2QTabular):
        table = {"states": algorithm.states, "resolution": float(algorithm.resolution)}
        arrays = {"values": np.asarray(models.values), "multipliers": multipliers(spec.observation_size)}
        return Policy("table", 0, {"table": table}, arrays)
    if spec.image is not None:
        raise Refused("export needs observations of numbers, got images: train with environment.images flat to export")
    if isinstance(algorithm, DAC):
        if isinstance(algorithm, ExtendedDAC) and algorithm.max_over == "sampled":
            raise Refused("export needs max_over all, got sampled: its contexts depend on the last bits of the memory")
        return _with_contexts(algorithm, models)
    network = algorithm.acting(models) if isinstance(algorithm, ValueActor | ActorCritic) else models
    if type(network) not in (ValueNetwork, PolicyNetwork):
        raise _unknown(name, f"which acts on a {type(network).__name__}")
    if type(network.trunk) not in (Trunk, LayeredTrunk):
        raise _unknown(name, f"whose trunk is a {type(network.trunk).__name__}")
    kind = "logits" if isinstance(algorithm, ActorCritic) else "values"
    if isinstance(network.head, GaussianHead):
        kind = "gaussian"
        details, head = _value_head(network.head.mean)
        head["log_std"] = np.asarray(network.head.log_std)
    else:
        details, head = _value_head(network.head)
    arrays = _within("trunk", network.trunk) | head
    return Policy(kind, _memory_size(network.trunk), _trunk_details(network.trunk) | details, arrays)


def without_id(policy: Policy, spec: AgentSpec, number: int, agents: int) -> Policy:
    """A policy without the agents' ids as inputs: an agent's own id never changes.

    The contribution of a constant input is folded into the bias.
    """
    if _stack(policy) > 1:
        raise Refused(
            "export needs memory gru, lstm or none where agents share parameters, got stack: in its first percepts no"
            " id is seen"
        )
    name = next(name for name in ENTRIES if f"{name}.weight" in policy.arrays)
    weight, bias = policy.arrays[f"{name}.weight"], policy.arrays[f"{name}.bias"]
    first = spec.observation_size
    rest = np.delete(weight, np.s_[first : first + agents], axis=1)
    entry = {f"{name}.weight": rest, f"{name}.bias": bias + weight[:, first + number]}
    return replace(policy, arrays=policy.arrays | entry)


def _unknown(name: str, why: str) -> Refused:
    kinds = "a recurrent network of values, on DAC's contexts or a table"
    return Refused(f"export needs an agent that acts on {kinds}, got {name}, {why}")


def without_padding(policy: Policy, padded: AgentSpec, spec: AgentSpec) -> Policy:
    """A policy for only the agent's own observation and actions.

    Padding consists of zeros after the observation, which contribute nothing, and of actions that are never available:
    their values and their entries in the last action are left out.
    """
    size, count, stack = spec.observation_size, spec.actions.count, _stack(policy)
    seen, inputs = padded.observation_size, padded.observation_size + padded.actions.count
    columns = [step * inputs + column for step in range(stack) for column in (*range(size), *range(seen, seen + count))]
    left_out = (stack - 1) * (inputs - size - count)  # of the memory

    def cut(name: str, array: np.ndarray) -> np.ndarray:
        if name in (f"{entry}.weight" for entry in ENTRIES):
            return array[:, columns]
        if name == "multipliers":
            return array[:size]
        if name == "values":
            return array[:, :count]
        if name == "log_std":
            return array[:count]
        if name in ROWS_OF_ACTIONS:
            rows = array.reshape(-1, padded.actions.count, *array.shape[1:])[:, :count]
            return rows.reshape(-1, *array.shape[1:])
        return array

    arrays = {name: cut(name, array) for name, array in policy.arrays.items()}
    return replace(policy, hidden=policy.hidden - left_out, arrays=arrays)


def _with_contexts(algorithm: DAC, models: DACModels) -> Policy:
    prior = prior_of(models)
    share = float(algorithm.delta(prior)) if isinstance(algorithm, ExtendedDAC) and prior is not None else 0.0
    kind, head = _head(models.value.head)
    contexts = {"count": algorithm.contexts, "head": kind, "attainable": share}
    arrays = _within("trunk", models.value.trunk) | head
    if share > 0 and prior is not None:
        arrays |= _within("prior.first", prior.first) | _within("prior.second", prior.second)
    trunk = models.value.trunk
    return Policy("contexts", _memory_size(trunk), _trunk_details(trunk) | {"contexts": contexts}, arrays)


def _value_head(head: Linear | DuellingHead) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """A head as one linear layer, or a duelling one as a hidden layer and a linear one, the mean taken off already."""
    if not isinstance(head, DuellingHead):
        return {}, _within("head", head)
    parts = jax.tree.map(np.asarray, head)
    advantage, bias = parts.advantage.weight, parts.advantage.bias
    over_value = np.repeat(parts.value.weight, len(bias), axis=0)
    second = np.concatenate([over_value, advantage - advantage.mean(axis=0)], axis=1)
    layers = parts.value_hidden.linear, parts.advantage_hidden.linear
    return {"head": "duelling"}, {
        "head.first.weight": np.concatenate([each.weight for each in layers]),
        "head.first.bias": np.concatenate([each.bias for each in layers]),
        "head.second.weight": second,
        "head.second.bias": parts.value.bias + bias - bias.mean(),
    }


def _head(head: ContextHead) -> tuple[str, dict[str, np.ndarray]]:
    """A head as one linear layer per context, or as one with a hidden layer before it."""
    if isinstance(head, HyperNet):
        weight, added_weight, bias, added_bias = map(
            np.asarray, (head.weight, head.weight_bias, head.bias, head.bias_bias)
        )
        layers, biases = weight + added_weight, bias + added_bias
        return "linear", {"head.weight": layers.reshape(-1, layers.shape[-1]), "head.bias": biases.ravel()}
    if isinstance(head, NormalNet):
        weight, bias = np.asarray(head.layer.weight), np.asarray(head.layer.bias)
        width = weight.shape[1] - head.contexts
        of_context = bias + weight[:, width:].T
        return "linear", {
            "head.weight": np.tile(weight[:, :width], (head.contexts, 1)),
            "head.bias": of_context.ravel(),
        }
    if isinstance(head, HiddenNormalNet):
        weight, bias = np.asarray(head.first.weight), np.asarray(head.first.bias)
        width = weight.shape[1] - head.contexts
        first = {"head.first.weight": weight[:, :width], "head.of_context": bias + weight[:, width:].T}
        return "hidden", first | _within("head.second", head.second)
    raise Refused(f"export knows no head {type(head).__name__}")


def _within(name: str, part: Any) -> dict[str, np.ndarray]:
    return {f"{name}.{inner}": array for inner, array in as_arrays(part).items()}


def _memory_size(trunk: Trunk | LayeredTrunk | ImageTrunk) -> int:
    return trunk.start().shape[-1]


def _trunk_details(trunk: Trunk | LayeredTrunk | ImageTrunk) -> dict[str, Any]:
    """What `spec.json` says of a trunk that is not PyMARL's."""
    if not isinstance(trunk, LayeredTrunk):
        return {}
    design = trunk.design
    return {"trunk": asdict(design) | {"layers": list(design.layers or (design.width,))}}


def _stack(policy: Policy) -> int:
    return policy.details.get("trunk", {}).get("stack", 1)
