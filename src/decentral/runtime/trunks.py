"""The trunks of exported agents, in NumPy: PyMARL's, and those with other layers, activations and memories."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Arrays = dict[str, np.ndarray]
LastAction = int | np.ndarray  # its number, -1 before the first; or its numbers from -1 to 1, 0 before the first
NORM_EPSILON = np.float32(1e-5)  # as in `networks.layered_trunk`


def relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0)."""
    return np.maximum(x, 0)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """The logistic function, which overflows nowhere in this form."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": relu,
    "leaky-relu": lambda x: np.where(x >= 0, x, np.float32(0.01) * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "silu": lambda x: x * sigmoid(x),
    "tanh": np.tanh,
}
GATES = {"gru": 3, "lstm": 4}  # by memory; others have none


@dataclass(frozen=True)
class TrunkSpec:
    """What a trunk other than PyMARL's is made of."""

    width: int  # of its output, with which the memory starts
    layers: tuple[int, ...]  # widths of the hidden layers
    memory: str  # of MEMORIES
    stack: int  # percepts that are seen at once
    activation: str  # of ACTIVATIONS
    layer_norm: bool

    def memory_size(self, inputs: int) -> int:
        """The size of the memory, given that of the inputs at one step."""
        return 2 * self.width if self.memory == "lstm" else self.width + (self.stack - 1) * inputs

    def shapes(self, inputs: int) -> dict[str, tuple[int, ...]]:
        """The shape of every array, by name."""
        found: dict[str, tuple[int, ...]] = {}
        before = self.stack * inputs
        for number, width in enumerate(self.layers):
            found |= self._hidden_shapes(f"trunk.layers.{number}", before, width)
            before = width
        if self.memory not in GATES:
            return found | self._hidden_shapes("trunk.cell", before, self.width)
        gates = GATES[self.memory] * self.width
        return (
            found | layer("trunk.cell.from_input", before, gates) | layer("trunk.cell.from_memory", self.width, gates)
        )

    def _hidden_shapes(self, name: str, inputs: int, width: int) -> dict[str, tuple[int, ...]]:
        norm = {f"{name}.norm.scale": (width,), f"{name}.norm.shift": (width,)} if self.layer_norm else {}
        return layer(f"{name}.linear", inputs, width) | norm


MEMORIES = (*GATES, "none")


def layer(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a linear layer."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


@dataclass(frozen=True)
class PlainLinear:
    """weight @ x + bias."""

    weight: np.ndarray  # [outputs, inputs]
    bias: np.ndarray  # [outputs]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.weight @ x + self.bias


def linear(arrays: Arrays, name: str) -> PlainLinear:
    """The linear layer of this name."""
    return PlainLinear(arrays[f"{name}.weight"], arrays[f"{name}.bias"])


class PlainTrunk(ABC):
    """From percepts to a memory, and to what heads read."""

    @abstractmethod
    def step(self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction) -> np.ndarray:
        """The memory after one more percept."""

    @abstractmethod
    def output(self, memory: np.ndarray) -> np.ndarray:
        """What the heads read."""


class PlainGRUTrunk(PlainTrunk):
    """inputs -> ReLU layer -> GRU."""

    def __init__(self, arrays: Arrays, observation_size: int):
        weight = arrays["trunk.entry.weight"]
        self.entry = PlainLinear(np.ascontiguousarray(weight[:, :observation_size]), arrays["trunk.entry.bias"])
        self.of_action = np.ascontiguousarray(weight[:, observation_size:].T)  # what each last action adds
        self.from_input = linear(arrays, "trunk.from_input")
        self.from_memory = linear(arrays, "trunk.from_memory")

    def step(self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction) -> np.ndarray:
        entered = self.entry(observation)
        if isinstance(last_action, np.ndarray):
            entered = entered + last_action @ self.of_action
        elif last_action >= 0:
            entered = entered + self.of_action[last_action]
        return gru(self.from_input(relu(entered)), self.from_memory(memory), memory)

    def output(self, memory: np.ndarray) -> np.ndarray:
        return memory


class PlainLayeredTrunk(PlainTrunk):
    """Hidden layers, then a memory or one more layer."""

    def __init__(self, arrays: Arrays, spec: TrunkSpec, actions: int):
        self.arrays, self.spec, self.actions = arrays, spec, actions
        self.activation = ACTIVATIONS[spec.activation]

    def step(self, observation: np.ndarray, memory: np.ndarray, last_action: LastAction) -> np.ndarray:
        one_hot = not isinstance(last_action, np.ndarray)
        last = (np.arange(self.actions) == last_action).astype(np.float32) if one_hot else last_action
        inputs = np.concatenate([observation, last])
        x = seen = inputs if self.spec.stack == 1 else np.concatenate([memory[self.spec.width :], inputs])
        for number in range(len(self.spec.layers)):
            x = self.hidden(f"trunk.layers.{number}", x)
        if self.spec.memory not in GATES:
            return np.concatenate([self.hidden("trunk.cell", x), seen[len(inputs) :]])
        by_input = linear(self.arrays, "trunk.cell.from_input")(x)
        by_memory = linear(self.arrays, "trunk.cell.from_memory")(self.output(memory))
        return {"gru": gru, "lstm": lstm}[self.spec.memory](by_input, by_memory, memory)

    def hidden(self, name: str, x: np.ndarray) -> np.ndarray:
        """A hidden layer."""
        x = linear(self.arrays, f"{name}.linear")(x)
        if self.spec.layer_norm:
            centred = x - np.mean(x)
            scaled = centred / np.sqrt(np.mean(np.square(centred)) + NORM_EPSILON)
            x = scaled * (1 + self.arrays[f"{name}.norm.scale"]) + self.arrays[f"{name}.norm.shift"]
        return self.activation(x)

    def output(self, memory: np.ndarray) -> np.ndarray:
        return memory[: self.spec.width]


def gru(by_input: np.ndarray, by_memory: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """The memory of a GRU after a step, from the terms of its gates: reset, update, candidate."""
    width = len(memory)
    reset, update = np.split(sigmoid(by_input[: 2 * width] + by_memory[: 2 * width]), 2)
    candidate = np.tanh(by_input[2 * width :] + reset * by_memory[2 * width :])
    return (1 - update) * candidate + update * memory


def lstm(by_input: np.ndarray, by_memory: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """The output and the cell state of an LSTM after a step; its gates: input, forget, candidate, output."""
    enter, keep, candidate, leave = np.split(by_input + by_memory, 4)
    cell = sigmoid(keep) * np.split(memory, 2)[1] + sigmoid(enter) * np.tanh(candidate)
    return np.concatenate([sigmoid(leave) * np.tanh(cell), cell])
