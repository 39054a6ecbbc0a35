"""Networks as named arrays."""

import numpy as np
import pytest

from decentral.settings import Refused
from decentral.training.parameters import fill


def test_arrays_that_were_stored_under_earlier_names_are_found():
    described = {"agent": {"statistics": np.zeros(2)}, "annotations": [np.zeros(1)], "environment_key": np.zeros(3)}
    stored = {"agent.notes": np.arange(2.0), "remarks.0": np.ones(1), "world": np.arange(3.0)}
    filled = fill(described, stored, "here")
    assert filled["agent"]["statistics"].tolist() == [0, 1] and filled["environment_key"].tolist() == [0, 1, 2]


def test_arrays_of_other_names_are_refused():
    with pytest.raises(Refused, match="here: array memories is not part of the agent"):
        fill({}, {"memories": np.zeros(1)}, "here")
