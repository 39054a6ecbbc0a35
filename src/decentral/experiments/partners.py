"""Frozen partners: agents read from an earlier run, to play beside those who learn."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

from decentral.experiments.members import Member, Source
from decentral.experiments.parameters import from_arrays
from decentral.records import RunDirectory
from decentral.settings import Refused
from decentral.types import AgentSpec


def frozen_partner(request: str, place: int, spec: AgentSpec) -> Member:
    """The agent that `frozen:RUN[:SEED[:AGENT]]` names: by default the one of the run's first seed at this place."""
    run, numbers = _parts(request.removeprefix("frozen:"))
    directory = RunDirectory.open(Path(run))
    config = directory.read_json("config.json")
    if _shares(config):
        raise Refused(f"{request} must be of a decentralised run, got one with training.sharing true, which is not")
    seed = numbers[0] if numbers else _first_seed(config, directory)
    agent = numbers[1] if len(numbers) > 1 else place
    member = Member.from_data(_agent_data(config, agent, run), "frozen")
    arrays = directory.read_agent(seed, agent)
    networks = from_arrays(member.algorithm, spec, arrays, str(directory.agent_file(seed, agent)))
    return Member(member.name, member.algorithm, source=Source(run, seed, agent), networks=networks)


def with_partners(members: list[Member], spec: AgentSpec, saved: bool) -> list[Member]:
    """Members as a configuration names them, with the networks of frozen partners.

    `saved`: they are in a checkpoint, and here only their shapes count; the run that they came from is not needed.
    """
    return [
        member if member.source is None else _blank(member, spec) if saved else _again(member.source, place, spec)
        for place, member in enumerate(members)
    ]


def _blank(member: Member, spec: AgentSpec) -> Member:
    described = jax.eval_shape(lambda: member.algorithm.build(spec))
    return replace(member, networks=jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), described))


def _again(source: Source, place: int, spec: AgentSpec) -> Member:
    return frozen_partner(f"frozen:{source.run}:{source.seed}:{source.agent}", place, spec)


def _parts(text: str) -> tuple[str, list[int]]:
    """The path of a run, and the numbers behind it."""
    words = text.split(":")
    numbers: list[int] = []
    while len(words) > 1 and len(numbers) < 2 and words[-1].isdecimal():
        numbers.insert(0, int(words.pop()))
    return ":".join(words), numbers


def _shares(config: dict) -> bool:
    """Did the agents of a run share their parameters?"""
    training = config.get("training")
    return isinstance(training, dict) and training.get("sharing") is True


def _first_seed(config: dict, directory: RunDirectory) -> int:
    training = config.get("training")
    seed = training.get("seed") if isinstance(training, dict) else None
    if type(seed) is not int:
        raise Refused(f"{directory.path / 'config.json'}: training.seed must be a whole number, got {seed!r}")
    return seed


def _agent_data(config: dict, agent: int, run: str) -> dict:
    """The settings of one agent of a run."""
    agents = config.get("agents")
    if agents is None and isinstance(config.get("algorithm"), dict):
        return config["algorithm"]
    if not isinstance(agents, list) or not 0 <= agent < len(agents) or not isinstance(agents[agent], dict):
        raise Refused(f"frozen:{run} has no agent {agent}")
    return {key: value for key, value in agents[agent].items() if key != "frozen"}
