"""Which of PyTorch's times is the yardstick."""

from decentral.benchmarking.measure import Timing
from decentral.benchmarking.yardstick import Yardstick, fastest


def torch_on(where, play, learn):
    return Yardstick("2.9", where, Timing([play]), Timing([learn]), {})


def test_the_fastest_of_pytorch_as_it_comes_counts_and_all_others_are_told():
    as_it_comes = [torch_on("cpu, threads 1", 1.0, 9.0), torch_on("cpu, threads 2", 2.0, 6.0)]
    altered = [torch_on("cpu, threads 2, no oneDNN", 1.0, 2.0)]
    found = fastest(as_it_comes, altered)
    assert (found.where, found.turn.all) == ("cpu, threads 2", [8.0])
    assert found.others == {"cpu, threads 1": 10.0, "cpu, threads 2, no oneDNN": 3.0}
