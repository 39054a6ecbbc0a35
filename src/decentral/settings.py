"""Settings: typed, documented, checked fields, and how they travel as plain data.

Environments, algorithms and training plans are frozen modules whose fields are made by `setting`. A field of
type `float` is a leaf of the module, so that one compiled program may run many values of it side by side;
every other field shapes the program and is static, as is a number that switches something on (`static`).
"""

import dataclasses
import inspect
import math
import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal, get_args, get_origin

import equinox as eqx
import numpy as np

from decentral.errors import Refused, brief, did_you_mean
from decentral.synonyms import meanings

LARGEST = 2**31 - 1  # of any number: counters are 32-bit integers


def setting(
    default: Any,
    meaning: str,
    *,
    at_least: int | float | None = None,
    above: int | float | None = None,
    at_most: int | float | None = None,
    below: int | float | None = None,
    converter: Callable[[Any], Any] | None = None,
    static: bool = False,
    form: tuple[str, str] | None = None,
) -> Any:
    """A field with one default, one line of help and the values that make sense.

    A `converter` turns the given value into an array (a leaf), and itself refuses values that make no sense. `form` is
    the regular expression that a text must match as a whole, and the same in words.
    """
    metadata: dict[str, Any] = {"meaning": meaning, "has_converter": converter is not None, "form": form}
    metadata |= {"at_least": at_least, "above": above, "at_most": at_most, "below": below}
    if converter is not None:
        return eqx.field(default=default, metadata=metadata, converter=converter)
    if isinstance(default, float):
        return eqx.field(default=default, metadata=metadata, converter=_whole_to_float, static=static)
    return eqx.field(default=default, metadata=metadata, static=True)


class Settings(eqx.Module):
    """A frozen module of settings; construction refuses values that make no sense.

    A class may give its settings a `heading`, under which help and lists show them.
    """

    heading: ClassVar[str] = ""

    def __check_init__(self) -> None:
        for field in setting_fields(type(self)):
            _check(field, getattr(self, field.name))
        self.check_together()

    def check_together(self) -> None:
        """Refuse values that make sense one by one but not together."""


def setting_fields(kind: type[Settings]) -> list[dataclasses.Field]:
    """The fields of a settings class that carry a meaning, in order of declaration."""
    return [field for field in dataclasses.fields(kind) if "meaning" in field.metadata]


def headed_fields(kind: type[Settings]) -> dict[str, list[dataclasses.Field]]:
    """The same fields by the heading of the class that declares each; those without one, under "", come first."""
    headings: dict[str, str] = {}
    for declaring in reversed(kind.__mro__):
        for name in inspect.get_annotations(declaring):
            headings.setdefault(name, declaring.__dict__.get("heading", ""))
    by_heading: dict[str, list[dataclasses.Field]] = {"": []}
    for field in setting_fields(kind):
        by_heading.setdefault(headings[field.name], []).append(field)
    return {heading: fields for heading, fields in by_heading.items() if fields}


def build(kind: type[Settings], values: dict[str, Any], group: str) -> Any:
    """A settings module from plain data; an unknown or impossible entry is refused by its dotted key."""
    known = {field.name: field for field in setting_fields(kind)}
    for name in values:
        if name not in known:
            here = next((one for one in meanings(name) if one in known), "")
            meant = f" did you mean {here}?" if here else did_you_mean(name, known)
            all_known = ", ".join(sorted(known))
            raise Refused(f"unknown setting {group}.{name:.40}:{meant} {group} has {all_known}")
    try:
        for name, value in values.items():
            _check(known[name], value)
        return kind(**values)
    except Refused as refusal:
        raise Refused(f"{group}.{refusal}") from None


def as_data(settings: Settings) -> dict[str, Any]:
    """A settings module as JSON-ready data, the inverse of `build`."""
    values = {field.name: getattr(settings, field.name) for field in setting_fields(type(settings))}
    return {name: _plain(value) for name, value in values.items()}


def allowed(field: dataclasses.Field) -> str:
    """What a field accepts, in words: the type, then the range; empty for a field with a converter."""
    if field.metadata["has_converter"]:
        return ""
    if get_origin(field.type) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(field.type))
    if field.metadata["form"] is not None:
        return field.metadata["form"][1]
    kinds: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    bounds = {"at_least": "at least", "above": "above", "at_most": "at most", "below": "below"}
    limits = [f"{words} {field.metadata[key]}" for key, words in bounds.items() if field.metadata[key] is not None]
    return f"{kinds[field.type]} {' and '.join(limits)}".rstrip()


def _whole_to_float(value: Any) -> Any:
    small_enough = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return float(value) if small_enough else value


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist() if hasattr(value, "shape") else value


def _check(field: dataclasses.Field, value: Any) -> None:
    if field.metadata["has_converter"]:
        return
    value = _whole_to_float(value) if field.type is float else value
    if not (_has_type(field.type, value) and _within(field.metadata, value) and _formed(field.metadata, value)):
        kind = "a text: " if field.metadata["form"] is not None and not isinstance(value, str) else ""
        raise Refused(f"{field.name} must be {kind}{allowed(field)}, got {brief(value)}")
    if type(value) in (int, float) and abs(value) > LARGEST:
        raise Refused(f"{field.name} must be {allowed(field)} and at most {LARGEST}, got {brief(value)}")


def _has_type(kind: Any, value: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind is float:
        return isinstance(value, float) and math.isfinite(value)
    return type(value) is kind


def _formed(metadata: Any, value: Any) -> bool:
    return metadata["form"] is None or re.fullmatch(metadata["form"][0], value) is not None


def _within(metadata: Any, value: Any) -> bool:
    at_least, above, at_most, below = (metadata[key] for key in ("at_least", "above", "at_most", "below"))
    return (
        (at_least is None or value >= at_least)
        and (above is None or value > above)
        and (at_most is None or value <= at_most)
        and (below is None or value < below)
    )
