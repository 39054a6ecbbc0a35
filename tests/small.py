"""Algorithms with tiny networks and tables, so that they compile and run fast."""

import pytest

from decentral.configs.registry import EVERY_ALGORITHM
from decentral.settings import setting_fields

TINY = {
    "hidden": 4,
    "learning_rate": 5e-3,
    "width": 8,
    "buckets": 8,
    "states": 64,
    "window": 3,
    "encoder_width": 4,
    "decoder_width": 4,
    "mixing_width": 4,
    "hyper_width": 4,
}


def small(name, **settings):
    """An algorithm with those of the tiny settings that it has; what is said besides goes first."""
    kind = EVERY_ALGORITHM[name]
    known = {field.name for field in setting_fields(kind)}
    return kind(**{key: value for key, value in (TINY | settings).items() if key in known})


def each_of(names, always=None, group=""):
    """A test for every name; those not to be run `always` are among the long ones. One group, one worker."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(
                name,
                marks=[
                    *([pytest.mark.xdist_group(f"{group} {name}")] if group else []),
                    *([pytest.mark.long] if always is not None and name not in always else []),
                ],
            )
            for name in names
        ],
    )
