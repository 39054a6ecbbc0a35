"""Environments that are made from others: what they must change together, and what no longer holds of them."""

from decentral.environments.base import BaseEnvironment, Environment
from decentral.errors import Refused

RULES = ("reset", "draw", "step", "step_with")
IN_PLACE_OF = {
    "step": ("step_with", "recompute_outcome"),
    "step_with": ("recompute_outcome",),
}  # which others are called


def check_methods(kind: type[BaseEnvironment], name: str) -> None:
    """Refuse a class that changes a method, but not what an older class does in its place: nobody would notice."""
    for changed, others in IN_PLACE_OF.items():
        for other in others:
            first = _first_with(kind, other)
            if first not in (None, Environment) and changed_since(kind, changed, other):
                raise Refused(
                    f"{name} must define {other} too, as it defines {changed}, in place of which {other} of "
                    f"{first.__name__} would be called"
                )


def holds_of(environment: BaseEnvironment, method: str, *depends: str) -> bool:
    """Whether what a method says holds: no class made from the one that says it has changed the rules it speaks of."""
    return not any(changed_since(type(environment), rule, method) for rule in (*RULES, *depends))


def changed_since(kind: type, changed: str, method: str) -> bool:
    """Whether another method has been changed by a class that is made from the one with this method."""
    order = kind.__mro__
    since, by = _first_with(kind, method), _first_with(kind, changed)
    return since is not None and by is not None and order.index(by) < order.index(since)


def _first_with(kind: type, method: str) -> type | None:
    return next((base for base in kind.__mro__ if method in vars(base)), None)
