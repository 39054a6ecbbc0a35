import numpy as np

from decentral.environments.host.interface import Percepts, Step
from decentral.training.host.rollout import EpisodeSheet
from tests.host_worlds import Counting


def percepts(number):
    return Percepts(np.full((2, 2), number), np.asarray([[False, True, True], [False, False, True]]))


def played(*ends):
    """What is written of an episode of at most four steps, the last of which ends as told."""
    sheet = EpisodeSheet(Counting())
    sheet.begin(percepts(0))
    for number in range(1, 3):
        end = dict(zip(("terminated", "truncated"), ends, strict=True)) if number == 2 else {"terminated": False}
        sheet.add(np.asarray([1, 2]), Step(percepts(number), float(number), **end, facts={"alike": 3.0}))
    assert sheet.over == any(ends)
    return sheet.written()


def test_an_end_is_written_and_followed_by_padding_that_could_have_been_lived():
    sheet = played(True, False)
    assert sheet["happened"].tolist() == [True, True, False, False]
    assert sheet["terminated"].tolist() == [False, True, False, False]
    assert sheet["rewards"].tolist() == [1, 2, 0, 0]
    assert sheet["observation"][:, 0, 0].tolist() == [0, 1, 2, 2, 2]
    assert sheet["actions"].tolist() == [[1, 2]] * 4
    assert sheet["available"].all(axis=0).tolist() == percepts(0).available.tolist()
    assert sheet["facts"]["alike"].tolist() == [3, 3, 0, 0]


def test_time_that_is_up_ends_no_task():
    sheet = played(False, True)
    assert sheet["happened"].tolist() == [True, True, False, False]
    assert not sheet["terminated"].any()


def test_an_episode_goes_on_until_something_ends_it():
    assert played(False, False)["happened"].tolist() == [True, True, False, False]
