"""The page of `lasthop play` in a headless Chromium."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
import played
from browser import CONTRASTS, PROGRAM, Page
from played import filmed
from test_ladder import WIRED
from test_ladder_aggregates import LINKS

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
WIDTHS = (360, 1280)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("play") / "two.html"
    played.standard().play((0, 1.5), beside=played.lle()).save(path)
    return path


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("play") / "wire.html"
    played.wired().play((0, 5)).save(path)
    return path


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("play") / "plane.html"
    played.cell().play((0, 0.5)).save(path)
    return path


def shown(tab: Page, file: Path, width: int = 1280, scheme: str = "light", *, motion: bool = True) -> Page:
    tab.size(width, mobile=width < 600)
    tab.prefer(scheme, motion=motion)
    tab.open(file)
    return tab


@needs_chromium
@pytest.mark.parametrize("has_places", [False, True])
def test_links_between_the_same_nodes_and_their_frames_are_apart(
    tab: Page, tmp_path: Path, *, has_places: bool
) -> None:
    text = LINKS
    if has_places:
        # Three nodes that are not on a line are drawn where they are.
        text = text.replace("ap = {}", 'ap.position = ["0 m", "0 m"]\ndesk.position = ["0 m", "3 m"]')
        text = text.replace("[nodes.sta.wifi]", '[nodes.sta]\nposition = ["3 m", "0 m"]\n[nodes.sta.wifi]')
        text = text.replace('["ap", "sta"]', '["ap", "sta", "desk"]', 1)
        text += '[flows.desk]\nfrom = "ap"\nto = "desk"\n'
    scenario = lh.Scenario.from_text(text, "links.toml")
    scenario.run(trace=["events"]).play((0, 0.03)).save(tmp_path / "links.html")
    shown(tab, tmp_path / "links.html")
    assert tab.do("PANELS[0].stage instanceof Plan") is has_places
    ways = tab.do("$$('path.link').map((path) => path.getAttribute('d'))")
    assert len(set(ways)) == len(ways) == 2 + has_places
    tab.do("globalThis.NAMES = $$('text').filter((it) => ['low', 'high'].includes(it.textContent))")
    boxes = tab.do(
        "NAMES.map((name) => { const b = name.getBoundingClientRect(); return [b.top, b.bottom]; })"
    )
    (_, end), (begin, _) = sorted(boxes)
    assert begin >= end
    # Half of the way of a frame on each link.
    middle = "((f) => PANELS[0].stage.at(f, (f.t + f.end) / 2).y)"
    first = "FILMS[0].flights.find((f) => f.link === {} && f.name === 'CTS')"
    ys = [tab.do(f"{middle}({first.format(link)})") for link in (0, 1)]
    assert ys[1] - ys[0] > 20
    assert tab.problems == []


@needs_chromium
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["two", "wire"])
def test_nothing_is_wider_than_the_page(
    tab: Page, which: str, width: int, request: pytest.FixtureRequest
) -> None:
    shown(tab, request.getfixturevalue(which), width)
    for script in ("0", "jump(next('loss'))", "seek(LENGTH)", "$('.keys').open = true"):
        tab.do(script)
        assert tab.do("innerWidth") == width
        assert tab.do("document.scrollingElement.scrollWidth") == width
    bar = (
        "(() => { const b = $('#controls').getBoundingClientRect(); return [b.left, b.right, b.bottom]; })()"
    )
    assert tab.do(bar) == [0, width, 900]
    inside = "$$('#controls button, #controls output, #controls label').filter((e) => e.checkVisibility())"
    assert tab.do(f"{inside}.every((e) => e.getBoundingClientRect().right <= innerWidth)")
    boxes = tab.do(
        f"{inside}.map((e) => e.getBoundingClientRect()).map((b) => [b.left, b.top, b.right, b.bottom])"
    )
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            apart = one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
            assert apart, "controls cover each other"
    assert tab.problems == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []


@needs_chromium
def test_the_slider_moves_packets_to_where_the_trace_has_them(tab: Page, wire: Path) -> None:
    wired = played.wired()
    shown(tab, wire)
    places = dict(zip(["a", "r", "b"], tab.do("PANELS[0].stage.x"), strict=True))
    made = filmed(wired, 0, 5)
    checked = 0
    for share in (2000, 6000, 7000, 9000, 60000, 99000):
        tab.do(
            f"(() => {{ const s = $('#time'); s.value = {share}; s.dispatchEvent(new Event('input')); }})()"
        )
        now = 5 * share / 100000
        assert tab.do("state.time") == pytest.approx(now)
        there = tab.do(
            "$$('.packet').map((p) => [PANELS[0].film.flights[p.dataset.flight].name,"
            " p.transform.baseVal[0].matrix.e])"
        )
        flying = [f for f in made.flights if f.begin_s <= now < f.end_s]
        expected = sorted(
            (
                places[f.source]
                + (places[f.target] - places[f.source]) * (now - f.begin_s) / (f.end_s - f.begin_s),
                f.what.replace("#", str(f.number)),
            )
            for f in flying
        )
        assert len(there) == len(expected)
        for (name, x), (at, what) in zip(sorted(there, key=lambda one: one[1]), expected, strict=True):
            assert x == pytest.approx(at, abs=0.02)
            assert name == what
        checked += len(expected)
    assert checked > 5
    assert tab.problems == []


@needs_chromium
@pytest.mark.parametrize("width", WIDTHS)
def test_nodes_of_a_cell_are_where_the_scenario_has_them(tab: Page, plane: Path, width: int) -> None:
    cell = played.cell()
    shown(tab, plane, width)
    stage = "PANELS[0].stage"
    host = tab.do(f"[{stage}.host.scrollWidth, {stage}.host.clientWidth, document.body.scrollWidth]")
    assert host == [host[1], host[1], width]
    nodes = tab.do("PANELS[0].film.nodes")
    spots = dict(zip(nodes, zip(*tab.do(f"[{stage}.x, {stage}.y]"), strict=True), strict=True))
    positions = cell.scenario.positions()
    scale = (spots["sta1"][0] - spots["ap"][0]) / 20
    assert scale > 2
    for node, (x, y) in positions.items():
        assert spots[node] == pytest.approx((spots["ap"][0] + scale * x, spots["ap"][1] - scale * y))
    assert spots["server"][1] < min(spots[node][1] for node in positions) - 20
    # A frame is between its nodes, on the right of its way.
    for flight in filmed(cell, 0, 0.5).flights[20:200:30]:
        now = (flight.begin_s + flight.end_s) / 2
        tab.do(f"seek({now})")
        at = tab.do(
            "$$('.packet').map((p) => [p.transform.baseVal[0].matrix.e, p.transform.baseVal[0].matrix.f])"
        )
        (x, y), (u, v) = spots[flight.source], spots[flight.target]
        far = math.dist((x, y), (u, v))
        aside = (5.4 * (v - y) / far, -5.4 * (u - x) / far)
        expected = ((x + u) / 2 + aside[0], (y + v) / 2 + aside[1])
        assert min(math.dist(expected, one) for one in at) < 0.5
    for i, node in enumerate(nodes):
        waits = [w for w in filmed(cell, 0, 0.5).waits if w.node == node and w.begin_s <= now < w.end_s]
        assert tab.do(f"{stage}.boxes[{i}].count.textContent") == (str(len(waits)) if waits else "")
    assert tab.problems == []


@needs_chromium
def test_queues_and_windows_are_shown_as_they_are_then(tab: Page, two: Path) -> None:
    standard = played.standard()
    shown(tab, two)
    made = filmed(standard, 0, 1.5)
    for now in (0.2, 0.5, 1.1):
        tab.do(f"seek({now})")
        for i, node in enumerate(made.nodes):
            waits = [w for w in made.waits if w.node == node and w.begin_s <= now < w.end_s]
            assert tab.do(f"PANELS[0].stage.boxes[{i}].count.textContent") == str(len(waits))
        cwnd = [step.cwnd for step in made.windows["main"] if step.time_s <= now][-1]
        said = tab.do("$('.strip-head .value').textContent")
        assert float(said.split()[0]) == pytest.approx(cwnd, rel=0.01)
        received = sum(length for t, length in made.received if t <= now)
        shown_b = tab.do("$('.facts dd').textContent").split()
        factor = {"B": 1.0, "kB": 1e3, "MB": 1e6}[shown_b[1]]
        assert float(shown_b[0]) * factor == pytest.approx(received, rel=0.01)


@needs_chromium
def test_the_buttons_and_keys_jump_to_losses_and_timeouts_and_say_why(tab: Page, wire: Path) -> None:
    wired = played.wired()
    shown(tab, wire)
    made = filmed(wired, 0, 5)
    losses = sorted({h.time_s for h in made.happenings if h.kind == "loss"})
    timeouts = sorted({h.time_s for h in made.happenings if h.kind == "timeout"})
    for expected in losses[:3]:
        tab.do("$('#loss').click()")
        assert tab.do("state.time") == pytest.approx(expected, abs=1e-7)
        assert "is lost — the queue was full" in tab.do("$('.log .loss.now').textContent")
        assert "is lost, the queue was full" in tab.do("$('#said').textContent")
    tab.do("document.activeElement.blur(); seek(0)")
    tab.key("l")
    assert tab.do("state.time") == pytest.approx(losses[0], abs=1e-7)
    tab.key("t")
    assert tab.do("state.time") == pytest.approx(timeouts[0], abs=1e-7)
    assert "no ACK of it came in time" in tab.do("$('.log .timeout.now').textContent")
    assert tab.do("$('.halo.alarm').style.opacity") == "1"
    tab.do("seek(LENGTH)")
    assert tab.do("[$('#loss').disabled, $('#timeout').disabled, $('#on').disabled]") == [True] * 3
    # What does not fit into a queue is a cross there.
    tab.do(f"seek({losses[0]})")
    assert tab.do("PANELS[0].stage.boxes.map((box) => box.spill.style.opacity)") == ["0", "1", "0"]
    assert tab.do("PANELS[0].stage.boxes[1].spill.textContent") == "the queue was full"
    # A frame that was lost is a cross where it was lost.
    error = next(f for f in made.flights if f.lost)
    tab.do(f"seek({error.end_s} + 1e-9)")
    assert tab.do("$$('.moving .cross').length") == 1
    assert tab.do("$('.moving .cross text').textContent") == "bit errors"
    assert tab.do("PANELS[0].stage.boxes.map((box) => box.spill.style.opacity)") == ["0"] * 3
    assert tab.problems == []


@needs_chromium
def test_the_agent_glows_when_it_makes_an_acknowledgement(tab: Page, two: Path) -> None:
    lle = played.lle()
    shown(tab, two)
    made = next(
        h for h in filmed(lle, 0, 1.5).happenings if h.text == "The agent makes ACK #" and h.time_s > 0.3
    )
    glow = "PANELS[1].stage.boxes[0].agent.halo.style.opacity"
    tab.do(f"seek({made.time_s} + 1e-9)")
    assert tab.do(glow) == "1"
    assert tab.do("PANELS[1].stage.boxes[0].agent.lines.map((l) => l.textContent)") == [
        "makes",
        f"ACK {made.number}",
    ]
    assert "the link reports delivery" in tab.do("PANELS[1].log.textContent")
    tab.do(f"seek({made.time_s} + state.speed * 0.3)")
    assert float(tab.do(glow)) == pytest.approx(2 / 3, abs=0.01)
    # The other run at the same time has no agent.
    assert tab.do("PANELS[0].stage.boxes.every((box) => box.agent === null)")
    assert tab.do("$$('.card h2').map((h) => h.textContent)") == [
        "no agent, Tahoe, 802.11",
        "LLE-TCP (paper), Tahoe, 802.11",
    ]


@needs_chromium
def test_space_plays_and_arrows_step_from_event_to_event(tab: Page, two: Path) -> None:
    shown(tab, two)
    tab.key(" ")
    assert tab.do("[state.playing, $('#run').getAttribute('aria-label')]") == [True, "Pause"]
    tab.until("state.time > 0")
    tab.key(" ")
    assert tab.do("[state.playing, $('#run').getAttribute('aria-label')]") == [False, "Play"]
    tab.do("seek(0.5)")
    stops = tab.do("stops()")
    tab.key("ArrowRight")
    first = next(t for t in stops if t > 0.5)
    assert tab.do("state.time") == first
    tab.key("ArrowRight")
    tab.key("ArrowLeft")
    assert tab.do("state.time") == first
    # The slider has the same keys, and says the time.
    tab.do("$('#time').focus()")
    tab.key("ArrowLeft")
    assert tab.do("state.time") == [t for t in stops if t < first][-1]
    assert re.fullmatch(r"\d\.\d{6} s", tab.do("$('#time').getAttribute('aria-valuetext')"))
    # A button keeps its own key.
    tab.do("$('#loss').focus()")
    before = tab.do("state.time")
    tab.key(" ")
    assert tab.do("state.time") == tab.do(f"stops('loss').find((t) => t > {before})")
    assert tab.do("state.playing") is False
    assert tab.problems == []


@needs_chromium
def test_with_reduced_motion_it_goes_from_event_to_event(tab: Page, two: Path) -> None:
    shown(tab, two, motion=False)
    tab.do("seek(0.5)")
    stops = tab.do("stops()")
    tab.key(" ")
    assert tab.do("state.time") == next(t for t in stops if t > 0.5)
    tab.until("state.time !== stops().find((t) => t > 0.5)")
    assert tab.do("state.time") in stops
    tab.key(" ")
    assert tab.do("state.playing") is False


@needs_chromium
def test_a_press_on_a_strip_goes_to_its_time(tab: Page, two: Path) -> None:
    shown(tab, two)
    tab.do("seek(0)")
    box = tab.do(
        "(() => { const c = $('.strip canvas'); c.scrollIntoView({ block: 'center' });"
        " const b = c.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"
    )
    from_, to = tab.do("PANELS[0].strips.view")
    tab.mouse(box[0] + 0.25 * box[2], box[1] + box[3] / 2, click=True)
    assert tab.do("state.time") == pytest.approx(from_ + 0.25 * (to - from_), abs=0.01 * (to - from_))
    tab.do("$('#span').value = 'Infinity'; $('#span').dispatchEvent(new Event('change'))")
    assert tab.do("PANELS[0].strips.view") == [0, 1.5]
    assert tab.problems == []


@needs_chromium
def test_the_frames_of_the_mac_can_be_left_out(tab: Page, two: Path) -> None:
    shown(tab, two)
    tab.do("seek(FILMS[0].flights.find((f) => f.name === 'RTS').t + 1e-6)")
    assert tab.do("$$('.packet.control').length") > 0
    everything = tab.do("stops().length")
    tab.do("$('#mac').click()")
    assert tab.do("$$('.packet.control').length") == 0
    assert 0 < tab.do("stops().length") < everything
    assert tab.do("/RTS|CTS|MAC ACK/.test($('.log').textContent)") is False


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["two", "wire"])
def test_all_text_can_be_read(tab: Page, which: str, scheme: str, request: pytest.FixtureRequest) -> None:
    shown(tab, request.getfixturevalue(which), 1280, scheme)
    tab.do("$('.keys').open = true; jump(next('loss'))")
    assert tab.do("document.documentElement.dataset.theme") == scheme
    assert tab.do(CONTRASTS) == []
    # Text of the drawing, on the card.
    ink = "getComputedStyle($('#runs-here svg text.name')).fill"
    assert tab.do(ink) == {"light": "rgb(28, 33, 40)", "dark": "rgb(230, 237, 243)"}[scheme]


@needs_chromium
def test_dark_mode_follows_the_button(tab: Page, two: Path) -> None:
    shown(tab, two, scheme="dark")
    strip = "$('.strip canvas').toDataURL()"
    before = tab.do(strip)
    tab.do("$('#theme').click()")
    assert tab.do("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 248)"
    assert tab.do(strip) != before
    tab.do("localStorage.clear()")


@needs_chromium
def test_everything_that_can_be_operated_has_a_name(tab: Page, two: Path) -> None:
    shown(tab, two)
    roles = {"button", "slider", "combobox", "checkbox", "link", "DisclosureTriangle", "image", "group"}
    nodes: list[dict[str, Any]] = tab.send("Accessibility.getFullAXTree")["nodes"]
    found = [n for n in nodes if not n.get("ignored") and n["role"]["value"] in roles]
    assert {"button", "slider", "combobox", "checkbox"} <= {n["role"]["value"] for n in found}
    assert [
        n["role"]
        for n in found
        if not n.get("name", {}).get("value", "").strip() and n["role"]["value"] != "group"
    ] == []
    assert tab.do("new Set($$('[id]').map((e) => e.id)).size === $$('[id]').length")


@needs_chromium
def test_text_of_a_scenario_is_shown_as_text(tab: Page, tmp_path: Path) -> None:
    evil = WIRED.replace("\n[run]", 'title = "</script><img src=x onerror=hacked=1>"\n[run]', 1)
    run = lh.Scenario.from_text(evil, "evil.toml").run(trace=["events"])
    run.play((0, 0.5)).save(tmp_path / "evil.html")
    shown(tab, tmp_path / "evil.html")
    assert "<img src=x" in tab.do("$('h1').textContent")
    assert tab.do("typeof hacked") == "undefined"
    assert tab.problems == []
