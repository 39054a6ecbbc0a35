"""A report in a real browser: it draws without complaint at the sizes of a desk and of a pocket, and it answers."""

import json
import re
import shutil
import subprocess

import pytest
from matplotlib.image import imread

import decentral
from tests.small_runs import small_hunt, small_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the pages are not looked at")
SIZES = [(1280, 800), (390, 844)]

PROBE = """
const told = {};
window.addEventListener("load", () => {
  const charts = [...document.querySelectorAll("svg[tabindex]")];
  const press = (key) => charts[0].dispatchEvent(new KeyboardEvent("keydown", { key }));
  const readout = () => document.querySelector("figure .readout").innerText;
  told.wider = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  told.charts = charts.length;
  told.tables = document.querySelectorAll(".values table").length;
  const captions = [...document.querySelectorAll("figcaption")].map((own) => own.innerText);
  told.maps = captions.filter((own) => own.includes("greedy move")).length;
  told.timelines = document.querySelectorAll(".track").length;
  told.sections = [...document.querySelectorAll("h2")].map((head) => head.innerText);
  const middle = (box) => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const covers = (box, [x, y]) => x > box.left && x < box.right && y > box.top && y < box.bottom;
  const inPlot = (own) => {
    const rules = [...own.querySelectorAll(".axis")].map((rule) => rule.getBoundingClientRect());
    const plot = { left: rules[0].left, right: rules[0].right,
      top: Math.min(...rules.map((rule) => rule.top)), bottom: Math.max(...rules.map((rule) => rule.bottom)) };
    const texts = [...own.querySelectorAll("text")];
    return texts.filter((text) => covers(plot, middle(text.getBoundingClientRect()))).map((text) => text.textContent);
  };
  told.struck = charts.flatMap(inPlot);
  told.captions = captions;
  told.titles = [...document.querySelectorAll("h3")].map((head) => head.innerText);
  charts[0].focus();
  press("ArrowRight");
  told.first = readout();
  press("End");
  told.last = readout();
  charts[0].blur();
  told.blurred = document.querySelector("figure .readout").hidden;
  const edges = charts[0].getBoundingClientRect();
  charts[0].dispatchEvent(new PointerEvent("pointermove", { clientX: edges.right - 13, clientY: edges.top + 20 }));
  told.pointed = readout();
  const paths = () => document.querySelectorAll("figure path").length;
  const before = paths();
  document.querySelector(".legend button").click();
  told.toggled = [before > paths(), document.querySelector(".legend button").getAttribute("aria-pressed")];
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", innerText: JSON.stringify(told) }));
});
"""


WIDER = """
window.addEventListener("load", () => {
  const tables = [...document.querySelectorAll("section:not(.film) > .wide:has(tbody th)")];
  const those = window.innerWidth > 1000 ? tables : []; // on a small screen a table may be scrolled by itself
  const wider = [document.documentElement, ...those].map((box) => box.scrollWidth - box.clientWidth);
  const innerText = String(Math.max(...wider));
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", innerText }));
});
"""


def browse(file, size, *wishes):
    """Let the browser open a page: what it printed, and what it complained of."""
    window = f"--window-size={size[0]},{size[1]}"
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0"]
    done = subprocess.run(
        [CHROMIUM, *quiet, window, *wishes, file.as_uri()], capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page of three runs on two environments."""
    runs = [small_run("iql").path, small_run("dac").path, small_hunt().path]
    return decentral.report(runs, out=tmp_path_factory.mktemp("report"))


@pytest.mark.parametrize("size", SIZES)
def test_the_page_draws_everything_and_answers_to_keys(report, size, tmp_path):
    probed = tmp_path / "probed.html"
    probed.write_text(report.read_text().replace("</body>", f"<script>{PROBE}</script></body>"))
    printed, complaints = browse(probed, size, "--dump-dom")
    assert complaints == []
    told = json.loads(re.search(r'<pre id="told">(.*?)</pre>', printed, re.DOTALL)[1])
    assert told["wider"] == 0  # no scrolling sideways
    assert told["struck"] == []  # no words where a curve may run through them
    assert any("optimal 8.00" in caption for caption in told["captions"])
    assert {"loss", "absolute TD error", "Q-values in learning"} <= {*told["titles"]}
    assert (told["tables"], told["maps"], told["timelines"]) == (4, 2, 1)
    assert told["charts"] >= 2 + 5  # a chart of curves for each environment, and of each group of measures
    assert told["sections"] == [
        "Learning curves",
        "Final test",
        "Inside the agents",
        "Measured while learning",
        "How the runs were made",
    ]
    assert told["first"].startswith("step 0\n") and told["last"].startswith("step 100\n")
    assert told["blurred"] is True and told["pointed"] == told["last"]
    for name in ("iql", "dac"):
        assert f"{name} on matrix-game: {small_run(name).returns[:, -1].mean():.2f}" in told["last"]
    assert told["toggled"] == [True, "false"]


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """The pages of two runs whose names have no place to break."""
    place = tmp_path_factory.mktemp("long")
    runs = [place / (name + "0123456789" * 8) for name in ("iql", "dac")]
    for run in runs:
        shutil.copytree(small_run("iql").path, run)
    return decentral.report(runs, out=place / "report"), decentral.watch(*runs, out=place / "watch").page


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("which", [0, 1], ids=["report", "films"])
def test_two_runs_of_long_names_do_not_make_a_page_scroll_sideways(long_names, which, size, tmp_path):
    probed = tmp_path / "probed.html"
    probed.write_text(long_names[which].read_text().replace("</body>", f"<script>{WIDER}</script></body>"))
    printed, complaints = browse(probed, size, "--dump-dom")
    assert complaints == [] and re.search(r'<pre id="told">(.*?)</pre>', printed)[1] == "0"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_of_the_page_has_the_colours_of_the_readers_scheme(report, size, scheme, tmp_path):
    wish = [] if scheme == "light" else ["--blink-settings=preferredColorScheme=0"]
    _, complaints = browse(report, size, *wish, f"--screenshot={tmp_path / 'shot.png'}")
    shot = imread(tmp_path / "shot.png")
    assert complaints == [] and shot.shape[:2] == (size[1], size[0])
    ground, covered = shot[2, 2, :3], (abs(shot[..., :3] - shot[2, 2, :3]).max(axis=-1) > 0.2).mean()
    assert (ground.mean() > 0.9) == (scheme == "light")
    assert 0.01 < covered < 0.6  # something is drawn on the ground


def test_the_page_can_be_printed(report, tmp_path):
    browse(report, SIZES[0], "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'page.pdf'}")
    assert (tmp_path / "page.pdf").read_bytes()[:5] == b"%PDF-"
