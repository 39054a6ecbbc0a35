"""The rule by which seeds at different steps are read at the same ones, on numbers worked by hand."""

import numpy as np

from decentral.records.same_steps import at_steps, reached_by_all


def test_a_seed_that_is_ahead_is_read_where_the_slowest_stands():
    steps, values = np.asarray([[0.0, 10.0, 20.0], [0.0, 20.0, 40.0]]), np.asarray([[0.0, 10.0, 20.0], [0.0, 2.0, 4.0]])
    assert reached_by_all(steps).tolist() == [0, 10, 20]
    assert at_steps(reached_by_all(steps), steps, values).tolist() == [[0, 10, 20], [0, 1, 2]]


def test_nothing_is_known_beside_a_test_without_a_number_nor_before_the_first():
    steps, wanted = np.asarray([[5.0, 10.0, 20.0, 30.0]]), np.asarray([0.0, 5.0, 7.0, 10.0, 15.0, 25.0, 30.0])
    read = at_steps(wanted, steps, np.asarray([[1.0, np.nan, 3.0, 4.0]]))
    np.testing.assert_array_equal(read, [[np.nan, 1, np.nan, np.nan, np.nan, 3.5, 4]])


def test_tests_that_are_at_the_same_steps_already_are_taken_as_they_are():
    steps, values = np.asarray([[0.0, 5.0, 5.0], [0.0, 5.0, 5.0]]), np.asarray([[0.1, 0.3, np.nan], [np.nan, 0.7, 0.2]])
    np.testing.assert_array_equal(at_steps(reached_by_all(steps), steps, values), values)
