"""Command-line flags made from settings: one per field, typed, with its meaning and default as help."""

import argparse
import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin

from decentral.api.choices import TRACKERS
from decentral.cli.parser import whole_number, with_commas
from decentral.errors import brief
from decentral.settings import Refused, Settings, allowed, as_data, headed_fields, setting_fields


def add_short_flags(parser: argparse.ArgumentParser) -> None:
    """The most used settings of a run, without their group."""
    for short in ("seeds", "steps", "seed", "workers", "devices"):
        parser.add_argument(f"--{short}", dest=f"training.{short}", metavar="N", help=f"short for --training.{short}")


def add_live_flag(parser: argparse.ArgumentParser) -> None:
    """A page to look at while it trains."""
    parser.add_argument(
        "--live", action="store_true", help="keep a page that shows the run so far, report.html in its directory"
    )


def add_track_flag(parser: argparse.ArgumentParser) -> None:
    """The flag for trackers, which record every test in addition to the run's own directory."""
    parser.add_argument(
        "--track",
        metavar="A,B",
        type=with_commas,
        default=(),
        help=f"trackers that also get every test: {', '.join(TRACKERS)}, each an extra of its name",
    )


def add_flags(parser: argparse.ArgumentParser, group: str, defaults: Settings) -> None:
    """A flag `--group.field` for every setting of a module that holds the defaults."""
    values = as_data(defaults)
    for heading, fields in headed_fields(type(defaults)).items():
        section = parser.add_argument_group(heading or group)
        for field in fields:
            _add_flag(section, group, field, json.dumps(values[field.name]))


def add_flags_of_several(parser: argparse.ArgumentParser, group: str, defaults: Mapping[str, Settings]) -> None:
    """A flag for every setting that at least one of several modules, given by name, has; with the default of each."""
    if len(defaults) == 1:
        add_flags(parser, group, next(iter(defaults.values())))
        return
    section = parser.add_argument_group(group)
    fields: dict[str, dataclasses.Field] = {}
    values: dict[str, dict[str, str]] = {}
    for name, settings in defaults.items():
        for field in setting_fields(type(settings)):
            fields.setdefault(field.name, field)
            values.setdefault(field.name, {})[name] = json.dumps(as_data(settings)[field.name])
    for key, field in fields.items():
        of_all = len(values[key]) == len(defaults) and len(set(values[key].values())) == 1
        each = ", ".join(f"{value} of {name}" for name, value in values[key].items())
        _add_flag(section, group, field, next(iter(values[key].values())) if of_all else each)


def _add_flag(section: Any, group: str, field: dataclasses.Field, default: str) -> None:
    names = dict.fromkeys(f"--{group}.{name}" for name in (field.name, field.name.replace("_", "-")))
    meaning = "; ".join(filter(None, [field.metadata["meaning"], allowed(field)]))
    meaning += f" (default: {default})"
    alone: dict[str, Any] = {"nargs": "?", "const": "true"} if field.type is bool else {}
    section.add_argument(
        *names,
        dest=f"{group}.{field.name}",
        metavar=_metavar(field),
        help=meaning.replace("%", "%%"),
        **alone,
    )


def overrides(args: argparse.Namespace, group: str, kind: type[Settings]) -> dict[str, Any]:
    """The settings of a group that the command line gives, as values of their types."""
    given = _given(args, group, kind)
    return {field.name: _convert(field, text, f"{group}.{field.name}") for field, text in given.items()}


def listed_overrides(args: argparse.Namespace, group: str, kind: type[Settings]) -> dict[str, list[Any]]:
    """The same, where commas part several values of a setting."""
    given = _given(args, group, kind)
    return {
        field.name: [_convert(field, part, f"{group}.{field.name}") for part in parts(text)]
        for field, text in given.items()
    }


def parts(text: str) -> list[str]:
    """Split a text at its commas, except those within brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _given(args: argparse.Namespace, group: str, kind: type[Settings]) -> dict[dataclasses.Field, str]:
    texts = {field: getattr(args, f"{group}.{field.name}", None) for field in setting_fields(kind)}
    return {field: text for field, text in texts.items() if text is not None}


def _convert(field: dataclasses.Field, text: str, key: str) -> Any:
    try:
        return _converter(field.type)(text)
    except (ValueError, KeyError, OverflowError):
        raise Refused(f"{key} must be {allowed(field)}, got {brief(text)}") from None


def _converter(kind: Any) -> Callable[[str], Any]:
    if get_origin(kind) is Literal:
        return str
    known: dict[Any, Callable[[str], Any]] = {int: whole_number, float: float, bool: _truth, str: str}
    return known.get(kind, _name_or_json)


def _truth(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def _name_or_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _metavar(field: dataclasses.Field) -> str:
    if get_origin(field.type) is Literal:
        return "{" + ",".join(get_args(field.type)) + "}"
    return {int: "N", float: "X", bool: "true|false"}.get(field.type, "VALUE")  # type: ignore[arg-type]
