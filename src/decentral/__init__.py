"""decentral: fully decentralised cooperative multi-agent reinforcement learning."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decentral.agents import Agent
    from decentral.api import (
        Bundle,
        Comparison,
        Meeting,
        Reproduction,
        Run,
        Showing,
        Sweep,
        arena,
        compare,
        compare_runs,
        crossplay,
        export,
        load,
        pettingzoo,
        redraw,
        report,
        reproduce,
        resume,
        sweep,
        train,
        watch,
    )
    from decentral.errors import Refused

__all__ = [
    "Agent",
    "Bundle",
    "Comparison",
    "Meeting",
    "Refused",
    "Reproduction",
    "Run",
    "Showing",
    "Sweep",
    "arena",
    "compare",
    "compare_runs",
    "crossplay",
    "export",
    "load",
    "pettingzoo",
    "redraw",
    "report",
    "reproduce",
    "resume",
    "sweep",
    "train",
    "watch",
]

_HOMES = {"Agent": "decentral.agents", "Refused": "decentral.errors"}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: the command line's help needs none of them."""
    if name == "__version__":
        return _version()
    if name not in __all__:
        raise AttributeError(f"module 'decentral' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "decentral.api")), name)


def _version() -> str:
    """The version stands in pyproject.toml alone; installing writes it down where this finds it."""
    from importlib.metadata import PackageNotFoundError, version  # only here, for the help must not wait for it

    try:
        return version("decentral")
    except PackageNotFoundError:  # bare sources on the path
        return "unknown"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
