"""The page of `lasthop report` in a headless Chromium: what readers see, press and hear."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from browser import CONTRASTS, PROGRAM, Page
from conftest import HOP, SMALL
from lasthop.base.quantity import digits, human, labelled
from lasthop.base.table import latex
from lasthop.figures.lines import Mark
from lasthop.papers.paper import paper
from lasthop.report import page as pages
from lasthop.report.charts import chart
from lasthop.report.document import of_paper, of_study
from studies import METRIC
from test_report import crowded, hostile

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")

# Widths of a phone and of a desk, in CSS pixels.
WIDTHS = (360, 1280)
READY = "FIGURES.every((f) => !f.stage || f.drawn)"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> lh.Study:
    """A small study with a figure of each form that a scenario can have without much time."""
    folder = tmp_path_factory.mktemp("page")
    more = "".join(
        f'\n[[figure]]\nid = "{kind}"\nkind = "{kind}"\ny = "{METRIC}"\n{text}\n'
        for kind, text in {
            "bar": 'x = "flows.main.tcp.variant"\nlines = "links.path.loss.rate"',
            "box": 'x = "links.path.loss.rate"\nlines = "flows.main.tcp.variant"',
            "scatter": 'against = "flows.main.rtt_mean_s"\nlines = "flows.main.tcp.variant"',
            "matrix": 'rows = "flows.main.tcp.variant"\ncolumns = "links.path.loss.rate"',
        }.items()
    )
    (folder / "small.toml").write_text(SMALL + more)
    return lh.load(folder / "small.toml").sweep(replications=5, out=folder / "s").run()


@pytest.fixture(scope="module")
def file(study: lh.Study) -> Path:
    study.report(study.path / "report.html")
    return study.path / "report.html"


@pytest.fixture(scope="module")
def hop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study of an 802.11 hop: airtime, and lines over time."""
    folder = tmp_path_factory.mktemp("hop")
    (folder / "hop.toml").write_text(HOP.replace('"tahoe"', '"reno"'))
    made = lh.load(folder / "hop.toml").sweep(out=folder / "h").run()
    made.report(folder / "hop.html")
    return folder / "hop.html"


@pytest.fixture(scope="module")
def of_many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study with seven lines and a published value."""
    folder = tmp_path_factory.mktemp("many")
    return marked(crowded(folder, 7), folder / "many.html")


def marked(study: lh.Study, file: Path) -> Path:
    """The page of a study with a published value of Reno in its first figure."""
    document = of_study(study)
    mark = Mark(METRIC, "Reno", "1 %", 1.5e6, 0.12e6)
    document.parts[0].charts[0] = chart(study, study.scenario.figures()[0], [mark], 1000)
    pages.write(document, file)
    return file


@pytest.fixture(scope="module")
def of_a_paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a paper whose studies are not there: its statements."""
    folder = tmp_path_factory.mktemp("paper")
    pages.write(of_paper(paper("lle-tcp"), folder), folder / "paper.html")
    return folder / "paper.html"


def shown(tab: Page, file: Path, width: int = 1280, scheme: str = "light") -> Page:
    """A page with all of its figures drawn."""
    tab.size(width, mobile=width < 600)
    tab.prefer(scheme)
    tab.open(file)
    tab.do("document.documentElement.style.scrollBehavior = 'auto'")
    tab.do("FIGURES.forEach((f) => f.stage && !f.drawn && f.draw())")
    assert tab.do(READY)
    return tab


def over(tab: Page, figure: int, x: float, y: float = 0.5, *, click: bool = False) -> None:
    """Move the pointer to a place of a figure's first panel, in shares of its width and height."""
    tab.do(f"FIGURES[{figure}].host.scrollIntoView()")
    box = tab.do(f"JSON.parse(JSON.stringify(FIGURES[{figure}].plots[0].over.getBoundingClientRect()))")
    tab.mouse(box["left"] + x * box["width"], box["top"] + y * box["height"], click=click)


def place(figure: int, line: int, value: int) -> str:
    """A script that gives the place of a value of a line, in shares of the chart."""
    return (
        f"(() => {{ const u = FIGURES[{figure}].plots[0], s = FIGURES[{figure}].fig.panels[0].series[{line}];"
        f"return [u.valToPos(s.x[{value}], 'x') / u.over.clientWidth,"
        f"u.valToPos(s.y[{value}], 'y') / u.over.clientHeight]; }})()"
    )


def tip(tab: Page, figure: int) -> str:
    return str(tab.do(f"FIGURES[{figure}].tip.hidden ? '' : FIGURES[{figure}].tip.innerText"))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["file", "hop", "of_many", "of_a_paper"])
def test_nothing_is_wider_than_the_page(
    tab: Page, which: str, width: int, request: pytest.FixtureRequest
) -> None:
    shown(tab, request.getfixturevalue(which), width)
    assert tab.do("innerWidth") == width
    assert tab.do("document.scrollingElement.scrollWidth") == width
    # Open everything that opens.
    tab.do(
        "document.querySelectorAll('details, .claims').forEach((d) => { d.open = true; d.hidden = false; })"
    )
    assert tab.do("document.scrollingElement.scrollWidth") == width
    if which != "of_a_paper":
        tab.do("openPoint(DATA.studies[0], 0)")
        assert tab.do("$('#runs').scrollWidth <= $('#runs').clientWidth")
    assert tab.problems == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_pointer_over_a_line_shows_its_value_interval_and_n(tab: Page, file: Path, study: lh.Study) -> None:
    shown(tab, file)
    over(tab, 0, 0.34)
    said = tip(tab, 0)
    row = study.table(METRIC).rows[1]
    assert row["links.path.loss.rate"] == "1 %"
    assert "loss rate (%): 1" in said
    assert f"{digits(row['mean'] / 1e6)} Mbit/s" in said
    assert f"{digits(row['ci_low'] / 1e6)} to {digits(row['ci_high'] / 1e6)}" in said
    assert "n\u00a0=\u00a05" in said
    tab.mouse(2, 2)
    assert tip(tab, 0) == ""


@pytest.mark.parametrize("figure", range(4))
def test_every_chart_says_what_is_under_the_pointer(tab: Page, file: Path, figure: int) -> None:
    shown(tab, file)
    if figure == 3:
        at = place(3, 0, 0)
        over(tab, figure, *tab.do(at))
    else:
        over(tab, figure, 0.3)
    assert re.search(r"\d Mbit/s", tip(tab, figure))


def test_airtime_and_lines_over_time_say_their_values(tab: Page, hop: Path) -> None:
    shown(tab, hop)
    over(tab, 0, 0.2)
    assert re.search(r"backoff\s+[\d.]+ %", tip(tab, 0))
    over(tab, 1, 0.6)
    assert re.search(r"LLE\s+[\d.]+ m?s", tip(tab, 1))
    assert tab.problems == []


def test_a_line_can_be_hidden_by_mouse_and_keyboard(tab: Page, file: Path) -> None:
    shown(tab, file)
    picture = "FIGURES[0].plots[0].ctx.canvas.toDataURL()"
    before = tab.do(picture)
    tab.do("$('.legend button', FIGURES[0].host).click()")
    assert tab.do("$('.legend button', FIGURES[0].host).getAttribute('aria-pressed')") == "false"
    assert tab.do(picture) != before
    over(tab, 0, 0.34)
    assert "NewReno" in tip(tab, 0)
    assert re.search(r"^\s*Reno", tip(tab, 0), re.MULTILINE) is None
    tab.mouse(2, 2)
    tab.do("$('.legend button', FIGURES[0].host).focus()")
    tab.key("Enter")
    assert tab.do("$('.legend button', FIGURES[0].host).getAttribute('aria-pressed')") == "true"
    assert tab.do(picture) == before


def test_axes_become_logarithmic(tab: Page, file: Path) -> None:
    shown(tab, file)
    assert tab.do("FIGURES[0].plots[0].scales.y.min") == 0
    tab.do("$('[data-axis=y]', FIGURES[0].host).click()")
    assert tab.do("[FIGURES[0].plots[0].scales.y.distr, FIGURES[0].plots[0].scales.y.min > 0]") == [3, True]
    tab.do("$('[data-axis=x]', FIGURES[0].host).click()")
    assert tab.do("FIGURES[0].plots[0].scales.x.min > 0.5")
    assert tab.problems == []


def test_a_stretch_can_be_zoomed_and_left_again(tab: Page, hop: Path) -> None:
    shown(tab, hop)
    tab.do("FIGURES[1].host.scrollIntoView()")
    box = tab.do("JSON.parse(JSON.stringify(FIGURES[1].plots[0].over.getBoundingClientRect()))")
    y = box["top"] + 20
    tab.mouse(box["left"] + 100, y)
    press = {"x": box["left"] + 100, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
    tab.send("Input.dispatchMouseEvent", type="mousePressed", **press)
    for x in (150, 220):
        tab.send("Input.dispatchMouseEvent", type="mouseMoved", **{**press, "x": box["left"] + x})
    tab.send("Input.dispatchMouseEvent", type="mouseReleased", **{**press, "x": box["left"] + 220})
    assert tab.do("FIGURES[1].plots.every((u) => u.scales.x.min > 0.2)")
    tab.do("FIGURES[1].reset.click()")
    assert tab.do("FIGURES[1].plots[0].scales.x.min") == 0


def test_the_arrow_keys_read_a_chart_aloud(tab: Page, file: Path) -> None:
    shown(tab, file)
    tab.do("FIGURES[0].stage.focus()")
    tab.key("ArrowRight")
    first = tab.do("$('#said').textContent")
    tab.key("ArrowRight")
    second = tab.do("$('#said').textContent")
    assert first.startswith("loss rate (%): 0: Reno ")
    assert second.startswith("loss rate (%): 1: Reno ")
    tab.key("Escape")
    assert tip(tab, 0) == ""


def test_a_point_is_one_click_from_its_runs(tab: Page, file: Path, study: lh.Study) -> None:
    shown(tab, file)
    at = place(0, 1, 2)
    over(tab, 0, *tab.do(at), click=True)
    assert tab.do("$('#runs').open")
    assert tab.do("$('#runs-title').textContent") in {"Point 2", "Point 5"}
    tab.do("openPoint(DATA.studies[0], 5)")
    cells = tab.do(f"$$('tr[data-metric=\"{METRIC}\"] > *').map((c) => c.textContent)")
    values = study.values(5, METRIC)
    assert cells[2:] == [human(values[k], "bit/s") for k in range(5)]
    tab.do("const s = $('#runs select'); s.value = '3'; s.dispatchEvent(new Event('change'))")
    assert (
        tab.do("$('#runs pre').textContent") == "lasthop run scenario.toml --point 5 --seed 1 --replication 3"
    )
    tab.key("Escape")
    tab.until("!$('#runs').open")


def test_the_table_of_points_is_sorted_by_its_headings(tab: Page, file: Path, study: lh.Study) -> None:
    shown(tab, file)
    heading = f"$('th[data-name=\"{METRIC}\"]')"
    tab.do(f"{heading}.querySelector('button').click()")
    assert tab.do(f"{heading}.getAttribute('aria-sort')") == "ascending"
    order = "$$('.points tbody tr').map((row) => Number(row.dataset.point))"
    means = [row["mean"] for row in study.table(METRIC).rows]
    assert [means[i] for i in tab.do(order)] == sorted(means)
    tab.do(f"{heading}.querySelector('button').click()")
    assert [means[i] for i in tab.do(order)] == sorted(means, reverse=True)
    assert tab.do(f"{heading}.firstChild.firstChild.data") == labelled("goodput", "Mbit/s")


def test_what_is_saved_has_the_numbers_of_the_figure(tab: Page, file: Path, study: lh.Study) -> None:
    shown(tab, file)
    rows = list(csv.DictReader(io.StringIO(tab.do("csv(dataRows(FIGURES[0].fig, FIGURES[0].state))"))))
    given = study.table(METRIC).rows
    assert [float(row["mean"]) for row in rows] == pytest.approx([row["mean"] / 1e6 for row in given])
    assert [row["n"] for row in rows] == ["5"] * 6
    table = tab.do("FIGURES[0].fig.tables[0]")
    written = tab.do("(({ columns, rows, about }) => latex(columns, rows, about))(FIGURES[0].fig.tables[0])")
    assert written == latex(table["columns"], table["rows"], table["about"])
    for figure in range(tab.do("FIGURES.length")):
        size, start = tab.do(
            f"(() => {{ const p = picture(FIGURES[{figure}].fig, FIGURES[{figure}].state); "
            "return [p.width, p.toDataURL().slice(0, 22)]; })()"
        )
        assert (size, start) == (1600, "data:image/png;base64,")
    assert tab.problems == []


# Whether a canvas has a colour, where nothing is transparent.
_HAS = """(canvas, hex) => {
  const want = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const copied = el("canvas", { width: canvas.width, height: canvas.height });
  const ctx = copied.getContext("2d", { willReadFrequently: true });
  ctx.drawImage(canvas, 0, 0);
  const { data } = ctx.getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] === 255 && want.every((v, c) => Math.abs(v - data[i + c]) < 2)) return true;
  }
  return false;
}"""


# How many lines of each panel are grey.
_GREY = """(() => {
  const drawn = [], all = CanvasRenderingContext2D.prototype, { stroke } = all;
  all.stroke = function (...path) { drawn.push([this.canvas, this.strokeStyle]); stroke.apply(this, path); };
  FIGURES[0].draw();
  all.stroke = stroke;
  const isGrey = (u, [canvas, paint]) => canvas === u.ctx.canvas && paint === theme().faint;
  return FIGURES[0].plots.map((u) => drawn.filter((one) => isGrey(u, one)).length);
})()"""


@pytest.mark.parametrize(("width", "scheme", "columns"), [(1280, "light", 4), (390, "dark", 2)])
def test_many_lines_are_drawn_in_a_panel_each_with_common_axes(
    tab: Page, of_many: Path, width: int, scheme: str, columns: int
) -> None:
    shown(tab, of_many, width, scheme)
    names = [s["name"] for s in tab.do("FIGURES[0].fig.panels[0].series")]
    assert len(names) == 7
    assert tab.do("$$('.line-name', FIGURES[0].host).map((t) => t.innerText)") == names
    plots = "FIGURES[0].plots"
    assert len({json.dumps(s) for s in tab.do(f"{plots}.map((u) => [u.scales.y.min, u.scales.y.max])")}) == 1
    sizes = tab.do(f"{plots}.map((u) => [u.over.clientWidth, u.over.clientHeight])")
    assert len({tuple(size) for size in sizes}) == 1
    lefts = tab.do(f"{plots}.map((u) => u.over.getBoundingClientRect().left)")
    assert len({round(left) for left in lefts}) == columns
    # Each panel has its line in colour, and no other one.
    colours = [s["look"][scheme] for s in tab.do("FIGURES[0].fig.panels[0].series")]
    here = tab.do(f"{json.dumps(colours)}.map((c) => {plots}.map((u) => ({_HAS})(u.ctx.canvas, c)))")
    assert here == [[own == other for other in colours] for own in colours]
    assert tab.do(_GREY) == [6] * 7
    assert tab.problems == []


def test_a_panel_of_many_says_all_values_on_a_desk_and_its_own_on_a_phone(tab: Page, of_many: Path) -> None:
    for width, least in ((1280, 7), (390, 1)):
        shown(tab, of_many, width)
        tab.do("FIGURES[0].stage.scrollIntoView({ block: 'center' })")
        box = tab.do("JSON.parse(JSON.stringify(FIGURES[0].plots[0].over.getBoundingClientRect()))")
        tab.mouse(box["left"] + 0.34 * box["width"], box["top"] + 0.9 * box["height"])
        said = tip(tab, 0)
        assert said.count("Mbit/s") == least
        assert "published 1.500 ± 0.12" in said
        assert tab.do("$$('.ring', FIGURES[0].host).length") == 1
        assert tab.do("$('.tip .near td:nth-child(2)').textContent") == "Reno"
        tab.mouse(2, 2)
    assert len(tab.do("dataRows(FIGURES[0].fig, FIGURES[0].state)")) == 1 + 7 * 3


def test_many_lines_fit_a_new_width_and_are_saved_as_they_are_shown(tab: Page, of_many: Path) -> None:
    shown(tab, of_many)
    lefts = "new Set(FIGURES[0].plots.map((u) => Math.round(u.over.getBoundingClientRect().left))).size"
    assert tab.do(lefts) == 4
    tab.size(700)
    tab.until(f"{lefts} === 2")
    tab.do("$('[data-axis=y]', FIGURES[0].host).click()")
    assert tab.do("FIGURES[0].plots.every((u) => u.scales.y.distr === 3)")
    for colour in tab.do("FIGURES[0].fig.panels[0].series.map((s) => s.look.light)"):
        assert tab.do(f"({_HAS})(picture(FIGURES[0].fig, FIGURES[0].state), '{colour}')")
    # Three rows of panels are as high as three rows.
    assert tab.do("picture(FIGURES[0].fig, FIGURES[0].state).height") > 1200
    assert tab.problems == []


@pytest.mark.parametrize("which", ["file", "marked"])
def test_the_legend_says_which_markers_are_published(
    tab: Page, file: Path, study: lh.Study, which: str, tmp_path: Path
) -> None:
    shown(tab, marked(study, tmp_path / "marked.html") if which == "marked" else file)
    legend = "$('.legend', FIGURES[0].host)"
    published = ["published"] if which == "marked" else []
    assert tab.do(f"$$('button', {legend}).map((b) => b.innerText)") == ["Reno", "NewReno"]
    assert tab.do(f"$$('.published', {legend}).map((e) => e.innerText)") == published
    fills = f"$$('.swatch path:last-child', {legend}).map((p) => getComputedStyle(p).fill)"
    assert [fill == "none" for fill in tab.do(fills)] == [False, False, *[True for _ in published]]
    assert tab.do("entries(FIGURES[0].fig).map((e) => e.name)") == ["Reno", "NewReno", *published]
    assert tab.problems == []


def test_a_single_line_with_published_values_has_them_alone_in_its_legend(tab: Page, tmp_path: Path) -> None:
    shown(tab, marked(crowded(tmp_path, 1), tmp_path / "one.html"))
    assert tab.do("$('.legend', FIGURES[0].host).innerText.trim()") == "published"
    assert tab.do("entries(FIGURES[0].fig).map((e) => e.name)") == ["published"]


def test_numbers_are_written_as_elsewhere(tab: Page, file: Path) -> None:
    shown(tab, file)
    values = [0.0, 1.0, 0.92134, 1234567.0, 1e15, 3.2e-7, -45.678, 999.96, 1e-5, 100.0, 0.005]
    assert tab.do(f"{json.dumps(values)}.map((v) => digits(v))") == [digits(v) for v in values]
    for unit in ("bit/s", "s", "packets", ""):
        assert tab.do(f"{json.dumps(values)}.map((v) => human(v, '{unit}'))") == [
            human(v, unit) for v in values
        ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["file", "of_many", "of_a_paper"])
def test_all_text_can_be_read(tab: Page, which: str, scheme: str, request: pytest.FixtureRequest) -> None:
    shown(tab, request.getfixturevalue(which), 1280, scheme)
    tab.do(
        "document.querySelectorAll('details, .claims').forEach((d) => { d.open = true; d.hidden = false; })"
    )
    assert tab.do("document.documentElement.dataset.theme") == scheme
    assert tab.do(CONTRASTS) == []


def test_dark_mode_follows_the_system_and_the_button(tab: Page, file: Path) -> None:
    shown(tab, file, scheme="dark")
    page = "getComputedStyle(document.body).backgroundColor"
    assert tab.do(page) == "rgb(13, 17, 23)"
    corner = "[...FIGURES[0].plots[0].ctx.canvas.getContext('2d').getImageData(0, 0, 1, 1).data][3]"
    assert tab.do(corner) == 0, "a chart has no background of its own"
    tab.do("$('#theme').click()")
    assert tab.do(page) == "rgb(244, 246, 248)"
    assert tab.do("$('#theme').getAttribute('aria-pressed')") == "false"
    tab.do("localStorage.clear()")


# Roles of what can be operated.
_OPERATED = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "DisclosureTriangle", "dialog"}


@pytest.mark.parametrize("which", ["file", "of_a_paper"])
def test_everything_that_can_be_operated_has_a_name(
    tab: Page, which: str, request: pytest.FixtureRequest
) -> None:
    shown(tab, request.getfixturevalue(which))
    if which == "file":
        tab.do("$('.numbers').open = true; openPoint(DATA.studies[0], 0)")
    nodes: list[dict[str, Any]] = tab.send("Accessibility.getFullAXTree")["nodes"]
    roles = [node for node in nodes if not node.get("ignored") and node["role"]["value"] in _OPERATED]
    if which == "file":
        tab.do("$('#runs').close()")
        outside = tab.send("Accessibility.getFullAXTree")["nodes"]
        roles += [n for n in outside if not n.get("ignored") and n["role"]["value"] in _OPERATED]
    assert len(roles) > 20
    assert [n for n in roles if not n.get("name", {}).get("value", "").strip()] == []
    assert tab.do("$$('table').every((t) => t.querySelector('th'))")
    assert tab.do("new Set($$('[id]').map((e) => e.id)).size === $$('[id]').length")


def test_statements_are_filtered_by_verdict_and_text(tab: Page, of_a_paper: Path) -> None:
    shown(tab, of_a_paper)
    counted = "$$('tbody[data-verdict]').filter((b) => !b.hidden).length"
    every = tab.do(counted)
    differs = tab.do("Number($('.chip[data-verdict=differs] b').textContent)")
    assert 0 < differs < every
    tab.do("$('.chip[data-verdict=differs]').click()")
    assert tab.do(counted) == differs
    assert tab.do("$('#statements-shown').textContent") == f"{differs} of {every} statements"
    tab.do("$('.chip[data-verdict=differs]').click()")
    tab.do("const f = $('#find-statement'); f.value = 'no such words'; f.dispatchEvent(new Event('input'))")
    assert tab.do(counted) == 0
    tab.do("const g = $('#find-statement'); g.value = ''; g.dispatchEvent(new Event('input'))")
    tab.do("$('.more').click()")
    assert tab.do("$('.more').getAttribute('aria-expanded') === 'true' && !$('.claims').hidden")
    assert tab.problems == []


def test_text_of_a_scenario_is_shown_as_text(tab: Page, tmp_path: Path) -> None:
    made = hostile(tmp_path)
    pages.write(of_study(made), tmp_path / "hostile.html")
    shown(tab, tmp_path / "hostile.html")
    over(tab, 0, 0.4)
    assert "hacked=1" in tip(tab, 0)
    assert "<img src=x" in tab.do("$('h1').textContent")
    assert tab.do("typeof hacked") == "undefined"
    assert tab.do("document.images.length") == 0
    assert tab.problems == []


def test_on_paper_every_figure_is_a_picture_on_white(tab: Page, file: Path) -> None:
    shown(tab, file, 720, "dark")
    tab.do("dispatchEvent(new Event('beforeprint'))")
    tab.send("Emulation.setEmulatedMedia", media="print")
    assert tab.do("$$('.on-paper').filter((p) => p.checkVisibility()).length") == tab.do(
        "FIGURES.filter((f) => f.stage).length"
    )
    assert tab.do("[...$('.on-paper').getContext('2d').getImageData(1, 1, 1, 1).data]") == [255] * 4
    assert tab.do("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.do("$$('.top, .plots, .toolbar, .menu').some((e) => e.checkVisibility())") is False
    tab.do("dispatchEvent(new Event('afterprint'))")
    tab.send("Emulation.setEmulatedMedia", media="")
    assert tab.do("$$('.on-paper').length") == 0


def test_a_ladder_is_shown_below_its_run_and_cannot_run_anything(tab: Page, file: Path) -> None:
    shown(tab, file)
    inner = '<script>hacked=1</script><path d="M0 0L9 9"/>'
    drawn = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="hacked=1">{inner}</svg>'
    tab.do(f"DATA.studies[0].ladders = {{ 2: {{ 0: {json.dumps(drawn)} }} }}; openPoint(DATA.studies[0], 2)")
    assert tab.do("$$('.ladder svg path').length") == 1
    assert tab.do("typeof hacked") == "undefined"
    assert tab.do("$('.ladder script')") is None
