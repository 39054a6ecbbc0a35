"""From a run to a bundle: one agent's parameters, spec and card, written only if it acts like the agent."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import load_curves, load_tests
from decentral.bundles.card import describe, write_card
from decentral.bundles.onnx_graph import answers_of_graph, onnx_package, write_graph
from decentral.bundles.parity import Parity, compare
from decentral.bundles.policies import Policy, policy_of, without_id, without_padding
from decentral.bundles.recording import Recording, record
from decentral.records import RunDirectory, next_free
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import Trained, check_environments
from decentral.runtime.agent import PARAMETERS, SPEC, ExportedAgent, load
from decentral.runtime.spec import digest_of
from decentral.settings import Refused
from decentral.tensors import write_arrays

CARD, GRAPH = "CARD.md", "agent.onnx"
FORMATS = ("numpy", "onnx")


@dataclass(frozen=True)
class Bundle:
    """A bundle on disk, and how close it is to the agent that it was made from."""

    path: Path
    parity: Parity


def export_agent(
    directory: RunDirectory, seed: int | None, agent: int | str, out: Path | None, episodes: int, form: str = "numpy"
) -> Bundle:
    """Write one agent of a finished run, given by its name or number, as a bundle into a new directory.

    Without a seed: the run's first. Without `out`: a directory under `bundles` that is named after run and agent.
    """
    if form not in FORMATS:
        raise Refused(f"format must be one of {', '.join(FORMATS)}, got {form!r:.40}")
    if form == "onnx":
        onnx_package()  # before anything is played
    trained, curves = Trained.load(directory), load_curves(directory)
    seed = trained.seeds[0 if seed is None else trained.lane(seed)]
    place = trained.config.setup.environment.place_of(agent)
    name, spaces = trained.config.members[place].name, trained.config.setup.environment.agent_spaces(place)
    out = next_free(Path("bundles"), f"{directory.path.name}-{as_file_name(spaces.name)}") if out is None else out
    _check_free(out)
    check_environments(episodes, seed)
    keep_compiled_programs()
    policy, recording = _policy_and_recording(trained, seed, place, episodes)
    draft = out.absolute().with_name(f".{out.absolute().name}.draft")
    _make(draft)
    try:
        origin = {"environment": curves.config["environment"], "seed": seed, "agent": place}
        spec = describe(name, policy, spaces, origin)
        spec["parameters"]["sha256"] = write_arrays(draft / PARAMETERS, policy.arrays, {"spec": digest_of(spec)})
        (draft / SPEC).write_text(json.dumps(spec, indent=2) + "\n")
        taken = load(draft)
        parity = compare(taken, recording)
        if form == "onnx":
            _add_graph(draft / GRAPH, taken, policy.arrays, recording)
        card = write_card(spec, curves, load_tests(directory), recording.returns, parity, _versions(directory))
        (draft / CARD).write_text(card)
        draft.replace(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Bundle(out, parity)


def _policy_and_recording(trained: Trained, seed: int, agent: int, episodes: int) -> tuple[Policy, Recording]:
    """An agent's policy and recorded episodes, both in its own sizes: padding is not exported."""
    algorithm, models = trained.agent(seed, agent)
    name, environment = trained.config.members[agent].name, trained.config.setup.environment
    spaces = environment.agent_spaces(agent)
    spec, whose = spaces.spec, f"{spaces.name} of {trained.config.environment_name}"
    policy = policy_of(name, algorithm, models, environment.spec)
    if (sharing := trained.config.sharing) is not None and sharing.append_ids:
        policy = without_id(policy, environment.spec, agent, len(trained.acting_models))
    policy = without_padding(policy, environment.spec, spec)
    return policy, record(trained, seed, agent, episodes).without_padding(spec, whose)


def _add_graph(file: Path, taken: ExportedAgent, arrays: dict[str, np.ndarray], recording: Recording) -> None:
    """Write the graph of a bundle; if a runtime for graphs is installed, compare it too."""
    write_graph(file, taken.spec, arrays)
    answers = answers_of_graph(file, taken.spec.actions)
    if answers is not None:
        compare(taken, recording, answers)


def as_file_name(name: str) -> str:
    """An environment's name of an agent as part of the name of a file: it may hold anything."""
    return re.sub(r"[^\w.]+", "-", name).strip(".-")[:60] or "agent"


def _check_free(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"out must be an empty or a new directory, got {out}, which holds files")


def _make(draft: Path) -> None:
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
    except OSError as error:
        raise Refused(f"out must be a directory that can be written, got {draft.parent} ({error.strerror})") from None


def _versions(directory: RunDirectory) -> dict[str, Any]:
    try:
        return directory.read_json("versions.json")
    except Refused:
        return {}
