"""`spec.json` and `CARD.md` of a bundle: what the runtime reads, and what people should know."""

from typing import Any

import numpy as np

from decentral.analysis.results import Curves, SeedTests
from decentral.bundles.parity import Parity
from decentral.bundles.policies import Policy
from decentral.deviation import mean_and_spread
from decentral.environments.base import AgentSpaces
from decentral.errors import Refused
from decentral.runtime.spec import FORMAT

RULES = {
    "values": "the available action of the highest value; of equals the first",
    "logits": "the available action of the highest logit, the likeliest of its policy; of equals the first",
    "gaussian": "tanh of the mean of its policy, number by number, scaled to the bounds",
    "contexts": "the available action whose value is highest under its best attainable context; of equals the first",
    "table": "the available action of the highest entry in the row of the observation's bucket; of equals the first",
}


def describe(algorithm: str, policy: Policy, spaces: AgentSpaces, origin: dict[str, Any]) -> dict[str, Any]:
    """Everything that is needed to run a bundle, as plain data: the agent's own sizes and names, without padding.

    The hash of the parameters is still missing: they are written with a hash of all the rest.
    """
    size, count = spaces.spec.observation_size, spaces.spec.actions.count
    recurrent = policy.hidden > 0
    version = 3 if {"trunk", "head"} & policy.details.keys() else 2
    return {
        "format": FORMAT if spaces.bounds else version,  # so that older libraries can read what they know
        "algorithm": algorithm,
        "agent": spaces.name,
        "policy": policy.kind,
        "inputs": ["observation", "last_action"] if recurrent else ["observation"],
        "observation": {"type": "float32", "size": size, "entries": list(spaces.observation_names)},
        "last_action": _last_action(count, bool(spaces.bounds)) if recurrent else None,
        "available": None
        if spaces.bounds
        else {"type": "bool", "size": count, "meaning": "an action that is not available is never chosen"},
        "hidden_state": {"type": "float32", "size": policy.hidden, "start": "zeros"} if recurrent else None,
        **{part: policy.details[part] for part in ("trunk", "head") if part in policy.details},
        "contexts": policy.details.get("contexts"),
        "table": policy.details.get("table"),
        "output": {
            "type": "float32" if spaces.bounds else "integer",
            "count": count,
            **({"bounds": [list(pair) for pair in spaces.bounds]} if spaces.bounds else {}),
            "first": spaces.first_action,
            "names": list(spaces.action_names),
            "rule": RULES[policy.kind],
        },
        "parameters": {
            "file": "parameters.safetensors",
            "sha256": "",
            "shapes": {name: list(array.shape) for name, array in policy.arrays.items()},
        },
        "origin": origin,
    }


def _last_action(count: int, continuous: bool) -> dict[str, Any]:
    how = "from -1 to 1, before it is scaled to the bounds" if continuous else "one-hot"
    return {"type": "float32", "size": count, "meaning": f"the agent's own, {how}; zeros at the start of an episode"}


LIMITS = """\
- It acts greedily and learns no more. What it does is a function of its own percepts and actions alone.
- Its returns are those of its own team: beside other partners it may do much worse (`decentral crossplay` tells).
- Observations must have the order, units and range of the environment above; nothing outside it was ever tested.
- Nothing in the bundle guarantees safety: in a machine, keep what limits its actions outside of the agent.
"""


def write_card(
    spec: dict[str, Any], curves: Curves, tests: SeedTests, returns: np.ndarray, parity: Parity, versions: dict
) -> str:
    """The card of a bundle; `tests` are those of `curves`, `returns` those of its team's recorded episodes."""
    origin, config = spec["origin"], curves.config
    if origin["seed"] not in tests.seeds:
        raise Refused(f"{curves.path / 'metrics.jsonl'} must have records of seed {origin['seed']}, which it has not")
    lane = tests.seeds.index(origin["seed"])
    known = ", ".join(f"{name} {value:.2f}" for name, value in curves.references.items())
    known_packages = versions.get("packages")
    named = known_packages.items() if isinstance(known_packages, dict) else ()
    packages = ", ".join(f"{name} {version}" for name, version in named if version)
    member = config["agents"][origin["agent"]] if config.get("agents") else config["algorithm"]
    lines = [
        *_opening(spec, curves.environment),
        "## Trained on",
        "",
        f"- environment: {_settings(config['environment'])}",
        f"- algorithm: {_settings(member)}",
        f"- training: {tests.steps[lane, -1]:,.0f} environment steps; {_settings(config['training'])}",
        f"- decentralised: {'yes' if curves.decentralised else 'no'}",
        "",
        "## Results (return of the whole team)",
        "",
        f"- last test of this seed: {tests.returns[lane, -1]:.2f}",
        *_over_seeds(curves, tests),
        f"- {len(returns)} greedy episodes of this seed: {mean_and_spread(returns)}",
        *([f"- known: {known}"] if known else []),
        "",
        "## Limits",
        "",
        LIMITS,
        "## Made with",
        "",
        f"- {packages or 'versions unknown'}; commit {versions.get('commit') or 'unknown'}",
        f"- parameters: sha256 {spec['parameters']['sha256']}",
        f"- compared with the trained agent over {parity.steps} steps: values at most {parity.difference:.1e} apart",
        "",
    ]
    return "\n".join(lines).encode(errors="backslashreplace").decode()  # a command may hold bytes that are not text


def _over_seeds(curves: Curves, tests: SeedTests) -> list[str]:
    """What all seeds returned in the end, at the step that every one of them had reached."""
    final, step = curves.returns[:, -1], curves.steps[-1]
    differ = f" (each after {step:,.0f} steps)" if (tests.steps[:, -1] != step).any() else ""
    return [f"- last test over {len(final)} seeds: {mean_and_spread(final)}{differ}"] if len(final) > 1 else []


def _opening(spec: dict[str, Any], environment: str) -> list[str]:
    """The title of the card, and the agent's observation and actions in words."""
    observation, output, origin = spec["observation"], spec["output"], spec["origin"]
    entries = f": {'; '.join(observation['entries'])}" if observation["entries"] else ""
    number = f"agent {origin['agent']}"
    who = number if spec["agent"] == number else f"{spec['agent']} ({number})"
    return [
        f"# {spec['algorithm']} on {environment}: seed {origin['seed']}, {who}",
        "",
        "## Takes and gives",
        "",
        f"- observation: {observation['size']} numbers{entries}",
        _actions(output),
        "",
    ]


def _actions(output: dict[str, Any]) -> str:
    if "bounds" in output:
        names = output["names"] or range(output["count"])
        each = (f"{name} from {low:g} to {high:g}" for name, (low, high) in zip(names, output["bounds"], strict=True))
        return f"- an action: {output['count']} continuous numbers: {', '.join(each)}"
    numbering = f"numbered {output['first']} to {output['first'] + output['count'] - 1}"
    return f"- actions: {output['count']}, {numbering}: {', '.join(output['names'])}"


def _settings(group: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in group.items())
