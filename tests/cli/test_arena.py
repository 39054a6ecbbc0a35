"""`decentral arena` and the audit of its messages; agents live in this process, for they compile faster."""

import functools
import json

import pytest

import decentral
from decentral.arenas import run as arena_run
from decentral.arenas.arena import opened
from tests.arenas.nearby import Nearby
from tests.cli.test_cli import outcome

QUICK = "--steps 12 --algorithm.hidden 4 --training.batch_episodes 4 --training.replay_episodes 16"
QUICK += " --training.test_interval 6 --training.test_episodes 2"
pytestmark = pytest.mark.xdist_group("arena of a matrix game")  # one process compiles for all of them


@pytest.fixture(autouse=True)
def nearby(monkeypatch):
    monkeypatch.setattr(arena_run, "opened", functools.partial(opened, open_line=Nearby))


def test_a_run_of_an_arena_is_a_run_and_its_messages_can_be_audited(capsys, tmp_path):
    out, log = str(tmp_path / "run"), str(tmp_path / "log")
    request = ["iql", "matrix-game", *QUICK.split(), "--seeds", "2", "--out", out]
    arena = ["arena", *request, "--arena.save_every", "5", "--log-messages", log]
    code, said, err = outcome(capsys, *arena)
    assert (code, err) == (0, "") and "each agent in a process of its own" in said and f"written to {out}" in said

    run = decentral.load(out)
    assert run.config["arena"]["save_every"] == 5 and run.config["training"]["seeds"] == 2
    assert run.returns.shape == (2, 3) and run.steps.tolist() == [0, 6, 12]
    assert [row["missed_episodes"] for row in run.metrics] == [[0, 0]] * 6
    assert run.directory.is_finished and run.verify() == []
    assert decentral.Agent.load(run.path / "homes" / "seed-1" / "agent-0" / "agent.safetensors").episodes == 12

    code, said, err = outcome(capsys, "audit", out, "--messages", log, "--seed", "1", "--agent", "1")
    assert (code, err) == (0, "")
    assert "messages: 18 a, 1 c, 1 d, 1 m, 12 r, 12 s, 6 t, 1 w; 522 bytes in all\n" in said
    assert "play: 0 of its actions differ from those that it chooses alone" in said
    assert "identical: the agent learned from nothing but these messages" in said

    file = tmp_path / "log" / "seed-0" / "agent-1.messages"
    file.write_bytes((tmp_path / "log" / "seed-1" / "agent-1.messages").read_bytes())
    audit = run.audit_messages(log)
    assert [(own.agent, own.agrees) for own in audit.agents] == [(0, True), (1, False)] and not audit.agrees
    code, _, err = outcome(capsys, "audit", out, "--messages", log)
    assert code == 1 and err.count("\n") == 1 and "the log does not hold all that it received" in err
    for words, complaint in (
        (["audit", out], "messages must be given to audit"),
        (
            ["resume", out, "--steps", "99"],
            "steps must be left out for a run of an arena, which resumes to its planned steps",
        ),
        (["train", *request, "--resume"], "RUN must be one of decentral train to be resumed"),
        (["train", "--config", f"{out}/config.json"], "config must be without arena for decentral train"),
        (["arena", "iql", "matrix-game", "--out", out], "out must be an empty or a new directory"),
        (["audit", out, "--messages", str(tmp_path)], "agent-0.messages can't be read"),
    ):
        code, _, err = outcome(capsys, *words)
        assert code == 2 and err.count("\n") == 1 and complaint in err
    assert outcome(capsys, *arena, "--resume") == (0, "", "")
    assert outcome(capsys, "resume", out) == (0, f"{out} is finished: nothing to do\n", "")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["vdn", "matrix-game"], "algorithm must be decentralised for an arena, got vdn, which is not"),
        (["iql", "matrix-game", "--training.num_environments", "2"], "training.num_environments must be 1 in an arena"),
        (["iql", "matrix-game", "--training.diagnostics", "true"], "training.diagnostics must be false in an arena"),
        (
            ["iql", "matrix-game", "--arena.reward_loss", "2"],
            "arena.reward_loss must be a number at least 0 and at most 1",
        ),
        (["iql", "matrix-game", "--arena.reward_delay", "-1"], "arena.reward_delay must be a whole number at least 0"),
        (
            ["iql", "matrix-game", "--training.replay_episodes", "2e9"],
            "replay_episodes = 2000000000 with time_limit = 1 needs",
        ),
        (["iql", "matrix-game", "--log-messages", ""], "log-messages must be a directory, got ''"),
        (["matrix-game", "--agents", "iql,iql", "--agents.1.joins_at", "5"], "agents.1.joins_at must be 0 in an arena"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_written(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, "arena", *words)
    assert code == 2 and err.count("\n") == 1 and complaint in err
    assert list(tmp_path.iterdir()) == []


def test_messages_are_not_written_where_something_lies_already(capsys, tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "note").touch()
    for place, complaint in (("log", "must be an empty or a new directory"), ("log/note", "must be a directory")):
        words = ["--out", str(tmp_path / "run"), "--log-messages", str(tmp_path / place)]
        code, _, err = outcome(capsys, "arena", "iql", "matrix-game", *words)
        assert code == 2 and err.count("\n") == 1 and f"log-messages {complaint}" in err
    assert not (tmp_path / "run").exists()


def test_a_file_can_say_the_terms_of_an_arena(capsys, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text(
        json.dumps({"algorithm": {"name": "iql"}, "environment": {"name": "matrix-game"}, "arena": {"x": 1}})
    )
    code, _, err = outcome(capsys, "arena", "--config", str(file))
    assert code == 2 and "unknown setting arena.x" in err
