"""What a record says of the updates since the last test."""

import numpy as np

from decentral.runs.metric_rows import _means


def test_metrics_are_means_over_the_updates_that_were_made():
    """Ten turns: a learner with a replay made ten updates, two on-policy agents two each, and two others none."""
    sums = {"loss": np.asarray([[5.0, 20.0]])}
    np.testing.assert_allclose(_means(sums, 0, np.asarray(10))["loss"], [0.5, 2.0])
    made = _means(sums | {"updates": np.asarray([[2.0, 2.0]])}, 0, np.asarray(10))
    assert set(made) == {"loss"}
    np.testing.assert_allclose(made["loss"], [2.5, 10.0])
    assert _means(sums | {"updates": np.zeros((1, 2))}, 0, np.asarray(10)) == {}
