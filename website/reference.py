"""The reference pages: every command's help, every setting, and every name of the Python interface."""

import contextlib
import inspect
import io
import json
from collections.abc import Mapping

import decentral
from decentral.algorithms import ALGORITHMS
from decentral.arenas.arena_settings import ArenaSettings
from decentral.centralised import CENTRALISED
from decentral.cli.commands import COMMANDS, run_command
from decentral.environments.registry import ENVIRONMENTS
from decentral.settings import Settings, allowed, as_data, headed_fields
from decentral.training.plan import Plan


def commands_page() -> str:
    """A section for each command."""
    parts = [
        "# Commands",
        "What `decentral NAME --help` says. `decentral train ALGORITHM ENVIRONMENT --help` also lists",
    ]
    parts[-1] += " every [setting](settings.md)."
    for name in COMMANDS:
        parts += [f"## `decentral {name}`", f"```text\n{help_of(name)}\n```"]
    return "\n\n".join(parts) + "\n"


def help_of(name: str) -> str:
    """What a command prints when asked for help."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        run_command(name, ["--help"])
    return printed.getvalue().strip()


def python_page() -> str:
    """A section for each public name, which mkdocstrings fills from its signature and docstring."""
    parts = [
        "# Python",
        "Everything that `import decentral` offers. Most functions do what the command of their name does.",
    ]
    functions, classes = (
        [name for name in decentral.__all__ if inspect.isclass(getattr(decentral, name)) is is_class]
        for is_class in (False, True)
    )
    for title, names in (("Functions", functions), ("What they return", classes)):
        parts.append(f"## {title}")
        for name in names:
            member = getattr(decentral, name)
            parts.append(f"::: {member.__module__}.{name}\n    options:\n      heading_level: 3")
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """A table for training, and for each algorithm and environment."""
    parts = ["# Settings", "Each is a flag, such as `--algorithm.window 5`, and an entry of `config.json`."]
    parts += ["## Training", "`--training.NAME`", table_of(Plan)]
    parts += ["## Arenas", "`--arena.NAME` of [`decentral arena`](../arena.md)", table_of(ArenaSettings)]
    for title, group, kinds in (
        ("Algorithms", "algorithm", ALGORITHMS),
        ("References that are not decentralised", "algorithm", CENTRALISED),
        ("Environments", "environment", ENVIRONMENTS),
    ):
        parts += [
            f"## {title}",
            f"`--{group}.NAME`; presets of an environment may change a default, see `decentral show`.",
        ]
        parts += sections_of(kinds)
    return "\n\n".join(parts) + "\n"


def sections_of(kinds: Mapping[str, type[Settings]]) -> list[str]:
    """A heading and a table for each of several modules."""
    return [part for name, kind in kinds.items() for part in (f"### `{name}`", table_of(kind))]


def table_of(kind: type[Settings]) -> str:
    """Name, default, range and meaning of every setting of a module; a table for each heading."""
    defaults, parts = as_data(kind()), []
    for heading, fields in headed_fields(kind).items():
        rows = [
            (f"`{field.name}`", f"`{json.dumps(defaults[field.name])}`", allowed(field), field.metadata["meaning"])
            for field in fields
        ]
        lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
        parts += [f"**{heading}**"] if heading else []
        parts.append(
            "\n".join(["| setting | default | takes | meaning |", "|---|---|---|---|", *map("| {} |".format, lines)])
        )
    return "\n\n".join(parts)
