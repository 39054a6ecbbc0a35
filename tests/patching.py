"""Put something else in the place of a name, given as text.

`monkeypatch.setattr("decentral.api.train.run_config", ...)` would look into the function `train`, which
`decentral.api` has in the place of the module of that name.
"""

import importlib
from functools import reduce


def patch(patched, place, value):
    """What `patched.setattr(place, value)` does, where the first parts of `place` are modules as far as they can be."""
    *parts, name = place.split(".")
    for length in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return patched.setattr(reduce(getattr, parts[length:], owner), name, value)
    raise AssertionError(f"no module is named {place}")
