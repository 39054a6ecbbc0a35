import numpy as np
import pytest

from decentral.analysis.assignment import (
    counts_of,
    delay,
    extra_shares,
    flicker,
    main_contexts,
    many_to_one,
    one_to_one,
    spans_a_switch,
)

MODES = np.asarray([[0, 0, 0, 1, 1, 1]])


def test_names_of_contexts_do_not_matter():
    modes = np.asarray([0, 0, 1, 1, 2, 2])
    assert one_to_one(counts_of(np.asarray([2, 2, 0, 0, 1, 1]), modes, 3, 3)) == (1.0, (2, 0, 1))


def test_merged_contexts_explain_one_mode_each():
    modes = np.asarray([0, 0, 0, 1, 1, 2])
    counts = counts_of(np.asarray([0, 0, 0, 0, 0, 1]), modes, 3, 3)  # context 0 for two modes, context 2 unused
    np.testing.assert_array_equal(counts, [[3, 2, 0], [0, 0, 1], [0, 0, 0]])
    assert one_to_one(counts)[0] == pytest.approx(4 / 6)
    assert many_to_one(counts) == pytest.approx(4 / 6)


def test_a_split_mode_counts_in_full_only_many_to_one():
    modes = np.asarray([0, 0, 0, 0, 1, 1])
    counts = counts_of(np.asarray([0, 0, 0, 1, 2, 2]), modes, 3, 2)
    assert one_to_one(counts)[0] == pytest.approx(5 / 6)
    assert many_to_one(counts) == 1.0


def test_the_best_assignment_need_not_be_greedy():
    counts = np.asarray([[5, 4], [4, 0]])  # greedy takes 5 + 0, the best is 4 + 4
    assert one_to_one(counts) == (pytest.approx(8 / 13), (1, 0))


def test_windows_that_span_a_switch():
    np.testing.assert_array_equal(spans_a_switch(MODES, 1), np.zeros((1, 6), bool))
    np.testing.assert_array_equal(spans_a_switch(MODES, 3), [[False, False, False, True, True, False]])


def test_extra_labels_are_those_that_are_no_modes_main_one():
    contexts = np.asarray([[4, 4, 4, 2, 4, 1]])
    np.testing.assert_array_equal(main_contexts(contexts, MODES, 3, 5), [4, 1])
    assert extra_shares(contexts, MODES, 3, 5) == (0.5, 0.0)  # of steps 3 and 4, and of the others
    elsewhere = np.asarray([[4, 4, 0, 4, 4, 1]])
    assert extra_shares(elsewhere, MODES, 3, 5) == (0.0, 0.25)


def test_the_delay_is_until_the_new_modes_context_is_first_seen():
    late = np.asarray([[0, 0, 0, 0, 2, 1], [0, 0, 0, 1, 1, 1]])
    assert delay(late, np.repeat(MODES, 2, axis=0), 3, 3) == 1.0  # 2 steps and none
    never = np.asarray([[0, 0, 0, 0, 0, 0]])
    assert delay(never, MODES, 3, 2) == 0.0  # both modes' main context is the same
    assert delay(np.asarray([[0, 0, 0, 0, 0, 1, 1, 0, 0]]), np.asarray([[0, 0, 0, 1, 1, 1, 1, 0, 0]]), 3, 2) == 1.0


def test_flicker_counts_changes_within_a_mode_alone():
    assert flicker(np.asarray([[0, 1, 1, 2, 2, 2]]), MODES, 1) == 0.25  # four pairs within a mode, one changes
    assert flicker(np.asarray([[0, 0, 0, 2, 3, 1]]), MODES, 3) == 0.0  # what changes, changes in mixed windows
