"""Scores on a suite, worked by hand."""

from pathlib import Path

import numpy as np
import pytest

from decentral.analysis.results import Curves
from decentral.analysis.suite_scores import TaskScale, method_scores, scale_of
from decentral.settings import Refused

EXACT = {"optimal": 10.0, "random": 0.0}


def run(*finals, references=EXACT, decentralised=True):
    """A run of two tests, the second of which is late."""
    config = {
        "algorithm": {"name": "a"},
        "environment": {"name": "e"},
        "training": {"steps": 10},
        "references": references,
        "strictness": {"decentralised": decentralised},
    }
    returns = np.asarray([[-99.0, final] for final in finals])
    return Curves(Path(), config, list(range(len(finals))), np.asarray([0.0, 10.0]), returns)


def test_a_score_lies_between_random_play_and_the_best_known():
    scale = TaskScale("t", -10.0, "", 10.0, "")
    assert scale.score(np.asarray([-20.0, -10.0, 0.0, 5.0, 10.0, 12.0])).tolist() == [0, 0, 0.5, 0.75, 1, 1]


def test_what_the_suite_gives_comes_before_what_is_exact():
    known = scale_of("t", {}, run(3.0))
    assert (known.random, known.best, known.best_source) == (0.0, 10.0, "exact")
    given = scale_of("t", {"best": (8.0, "a planner")}, run(3.0))
    assert (given.random, given.best, given.best_source) == (0.0, 8.0, "a planner")


@pytest.mark.parametrize(
    ("references", "complaint"),
    [
        ({}, "t: its environment must know the random and the best return"),
        ({"random": 1.0}, "t: its environment must know the random and the best return"),
        ({"optimal": 1.0, "random": 1.0}, "t: the best"),
    ],
)
def test_a_task_without_two_ends_has_no_score(references, complaint):
    with pytest.raises(Refused, match=complaint):
        scale_of("t", {}, run(3.0, references=references))


def test_a_method_is_as_good_as_its_mean_and_its_worst_task():
    runs = {"easy": run(10.0, 8.0), "hard": run(2.0, 4.0, decentralised=False)}
    scored = method_scores("m", runs, {task: TaskScale(task, 0.0, "", 10.0, "") for task in runs})
    assert scored.scores == {"easy": [1.0, 0.8], "hard": [0.2, 0.4]}
    assert (scored.mean, scored.worst, scored.worst_task) == (pytest.approx(0.6), pytest.approx(0.3), "hard")
    assert not scored.decentralised
    assert scored.mean_interval == (pytest.approx(0.5), pytest.approx(0.7))  # seeds of both tasks at their ends
    assert scored.worst_interval == (pytest.approx(0.2), pytest.approx(0.4))


def test_a_single_seed_has_no_interval():
    scored = method_scores("m", {"easy": run(8.0)}, {"easy": TaskScale("easy", 0.0, "", 10.0, "")})
    assert scored.mean == pytest.approx(0.8) and scored.mean_interval is None is scored.worst_interval
