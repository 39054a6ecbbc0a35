"""What an exported agent acts on, in NumPy: a recurrent network of values, one with contexts, or a table.

The same arithmetic as in `networks` and `algorithms`; export compares the two on what the agent perceives.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from decentral.errors import Refused
from decentral.runtime.spec import BundleSpec

Arrays = dict[str, np.ndarray]


class Model(ABC):
    """Values of actions, given what is perceived and remembered."""

    @abstractmethod
    def values(self, observation: np.ndarray, memory: np.ndarray, last_action: int) -> tuple[np.ndarray, np.ndarray]:
        """The value of every action [actions], and the memory after the percept [hidden]."""


@dataclass(frozen=True)
class PlainLinear:
    """weight @ x + bias."""

    weight: np.ndarray  # [outputs, inputs]
    bias: np.ndarray  # [outputs]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.weight @ x + self.bias


class PlainTrunk:
    """inputs -> ReLU layer -> GRU."""

    def __init__(self, arrays: Arrays, observation_size: int):
        weight = arrays["trunk.entry.weight"]
        self.entry = PlainLinear(np.ascontiguousarray(weight[:, :observation_size]), arrays["trunk.entry.bias"])
        self.of_action = np.ascontiguousarray(weight[:, observation_size:].T)  # what each last action adds
        self.from_input = _linear(arrays, "trunk.from_input")
        self.from_memory = _linear(arrays, "trunk.from_memory")

    def step(self, observation: np.ndarray, memory: np.ndarray, last_action: int) -> np.ndarray:
        """The memory after one more percept."""
        entered = self.entry(observation)
        if last_action >= 0:
            entered = entered + self.of_action[last_action]
        by_input = self.from_input(np.maximum(entered, 0))
        by_memory = self.from_memory(memory)
        width = len(memory)
        reset, update = np.split(0.5 * np.tanh(0.5 * (by_input[: 2 * width] + by_memory[: 2 * width])) + 0.5, 2)
        candidate = np.tanh(by_input[2 * width :] + reset * by_memory[2 * width :])
        return (1 - update) * candidate + update * memory


class RecurrentValues(Model):
    """Q(h, .)."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.trunk, self.head = PlainTrunk(arrays, spec.observation_size), _linear(arrays, "head")

    def values(self, observation: np.ndarray, memory: np.ndarray, last_action: int) -> tuple[np.ndarray, np.ndarray]:
        memory = self.trunk.step(observation, memory, last_action)
        return self.head(memory), memory


class RecurrentContexts(Model):
    """phi(h, .) = max_c Q(h, ., c), over the contexts that are attainable by each action."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.trunk, self.arrays = PlainTrunk(arrays, spec.observation_size), arrays
        self.shape = (spec.contexts, spec.actions)
        self.is_linear = spec.head == "linear"
        self.gap = None  # in log-probability, between the likeliest context and those that still count
        if spec.attainable > 0:
            self.gap = np.log(np.float32(spec.attainable))
            self.prior = _linear(arrays, "prior.first"), _linear(arrays, "prior.second")

    def values(self, observation: np.ndarray, memory: np.ndarray, last_action: int) -> tuple[np.ndarray, np.ndarray]:
        memory = self.trunk.step(observation, memory, last_action)
        every = self.under_each_context(memory)
        if self.gap is not None:
            likely = self.logits(memory)
            every = np.where(likely >= self.gap + likely.max(axis=0), every, -np.inf)
        return every.max(axis=0), memory

    def under_each_context(self, memory: np.ndarray) -> np.ndarray:
        """Q(h, ., .) [contexts, actions]."""
        arrays = self.arrays
        if self.is_linear:
            return (arrays["head.weight"] @ memory + arrays["head.bias"]).reshape(self.shape)
        units = np.maximum(arrays["head.first.weight"] @ memory + arrays["head.of_context"], 0)
        return units @ arrays["head.second.weight"].T + arrays["head.second.bias"]

    def logits(self, memory: np.ndarray) -> np.ndarray:
        """log p(c | h, a), up to a number for each action [contexts, actions]."""
        first, second = self.prior
        return second(np.maximum(first(memory), 0)).reshape(self.shape)


class Table(Model):
    """Q(s, .), where s is the bucket that the rounded observation is hashed into."""

    def __init__(self, spec: BundleSpec, arrays: Arrays):
        self.table, self.multipliers = arrays["values"], arrays["multipliers"].astype(np.int64)
        self.resolution = np.float32(spec.resolution)

    def values(self, observation: np.ndarray, memory: np.ndarray, last_action: int) -> tuple[np.ndarray, np.ndarray]:
        return self.table[self.bucket_of(observation)], memory

    def bucket_of(self, observation: np.ndarray) -> int:
        """As `algorithms.hashing` does it."""
        cells = np.clip(np.round(observation / self.resolution), -(2.0**31), 2.0**31 - 1).astype(np.int64)
        mixed = int(np.sum(cells * self.multipliers & 0xFFFFFFFF)) & 0xFFFFFFFF
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            mixed = (mixed ^ (mixed >> shift)) * factor & 0xFFFFFFFF
        return (mixed ^ (mixed >> 16)) % len(self.table)


MODELS: dict[str, type[RecurrentValues | RecurrentContexts | Table]] = {
    "values": RecurrentValues,
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


def shapes_of(spec: BundleSpec) -> dict[str, tuple[int, ...]]:
    """The shape of every array of a bundle, by name."""
    width, actions, contexts = spec.hidden, spec.actions, spec.contexts
    if spec.policy == "table":
        return {"values": (spec.states, actions), "multipliers": (spec.observation_size,)}
    shapes: dict[str, tuple[int, ...]] = {
        **_layer("trunk.entry", spec.observation_size + actions, width),
        **_layer("trunk.from_input", width, 3 * width),
        **_layer("trunk.from_memory", width, 3 * width),
    }
    if spec.policy == "values":
        return shapes | _layer("head", width, actions)
    if spec.head == "linear":
        shapes |= _layer("head", width, contexts * actions)
    else:
        shapes |= {"head.first.weight": (width, width), "head.of_context": (contexts, width)}
        shapes |= _layer("head.second", width, actions)
    if spec.attainable > 0:
        shapes |= _layer("prior.first", width, width) | _layer("prior.second", width, contexts * actions)
    return shapes


def _layer(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _linear(arrays: Arrays, name: str) -> PlainLinear:
    return PlainLinear(arrays[f"{name}.weight"], arrays[f"{name}.bias"])
