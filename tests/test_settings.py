import math
from typing import ClassVar, Literal

import jax
import pytest

from decentral.settings import Refused, Settings, as_data, build, headed_fields, setting


class Oven(Settings):
    heat: float = setting(180.0, "degrees", at_least=0, at_most=300)
    trays: int = setting(2, "trays", at_least=1)
    fan: bool = setting(False, "with the fan on")
    mode: Literal["bake", "grill"] = setting("bake", "how")


class SteamOven(Oven):
    heading: ClassVar[str] = "Steam"
    water: float = setting(1.0, "litres", at_least=0)
    trays: int = setting(3, "trays", at_least=1)


class OwnOven(SteamOven):
    colour: str = setting("white", "of the door")


def test_settings_stand_under_the_heading_of_the_class_that_first_declared_them():
    named = {heading: [field.name for field in fields] for heading, fields in headed_fields(OwnOven).items()}
    assert named == {"": ["heat", "trays", "fan", "mode", "colour"], "Steam": ["water"]}
    assert list(headed_fields(Oven)) == [""]


def test_numbers_are_leaves_and_the_rest_shapes_the_program():
    assert jax.tree.leaves(Oven()) == [180.0]


class Dial(Settings):
    level: float = setting(0.0, "how high it is turned", at_least=0, static=True)
    word: str = setting("a-b", "what it says", form=(r"[a-z](-[a-z])*", "letters with - between them"))


def test_a_number_that_switches_something_on_shapes_the_program():
    assert jax.tree.leaves(Dial(level=1)) == [] and type(Dial(level=1).level) is float
    assert jax.tree.structure(Dial(level=1.0)) != jax.tree.structure(Dial())


def test_a_text_must_have_its_form():
    assert Dial(word="c").word == "c"
    with pytest.raises(Refused, match=r"dial\.word must be letters with - between them, got 'a-'"):
        build(Dial, {"word": "a-"}, "dial")


def test_settings_survive_the_way_through_plain_data():
    oven = Oven(heat=200, trays=3, fan=True, mode="grill")
    assert build(Oven, as_data(oven), "oven") == oven
    assert as_data(oven) == {"heat": 200.0, "trays": 3, "fan": True, "mode": "grill"}


@pytest.mark.parametrize(
    ("values", "refusal"),
    [
        ({"heat": math.nan}, "oven.heat must be a number at least 0 and at most 300, got nan"),
        ({"heat": 301.0}, "oven.heat must be a number at least 0 and at most 300, got 301.0"),
        ({"heat": "hot"}, "oven.heat must be a number at least 0 and at most 300, got 'hot'"),
        ({"heat": True}, "oven.heat must be a number at least 0 and at most 300, got True"),
        ({"trays": 0}, "oven.trays must be a whole number at least 1, got 0"),
        ({"trays": 1.5}, "oven.trays must be a whole number at least 1, got 1.5"),
        ({"trays": True}, "oven.trays must be a whole number at least 1, got True"),
        ({"fan": 1}, "oven.fan must be true or false, got 1"),
        ({"mode": "fry"}, "oven.mode must be one of bake, grill, got 'fry'"),
        ({"door": "open"}, "unknown setting oven.door: oven has fan, heat, mode, trays"),
    ],
)
def test_what_makes_no_sense_is_refused_by_key_value_and_what_is_allowed(values, refusal):
    with pytest.raises(Refused) as caught:
        build(Oven, values, "oven")
    assert str(caught.value) == refusal
