"""Where what is slow to make and easy to make again is kept: the user's cache directory.

`DECENTRAL_CACHE_DIR` names another one, or is `off`. The directory can be deleted at any time.
"""

import os
from collections.abc import Mapping
from pathlib import Path


def usable_cache() -> Path | None:
    """The cache directory, made if need be; nothing if there is none or it can't be written."""
    place = cache_directory(os.environ)
    return place if place is not None and _can_be_written(place) else None


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """Where the cache is, by the environment's variables; nowhere if it says `off` or knows no place."""
    asked = environment.get("DECENTRAL_CACHE_DIR", "")
    if asked == "off":
        return None
    if asked:
        return Path(asked).absolute()
    common = Path(environment.get("XDG_CACHE_HOME", ""))
    if not common.is_absolute():  # such a one does not count, says its specification
        home = environment.get("HOME", "")
        if not home:
            return None
        common = Path(home) / ".cache"
    return common / "decentral"


def _can_be_written(place: Path) -> bool:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)  # private: who can write there can run code here
    except OSError:
        return False
    return os.access(place, os.W_OK | os.X_OK)
