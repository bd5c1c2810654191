"""What `lasthop studio` shows of runs: the numbers and drawings of the command line."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from browser import Page
from conftest import HOP, SMALL
from lasthop.figures.ladder import scene
from lasthop.figures.scene import svg
from lasthop.report.charts import chart
from lasthop.report.play import FIRST, _runs
from lasthop.stats.intervals import difference, interval
from lasthop.views.events import period_of
from lasthop.views.film import film
from lasthop.views.ladder import panel as ladder_of
from lasthop.views.places import plan
from lasthop.views.sources import of_run
from played import CELL
from studios import in_chromium, press, ran, written
from test_classes import SCENARIO as USERS
from test_ladder import LOSSY, WIRED
from test_ladder_aggregates import LINKS
from test_ladder_aggregates import LOSSY as AGGREGATES

if TYPE_CHECKING:
    from pathlib import Path


@in_chromium
def test_a_lecturer_needs_five_clicks(page: Page) -> None:
    """From the open page to: LLE-TCP saves airtime, and here is the ladder."""
    assert page.do("$('#panel').textContent").startswith("Run shows figures")
    press(page, "#start-tour")
    page.until("$('#next')?.textContent === 'Run it'")
    press(page, "#next")
    page.until("$('#next')?.textContent === 'Compare'")
    assert page.do("panels.cards[0].fig.form") == "stack"
    press(page, "#next")
    page.until("$('#next')?.textContent === 'Ladder'")
    row = "$$('.found tr').find((it) => it.textContent.includes('airtime_tcp_ack_payload_s')).innerText"
    assert "-100 %" in page.do(row)
    press(page, "#next")
    page.until("!!$('.ladder-of svg')")
    plain, with_agent = page.do("$$('.later figcaption').map((it) => it.textContent)")
    assert "TCP ACK" in plain
    assert "TCP ACK" not in with_agent
    assert page.problems == []


@in_chromium
def test_a_figure_over_time_has_the_curves_of_a_report(page: Page, tmp_path: Path) -> None:
    written(page, HOP)
    page.do("$('#replications').value = 2, null")
    ran(page)
    page.do("(panels.open('numbers'), panels.open('figures'))")
    page.until("panels.cards.some((it) => it.fig.form === 'curve' && it.drawn)")
    assert page.do("panels.cards.filter((it) => it.fig.form === 'curve').length") == 1
    study = lh.Scenario.from_text(HOP, "scenario.toml").sweep(replications=2, out=tmp_path / "t").run()
    theirs = chart(study, study.scenario.figures()[1], (), 1500)
    own = page.do("panels.cards.find((it) => it.fig.form === 'curve').fig")
    assert [panel["label"] for panel in own["panels"]] == [panel["label"] for panel in theirs["panels"]]
    same_lines(own, theirs)
    assert page.problems == []


def same_lines(own: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Both have the same panels, with the same lines through the same values."""
    for one, other in zip(own["panels"], theirs["panels"], strict=True):
        assert (one["label"], one["floats"]) == (other["label"], other["floats"])
        assert [line["name"] for line in one["series"]] == [line["name"] for line in other["series"]]
        for line, their in zip(one["series"], other["series"], strict=True):
            assert (bool(line.get("step")), bool(line.get("dots"))) == (their["step"], their["dots"])
            assert line["x"] == pytest.approx(their["x"], rel=1e-5)
            assert line["y"] == pytest.approx(their["y"], rel=1e-4)


PACKETS = """
[sweep]
"flows.main.tcp.variant" = ["jtcp", "newreno"]

[[figure]]
id     = "packets"
kind   = "time"
panels = ["sequence", "released", "jitter", "ssthresh"]
lines  = "flows.main.tcp.variant"
since  = "1 s"
until  = "2 s"
"""


@in_chromium
def test_single_packets_over_time_are_those_of_a_report(page: Page, tmp_path: Path) -> None:
    """Their numbers, what each acknowledgement released, and jitter ratios, which one of the points lacks."""
    text = SMALL[: SMALL.index("[sweep]")].replace('"0 %"', '"2 %"') + PACKETS
    written(page, text)
    page.do("$('#replications').value = 1, null")
    ran(page)
    page.until("panels.cards.some((it) => it.fig.form === 'curve' && it.drawn)")
    study = lh.Scenario.from_text(text, "scenario.toml").sweep(replications=1, out=tmp_path / "p").run()
    theirs, own = chart(study, study.scenario.figures()[0], (), 1500), page.do("panels.cards[0].fig")
    assert [len(panel["series"]) for panel in theirs["panels"]] == [6, 2, 2, 2]
    same_lines(own, theirs)
    assert page.problems == []


SWEPT = {
    "bar": 'kind = "bar"\nx = "flows.main.tcp.variant"\nlines = "links.path.loss.rate"',
    "box": 'kind = "box"\nx = "links.path.loss.rate"\nlines = "flows.main.tcp.variant"',
    "gain": 'x = "links.path.loss.rate"\nlines = "flows.main.tcp.variant"\n'
    'gain-over = { "flows.main.tcp.variant" = "reno" }',
    "scatter": 'kind = "scatter"\nagainst = "flows.main.rtt_mean_s"\nlines = "flows.main.tcp.variant"',
    "matrix": 'kind = "matrix"\nrows = "flows.main.tcp.variant"\ncolumns = "links.path.loss.rate"',
}


@in_chromium
@pytest.mark.parametrize("replications", [2, 4])
def test_figures_over_a_sweep_have_the_values_of_a_report(
    page: Page, tmp_path: Path, replications: int
) -> None:
    """With fewer than four runs each is drawn, with more their intervals."""
    metric = "flows.main.goodput_bps"
    more = "".join(f'[[figure]]\nid = "{name}"\ny = "{metric}"\n{text}\n' for name, text in SWEPT.items())
    text = SMALL + more
    written(page, text)
    page.do(f"$('#replications').value = {replications}, null")
    ran(page)
    study = lh.Scenario.from_text(text, "s.toml").sweep(replications=replications, out=tmp_path / "s").run()
    own = {it["id"]: it for it in page.do("panels.cards.map((it) => it.fig)")}
    for figure in study.scenario.figures():
        theirs, found = chart(study, figure, (), 1500), own[figure["id"]]
        assert found["caption"] == theirs["caption"]
        for name in ("form", "style", "unit", "rows", "columns"):
            assert found.get(name) == theirs.get(name), figure["id"]
        for name in ("shades", "cells"):
            assert is_close(found.get(name), theirs.get(name)), (figure["id"], name)
        for one, other in zip(found.get("panels", ()), theirs.get("panels", ()), strict=True):
            assert one["unit"] == other["unit"]
            assert [found["x"][name] for name in ("words", "log")] == [
                theirs["x"][name] for name in ("words", "log")
            ]
            for line, their in zip(one["series"], other["series"], strict=True):
                assert (line["name"], line["points"], line["n"]) == (
                    their["name"],
                    their["points"],
                    their["n"],
                )
                for name in ("x", "y", "low", "high", "each", "boxes", "spread"):
                    assert is_close(line.get(name), their.get(name)), (figure["id"], name)
    assert page.problems == []


@in_chromium
def test_response_times_have_the_curves_of_a_report(page: Page, tmp_path: Path) -> None:
    text = USERS.replace('"60 s"', '"30 s"')
    written(page, text)
    page.do("$('#replications').value = 2, null")
    ran(page)
    (own,) = page.do("panels.cards.map((it) => it.fig)")
    study = lh.Scenario.from_text(text, "users.toml").sweep(replications=2, out=tmp_path / "u").run()
    theirs = chart(study, study.scenario.figures()[0], (), 1500)
    assert (own["caption"], own["x"]["label"]) == (theirs["caption"], theirs["x"]["label"])
    for line, their in zip(own["panels"][0]["series"], theirs["panels"][0]["series"], strict=True):
        assert line["name"] == their["name"]
        assert line["x"] == pytest.approx(their["x"], rel=1e-5)
        assert line["y"] == pytest.approx(their["y"], rel=1e-4)
    assert page.problems == []


def is_close(one: Any, other: Any) -> bool:
    """Whether nested lists have the same texts, and the same numbers as far as a page has them."""
    pairs = list(zip(flat(one), flat(other), strict=True))
    return all(a == (b if isinstance(b, str) else pytest.approx(b, rel=1e-5)) for a, b in pairs)


def flat(values: Any) -> list[Any]:
    """The numbers and texts in nested lists; nothing for what is missing."""
    if not isinstance(values, list):
        return [] if values is None else [values]
    return [it for value in values for it in flat(value)]


@in_chromium
@pytest.mark.parametrize("layers", ["tcp", "frames"])
def test_a_ladder_is_the_drawing_of_the_command_line(page: Page, layers: str) -> None:
    drawn = ""
    cases = [(HOP, None), (LOSSY, (0.0, 0.2)), (WIRED, (0.0, 2.0)), (AGGREGATES, (0.0, 0.03))]
    for text, period in (*cases, (LINKS, (0.0, 0.01))):
        written(page, text)
        scenario = lh.Scenario.from_text(text, "s.toml")
        points = range(len(scenario.points()))[-2:]
        runs = [of_run(scenario.run(point=point, trace=["events"], max_events=5_000)) for point in points]
        between = period or period_of(runs[0].read, (None, None), ())
        panels = [
            ladder_of(run.read, f"run <{point}>", between, layers)[0]
            for point, run in zip(points, runs, strict=True)
        ]
        expected = svg(scene(panels, between, "Both & more"))
        begin, end = json.dumps(period or (None, None))[1:-1].split(", ")
        own = page.do(
            f"(async () => {{ const made = []; let begin = {begin}, end = {end};"
            f"for (const point of {list(points)}) {{"
            "  const run = await pool.engines[0].about(state.scenario,"
            "    { do: 'run', point, trace: ['events'], max_events: 5000 });"
            "  const { rows, period } = await eventsOf(async () => run, begin, 30, end);"
            "  [begin, end] = period;"
            f"  made.push(Object.assign(LadderOf.of(rows, period, {json.dumps(layers == 'frames')}),"
            "    { title: `run <${point}>` })); }"
            "return svgOf(ladderScene(made, [begin, end], 'Both & more')); })()"
        )
        assert own.splitlines() == expected.splitlines()
        drawn += own
    signs = ["made by an agent", "kept by an agent", "sent again", "loss detected", "lost: ", "cwnd"]
    signs += ["MPDUs of an A-MPDU"] if layers == "frames" else ["on the air or wire after"]
    assert [sign for sign in signs if sign not in drawn] == []


@in_chromium
def test_a_film_is_what_the_command_line_plays(page: Page) -> None:
    for text in (HOP, WIRED, AGGREGATES, CELL):
        written(page, text)
        scenario = lh.Scenario.from_text(text, "s.toml")
        # That of an agent, if there is one.
        point = len(scenario.points()) - 1
        run = scenario.run(point=point, trace=["events"], max_events=5_000)
        source = of_run(run)
        period = period_of(source.read, (None, None), (), FIRST)
        made = film(source.read(), "it", period)
        expected = _runs([made], [plan(made.nodes, source.positions)], period[0])
        own = page.do(
            "(async () => { const ask = (call) => pool.engines[0].about(state.scenario, call);"
            f"const run = await ask({{ do: 'run', point: {point}, trace: ['events'], max_events: 5000 }});"
            "const { rows, period } = await eventsOf(async () => run, null, PLAYED);"
            "const film = FilmOf.of(rows, period), at = await ask({ do: 'positions', point: 0 });"
            "return playedData([['it', film, placesOf(film.nodes, at)]], period, SETUP.play.looks); })()"
        )
        assert own["period"] == list(period)
        assert own["texts"] == expected["texts"]
        (one,), (other,) = own["runs"], json.loads(json.dumps(expected["runs"]))
        windows = one.pop("windows"), other.pop("windows")
        assert one == other
        assert windows[0].keys() == windows[1].keys()
        for flow, steps in windows[0].items():
            assert steps["t"] == windows[1][flow]["t"]
            # A page from the command line has four digits of each.
            assert steps["cwnd"] == pytest.approx(windows[1][flow]["cwnd"], rel=1e-3)


@in_chromium
def test_the_film_in_the_page_is_the_page_of_play_in_its_colours(page: Page) -> None:
    written(page, HOP)
    page.do("$('#replications').value = 1, null")
    ran(page)
    page.do("useTheme('dark')")
    page.do("panels.open('film')")
    page.until("$('.film')?.contentDocument?.documentElement?.dataset.theme === 'dark'")
    inside = "$('.film').contentDocument.querySelector"
    titles = page.do(f"[...{inside}All('#runs-here h2')].map((it) => it.textContent)")
    assert titles == ["no agent", "LLE-TCP"]
    before = page.do(f"{inside}('#clock').textContent")
    page.do(f"{inside}('#on').click()")
    assert page.do(f"{inside}('#clock').textContent") != before
    assert page.do("document.scrollingElement.scrollWidth") == 1280
    page.do("useTheme('light')")
    assert page.do("$('.film').contentDocument.documentElement.dataset.theme") == "light"
    assert page.problems == []


@in_chromium
def test_a_capture_of_the_page_is_that_of_a_native_run(page: Page, tmp_path: Path) -> None:
    written(page, HOP)
    own = page.do(
        "traced(state.scenario, { do: 'run', point: 1, pcap: { wlan: 'w' }, take: 'w' })"
        ".then((it) => Array.from(it))"
    )
    lh.Scenario.from_text(HOP, "scenario.toml").run(point=1, pcap=tmp_path / "native.pcap")
    assert bytes(own) == (tmp_path / "native.pcap").read_bytes()


@in_chromium
def test_two_values_of_any_key_are_compared_in_pairs(page: Page, served: Any, tmp_path: Path) -> None:
    written(page, SMALL[: SMALL.index("[sweep]")])
    page.do("$('#replications').value = 3, null")
    ran(page)
    press(page, "#tab-compare")
    for name, value in {"key": "links.path.delay", "a": "10 ms", "b": "40 ms"}.items():
        page.do(f"$('#vary-{name}').value = '{value}', null")
    press(page, "#vary")
    page.until("!state.running && $('#to')?.value === '40 ms'")
    own = page.do(
        "(() => { const it = panels.results, of = (p) => it.of(p, 'flows.main.goodput_bps');"
        "return difference(of(1), of(0)); })()"
    )
    varied = lh.Scenario.from_text(SMALL[: SMALL.index("[sweep]")], "scenario.toml")
    study = (
        varied.vary({"links.path.delay": ["10 ms", "40 ms"]}).sweep(replications=3, out=tmp_path / "v").run()
    )
    (row,) = study.contrast("flows.main.goodput_bps", "links.path.delay").rows
    assert (own["mean"], own["low"], own["high"]) == (row["difference"], row["ci_low"], row["ci_high"])
    assert "goodput of main" in page.do("$('#panel .found').textContent")
    assert page.do("$('#command').textContent").endswith("""-s 'sweep.links.path.delay=["10 ms", "40 ms"]'""")
    assert page.problems == []


@in_chromium
def test_values_of_keys_that_advance_together_are_compared_where_the_others_are_the_same(page: Page) -> None:
    rates, delays = '"links.path.rate" = ["1 Mbit/s", "2 Mbit/s"]', '"links.path.delay" = ["10 ms", "5 ms"]'
    written(page, SMALL.replace("[[figure]]", f"[sweep.zip]\n{rates}\n{delays}\n[[figure]]"))
    page.do("$('#replications').value = 1, null")
    ran(page)
    page.do(
        "Object.assign(panels, { point: 11, compared: { key: 'links.path.rate' } }), panels.open('compare')"
    )
    pair = page.do("panels.points().map((it) => panels.results.about.points[it])")
    assert [it["links.path.rate"] for it in pair] == ["1 Mbit/s", "2 Mbit/s"]
    assert {it["links.path.loss.rate"] for it in pair} == {"3 %"}
    offered = page.do("$$('#point option').map((it) => it.textContent)")
    assert len(offered) == 6
    assert not any("rate = 1 Mbit/s" in it for it in offered)


@in_chromium
def test_a_sweep_in_the_page_has_the_means_of_a_study(page: Page, served: Any, tmp_path: Path) -> None:
    written(page, SMALL)
    page.do("$('#replications').value = 3, null")
    ran(page)
    study = lh.load(served[1]).sweep(replications=3, out=tmp_path / "s").run()
    for row, own in zip(
        study.table("flows.main.goodput_bps").rows,
        page.do(
            "panels.results.about.points.map((_, i) => panels.results.mean(i, 'flows.main.goodput_bps'))"
        ),
        strict=True,
    ):
        assert (own["mean"], own["low"], own["high"]) == (row["mean"], row["ci_low"], row["ci_high"])
    assert page.do("$('#command').textContent").endswith("sweep mine.toml -r 3")


@in_chromium
def test_statistics_are_those_of_python(page: Page) -> None:
    draws = random.Random(1)
    for n in (2, 3, 5, 20):
        page.do(
            f"checker.ask({{ call: {{ do: 'quantile', p: 0.975, df: {n - 1} }} }})"
            f".then((it) => FACTORS.set({n}, it))"
        )
        for scale in (1e-9, 1.0, 1e12):
            a, b = ([scale * draws.gauss(1, 0.3) for _ in range(n)] for _ in range(2))
            own = page.do(f"interval({json.dumps(a)})")
            it = interval(a)
            assert (own["mean"], own["low"], own["high"], own["n"]) == (it.mean, it.low, it.high, it.n)
            maps = ", ".join(f"new Map({json.dumps(list(enumerate(values)))})" for values in (a, b))
            own = page.do(f"difference({maps})")
            it = difference(dict(enumerate(a)), dict(enumerate(b)))
            assert (own["mean"], own["low"], own["high"], own["n"]) == (it.mean, it.low, it.high, it.n)
