"""decentral: fully decentralised cooperative multi-agent reinforcement learning."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decentral.api import (
        Comparison,
        Meeting,
        Reproduction,
        Run,
        Showing,
        Sweep,
        compare,
        compare_runs,
        crossplay,
        load,
        redraw,
        reproduce,
        resume,
        sweep,
        train,
        watch,
    )
    from decentral.refusal import Refused

__all__ = [
    "Comparison",
    "Meeting",
    "Refused",
    "Reproduction",
    "Run",
    "Showing",
    "Sweep",
    "compare",
    "compare_runs",
    "crossplay",
    "load",
    "redraw",
    "reproduce",
    "resume",
    "sweep",
    "train",
    "watch",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: the command line's help needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'decentral' has no attribute {name!r}")
    home = importlib.import_module("decentral.refusal" if name == "Refused" else "decentral.api")
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
