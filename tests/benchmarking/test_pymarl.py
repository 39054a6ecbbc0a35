"""The PyTorch yardstick remembers and learns as PyMARL does; only where PyTorch is installed."""

import numpy as np
import pytest

from decentral.benchmarking.pymarl.predator_prey import LENGTH

torch = pytest.importorskip("torch")

from decentral.benchmarking.pymarl.episodes import PyMARLReplay, empty_episodes  # noqa: E402 (torch may be missing)
from decentral.benchmarking.pymarl.learner import PyMARLTraining, epsilon_after  # noqa: E402 (torch may be missing)

pytestmark = pytest.mark.filterwarnings("ignore:Creating a tensor from a list|To copy construct:UserWarning")
CPU = torch.device("cpu")


@pytest.fixture
def training():
    """Networks that know nothing but a value for each action, whatever is seen."""
    torch.manual_seed(0)
    own = PyMARLTraining("cpu")
    for controller, values in ((own.online, [0.0, 4.0, 2.0, 3.0, 1.0]), (own.target, [10.0, 20.0, 30.0, 40.0, 50.0])):
        for parameter in controller.network.parameters():
            torch.nn.init.zeros_(parameter)
        controller.network.head.bias.data = torch.tensor(values)
    return own


def two_steps(available):
    episode = empty_episodes(1, CPU)
    for step in range(3):
        episode.write_step({"available": [available], "action": [[2, 3]]}, step)
    episode.write_step({"reward": [(1.0,)], "terminated": [(False,)]}, 0)
    episode.write_step({"reward": [(2.0,)], "terminated": [(True,)]}, 1)
    return episode


def test_a_step_is_kept_field_by_field_and_a_sample_is_cut_to_the_longest_episode():
    episode = empty_episodes(1, CPU)
    rows = [np.arange(6, dtype=np.float32), np.ones(6, np.float32)]
    episode.write_step({"observation": [rows], "action": torch.tensor([[4, 0]]), "reward": [(0.5,)]}, 0)
    assert episode["action_one_hot"][0, 0].tolist() == [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]
    assert episode["happened"].sum() == episode["happened"][0, 0, 0] == 1
    with pytest.raises(ValueError, match="no place"):
        episode.write_step({"observation": [rows[:1]]}, 0)

    replay = PyMARLReplay(2)
    for kept in (two_steps([[1] * 5] * 2), two_steps([[1] * 5] * 2), episode):  # the last takes the first's place
        replay.add(kept)
    both = replay.sample(2)
    assert (both.count, both.steps) == (2, 3)
    assert sorted(both["happened"].sum(1).flatten().tolist()) == [1, 3]
    assert sorted(both["observation"][:, 0, 0, 5].tolist()) == [0.0, 5.0]


def test_an_error_bootstraps_from_the_best_available_action_until_the_task_ends(training):
    batch = two_steps([[1, 1, 1, 1, 1], [1, 0, 1, 1, 1]]).take(slice(None), slice(0, 4))
    errors, happened = training._errors(batch)
    assert happened[0].tolist() == [[1, 1], [1, 1], [0, 0]]
    # The best action is 1, of value 20 to the target; the second agent can't take it: 3, of value 40.
    expected = [[2 - (1 + 0.99 * 20), 3 - (1 + 0.99 * 40)], [2 - 2, 3 - 2]]
    assert torch.allclose(errors[0, :2], torch.tensor(expected, dtype=torch.float32))
    assert errors.requires_grad


def test_turns_fill_the_replay_and_change_the_online_network_alone(training, monkeypatch):
    monkeypatch.setattr("decentral.benchmarking.pymarl.learner.BATCH_EPISODES", 2)
    for _ in range(2):
        training.play()
    before = [own.detach().clone() for own in training.parameters]
    target = {name: own.clone() for name, own in training.target.network.state_dict().items()}
    training.learn()
    assert training.replay.kept["happened"][:2].sum() == 2 * (LENGTH + 1)
    assert not any(training.replay.kept["terminated"][:2].flatten())
    assert any(not torch.equal(now, then) for now, then in zip(training.parameters, before, strict=True))
    assert all(torch.equal(own, target[name]) for name, own in training.target.network.state_dict().items())


def test_exploration_falls_in_a_line_and_then_stays():
    assert [epsilon_after(steps) for steps in (0, 25_000, 50_000, 90_000)] == pytest.approx([1.0, 0.525, 0.05, 0.05])
