import jax
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.configs.config import Config, resolve
from decentral.configs.presets import TABLE, row_of
from decentral.environments.registry import MatrixGame, PredatorPrey, SwitchingWind
from decentral.settings import Refused, setting
from decentral.training.parameters import as_arrays, from_arrays


@pytest.mark.parametrize(("penalty", "window"), [(0.0, 10), (0.3, 10), (0.5, 10), (0.7, 10), (1.0, 5), (1.5, 5)])
def test_the_penalty_chooses_the_papers_window_unless_told_otherwise(penalty, window):
    config = resolve("dac", "predator-prey", environment_settings={"penalty": penalty})
    assert config.members[0].algorithm.window == window
    assert config.setup.plan.steps == 3_050_000 and config.setup.plan.epsilon_steps == 1_500_000
    told = resolve("dac", "predator-prey", {"window": 7}, {"penalty": penalty})
    assert told.members[0].algorithm.window == 7


def test_the_papers_table_has_all_twelve_rows():
    rows = {name: (row.window, row.contexts, row.epsilon_steps, row.steps) for name, row in TABLE.items()}
    smac = (50_000, 2_050_000)
    hunt = (1_500_000, 3_050_000)
    assert rows == {
        "matrix-game": (1, 4, 50_000, 50_000),
        "predator-prey P=0.0": (10, 10, *hunt),
        "predator-prey P=0.3": (10, 10, *hunt),
        "predator-prey P=0.5": (10, 10, *hunt),
        "predator-prey P=1.0": (5, 10, *hunt),
        "2s_vs_1sc": (10, 10, *smac),
        "3s5z": (10, 5, *smac),
        "3s_vs_4z": (15, 20, *smac),
        "3s_vs_5z": (15, 20, *smac),
        "5m_vs_6m": (15, 20, *smac),
        "8m_vs_9m": (5, 10, *smac),
        "10m_vs_11m": (15, 10, *smac),
    }


def test_settings_common_to_the_papers_tasks_are_the_defaults():
    config = resolve("dac", "matrix-game")
    algorithm, plan = config.members[0].algorithm, config.setup.plan
    assert (algorithm.kl_weight, algorithm.learning_rate, algorithm.discount) == (0.001, 5e-4, 0.99)
    assert (plan.replay_episodes, plan.batch_episodes, plan.epsilon_start, plan.epsilon_end) == (5000, 32, 1.0, 0.05)


def test_a_battle_without_a_row_is_trained_as_the_others_are():
    config = resolve("dac", "3m")
    algorithm, plan = config.members[0].algorithm, config.setup.plan
    assert (algorithm.window, algorithm.contexts, algorithm.head) == (10, 10, "normal-net")
    assert (plan.epsilon_steps, plan.steps, plan.test_interval) == (50_000, 2_050_000, 10_000)


def test_a_world_without_a_row_has_none():
    assert row_of("elsewhere", SwitchingWind()) is None


class OwnHunt(PredatorPrey):
    """A user's own, with settings called like the algorithm's, the training's and a command's."""

    hidden: int = setting(3, "what the prey hides", at_least=0)
    steps: int = setting(3, "of a stair", at_least=0)
    out: int = setting(3, "who is out", at_least=0)


@pytest.mark.parametrize(
    ("own", "name"), [(OwnHunt(penalty=1.0), "predator-prey P=1.0"), (MatrixGame(), "matrix-game")]
)
def test_a_world_made_from_one_of_the_papers_has_its_row(own, name):
    assert row_of("python:mine:Mine", own) is TABLE[name]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("environment", ["matrix-game", "predator-prey"])
def test_a_configuration_survives_the_way_through_json(algorithm, environment):
    data = resolve(algorithm, environment).as_data()
    assert Config.from_data(data).as_data() == data


def test_a_setting_is_read_by_the_name_that_earlier_versions_wrote():
    data = resolve("ippo", "matrix-game").as_data()
    del data["algorithm"]["rms_epsilon"]
    data["algorithm"]["adam_epsilon"] = 1e-4
    assert Config.from_data(data).as_data()["algorithm"]["rms_epsilon"] == 1e-4


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"format": 99}, "format must be 1, got 99"),
        ({"algorithm": []}, "algorithm must be an object"),
        ({"format": [0] * 999}, "format must be 1, got .{80}$"),
        ({"environment": [0] * 999}, "environment must be an object, got .{80}$"),
        ({"training": {"steps": 0}}, "training.steps must be a whole number at least 1 and at most 2000000000, got 0"),
        ({"environment": {"name": "matrix-game", "walls": 3}}, "unknown setting environment.walls"),
    ],
)
def test_a_broken_configuration_is_refused(change, refusal):
    with pytest.raises(Refused, match=refusal):
        Config.from_data(resolve("iql", "matrix-game").as_data() | change)


@pytest.mark.parametrize(
    ("team", "training", "refusal"),
    [
        (
            "ippo",
            {"updates_per_turn": 2},
            "training.updates_per_turn must be 1 for ippo, got 2: it learns from an episode in one",
        ),
        (
            ["iql", {"name": "dpo", "update_period": 3}],
            {},
            "update_period must be 1 for dpo, got 3: it learns whenever",
        ),
    ],
)
def test_an_on_policy_learner_has_no_other_clock_than_its_batch(team, training, refusal):
    with pytest.raises(Refused, match=refusal):
        resolve(team, "matrix-game", training_settings=training)
    plain = resolve(team if isinstance(team, str) else ["iql", "dpo"], "matrix-game").as_data()
    with pytest.raises(Refused, match=r"training\.updates_per_turn must be 1 for"):
        Config.from_data(plain | {"training": plain["training"] | {"updates_per_turn": 5}})


def test_networks_survive_the_way_through_named_arrays_and_others_are_refused():
    environment, algorithm = PredatorPrey(), ALGORITHMS["dac"](hidden=4)
    models = jax.jit(lambda: algorithm.build(environment.spec))()
    arrays = as_arrays(models)
    assert "value.trunk.entry.weight" in arrays
    again = as_arrays(from_arrays(algorithm, environment.spec, arrays, "here"))
    assert all((again[name] == array).all() for name, array in arrays.items())
    with pytest.raises(Refused, match=r"here: array value.head.bias is missing"):
        from_arrays(algorithm, environment.spec, {k: v for k, v in arrays.items() if k != "value.head.bias"}, "here")
    with pytest.raises(Refused, match="array extra is not part of the agent"):
        from_arrays(algorithm, environment.spec, arrays | {"extra": arrays["value.head.bias"]}, "here")
    with pytest.raises(Refused, match=r"array value.head.bias must be float32\(10, 5\), got float32\(5, 10\)"):
        from_arrays(algorithm, environment.spec, arrays | {"value.head.bias": arrays["value.head.bias"].T}, "here")
