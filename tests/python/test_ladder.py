"""Ladders: what they show of a run, in which forms, and how they refuse."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lasthop as lh
from browser import PROGRAM, Browser
from conftest import HOP
from lasthop.cli import traced
from lasthop.figures.ladders import FORMATS
from lasthop.scenario.kept import keep
from lasthop.views.events import events, period_of
from lasthop.views.ladder import panel
from lasthop.views.sources import of_folder, of_run, schemes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lasthop.api import Run

LOSSY = HOP.replace(
    'rts-threshold = "0 B"', 'rts-threshold = "0 B"\nloss = { model = "packet", rate = "10 %" }'
)
WIRED = """
[run]
duration = "20 s"
[nodes]
a = {}
r = {}
b = {}
[links.ar]
kind = "wired"
nodes = ["a", "r"]
rate = "10 Mbit/s"
delay = "5 ms"
[links.rb]
kind = "lossy"
nodes = ["r", "b"]
rate = "1 Mbit/s"
delay = "20 ms"
queue = "6 packets"
loss = { rate = "2 %" }
[flows.main]
from = "a"
to = "b"
tcp = { profile = "ns2-2004", variant = "newreno" }
[flows.talk]
from = "b"
to = "a"
app = { kind = "cbr", cbr = { rate = "20 kbit/s" } }
udp = {}
"""


def hop(kind: str) -> Run:
    scenario = lh.Scenario.from_text(LOSSY, "hop.toml")
    chosen = scenario.set({"agents.snoop.kind": kind, "flows.main.tcp.packet": "1000 B"})
    return chosen.run(trace=["events"])


@pytest.fixture(scope="module")
def standard() -> Run:
    return hop("none")


@pytest.fixture(scope="module")
def lle() -> Run:
    return hop("lle-tcp")


@pytest.fixture(scope="module")
def wired() -> Run:
    return lh.Scenario.from_text(WIRED, "wired.toml").run(trace=["events"])


def test_the_channel_has_integers_and_words_and_can_be_written(standard: Run, tmp_path: Path) -> None:
    trace = standard.trace("events")
    table = trace.to_numpy()
    for name in ("packet", "frame", "seq", "len", "ack", "window", "attempt", "slots"):
        assert table[name].dtype == np.int64, name
    assert set(table["layer"]) == {"app", "tcp", "link", "frame"}
    trace.to_parquet(tmp_path / "events.parquet")
    pq = pytest.importorskip("pyarrow.parquet")
    stored = pq.read_table(tmp_path / "events.parquet")
    assert stored.num_rows == len(trace)
    assert str(stored.schema.field("seq").type) == "int64"
    assert stored.column("why").to_pylist() == list(trace["why"])


def test_other_channels_have_integers_too(wired: Run) -> None:
    run = wired.scenario.run(trace=["tcp", "queue"])
    assert run.trace("tcp").to_numpy()["seq"].dtype == np.int64
    assert run.trace("queue").to_numpy()["packets"].dtype == np.int64


def test_segments_arrive_once_or_are_lost_with_a_cause(wired: Run) -> None:
    ladder = wired.ladder((0, wired.simulated_s))
    (panel,) = ladder._panels
    assert panel.nodes == ["a", "r", "b"]
    hops = [arrow for arrow in panel.arrows if arrow.begin.node != arrow.end.node or arrow.lost]
    lost = [arrow.lost for arrow in hops if arrow.lost]
    assert set(lost) == {"error", "queue"}
    metrics = wired.metrics
    assert lost.count("error") == metrics["links.rb.drops_loss"] + metrics["links.rb.reverse.drops_loss"]
    assert lost.count("queue") == metrics["links.rb.drops_queue"]
    again = {arrow.label: arrow for arrow in hops if arrow.again and arrow.begin.node == "a"}
    assert 0 < len(again) <= metrics["flows.main.retransmits"]
    assert {arrow.again for arrow in again.values()} <= {"timeout", "fast-retransmit", "again"}
    assert any(mark.text == "loss detected" for mark in panel.marks)
    timeouts = [mark for mark in panel.marks if mark.text == "timeout"]
    assert len(timeouts) == metrics["flows.main.timeouts"]
    assert all(mark.since_s is not None and mark.since_s < mark.place.time_s for mark in timeouts)
    assert all(arrow.end.time_s >= arrow.begin.time_s for arrow in panel.arrows)


def test_the_first_thirty_segments_are_shown_by_default(standard: Run) -> None:
    ladder = standard.ladder()
    begin, end = ladder.period
    table = standard.trace("events").to_numpy()
    sent = table[(table["layer"] == "tcp") & (table["event"] == "send")]["time_s"]
    assert begin == sent[0]
    assert sent[29] <= end <= sent[30]
    later = standard.ladder((1.0, None))
    assert later.period[0] == 1.0
    assert later.period[1] - 1.0 < 1.0


def test_what_an_agent_made_and_kept_is_shown_at_its_node(lle: Run) -> None:
    ladder = lle.ladder((0.5, 0.7))
    (panel,) = ladder._panels
    assert panel.seats == {"left", "right"}
    made = [arrow for arrow in panel.arrows if arrow.made]
    kept = [arrow for arrow in panel.arrows if arrow.kept]
    assert len(made) > 5
    assert len(kept) > 5
    assert {(arrow.begin.node, arrow.begin.seat, arrow.end.seat) for arrow in made} == {
        ("left", "agent", "host")
    }
    assert {(arrow.begin.node, arrow.begin.seat, arrow.end.seat) for arrow in kept} == {
        ("right", "host", "agent")
    }
    assert all(arrow.begin.node == "left" for arrow in panel.arrows if arrow.kind == "data")
    frames = lle.ladder((0.5, 0.7), layers="frames")._panels[0].arrows
    assert not [arrow for arrow in frames if arrow.kind == "ack" and arrow.begin.node != arrow.end.node]


def test_frames_have_their_kinds_attempts_and_losses(standard: Run) -> None:
    arrows = standard.ladder((0, 2), layers="frames")._panels[0].arrows
    assert {arrow.kind for arrow in arrows} == {"data", "ack", "control", "mac-ack"}
    assert {arrow.lost for arrow in arrows} >= {"error", ""}
    assert any(arrow.label.endswith("#2") for arrow in arrows)
    assert any("backoff" in arrow.text and "attempt" in arrow.text for arrow in arrows)


def test_two_runs_are_titled_by_what_differs_and_share_the_period(standard: Run, lle: Run) -> None:
    ladder = standard.ladder((0, 0.2), beside=lle)
    assert [panel.title for panel in ladder._panels] == [
        "no agent, Tahoe, 802.11",
        "LLE-TCP (paper), Tahoe, 802.11",
    ]
    assert not ladder.notes
    other = standard.scenario.run(seed=7, trace=["events"])
    assert "different random numbers" in standard.ladder((0, 0.2), beside=other).notes[0]


@pytest.mark.parametrize("layers", ["tcp", "frames"])
@pytest.mark.parametrize("width", [None, "column", "page"])
def test_the_drawing_is_within_its_page_and_its_labels_do_not_overlap(
    standard: Run, lle: Run, layers: str, width: str | None
) -> None:
    drawing = ET.fromstring(standard.ladder((0, 0.3), layers=layers, beside=lle).to_svg(width))
    wide, high = (float(side) for side in drawing.attrib["viewBox"].split()[2:])
    boxes = []
    for text in drawing.iter("{http://www.w3.org/2000/svg}text"):
        size, x, y = (float(text.attrib[name]) for name in ("font-size", "x", "y"))
        length = 0.6 * size * len(text.text or "")
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attrib["text-anchor"]] * length
        assert left >= -1.0, text.text
        assert left + length <= wide + 1.0, text.text
        assert 0 < y < high, text.text
        if re.match(r"data|ACK \d", text.text or ""):
            boxes.append((left + 0.5, y - 0.9 * size, left + length - 0.5, y))
    assert len(boxes) > 10
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            apart = one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
            assert apart, (one, other)
    for line in drawing.iter("{http://www.w3.org/2000/svg}polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert -1 <= x <= wide + 1, point
            assert -1 <= y <= high + 1, point


def test_kinds_differ_in_dashes_and_states_in_shape_so_that_grey_shows_them(standard: Run) -> None:
    drawing = standard.ladder((0, 1), layers="frames").to_svg()
    groups = {
        kind: set(
            re.findall(rf'<g class="arrow {kind}[^>]*>.*?stroke-dasharray="([^"]*)"', drawing, re.DOTALL)
        )
        for kind in ("ack", "control", "mac-ack")
    }
    assert len({min(dashes) for dashes in groups.values()}) == 3
    solid = re.search(r'<g class="arrow data"[^>]*>\s*<title>[^<]*</title>\s*<polyline[^>]*>', drawing)
    assert solid is not None
    assert "dasharray" not in solid[0]


def test_text_fits_a_terminal_and_names_losses(standard: Run, lle: Run) -> None:
    text = standard.ladder((0, 0.3), beside=lle).to_text(100)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert "no agent" in lines[2]
    assert "LLE-TCP" in lines[2]
    assert "◆ made ACK 1000" in text
    assert "⊣ kept ACK 1000" in text
    assert "✕" in standard.ladder((0, 2), layers="frames").to_text(100)
    narrow = standard.ladder((0, 0.1), beside=lle).to_text(70).splitlines()
    assert max(map(len, narrow)) <= 70


def test_every_form_is_written(standard: Run, tmp_path: Path) -> None:
    ladder = standard.ladder((0, 0.2))
    for kind in FORMATS:
        ladder.save(tmp_path / f"x.{kind}")
        assert (tmp_path / f"x.{kind}").stat().st_size > 1000, kind
    assert ladder._repr_html_().startswith("<svg")
    page = (tmp_path / "x.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count("<svg") == 1
    assert str(ladder) == ladder.to_text()
    again = standard.ladder((0, 0.2)).to_svg()
    assert again == ladder.to_svg()


def test_what_is_wrong_is_refused(standard: Run, wired: Run, small: Path, tmp_path: Path) -> None:
    ladder = standard.ladder((0, 0.2))
    untraced = lh.load(small).run()
    wrong: dict[str, Callable[[], object]] = {
        'the run has no trace of events; expected one of run(trace=["events"])': untraced.ladder,
        'layers: "tpc" is not a layer; did you mean "tcp"? (known: tcp, frames)': lambda: standard.ladder(
            layers="tpc"
        ),
        "between: 1..0; expected a begin before the end": lambda: standard.ladder((1, 0)),
        "between: 5; expected begin and end in seconds such as (0, 0.2)": lambda: standard.ladder(5),  # type: ignore[arg-type]
        "between: nothing was sent from 50 s to 60 s; expected another period": lambda: standard.ladder(
            (50, 60)
        ),
        'flows: "talk" sends nothing; expected main': lambda: standard.ladder(flows=["talk"]),
        "beside: 5; expected a run": lambda: standard.ladder(beside=5),  # type: ignore[arg-type]
        'width: "wide" is not a width': lambda: ladder.to_svg("wide"),
        "expected a name ending in one of .svg, .html, .png, .pdf, .txt": lambda: ladder.save(
            tmp_path / "x.gif"
        ),
    }
    for text, call in wrong.items():
        with pytest.raises(lh.UsageError) as caught:
            call()
        assert text in str(caught.value)
    assert len(wired.ladder((1, 2), flows=["talk"])._panels[0].arrows) > 0


def test_the_command_draws_a_scenario_a_run_and_two(
    within: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "hop.toml").write_text(LOSSY)
    direct = within("ladder", "hop.toml", "--between", "0..0.2", "--beside", "agents.snoop.kind=lle-tcp")
    assert direct.returncode == 0, direct.stderr
    assert "no agent" in direct.stdout
    assert "LLE-TCP" in direct.stdout
    for point, name in ((0, "one"), (2, "two")):
        done = within("run", "hop.toml", "--trace", "events", "-o", name, "--point", point, "-q")
        assert done.returncode == 0, done.stderr
    kept = within("ladder", "one", "two", "--between", "0 s .. 200 ms")
    assert kept.returncode == 0, kept.stderr
    assert kept.stdout.splitlines()[2:] == direct.stdout.splitlines()[2:]
    drawn = within("ladder", "one", "--layers", "frames", "-o", "l.svg", "--width", "column")
    assert drawn.returncode == 0, drawn.stderr
    assert 'viewBox="0 0 252 ' in (tmp_path / "l.svg").read_text()
    assert within("run", "hop.toml", "-o", "bare", "-q").returncode == 0
    refused = within("ladder", "bare")
    assert refused.returncode == 2
    assert refused.stderr == (
        "error: bare: no trace of events; expected a run of lasthop run hop --trace events -o bare\n"
    )


def test_a_long_scenario_is_run_only_as_far_as_needed(
    within: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "long.toml").write_text(LOSSY.replace('duration     = "3 s"', 'duration     = "40000 s"'))
    assert within("ladder", "long.toml").returncode == 0
    later = within("ladder", "long.toml", "--between", "20..20.1")
    assert later.returncode == 0, later.stderr
    assert " 20.0" in later.stdout


def test_a_period_has_the_arrows_that_a_longer_one_has_then(standard: Run) -> None:
    trace = standard.trace("events")

    def read() -> object:
        return events(trace.chunks())

    whole, _ = panel(read, "", (0, 3), "tcp")  # type: ignore[arg-type]
    part, _ = panel(read, "", (1, 1.5), "tcp")  # type: ignore[arg-type]
    assert part.arrows == [a for a in whole.arrows if a.end.time_s >= 1 and a.begin.time_s <= 1.5]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_the_page_zooms_and_says_what_the_pointer_is_on(lle: Run, tmp_path: Path) -> None:
    lle.ladder((0.5, 0.7)).save(tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text()
    script = """<script>addEventListener("load", () => {
      const svg = document.querySelector("main svg"), said = document.getElementById("said");
      const before = svg.getAttribute("viewBox");
      const place = { clientX: 300, clientY: 300 };
      svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, cancelable: true, ...place }));
      const arrow = svg.querySelector("g.arrow polyline");
      arrow.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      const overflow = document.documentElement.scrollWidth > innerWidth;
      const zoomed = before !== svg.getAttribute("viewBox");
      document.body.dataset.result = [zoomed, said.textContent, overflow].join("|");
    });</script>"""
    (tmp_path / "y.html").write_text(text.replace("</body>", f"{script}</body>"))
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
        str(tmp_path / "y.html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    found = re.search(r'data-result="([^"]*)"', done.stdout)
    assert found is not None
    zoomed, said, overflows = found[1].split("|")
    assert (zoomed, overflows) == ("true", "false")
    assert re.search(r"(data|ACK) \d+, left", said), said


def test_the_tcps_of_a_group_that_differ_are_named_one_by_one() -> None:
    group = lh.load("examples/my-wifi").set({"nodes.station.count": 4})
    run = group.run(trace=["events"], max_events=1000)
    assert schemes(of_run(run)) == ["CUBIC", "BBR", "Reno", "Vegas", "802.11ax"]


def test_a_single_run_names_its_schemes_in_the_title(
    standard: Run, lle: Run, wired: Run, tmp_path: Path
) -> None:
    assert standard.ladder().title.endswith(": Tahoe, 802.11")
    assert re.search(r": LLE-TCP \(\w+\), Tahoe, 802\.11$", lle.ladder().title)
    assert "802.11" not in wired.ladder().title
    (tmp_path / "kept").mkdir()
    keep(lle, tmp_path / "kept")
    stored = of_folder(tmp_path / "kept")
    assert schemes(stored) == schemes(of_run(lle))


def test_the_label_of_an_arrow_hides_what_is_behind_it(standard: Run) -> None:
    drawn = standard.ladder()
    found = re.findall(
        r'<rect class="plate" x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" fill="#ffffff"/>'
        r'<text x="(\S+)" y="(\S+)"[^>]*text-anchor="middle"[^>]*>(data|ACK) ',
        drawn.to_svg(),
    )
    assert found
    for left, top, width, height, x, y, _ in found:
        assert float(left) < float(x) < float(left) + float(width)
        assert float(top) < float(y) < float(top) + float(height)
    texts = [text for text in drawn.figure().axes[0].texts if text.get_text().startswith(("data ", "ACK "))]
    assert texts
    assert all(text.get_bbox_patch() is not None for text in texts)
    # Every arrow is below every label.
    assert drawn.to_svg().rindex('class="arrow') < drawn.to_svg().index('<g class="labels"')


@pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_opens_at_packets_that_can_be_read(lle: Run, wired: Run, tmp_path: Path, width: int) -> None:
    browser = Browser(tmp_path / "browser")
    try:
        page = browser.page()
        page.size(width, 800)
        # A whole second, and a few milliseconds: neither is shown far away or magnified.
        for number, drawn in enumerate((lle.ladder((0, 1)), wired.ladder((0, 0.3)), lle.ladder((0, 0.02)))):
            drawn.save(tmp_path / f"{number}.html")
            page.open(tmp_path / f"{number}.html")
            size = page.do("""(() => {
              const svg = document.querySelector("main svg");
              return 7 * svg.getScreenCTM().a;
            })()""")
            assert 10 <= size <= 14.5
            top = page.do("document.querySelector('g.nodes text').getBoundingClientRect().top")
            assert 0 < top < 200
    finally:
        browser.close()


def test_the_run_shown_has_the_seed_the_replication_and_the_point_asked_for(small: Path) -> None:
    (shown,) = traced.sources((str(small), None), (), (), (7, 1, 5), None, [], 30)
    assert shown.numbers == (7, 1)
    assert shown.settings == lh.load(small).points()[5]


def test_more_segments_at_one_instant_than_are_shown_still_make_a_period(tmp_path: Path) -> None:
    text = (
        '[run]\nduration = "1 s"\n[nodes]\na = {}\nb = {}\n[links.l]\nkind = "wired"\nnodes = ["a", "b"]\n'
        'rate = "10 Mbit/s"\n[flows.f]\nfrom = "a"\nto = "b"\ncount = 40\n'
    )
    file = tmp_path / "many.toml"
    file.write_text(text)
    drawn = lh.load(file).run(trace=["events"])
    begin, end = period_of(of_run(drawn).read, (None, None), ())
    assert begin < end
