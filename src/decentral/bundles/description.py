"""`spec.json` of a bundle, as it is written: what the runtime reads, and what people should know besides."""

from typing import Any

from decentral.bundles.policies import Policy
from decentral.environments.base import AgentSpaces
from decentral.runtime.spec import FORMAT

RULES = {
    "values": "the available action of the highest value; of equals the first",
    "contexts": "the available action whose value is highest under its best attainable context; of equals the first",
    "table": "the available action of the highest entry in the row of the observation's bucket; of equals the first",
}


def describe(
    algorithm: str, policy: Policy, spaces: AgentSpaces, origin: dict[str, Any], sha256: str
) -> dict[str, Any]:
    """Everything that running a bundle takes, as plain data: the agent's own sizes and names, without padding."""
    size, count = spaces.spec.observation_size, spaces.spec.actions.count
    recurrent = policy.hidden > 0
    return {
        "format": FORMAT,
        "algorithm": algorithm,
        "agent": spaces.name,
        "policy": policy.kind,
        "inputs": ["observation", "last_action"] if recurrent else ["observation"],
        "observation": {"type": "float32", "size": size, "entries": list(spaces.observation_names)},
        "last_action": _last_action(count) if recurrent else None,
        "available": {"type": "bool", "size": count, "meaning": "an action that is not available is never chosen"},
        "hidden_state": {"type": "float32", "size": policy.hidden, "start": "zeros"} if recurrent else None,
        "contexts": policy.details.get("contexts"),
        "table": policy.details.get("table"),
        "output": {
            "type": "integer",
            "count": count,
            "first": spaces.first_action,
            "names": list(spaces.action_names),
            "rule": RULES[policy.kind],
        },
        "parameters": {
            "file": "parameters.safetensors",
            "sha256": sha256,
            "shapes": {name: list(array.shape) for name, array in policy.arrays.items()},
        },
        "origin": origin,
    }


def _last_action(count: int) -> dict[str, Any]:
    return {"type": "float32", "size": count, "meaning": "the agent's own, one-hot; zeros at the start of an episode"}
