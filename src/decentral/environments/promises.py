"""What a world says of itself before anyone acts in it: read under guard, and refused where it makes no sense."""

from typing import Any

from decentral.environments.base import World
from decentral.environments.foreign import kept_in
from decentral.environments.host import HostEnvironment
from decentral.refusal import Refused
from decentral.settings import build
from decentral.types import AgentSpec


def build_world(kind: type[World], settings: dict[str, Any], name: str) -> World:
    """A world from its settings. What its code raises, or says that can't be, is one line that calls it `name`."""
    with kept_in(name, "when made"):
        world: World = build(kind, settings, "environment")
    if isinstance(world, HostEnvironment):
        with kept_in(name, "when asked for its sizes"):
            _check_sizes(world, name)
    return world


def _check_sizes(world: HostEnvironment, name: str) -> None:
    spec = world.spec
    if not isinstance(spec, AgentSpec):
        raise Refused(f"{name}: spec must be an AgentSpec, got {spec!r:.80}")
    sizes = {
        "num_agents": world.num_agents,
        "time_limit": world.time_limit,
        "spec.observation_size": spec.observation_size,
        "spec.actions.count": spec.actions.count,
    }
    for what, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise Refused(f"{name}: {what} must be a whole number at least 1, got {size!r:.80}")
    for what, flag in (("may_end_early", world.may_end_early), ("may_restart", world.may_restart)):
        if not isinstance(flag, bool):
            raise Refused(f"{name}: {what} must be true or false, got {flag!r:.80}")
    facts = world.fact_names
    if not isinstance(facts, tuple) or not all(isinstance(fact, str) for fact in facts):
        raise Refused(f"{name}: fact_names must be a tuple of names, got {facts!r:.80}")
    for report, fact in world.reports.items():
        if fact not in facts:
            raise Refused(f"{name}: reports must be of facts in fact_names, got {report!r:.40} of {fact!r:.40}")
