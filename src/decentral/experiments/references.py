"""The exact returns of a world, worked out once and then kept in the cache directory: they may take seconds."""

import hashlib
import json
import os
from pathlib import Path

import decentral.environments
from decentral.environments.base import World
from decentral.experiments.cache import usable_cache
from decentral.plain_files import read_json, read_plain
from decentral.settings import as_data

MOST_BYTES = 2**24  # of stored returns, or of a source


def known_returns(world: World) -> dict[str, float]:
    """What `world.references` answers, or answered in an earlier process."""
    place = usable_cache()
    if place is None or not type(world).__module__.startswith("decentral.environments."):  # whose code we can't see
        return world.references()
    file = place / f"references-{_fingerprint(world)}.json"
    try:
        return {name: float(value) for name, value in read_json(file, MOST_BYTES).items()}
    except (ValueError, TypeError, AttributeError):  # not there yet, or not what was written
        found = world.references()
    _write(file, json.dumps(found))
    return found


def _fingerprint(world: World) -> str:
    """Changes with the world's settings and with any word of the environments' code."""
    digest = hashlib.sha256(json.dumps([type(world).__qualname__, as_data(world)]).encode())
    for file in sorted(Path(decentral.environments.__path__[0]).glob("*.py")):
        digest.update(read_plain(file, MOST_BYTES, follow=True))  # an installed package may be made of links
    return digest.hexdigest()[:32]


def _write(file: Path, text: str) -> None:
    """All of it or nothing, so that no other process reads a half."""
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_text(text)
        unfinished.replace(file)
    except OSError:  # a full disk: without
        unfinished.unlink(missing_ok=True)
