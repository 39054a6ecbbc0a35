"""`spec.json`, which says what a bundle takes and gives: written by the exporter, read and checked here."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.bounds import Bounds, as_bounds
from decentral.errors import Refused
from decentral.plain_files import read_json
from decentral.runtime.trunks import ACTIVATIONS, MEMORIES, TrunkSpec

FORMAT = 4
READABLE = (
    1,
    2,
    3,
    FORMAT,
)  # 1: neither names nor where actions begin; 2: only PyMARL's trunk; 3: only discrete actions
MOST_BYTES = 2**20  # of the file
LARGEST = 2**24  # of any size
POLICIES = ("values", "logits", "gaussian", "contexts", "table")
HEADS = ("linear", "hidden")
VALUE_HEADS = ("linear", "duelling")
MOST_LAYERS = 64


@dataclass(frozen=True)
class BundleSpec:
    """What must be known to run a bundle; `spec.json` says more, for people."""

    algorithm: str
    policy: str  # one of POLICIES
    agent: str  # its name; empty where it is not known
    observation_size: int
    observation_names: tuple[str, ...]  # none where they are not known
    actions: int
    first_action: int  # the number of its first action; the others follow
    action_names: tuple[str, ...]  # none where they are not known
    hidden: int  # of the memory; 0: there is none
    contexts: int  # 0: none
    head: str  # of HEADS; empty without contexts
    attainable: float  # share of the likeliest context's probability that a context needs; 0: all count
    states: int  # of a table; 0: there is none
    resolution: float  # to which a table rounds observations
    sha256: str  # of the parameters
    digest: str  # of the spec itself, as its parameters note it
    trunk: TrunkSpec | None = None  # PyMARL's
    duelling: bool = False  # do values have a duelling head?
    bounds: Bounds = ()  # of the numbers of a continuous action; empty where actions are discrete


def digest_of(spec: dict[str, Any]) -> str:
    """The SHA-256 of a spec but for what it says of the parameters, which hold it."""
    others = {key: value for key, value in spec.items() if key != "parameters"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def read_spec(file: Path) -> BundleSpec:
    """The spec of a bundle; what makes no sense is refused by its key."""
    return _Reader(read_json(file, MOST_BYTES), str(file)).spec()


@dataclass(frozen=True)
class _Reader:
    data: Any
    file: str

    def spec(self) -> BundleSpec:
        version = self.find("format")
        if version not in READABLE:
            raise Refused(f"{self.file}: format must be one of {', '.join(map(str, READABLE))}, got {version!r:.40}")
        first_format = version == 1
        policy = self.one_of("policy", POLICIES)
        contexts, table = policy == "contexts", policy == "table"
        seen, actions = self.size("observation.size"), self.size("output.count")
        spec = BundleSpec(
            algorithm=self.text("algorithm"),
            policy=policy,
            agent="" if first_format else self.text("agent"),
            observation_size=seen,
            observation_names=() if first_format else self.names("observation.entries", seen),
            actions=actions,
            first_action=0 if first_format else self.whole("output.first", -LARGEST),
            action_names=self.names("output.names", actions),
            hidden=0 if table else self.size("hidden_state.size"),
            contexts=self.size("contexts.count") if contexts else 0,
            head=self.one_of("contexts.head", HEADS) if contexts else "",
            attainable=self.number("contexts.attainable", 0, 1) if contexts else 0.0,
            states=self.size("table.states") if table else 0,
            resolution=self.number("table.resolution", 1e-9, 1e9) if table else 1.0,
            sha256=self.text("parameters.sha256"),
            digest=digest_of(self.data),
            trunk=None if self.find("trunk") is None else self.trunk(),
            duelling=policy == "values"
            and self.find("head") is not None
            and self.one_of("head", VALUE_HEADS) != "linear",
            bounds=self.bounds("output.bounds", actions) if policy == "gaussian" else (),
        )
        if spec.trunk is not None and spec.hidden != (size := spec.trunk.memory_size(seen + actions)):
            raise Refused(f"{self.file}: hidden_state.size must be {size}, got {spec.hidden}")
        if self.find("last_action.size") != actions and not table:
            raise Refused(f"{self.file}: last_action.size must be {actions}, got {self.find('last_action.size')!r:.40}")
        return spec

    def trunk(self) -> TrunkSpec:
        layers = self.find("trunk.layers")
        if not isinstance(layers, list) or not 1 <= len(layers) <= MOST_LAYERS:
            raise Refused(f"{self.file}: trunk.layers must be a list of 1 to {MOST_LAYERS} widths, got {layers!r:.40}")
        if not all(type(width) is int and 1 <= width <= LARGEST for width in layers):
            raise Refused(f"{self.file}: trunk.layers must be whole numbers from 1 to {LARGEST}, got {layers!r:.40}")
        if type(self.find("trunk.layer_norm")) is not bool:
            raise Refused(
                f"{self.file}: trunk.layer_norm must be true or false, got {self.find('trunk.layer_norm')!r:.40}"
            )
        memory, stack = self.one_of("trunk.memory", MEMORIES), self.size("trunk.stack")
        if memory != "none" and stack != 1:
            raise Refused(f"{self.file}: trunk.stack must be 1 for the memory {memory}, got {stack}")
        activation = self.one_of("trunk.activation", tuple(ACTIVATIONS))
        return TrunkSpec(
            self.size("trunk.width"), tuple(layers), memory, stack, activation, self.find("trunk.layer_norm")
        )

    def find(self, key: str) -> Any:
        found = self.data
        for word in key.split("."):
            found = found.get(word) if isinstance(found, dict) else None
        return found

    def size(self, key: str) -> int:
        return self.whole(key, 1)

    def whole(self, key: str, least: int) -> int:
        found = self.find(key)
        if type(found) is not int or not least <= found <= LARGEST:
            raise Refused(f"{self.file}: {key} must be a whole number from {least} to {LARGEST}, got {found!r:.40}")
        return found

    def number(self, key: str, low: float, high: float) -> float:
        found = self.find(key)
        if type(found) not in (int, float) or not low <= found <= high:
            raise Refused(f"{self.file}: {key} must be a number from {low:g} to {high:g}, got {found!r:.40}")
        return float(found)

    def text(self, key: str) -> str:
        found = self.find(key)
        if not isinstance(found, str):
            raise Refused(f"{self.file}: {key} must be text, got {found!r:.40}")
        return found

    def one_of(self, key: str, choices: tuple[str, ...]) -> str:
        found = self.find(key)
        if found not in choices:
            raise Refused(f"{self.file}: {key} must be one of {', '.join(choices)}, got {found!r:.40}")
        return found

    def bounds(self, key: str, count: int) -> Bounds:
        found = self.find(key)
        if not isinstance(found, list):
            raise Refused(f"{self.file}: {key} must be a list of {count} pairs, got {found!r:.40}")
        try:
            return as_bounds(found, count)
        except Refused as refusal:
            raise Refused(f"{self.file}: output.{refusal}") from None

    def names(self, key: str, count: int) -> tuple[str, ...]:
        found = self.find(key)
        if not isinstance(found, list) or len(found) not in (0, count):
            raise Refused(f"{self.file}: {key} must be a list of {count} names or of none, got {found!r:.40}")
        return tuple(str(name) for name in found)
