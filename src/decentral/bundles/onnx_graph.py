"""A bundle as an ONNX graph of one step, for use without Python and NumPy.

observation, available, hidden_state, last_action -> values, action, next_hidden_state, next_last_action

Where actions are continuous, nothing is said of what is available.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from decentral.bounds import LARGEST, within_bounds
from decentral.bundles.parity import Answer, Answers
from decentral.runtime.agent import State
from decentral.runtime.spec import BundleSpec
from decentral.runtime.trunks import NORM_EPSILON, TrunkSpec
from decentral.settings import Refused

OPSET, IR_VERSION = 17, 8  # old enough for most runtimes
LOWEST = np.float32(-3.4e38)  # below every value


def onnx_package() -> ModuleType:
    """The package that writes graphs; refused unless it is installed."""
    try:
        import onnx
    except ImportError:
        raise Refused("format onnx needs the package onnx: pip install 'decentral[onnx]'") from None
    return onnx


def write_graph(file: Path, spec: BundleSpec, arrays: dict[str, np.ndarray]) -> None:
    """Write the graph of a network; a table can't be one."""
    onnx = onnx_package()
    if spec.policy == "table":
        raise Refused(f"format onnx needs an agent with a network, got {spec.algorithm}, which has a table")
    graph = _Graph(onnx, dict(arrays))
    hidden = graph.trunk(spec.hidden) if spec.trunk is None else graph.layered_trunk(spec, spec.trunk)
    if spec.bounds:
        graph.numbers(spec, hidden)
    else:
        graph.choice(spec, graph.head(spec, hidden))
    onnx.save(graph.model(spec), file)


def answers_of_graph(file: Path, actions: int) -> Answers | None:
    """The answers of the graph, if a runtime is installed. Without `available`, every action counts as available."""
    try:
        import onnxruntime
    except ImportError:
        return None
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])

    def answer(observation: np.ndarray, available: np.ndarray | None, state: State) -> Answer:
        last = state.last_action
        given = {"observation": observation, "hidden_state": state.memory, "last_action": last}
        if not isinstance(last, np.ndarray):
            options = np.ones(actions, bool) if available is None else available
            given |= {"available": options, "last_action": (np.arange(actions) == last).astype(np.float32)}
        values, action, memory = session.run(["values", "action", "next_hidden_state"], given)
        return Answer(values, action if isinstance(last, np.ndarray) else int(action), memory)

    return answer


class _Graph:
    """A graph under construction: its nodes and constants."""

    def __init__(self, onnx: ModuleType, arrays: dict[str, np.ndarray]):
        self.onnx, self.constants = onnx, arrays
        self.nodes: list[Any] = []

    def add(self, kind: str, *inputs: str, name: str = "", outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; returns the names of its outputs."""
        given = name or f"{kind.lower()}-{len(self.nodes)}"
        names = [given] if outputs == 1 else [f"{given}-{place}" for place in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = np.asarray(value)
        return name

    def linear(self, name: str, x: str) -> str:
        return self.add("Add", self.add("MatMul", f"{name}.weight", x), f"{name}.bias")

    def split(self, array: str, parts: int, size: int) -> list[str]:
        """An array as so many parts of one size."""
        sizes = self.constant(f"{parts} of {size}", np.full(parts, size, np.int64))
        return self.add("Split", array, sizes, outputs=parts, axis=0)

    def activate(self, kind: str, x: str) -> str:
        if kind == "silu":
            return self.add("Mul", x, self.add("Sigmoid", x))
        known = {"relu": "Relu", "leaky-relu": "LeakyRelu", "elu": "Elu", "tanh": "Tanh"}
        return self.add(known[kind], x)

    def trunk(self, hidden: int) -> str:
        """The memory after the percept."""
        entered = self.add("Relu", self.linear("trunk.entry", self.add("Concat", "observation", "last_action", axis=0)))
        return self.gru("trunk", hidden, entered)

    def layered_trunk(self, spec: BundleSpec, trunk: TrunkSpec) -> str:
        """The output of a trunk that is not PyMARL's; it also adds the memory after the percept."""
        x = inputs = self.add("Concat", "observation", "last_action", axis=0)
        seen = ""
        if trunk.stack > 1:
            past = self.cut("hidden_state", trunk.width, spec.hidden)
            x = seen = self.add("Concat", past, inputs, axis=0)
        for number in range(len(trunk.layers)):
            x = self.hidden_layer(f"trunk.layers.{number}", trunk, x)
        if trunk.memory == "gru":
            return self.gru("trunk.cell", trunk.width, x)
        if trunk.memory == "lstm":
            return self.lstm(trunk.width, x)
        output, step = self.hidden_layer("trunk.cell", trunk, x), spec.observation_size + spec.actions
        kept = [self.cut(seen, step, trunk.stack * step)] if seen else []
        self.add("Concat", output, *kept, axis=0, name="next_hidden_state")
        return output

    def cut(self, array: str, start: int, end: int) -> str:
        """A part of an array."""
        place = [self.constant(f"at {at}", np.asarray([at], np.int64)) for at in (start, end)]
        return self.add("Slice", array, *place)

    def hidden_layer(self, name: str, trunk: TrunkSpec, x: str) -> str:
        """A linear layer, perhaps a norm, and the activation."""
        x = self.linear(f"{name}.linear", x)
        if trunk.layer_norm:
            centred = self.add("Sub", x, self.add("ReduceMean", x, axes=[0]))
            variance = self.add("ReduceMean", self.add("Mul", centred, centred), axes=[0])
            root = self.add("Sqrt", self.add("Add", variance, self.constant("norm-epsilon", NORM_EPSILON)))
            scale = self.constant(f"{name}.norm.scale", 1 + self.constants[f"{name}.norm.scale"])
            scaled = self.add("Mul", self.add("Div", centred, root), scale)
            x = self.add("Add", scaled, f"{name}.norm.shift")
        return self.activate(trunk.activation, x)

    def lstm(self, width: int, entered: str) -> str:
        """The output of an LSTM; it also adds its memory."""
        output, cell = self.split("hidden_state", 2, width)
        both = self.add(
            "Add", self.linear("trunk.cell.from_input", entered), self.linear("trunk.cell.from_memory", output)
        )
        gates = self.split(both, 4, width)
        enter, keep, leave = (self.add("Sigmoid", gates[gate]) for gate in (0, 1, 3))
        new = self.add("Mul", enter, self.add("Tanh", gates[2]))
        cell = self.add("Add", self.add("Mul", keep, cell), new)
        output = self.add("Mul", leave, self.add("Tanh", cell))
        self.add("Concat", output, cell, axis=0, name="next_hidden_state")
        return output

    def gru(self, name: str, hidden: int, entered: str) -> str:
        """The memory of a GRU after the percept."""
        by_input = self.split(self.linear(f"{name}.from_input", entered), 3, hidden)
        by_memory = self.split(self.linear(f"{name}.from_memory", "hidden_state"), 3, hidden)
        reset, update = (self.add("Sigmoid", self.add("Add", by_input[gate], by_memory[gate])) for gate in (0, 1))
        candidate = self.add("Tanh", self.add("Add", by_input[2], self.add("Mul", reset, by_memory[2])))
        new = self.add("Mul", self.add("Sub", self.constant("one", np.float32(1)), update), candidate)
        return self.add("Add", new, self.add("Mul", update, "hidden_state"), name="next_hidden_state")

    def head(self, spec: BundleSpec, hidden: str) -> str:
        """The value of every action."""
        if spec.duelling:
            activation = "relu" if spec.trunk is None else spec.trunk.activation
            hidden = self.activate(activation, self.linear("head.first", hidden))
            return self.add("Identity", self.linear("head.second", hidden), name="values")
        if spec.policy in ("values", "logits"):
            return self.add("Identity", self.linear("head", hidden), name="values")
        shape = self.constant("shape", np.asarray([spec.contexts, spec.actions], np.int64))
        if spec.head == "linear":
            every = self.add("Reshape", self.linear("head", hidden), shape)
        else:
            units = self.add("Add", self.add("MatMul", "head.first.weight", hidden), "head.of_context")
            turned = self.constant("head.second.turned", self.constants.pop("head.second.weight").T)
            every = self.add("Add", self.add("MatMul", self.add("Relu", units), turned), "head.second.bias")
        if spec.attainable > 0:
            units = self.add("Relu", self.linear("prior.first", hidden))
            likely = self.add("Reshape", self.linear("prior.second", units), shape)
            gap = self.constant("gap", np.log(np.float32(spec.attainable)))
            least = self.add("Add", self.add("ReduceMax", likely, axes=[0], keepdims=1), gap)
            every = self.add("Where", self.add("GreaterOrEqual", likely, least), every, self.constant("never", LOWEST))
        return self.add("ReduceMax", every, axes=[0], keepdims=0, name="values")

    def choice(self, spec: BundleSpec, values: str) -> None:
        """The best available action by the environment's number of it, and its one-hot for the next step."""
        possible = self.add("Where", "available", values, self.constant("lowest", LOWEST))
        chosen = self.add("ArgMax", possible, axis=0, keepdims=0)
        self.add("Add", chosen, self.constant("first_action", np.int64(spec.first_action)), name="action")
        each = self.constant("each", np.arange(spec.actions, dtype=np.int64))
        self.add("Cast", self.add("Equal", each, chosen), to=self.onnx.TensorProto.FLOAT, name="next_last_action")

    def numbers(self, spec: BundleSpec, hidden: str) -> None:
        """A continuous action within its bounds, and its numbers from -1 to 1 for the next step."""
        mean = self.linear("head", hidden)
        both = self.add("Concat", mean, "log_std", axis=0)
        self.add("Reshape", both, self.constant("policy", np.asarray([2, spec.actions], np.int64)), name="values")
        ends = [self.constant(f"at most {sign}", np.float32(sign * LARGEST)) for sign in (-1, 1)]
        inner = self.add("Clip", self.add("Tanh", mean), *ends, name="next_last_action")
        low, high = np.asarray(spec.bounds, np.float64).T
        middle = self.constant("middle", np.float32((low + high) / 2))
        scaled = self.add("Add", middle, self.add("Mul", self.constant("half", np.float32((high - low) / 2)), inner))
        least = self.constant("least", within_bounds(np.full(spec.actions, -1.0), spec.bounds))
        most = self.constant("most", within_bounds(np.ones(spec.actions), spec.bounds))
        self.add("Min", self.add("Max", scaled, least), most, name="action")

    def model(self, spec: BundleSpec) -> Any:
        """The complete model, checked."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto

        def ends(**shapes: tuple[int, list[int]]) -> list[Any]:
            return [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in shapes.items()]

        choice, memory = (kinds.FLOAT, [spec.actions]), (kinds.FLOAT, [spec.hidden])
        graph = helper.make_graph(
            self.nodes,
            f"one step of {spec.algorithm}" + (f" for {spec.agent}" if spec.agent else ""),
            ends(
                observation=(kinds.FLOAT, [spec.observation_size]),
                **({} if spec.bounds else {"available": (kinds.BOOL, [spec.actions])}),
                hidden_state=memory,
                last_action=choice,
            ),
            ends(
                values=(kinds.FLOAT, [2, spec.actions]) if spec.bounds else choice,
                action=choice if spec.bounds else (kinds.INT64, []),
                next_hidden_state=memory,
                next_last_action=choice,
            ),
            [self.onnx.numpy_helper.from_array(np.asarray(a, order="C"), name) for name, a in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        helper.set_model_props(model, _names_of(spec))
        self.onnx.checker.check_model(model, full_check=True)
        return model


def _names_of(spec: BundleSpec) -> dict[str, str]:
    """The names in a graph's metadata: of the agent, its observation and its actions."""
    lists = {"observations": spec.observation_names, "actions": spec.action_names}
    properties = {key: json.dumps(names) for key, names in lists.items() if names}
    return properties | ({"agent": spec.agent} if spec.agent else {})
