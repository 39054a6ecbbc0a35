"""What an exported agent acts on, in NumPy: a recurrent network of values or of a policy, one with contexts,
or a table.

The same arithmetic as in `networks` and `algorithms`; export compares the two on what the agent perceives.
"""

from abc import ABC, abstractmethod

import numpy as np

from decentral.errors import Refused
from decentral.runtime.spec import BundleSpec
from decentral.runtime.trunks import (
    ACTIVATIONS,
    Arrays,
    LastAction,
    PlainGRUTrunk,
    PlainLayeredTrunk,
    PlainTrunk,
    layer,
    linear,
    relu,
)


class Model(ABC):
    """Values of actions, given what is perceived and remembered."""

    @abstractmethod
    def values(
        self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction
    ) -> tuple[np.ndarray, np.ndarray]:
        """The value of every action [actions], and the memory after the percept [hidden]."""


class RecurrentValues(Model):
    """Q(h, .)."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.trunk, names = trunk_of(spec, arrays), ("head.first", "head.second") if spec.duelling else ("head",)
        self.head = [linear(arrays, name) for name in names]
        self.activation = relu if spec.trunk is None else ACTIVATIONS[spec.trunk.activation]

    def values(
        self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction
    ) -> tuple[np.ndarray, np.ndarray]:
        memory = self.trunk.step(observation, memory, last_action)
        x = self.trunk.output(memory)
        for hidden in self.head[:-1]:
            x = self.activation(hidden(x))
        return self.head[-1](x), memory


class RecurrentGaussian(Model):
    """Means and log-deviations of a policy over continuous actions, before tanh [2, actions]."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.trunk, self.head, self.log_std = trunk_of(spec, arrays), linear(arrays, "head"), arrays["log_std"]

    def values(
        self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction
    ) -> tuple[np.ndarray, np.ndarray]:
        memory = self.trunk.step(observation, memory, last_action)
        return np.stack([self.head(self.trunk.output(memory)), self.log_std]), memory


class RecurrentContexts(Model):
    """phi(h, .) = max_c Q(h, ., c), over the contexts that are attainable by each action."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.trunk, self.arrays = trunk_of(spec, arrays), arrays
        self.shape = (spec.contexts, spec.actions)
        self.is_linear = spec.head == "linear"
        self.gap = None  # in log-probability, between the likeliest context and those that still count
        if spec.attainable > 0:
            self.gap = np.log(np.float32(spec.attainable))
            self.prior = linear(arrays, "prior.first"), linear(arrays, "prior.second")

    def values(
        self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction
    ) -> tuple[np.ndarray, np.ndarray]:
        memory = self.trunk.step(observation, memory, last_action)
        hidden = self.trunk.output(memory)
        every = self.under_each_context(hidden)
        if self.gap is not None:
            likely = self.logits(hidden)
            every = np.where(likely >= self.gap + likely.max(axis=0), every, -np.inf)
        return every.max(axis=0), memory

    def under_each_context(self, hidden: np.ndarray) -> np.ndarray:
        """Q(h, ., .) [contexts, actions]."""
        arrays = self.arrays
        if self.is_linear:
            return (arrays["head.weight"] @ hidden + arrays["head.bias"]).reshape(self.shape)
        units = np.maximum(arrays["head.first.weight"] @ hidden + arrays["head.of_context"], 0)
        return units @ arrays["head.second.weight"].T + arrays["head.second.bias"]

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        """log p(c | h, a), up to a number for each action [contexts, actions]."""
        first, second = self.prior
        return second(relu(first(hidden))).reshape(self.shape)


class Table(Model):
    """Q(s, .), where s is the bucket that the rounded observation is hashed into."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.table, self.multipliers = arrays["values"], arrays["multipliers"].astype(np.int64)
        self.resolution = np.float32(spec.resolution)

    def values(
        self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.table[self.bucket_of(observation)], memory

    def bucket_of(self, observation: np.ndarray) -> int:
        """As `algorithms.hashing` does it."""
        cells = np.clip(np.round(observation / self.resolution), -(2.0**31), 2.0**31 - 1).astype(np.int64)
        mixed = int(np.sum(cells * self.multipliers & 0xFFFFFFFF)) & 0xFFFFFFFF
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            mixed = (mixed ^ (mixed >> shift)) * factor & 0xFFFFFFFF
        return (mixed ^ (mixed >> 16)) % len(self.table)


MODELS: dict[str, type[RecurrentValues | RecurrentGaussian | RecurrentContexts | Table]] = {
    "values": RecurrentValues,
    "logits": RecurrentValues,  # of a policy, whose likeliest action is the best
    "gaussian": RecurrentGaussian,
    "contexts": RecurrentContexts,
    "table": Table,
}


def model_of(spec: BundleSpec, arrays: Arrays, source: str) -> Model:
    """The model of a bundle; arrays of other names, shapes or types, or numbers that are not finite, are refused."""
    expected = shapes_of(spec)
    for name in sorted(expected.keys() ^ arrays.keys()):
        raise Refused(f"{source}: array {name} is {'missing' if name in expected else 'not part of the agent'}")
    for name, shape in expected.items():
        kind = "uint32" if name == "multipliers" else "float32"
        if arrays[name].shape != shape or arrays[name].dtype != kind:
            raise Refused(f"{source}: array {name} must be {kind}{shape}, got {arrays[name].dtype}{arrays[name].shape}")
        if not np.isfinite(arrays[name]).all():
            raise Refused(f"{source}: array {name} must hold finite numbers only")
    return MODELS[spec.policy](spec, arrays)


def trunk_of(spec: BundleSpec, arrays: Arrays) -> PlainTrunk:
    """The trunk of a bundle."""
    if spec.trunk is None:
        return PlainGRUTrunk(arrays, spec.observation_size)
    return PlainLayeredTrunk(arrays, spec.trunk, spec.actions)


def shapes_of(spec: BundleSpec) -> dict[str, tuple[int, ...]]:
    """The shape of every array of a bundle, by name."""
    actions, contexts = spec.actions, spec.contexts
    if spec.policy == "table":
        return {"values": (spec.states, actions), "multipliers": (spec.observation_size,)}
    inputs = spec.observation_size + actions
    if spec.trunk is None:
        width = spec.hidden
        shapes = layer("trunk.entry", inputs, width)
        shapes |= layer("trunk.from_input", width, 3 * width) | layer("trunk.from_memory", width, 3 * width)
    else:
        width, shapes = spec.trunk.width, spec.trunk.shapes(inputs)
    if spec.policy == "values" and spec.duelling:
        return shapes | layer("head.first", width, 2 * width) | layer("head.second", 2 * width, actions)
    if spec.policy in ("values", "logits", "gaussian"):
        spread = {"log_std": (actions,)} if spec.policy == "gaussian" else {}
        return shapes | layer("head", width, actions) | spread
    if spec.head == "linear":
        shapes |= layer("head", width, contexts * actions)
    else:
        shapes |= {"head.first.weight": (width, width), "head.of_context": (contexts, width)}
        shapes |= layer("head.second", width, actions)
    if spec.attainable > 0:
        shapes |= layer("prior.first", width, width) | layer("prior.second", width, contexts * actions)
    return shapes
