"""Flags of other libraries are answered with those of this one."""

import re
from pathlib import Path

import pytest

import decentral
from decentral.errors import Refused
from decentral.synonyms import SYNONYMS
from tests.cli.fuzzing import no_work_fixture, outcome  # noqa: F401

PAGE = Path(__file__).parents[2] / "docs" / "coming_from.md"
TRAIN = ("train", "{}", "matrix-game")
pytestmark = pytest.mark.usefixtures("no_work")


def rows():
    """The table of settings: the flags of other libraries, and what the page says they are here."""
    table = PAGE.read_text().split("## Settings")[1].split("## ")[0]
    lines = [line.strip("| ").split("|") for line in table.splitlines() if line.startswith("|")]
    for *theirs, ours in lines[2:]:
        for flag in ",".join(theirs).split(","):
            if flag.strip():
                yield flag.split()[0].removeprefix("--"), ours


def hint(algorithm, flag):
    """What the program says of a flag that it does not know, or of a value that none has."""
    code, _, err = outcome(*(word.format(algorithm) for word in TRAIN), f"--{flag}", "?")
    assert code == 2 and err.count("\n") == 1
    return err


@pytest.mark.parametrize(("flag", "ours"), list(rows()))
def test_every_flag_of_the_page_is_answered_with_the_one_beside_it(flag, ours):
    named = set(re.findall(r"`--([\w.]+)", ours)) or {"JAX_PLATFORMS"}
    answers = [
        hint(algorithm, flag)
        for algorithm in ("iql", "ippo")
        if f"algorithm.{flag}" not in named or algorithm == "ippo"
    ]
    answered = r"did you mean --([\w.]+)\?|(JAX_PLATFORMS)|([\w.]+) must be"
    suggested = [re.findall(answered, answer) for answer in answers]
    assert {"".join(which) for found in suggested for which in found} <= named and any(suggested), answers
    assert all(found or "it is called" in answer for found, answer in zip(suggested, answers, strict=True)), answers


def test_rows_of_the_page_were_found():
    assert len(list(rows())) > 30 and {"lr", "use_cuda", "net_arch", "n-steps"} <= {flag for flag, _ in rows()}


@pytest.mark.parametrize(
    ("algorithm", "flag", "answer"),
    [
        ("iql", "q_nstep", "did you mean --algorithm.n_step?"),
        ("ippo", "algorithm.head", "it is a setting of rac, dac"),
        ("ippo", "algorithm.duelling", "it is a setting of iql, hysteretic, distributed, lenient and"),
        ("iql", "n-steps", "did you mean --algorithm.n_step?"),
        ("ippo", "n-steps", "did you mean --training.batch_episodes?"),
        ("iql", "net_arch", "did you mean --algorithm.layers?"),
        ("iql", "eval_freq", "did you mean --training.test_interval?"),
        ("iql", "n_eval_episodes", "did you mean --training.test_episodes?"),
        ("iql", "exploration_fraction", "did you mean --training.epsilon_steps?"),
        ("iql", "exploration_final_eps", "did you mean --training.epsilon_end?"),
        ("ippo", "algorithm.gamma", "did you mean --algorithm.discount?"),
        ("ippo", "algorithm.hiden", "did you mean --algorithm.hidden?"),
        ("ippo", "clip-param", "did you mean --algorithm.ratio_clip?"),
        ("iql", "agents", "a team is named as ENVIRONMENT --agents A,B"),
        ("iql", "environment.n_agents", "it is called num_porters or num_predators here"),
        ("iql", "algo", "ALGORITHM and ENVIRONMENT are the first words"),
        ("iql", "use_cuda", "environment variable JAX_PLATFORMS"),
        ("iql", "eps_clip", "it is called ratio_clip here, and belongs to other algorithms or commands"),
    ],
)
def test_a_flag_is_answered_with_one_that_the_algorithm_has(algorithm, flag, answer):
    assert answer in hint(algorithm, flag)


TEAM = "a team is named as ENVIRONMENT --agents A,B, without an ALGORITHM before it (see --help)"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("train dac predator-prey --agents iql,iql", f"unknown flag --agents: {TEAM}"),
        ("train dac matrix-game --agents.1.window 3", f"unknown flag --agents.1.window: {TEAM}"),
        ("train matrix-game --agents iql,iql --agents.1.window 3", "it is a setting of dac"),
        ("train iql matrix-game --window 5", "unknown flag --window: it is a setting of dac"),
        ("train iql matrix-game --penalty 5", "unknown flag --penalty: it is a setting of predator-prey"),
        ("train iql matrix-game --environment.penalty 5", "it is a setting of predator-prey"),
        ("train iql predator-prey --rewards sum", "--rewards: the agents of this environment share one reward"),
        ("train iql predator-prey --environment.rewards sum", "the agents of this environment share one reward"),
        ("train iql predator-prey extra", "unknown argument extra (see --help)"),
        ("plot run --window 5", "unknown flag --window (see --help)"),
        (
            "train iql,dac matrix-game",
            "ALGORITHM must be one name, got iql,dac: a team is ENVIRONMENT --agents iql,dac",
        ),
        (
            "train iql,dac",
            "ALGORITHM must be one name, got iql,dac: a team is ENVIRONMENT --agents iql,dac, and decent",
        ),
        ("compare iql matrix-game --runs run", "runs must be given without ALGORITHMS ENVIRONMENT, which they replace"),
        ("compare iql matrix-game --seeds 2 --runs=run", "which they replace, got iql matrix-game"),
    ],
)
def test_what_stands_elsewhere_is_answered_with_its_place(words, answer):
    code, _, err = outcome(*words.split())
    assert code == 2 and err.count("\n") == 1 and answer in err


def test_a_file_and_python_are_answered_alike():
    with pytest.raises(Refused, match=r"unknown setting algorithm.lr: did you mean learning_rate\?"):
        decentral.train("iql", "matrix-game", algorithm={"lr": 3})


def test_no_name_of_another_library_is_a_setting_under_its_own_name():
    for flag, ours in SYNONYMS.items():
        assert flag not in ((ours,) if isinstance(ours, str) else ours)
