"""What environments from elsewhere render, as pictures; and what is shown where they render nothing."""

import io
from typing import ClassVar

import gymnasium
import jax
import numpy as np
import pytest
from PIL import Image

from decentral.environments.host.filmed import NOTHING, SHOWN_SIDE, FilmedStage, picture_of_image
from decentral.environments.registry import environment_class
from decentral.inspection.episode_charts import FINE, GUTTER, HEIGHT, WIDTH, AgentTrack, chart
from decentral.inspection.films import images_seen
from decentral.pictures import Picture
from decentral.settings import Refused
from tests.environments import registered
from tests.environments.zoo import Yard
from tests.host_worlds import Counting, CountingStage


def pixels(picture):
    return np.asarray(Image.open(io.BytesIO(picture.image)).convert("RGB"))


class Showing(Counting):
    """Its stages show what they are told to, from the second moment on."""

    def open_rendered(self):
        if self.trouble == "no room":
            raise OSError("no display")
        return ShowingStage(self.trouble, self.in_episode)


class ShowingStage(CountingStage):
    def render(self):
        image = np.full((4, 6, 3), 50, np.uint8)
        if self.taken == 0:
            return image
        shown = {
            "none": image,
            "drawn": Picture(3, 3),
            "alpha": np.full((4, 6, 4), 9, np.uint8),
            "list": [image],
            "floats": image / 255,
            "flat": image[..., 0],
            "huge": np.zeros((2, 5000, 3), np.uint8),
        }
        return shown[self.trouble]  # anything else raises


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("none", ""),
        ("drawn", ""),
        ("alpha", ""),
        ("list", "a rendered image must be bytes of the shape (height, width, 3), got [array("),
        (
            "floats",
            "a rendered image must be bytes of the shape (height, width, 3), got float64 of the shape (4, 6, 3)",
        ),
        ("flat", "got uint8 of the shape (4, 6)"),
        ("huge", "got uint8 of the shape (2, 5000, 3)"),
        ("exit", "Showing when rendered: KeyError: 'exit'"),
        ("no room", "Showing when opened: OSError: no display"),
    ],
)
def test_an_episode_is_played_whatever_becomes_of_its_pictures(trouble, said):
    stage = FilmedStage(Showing(trouble=trouble, in_episode=9))
    for seed in (1, 2):
        stage.reset(seed)
        assert [stage.step(np.zeros(2, int)).terminated for _ in range(3)] == [False, False, True]
    stage.close()
    assert said in stage.trouble and bool(stage.trouble) == bool(said)
    if not said:
        assert len(stage.pictures) == 4  # of the second episode alone
        assert stage.pictures[0].width == 6 and (pixels(stage.pictures[0]) == 50).all()


def test_a_stage_that_shows_nothing_says_so():
    stage = FilmedStage(Counting())
    stage.reset(0)
    assert stage.trouble == NOTHING and not stage.pictures
    stage.close()


def test_a_large_image_is_made_smaller_and_keeps_its_sides():
    picture = picture_of_image(np.zeros((500, 1000, 3), np.uint8))
    assert (picture.width, picture.height) == (SHOWN_SIDE, SHOWN_SIDE / 2) and len(picture.image) < 1000


def test_an_environment_is_made_to_render_only_for_a_film():
    kind = environment_class("pettingzoo:tests.environments.zoo:Yard")
    assert kind(rewards="own").open().environment.render_mode is None
    rendered = kind(rewards="own").open_rendered()
    assert rendered.environment.render_mode == "rgb_array" and isinstance(rendered.environment, Yard)
    assert environment_class("pettingzoo:tests.environments.zoo:Trio")().open_rendered().render() is None


def test_a_compiled_environment_of_jaxmarl_shows_the_image_that_it_renders(monkeypatch):
    kind = environment_class("jaxmarl:tests.environments.jax_zoo:Zoo")
    state = kind().reset(jax.random.key(0))
    assert kind().depict(state, None) is None
    render = lambda self, inner: np.full((2, 2, 3), 7 + inner["taken"], np.uint8)  # noqa: E731
    monkeypatch.setattr(type(kind.environment), "render", render, raising=False)
    assert (pixels(kind().depict(state, None)) == 7).all()


class Lit(registered.Foragers):
    """Foragers that can be seen."""

    metadata: ClassVar[dict] = {"render_modes": ["rgb_array"], "render_fps": 4}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def render(self):
        return np.full((2, 2, 3), 5, np.uint8)


def test_an_environment_of_gymnasium_renders_if_it_says_that_it_can():
    gymnasium.register("Lit-v0", entry_point=Lit, max_episode_steps=3, order_enforce=False)
    for name, trouble in (("Lit-v0", ""), ("Foragers-v0", NOTHING)):
        stage = FilmedStage(environment_class(f"gymnasium:{name}")())
        stage.reset(0)
        assert stage.trouble == trouble and len(stage.pictures) == (not trouble)
        stage.close()


def test_an_image_that_an_agent_perceives_is_what_it_sees():
    kind = environment_class("pettingzoo:tests.environments.zoo:Camera")
    seen = kind().open().reset(0).observation  # 4 x 5 pixels of two colours: 0 and 1, 2 and 3, and so on
    (view,) = images_seen(kind(), seen)
    assert (view.width, view.height) == (5, 4) and pixels(view)[0, :3, 0].tolist() == [0, 2, 4]
    assert images_seen(kind(images="flat"), seen) == (None,)


def track(name, observations, actions):
    values = np.asarray([[0.0, 1.0], [1.0, np.nan], [np.nan, np.nan]])
    return AgentTrack(name, np.asarray(observations, float), values, np.asarray(actions))


def test_a_chart_shows_signs_values_choices_and_who_has_left():
    one = track("first of all agents", [[2, -1], [0, -2], [np.nan, np.nan]], [1, 0, -1])
    pictures = chart([one, one], np.asarray([0.0, -1.0, 1.0]), ["why"])
    image = np.asarray(Image.open(io.BytesIO(pictures[0].image)))
    tall, wide = (HEIGHT - 1) / 2 * FINE, (WIDTH - GUTTER - 0.3) * FINE / 3

    def at(share, step, aside=0.5):
        return image[round(share * tall), round(GUTTER * FINE + (step + aside) * wide)].tolist()

    assert at(0.1, 0) == [0, 114, 178, 235] and at(0.4, 1) == [213, 94, 0, 235]  # the largest of its row
    assert at(0.4, 0)[3] == round(20 + 215 / 2 - 0.5) and at(0.1, 2)[3] == at(0.6, 2)[3] == 0  # half; gone
    assert at(0.85, 0)[:3] == [230, 159, 0] and at(0.85, 0, 0.02) == [0, 114, 178, 235]  # taken, and its value
    assert at(0.85, 1)[3] == 0  # unavailable
    assert [picture.lines[0].x for picture in pictures] == sorted({picture.lines[0].x for picture in pictures})
    assert len(pictures) == 4 and pictures[0].texts[0] == "why" and pictures[0].tiles[0].text == "first of all …"


def test_of_many_numbers_a_chart_shows_the_largest_of_neighbours_and_of_many_agents_the_first():
    many = AgentTrack("a", np.tile(np.arange(100.0), (2, 1)), np.zeros((2, 2)), np.zeros(2, int))
    picture = chart([many] * 9, np.zeros(2), [])[0]
    assert picture.texts[-1] == "the first 8 of 9 agents" and len(picture.tiles) == 9


def test_what_cannot_be_a_picture_is_refused():
    with pytest.raises(Refused, match="a rendered image must be bytes"):
        picture_of_image(None)
