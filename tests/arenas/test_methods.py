"""Actor-critics and patient Q-learning in an arena: each agent becomes what its own messages alone make of it."""

import jax
import pytest

import decentral
from decentral.arenas.homes import FILE
from decentral.configs.config import Config
from decentral.training.loop import begin
from decentral.training.parameters import as_arrays

SETTINGS = {"hidden": 4, "learning_rate": 0.01}
PLAN = {"batch_episodes": 2, "replay_episodes": 8, "epsilon_steps": 20, "test_interval": 16, "test_episodes": 2}


@pytest.mark.long
@pytest.mark.xdist_group("arena of methods")
@pytest.mark.parametrize("method", ["ippo", "dpo", "tvpo", "ia2c", "patient"])
def test_an_agent_learns_in_a_process_of_its_own_from_its_own_messages_alone(method, tmp_path):
    """Eight episodes of four steps; on-policy learners learn from two at once, so four times."""
    run = decentral.arena(
        method,
        "predator-prey",
        steps=32,
        seed=2,
        seeds=1,
        algorithm=SETTINGS,
        environment={"size": 3, "length": 4, "penalty": 0.5, "observe_teammate": True},
        training=PLAN,
        out=tmp_path / "run",
        log_messages=tmp_path / "log",
        progress=False,
    )
    assert run.directory.is_finished and run.verify() == [] and run.steps.tolist() == [0, 16, 32]
    assert run.metrics[-1]["missed_episodes"] == [0, 0]
    at_first = jax.jit(lambda: begin(Config.from_data(run.config).setup, 2).agents[0].online)()
    for place in (0, 1):
        before = as_arrays(jax.tree.map(lambda leaf, at=place: leaf[at], at_first))
        learned = decentral.Agent.load(run.path / "homes" / "seed-2" / f"agent-{place}" / FILE).parameters
        assert before.keys() == learned.keys() and all((learned[part] != before[part]).any() for part in before)
    audit = run.audit_messages(tmp_path / "log")
    assert audit.agrees and [own.other_actions for own in audit.agents] == [0, 0]
    first, second = (tmp_path / "log" / "seed-2" / f"agent-{agent}.messages" for agent in (0, 1))
    second.write_bytes(first.read_bytes())
    assert [own.agrees for own in run.audit_messages(tmp_path / "log").agents] == [True, False]
