"""A film as a page and as a GIF; the film is made by hand."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from decentral.analysis.animation.canvas import (
    BAD,
    BORDER,
    COLOURS,
    FAINT,
    FIELD,
    HEALTH,
    NOBODY,
    RULE,
    SHIELD,
    Canvas,
    PictureFrame,
    fitted,
    mixed,
    shaded,
)
from decentral.analysis.animation.gif import write_gif
from decentral.analysis.animation.html import film_data, page, write_page
from decentral.environments.host.filmed import picture_of_image
from decentral.pictures import Film, Frame, Line, Mark, Picture, Tile, Turn, cropped, overhang
from tests.browser import PROGRAM, Browser

AT_THE_EDGE = (Mark(3.9, 0.1, 0.4, bars=(0.5, 0.5), hit=3.0), Mark(0.1, 3.9, 0.4, hit=2.0, frozen=True))
BEYOND = (Line(3.5, 1.5, 4.3, 1.5, 0, arrow=True), Line(0.0, 4.0, 4.0, 4.0, 1, kind="shot"))
WALL = (Tile(0, 3, kind="blocked"),)


def battle(steps=3, title="two & one <half>"):
    """A film with every word of the vocabulary: a unit walks to the right towards a target and loses health."""

    def picture(step):
        unit = Mark(0.5 + step, 1.5, 0.4, 0, label="1", bars=(1 - step / 4, 0.5), agent=0)
        enemy = Mark(3.5, 1.5, 0.4, 1, "square", bars=(0.25,), gone=step == steps)
        near = (Mark(0.5, 0.5, 0.3, shape="ring"), Mark(2.5, 3.5, 0.3, shape="diamond"))
        lines = (Line(0.5 + step, 1.5, 3.0, 1.5, 0, arrow=True), Line(0, 0, 1, 1))
        return Picture(4, 4, WALL, lines, (unit, enemy, *near), grid=True, texts=(f"enemies: {1 - step // steps}",))

    view = Picture(2, 2, marks=(Mark(1, 1, 0.5),))
    frames = [
        Frame(picture(step), (Turn(step % 2, (0.5, None, -1.25), 2, view),), -1.5 if step else 2.0, 2 - 1.5 * step)
        for step in range(steps)
    ]
    end = Frame(picture(steps), (Turn(None, ()),), None, frames[-1].total)
    return Film(title, ("marine 0",), (("stop", "east", "attack 0"),), (*frames, end))


class Tags(HTMLParser):
    """All tags of a page; opened ones must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.attributes += [name for name, _ in attributes]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_well_formed_and_refers_to_nothing_outside():
    text = page([battle(), battle(5)])
    tags = Tags(text)
    assert tags.open == [] and "src" not in tags.attributes and "href" not in tags.attributes
    assert not re.search(r"http|//\w+\.|src=|url\(|@import|fetch|import\(", text)
    assert "<title>two &amp; one &lt;half&gt; and two" in text and "{{" not in text


def films_of(text):
    return json.loads(re.search(r'<script type="application/json" id="films">(.*?)</script>', text, re.S)[1])


def test_a_page_holds_every_frame():
    (film,) = films_of(page([battle()]))
    assert film["title"] == "two & one <half>" and film["action_names"] == [["stop", "east", "attack 0"]]
    assert [frame["reward"] for frame in film["frames"]] == [2, -1.5, -1.5, None]
    assert [frame["picture"]["marks"][0]["x"] for frame in film["frames"]] == [0.5, 1.5, 2.5, 3.5]
    assert film["frames"][1]["turns"][0]["values"] == [0.5, None, -1.25]
    assert film["frames"][1]["turns"][0]["context"] == 2 and "context" not in film["frames"][3]["turns"][0]


def test_a_page_keeps_tiles_only_where_they_change():
    frames = film_data(battle())["frames"]
    assert frames[0]["picture"]["tiles"] == [{"x": 0, "y": 3, "kind": "blocked"}]
    assert not any("tiles" in frame["picture"] for frame in frames[1:])


def filmed(*shades):
    """A film of images of one colour each, of an agent that leaves after the first."""

    def frame(number, shade):
        picture = picture_of_image(np.full((8, 12, 3), shade, np.uint8))
        return Frame(picture, (Turn(None, (), gone=True) if number else Turn(0, (), reward=0.5),), 1.0, 1.0)

    return Film("x", ("a",), (("go",),), tuple(frame(*each) for each in enumerate(shades)))


def test_a_page_keeps_images_only_where_they_change():
    frames = film_data(filmed(10, 10, 90))["frames"]
    assert ["image" in frame["picture"] for frame in frames] == [True, False, True]
    assert base64.b64decode(frames[0]["picture"]["image"]).startswith(b"\x89PNG")
    assert [frame["turns"][0].get("gone") for frame in frames] == [None, True, True]


def test_a_gif_has_the_colours_of_images(tmp_path):
    write_gif([filmed((200, 30, 90), (20, 220, 10))], tmp_path / "x.gif")
    with Image.open(tmp_path / "x.gif") as gif:
        for number, colour in enumerate([(200, 30, 90), (20, 220, 10)]):
            gif.seek(number)
            found = gif.convert("RGB").getpixel((180, 100))
            assert max(abs(one - other) for one, other in zip(found, colour, strict=True)) <= 8


def test_a_hundred_steps_of_a_hunt_or_a_small_battle_take_less_than_a_megabyte():
    assert len(page([battle(200), battle(200)])) < 1_000_000


def test_a_gif_has_a_frame_for_every_step_and_one_for_the_end(tmp_path):
    write_gif([battle(3), battle(5)], tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as image:
        assert image.n_frames == 6
        times = []
        for number in range(6):
            image.seek(number)
            times.append(image.info["duration"])
    assert times == [300] * 5 + [1500]


def drawn(picture, side=40):
    """A picture of 4 units as an image of so many points [rows, columns, 3], without its border."""
    return framed(picture, side + 2 * BORDER)[BORDER:-BORDER, BORDER:-BORDER]


def framed(picture, side):
    canvas = Canvas(side, side)
    PictureFrame(canvas, (0, 0), (side, side), picture).draw()
    return np.asarray(canvas.finished().convert("RGB"))


def colour(text):
    return [int(text[place : place + 2], 16) for place in (1, 3, 5)]


def test_marks_stand_in_their_places_in_their_colours():
    image = drawn(
        Picture(4, 4, marks=(Mark(1, 1, 0.5, 0), Mark(3, 2, 0.5, 1, "square"), Mark(1, 3, 0.5, 2, gone=True)))
    )
    assert image[10, 10].tolist() == colour(COLOURS[0]) and image[5, 5].tolist() == colour(FIELD)  # a circle's corner
    assert image[20, 30].tolist() == image[16, 26].tolist() == colour(COLOURS[1])  # a square's corner
    assert image[30, 7].tolist() == colour(mixed(COLOURS[2], 0.25))  # gone: faint, beside its cross
    assert image[20, 10].tolist() == colour(FIELD)


def test_bars_above_a_mark_are_as_long_as_their_shares():
    image = drawn(Picture(4, 4, marks=(Mark(2, 2, 1.0, 0, bars=(0.5, 1.0)),)))
    health, shield = image[4], image[7]  # 2.5 points thick and 1 apart: from 3 to 5.5, and from 6.5 to 9
    assert (health == colour(HEALTH)).all(axis=-1).sum() == 10 and (shield == colour(SHIELD)).all(axis=-1).sum() == 20


def test_a_text_that_is_too_wide_is_cut_to_its_room():
    assert fitted("attack", 10, 200) == "attack"
    assert fitted("attack the nearest enemy", 10, 60).startswith("attack") and fitted("attack", 10, 1) == ""
    assert fitted("attack the nearest enemy", 10, 60).endswith("\u2026")


def test_an_arrow_reaches_its_end_and_a_shade_tells_good_from_bad():
    arrow = drawn(Picture(4, 4, lines=(Line(0.5, 2, 3.5, 2, 0, arrow=True),)), 200)
    assert arrow[100, 30].tolist() == arrow[100, 170].tolist() == colour(COLOURS[0])
    assert arrow[100, 20].tolist() == arrow[100, 180].tolist() == colour(FIELD)
    halves = drawn(Picture(4, 4, tiles=(Tile(0, 0, 2, 4, shade=1.0), Tile(2, 0, 2, 4, shade=-1.0))))
    assert halves[20, 10].tolist() == colour(shaded(1.0)) and halves[20, 30].tolist() == colour(shaded(-1.0))
    assert shaded(1.0) == "#80b8d8" and shaded(-1.0) == "#eaae80"  # half of the ink, half of the paper


def test_a_picture_has_a_margin_for_what_reaches_beyond_its_field():
    inside = Picture(4, 4, marks=(Mark(2, 2, 0.5, bars=(1.0, 1.0)),))
    assert overhang(inside) == 0
    assert overhang(Picture(4, 4, marks=(Mark(2, 0.5, 1.0, bars=(1.0, 1.0)),))) == pytest.approx(1.7 - 0.5)  # its bars
    assert overhang(Picture(4, 4, lines=(Line(3, 2, 4.2, 2, arrow=True),))) == pytest.approx(0.2 + 1.6 * 4 / 60)
    assert overhang(Picture(4, 4, marks=(Mark(0.5, 2, 0.4, frozen=True),))) == pytest.approx(0.1)  # its ring
    assert overhang(Picture(4, 4, marks=(Mark(0, 2, 0.6, hit=1.0),))) == pytest.approx(0.95)  # half of it outside
    film = replace(battle(), frames=tuple(replace(frame, picture=inside) for frame in battle().frames[:2]))
    wide = replace(film.frames[1], picture=replace(inside, marks=(Mark(4.5, 2, 0.5),)))
    pictures = [frame["picture"] for frame in film_data(replace(film, frames=(film.frames[0], wide)))["frames"]]
    assert [picture["margin"] for picture in pictures] == [1, 1]  # the field never moves


@pytest.mark.parametrize("shape", ["circle", "square"])
def test_the_border_covers_no_mark_at_the_edge_of_the_field(shape):
    corners = [(0.5, 0.5), (3.5, 0.5), (0.5, 3.5), (3.5, 3.5)]
    image = framed(Picture(4, 4, marks=tuple(Mark(x, y, 0.5, 0, shape) for x, y in corners)), 84)
    wide = (image == colour(COLOURS[0])).all(axis=-1).any(axis=0)
    assert np.flatnonzero(wide)[[0, -1]].tolist() == [2, 81]  # the border is two points wide
    assert (image[:2] == colour(RULE)).all() and (image[-2:] == colour(RULE)).all()


def test_of_an_open_field_the_part_is_shown_where_anybody_ever_stands():
    def at(x, y, **more):
        return Frame(Picture(40, 20, lines=(Line(x, y, x + 1, y),), marks=(Mark(x, y, 0.5),), **more), (), None, 0.0)

    shown = cropped(Film("x", (), (), (at(10, 5), at(22, 6))))
    (first, second) = (frame.picture for frame in shown.frames)
    assert (first.width, first.height) == (16, 8)  # from 8 to 24; from 3 to 8, and half of the width: from 1.5 to 9.5
    assert (first.marks[0].x, first.marks[0].y, first.lines[0].to_x) == (2, 3.5, 3)
    assert (second.marks[0].x, second.marks[0].y) == (14, 4.5)
    corner = cropped(Film("x", (), (), (at(0.5, 0.5), at(6.5, 0.5)))).frames[0].picture
    assert (corner.width, corner.height, corner.marks[0].x, corner.marks[0].y) == (10, 5, 0.5 + 0, 0.5)
    for more in ({"grid": True}, {"tiles": WALL}):
        whole = Film("x", (), (), (at(10, 5, **more),))
        assert cropped(whole) is whole


def test_the_dead_the_frozen_and_those_who_are_hit_are_told_apart():
    plain, dead, frozen, hit = (
        drawn(Picture(4, 4, marks=(Mark(2, 2, 1.0, 0, **state),)), 80)
        for state in ({}, {"gone": True}, {"frozen": True}, {"hit": 6.0})
    )
    assert (dead == colour(FAINT)).all(axis=-1).any() and not (plain == colour(FAINT)).all(axis=-1).any()
    assert (hit == colour(BAD)).all(axis=-1).any() and not (plain == colour(BAD)).all(axis=-1).any()
    ring = [(image == colour(NOBODY)).all(axis=-1).any() for image in (plain, dead, frozen, hit)]
    assert ring == [False, False, True, False]


def test_a_shot_is_a_beam_and_an_aim_is_dashed_and_two_who_shoot_at_each_other_have_two():
    shot, aim, back = (
        drawn(Picture(4, 4, lines=(Line(*ends, colour=0, kind=kind),)), 200)
        for ends, kind in (((0.5, 2, 3.5, 2), "shot"), ((0.5, 2, 3.5, 2), "aim"), ((3.5, 2, 0.5, 2), "shot"))
    )
    inked = [(image == colour(COLOURS[0])).all(axis=-1) for image in (shot, aim, back)]
    rows = [np.flatnonzero(image.any(axis=1)) for image in inked]
    assert rows[0].max() < 100 < rows[2].min()  # each to its own left
    assert inked[0].any(axis=0).sum() > 140 > inked[1].any(axis=0).sum() > 50  # gaps


FITS = """(() => {
  const svg = document.querySelector(".field > svg");
  const edge = svg.getBoundingClientRect();
  const parts = [...svg.querySelectorAll("circle, polygon, line, text, g rect")];
  const cut = parts.map((part) => part.getBoundingClientRect()).filter((part) =>
    part.left < edge.left - 1 || part.top < edge.top - 1 ||
    part.right > edge.right + 1 || part.bottom > edge.bottom + 1);
  const room = document.querySelector("footer").getBoundingClientRect().top - edge.top;
  return [cut.length, edge.height / room];
})()"""


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_browser_plays_a_page_without_complaint(tmp_path, width, height):
    write_page([battle(3, "first"), battle(60, "second")], tmp_path / "film.html")
    with Browser() as browser:
        browser.open(tmp_path / "film.html", width, height, dark=width < 500)
        told = 'Array.from(document.querySelectorAll(".now"), (now) => now.textContent)'
        assert browser.value(told) == ["step 1 of 3 · reward +2 · return 2", "step 1 of 60 · reward +2 · return 2"]
        assert browser.value("document.documentElement.scrollWidth") == width  # nothing sticks out
        assert browser.value('document.querySelectorAll(".field circle").length') == 4
        browser.press("ArrowRight")
        assert browser.value(told)[0] == "step 2 of 3 · reward -1.5 · return 0.5"
        assert browser.value('document.querySelector(".agent").textContent').startswith("marine 0east context 2")
        browser.press("End")
        assert browser.value(told) == ["step 3 of 3 · the end · return -1", "step 60 of 60 · the end · return -86.5"]
        assert browser.value('document.querySelectorAll(".field rect[fill=\\"var(--blocked)\\"]").length') == 2
        browser.press("ArrowLeft")
        assert browser.value(told)[1] == "step 60 of 60 · reward -1.5 · return -86.5"
        browser.press("Home")
        assert browser.value('document.getElementById("slider").value') == "0"
        browser.value('document.getElementById("speed").value = "1"')
        for word in ("pause", "play"):
            browser.press(" ")
            assert browser.value('document.getElementById("play").textContent') == word
        assert browser.complaints == [] and browser.requests == [(tmp_path / "film.html").as_uri()]
        alone = [
            replace(frame, picture=replace(frame.picture, marks=(*frame.picture.marks, *AT_THE_EDGE), lines=BEYOND))
            for frame in battle().frames
        ]
        write_page([replace(battle(), frames=tuple(alone))], tmp_path / "alone.html")
        browser.open(tmp_path / "alone.html", width, height)
        cut, share = browser.value(FITS)
        assert cut == 0 and (share > 0.8 or width < 500)  # the field takes the height that there is
        assert browser.screenshot()[:8] == b"\x89PNG\r\n\x1a\n"
