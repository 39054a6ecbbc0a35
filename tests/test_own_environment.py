"""An environment from elsewhere, of three unequal agents, on the whole road: checked, trained, watched, taken away.

One of its agents sees a dictionary, one leaves early, each has a reward of its own, and it gives images.
"""

import base64
import io
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import decentral
from decentral.api.live_report import Live
from decentral.bundles.onnx_graph import answers_of_graph
from decentral.cli import main
from decentral.inspection.films import film
from decentral.runs.trained import Trained
from decentral.runtime import State, load
from tests.environments.zoo import Yard

YARD = "pettingzoo:tests.environments.zoo:Yard"
NAMES = Yard.possible_agents
SETTINGS = ["--environment.time_limit", "3", "--environment.may_end_early", "false", "--environment.rewards", "own"]
SMALL = ["--algorithm.hidden", "4", "--training.batch_episodes", "1", "--training.replay_episodes", "2"]
SMALL += ["--training.test_episodes", "1", "--training.test_interval", "9"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Trained for three episodes, then resumed for three more; with a page that was live."""
    place = tmp_path_factory.mktemp("yard") / "run"
    main(["train", "iql", YARD, *SETTINGS, *SMALL, "--steps", "9", "--out", str(place)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Live, "tested", keep_page)
        main(["resume", str(place), "--steps", "18", "--live", "--environment", YARD])
    return decentral.load(place)


def keep_page(live, rows, tested=Live.tested):
    """A copy of the page as it was while the run was being trained."""
    tested(live, rows)
    (place,) = live.places
    shutil.copy(place / "report.html", place / "live.html")


def test_it_is_sound_and_nothing_of_padding_is_told(capsys):
    main(["check-env", YARD, *SETTINGS, "--episodes", "2"])
    said = capsys.readouterr().out
    assert "nothing wrong was found" in said and "scout 4, lifter 7, guard 5" in " ".join(said.split())


def test_it_was_resumed_to_the_end(run):
    assert run.steps[-1] == 18 and run.directory.is_finished
    assert {"test_return_scout", "test_return_lifter", "test_return_guard"} <= run.metrics[-1].keys()


@pytest.mark.parametrize("page", ["report.html", "live.html"], ids=["in the end", "while it trained"])
def test_its_page_shows_the_images_of_an_episode(run, page):
    page = (run.path / page).read_text()
    held = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    episode = held["runs"][0]["inside"]["timeline"]
    images = [np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")) for png in episode["images"]]
    assert [image[0, 0, 0] for image in images] == [0, 60, 120, 180] and episode["image_steps"] == [0, 1, 2, 3]
    assert ("after 18 steps" in episode["meaning"]) == ('http-equiv="refresh"' in page)
    assert images[0].shape == (8, 12, 3) and "There are no images" not in episode["meaning"]


def test_it_can_be_watched(run, tmp_path):
    main(["watch", str(run.path), "--out", str(tmp_path), "--environment", YARD])
    page = (tmp_path / "seed-0-episode-0.html").read_text()
    assert page.count('"image":"') == 4  # three steps and the end
    with Image.open(tmp_path / "seed-0-episode-0.gif") as gif:
        assert gif.n_frames == 4


def test_a_film_tells_who_is_there_and_what_each_has_earned(run):
    trained = Trained.load(run.directory)
    told = film(trained, "iql", seed=0, episode=5)
    assert told.agent_names == NAMES and told.action_names[0] == ("action 0", "action 1", "action 2")
    assert [[turn.gone for turn in frame.turns] for frame in told.frames[1:]] == [
        [False] * 3,
        *[[False, False, True]] * 2,
    ]
    for place, (count, name) in enumerate(zip((3, 5, 2), NAMES, strict=True)):
        turns = [frame.turns[place] for frame in told.frames[:-1] if not frame.turns[place].gone]
        assert all(len(turn.values) == count and turn.action == _best(turn.values) for turn in turns), name
        assert [turn.reward for turn in turns] == [float(turn.action == count - 1) for turn in turns]
    np.testing.assert_allclose(told.frames[-1].total, trained.evaluate()[0, 5], rtol=1e-6)


def _best(values):
    return max((value, -action) for action, value in enumerate(values) if value is not None)[1] * -1


ON_A_DEVICE = """
import sys
import numpy as np
sys.modules["jax"] = None  # not installed
from decentral.runtime import load
from tests.environments.zoo import Yard
agents = {name: load(f"{sys.argv[1]}/{name}") for name in Yard.possible_agents}

def flat(seen):  # the parts of a dictionary in their order; a door is one of two
    return np.concatenate([seen["place"], np.eye(2)[seen["door"]]]) if isinstance(seen, dict) else seen

world, steps, outside = Yard(), 0, 0
while steps < 10_000:
    seen, told = world.reset(seed=steps)
    states = {name: agent.start() for name, agent in agents.items()}
    while world.agents:
        actions = {}
        for name in world.agents:
            mask = told[name].get("action_mask") if steps % 2 else None
            action, states[name] = agents[name].act(flat(seen[name]), mask, states[name])
            fits = world.action_space(name).contains(action)
            outside += not fits or (mask is not None and not mask[action - world.action_space(name).start])
            actions[name] = action if fits else world.action_space(name).start
        seen, _, _, _, told = world.step(actions)
        steps += 1
print(f"{outside} outside in {steps // 10_000} x 10,000 steps; jax {sys.modules['jax']}")
"""


@pytest.fixture(scope="module")
def bundles(run, tmp_path_factory):
    """A bundle of each agent, by its name."""
    place = tmp_path_factory.mktemp("bundles")
    for name in NAMES:
        words = ["--agent", name, "--out", str(place / name), "--episodes", "1"]
        main(["export", str(run.path), *words, "--environment", YARD])
    return place


def test_on_a_device_no_action_lies_outside_the_agents_own_space_in_ten_thousand_steps(bundles):
    command = [sys.executable, "-c", ON_A_DEVICE, str(bundles)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0 outside in 1 x 10,000 steps; jax None\n", "")


def test_a_bundle_names_the_parts_of_a_dictionary(bundles):
    spec = json.loads((bundles / "scout" / "spec.json").read_text())
    assert spec["observation"]["entries"] == ["place[0]", "place[1]", "door=0", "door=1"]


def test_as_a_graph_no_action_lies_outside_either(run, bundles, tmp_path):
    pytest.importorskip("onnxruntime")
    graphs = {}
    for name, count in zip(NAMES, (3, 5, 2), strict=True):
        words = ["--agent", name, "--out", str(tmp_path / name), "--episodes", "1", "--format", "onnx"]
        main(["export", str(run.path), *words, "--environment", YARD])  # compared with the agent before it is written
        graphs[name] = answers_of_graph(tmp_path / name / "agent.onnx", count)
    world, agents, chance, taken = Yard(), {name: load(bundles / name) for name in NAMES}, np.random.default_rng(0), 0
    states = {name: agent.start() for name, agent in agents.items()}
    while taken < 10_000:
        for name, answer in graphs.items():
            told = answer(chance.normal(size=agents[name].spec.observation_size).astype(np.float32), None, states[name])
            assert world.action_space(name).contains(told.action)
            states[name], taken = State(told.memory, told.action - world.action_space(name).start), taken + 1
