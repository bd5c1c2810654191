"""The picture of a network: what is in it, where nodes lie, and that nothing covers another."""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from browser import PROGRAM, Page
from conftest import SMALL
from lasthop.base.paths import shipped
from lasthop.report.sheet import asset
from lasthop.report.topology import topology
from lasthop.views.topology import HEIGHT, Network, largest_point, layers, layout, network

if TYPE_CHECKING:
    from pathlib import Path

DUMBBELL = """\
[run]
duration = "1 s"

[nodes]
left = { count = 3 }
r1 = {}
r2 = {}
right = { count = 3 }

[links]
in  = { kind = "wired", nodes = ["left", "r1"], rate = "100 Mbit/s", delay = "1 ms" }
mid = { kind = "wired", nodes = ["r1", "r2"], rate = "10 Mbit/s", delay = "20 ms" }
out = { kind = "wired", nodes = ["r2", "right"], rate = "100 Mbit/s", delay = "1 ms" }

[flows]
data = { from = "left", to = "right", tcp.variant = ["cubic", "bbr"] }
back = { from = "right1", to = "left2" }
"""


LONG = """\
[run]
duration = "1 s"

[nodes]
server = {}
router = {}
mobile = {}

[links.the-long-name-of-the-backbone]
nodes = ["server", "router"]
kind  = "wired"
rate  = "100 Mbit/s"
delay = "12.5 ms"

[links.air]
nodes = ["router", "mobile"]
kind  = "lossy"
rate  = "1.544 Mbit/s"
delay = "120 ms"
loss  = { rate = "0 %" }

[flows]
main = { from = "server", to = "mobile" }

[sweep]
"links.air.rate"      = ["1.544 Mbit/s", "10 Mbit/s"]
"links.air.delay"     = ["120 ms", "10 ms"]
"links.air.loss.rate" = ["0 %", "0.1 %", "2.5 %"]
"""


def shown(name: str) -> Network:
    scenario = lh.load(name)
    return network(scenario, largest_point(scenario))


def read(folder: Path, text: str) -> lh.Scenario:
    (folder / "x.toml").write_text(text)
    return lh.load(folder / "x.toml")


def test_senders_lie_before_routers_and_receivers_after_them(tmp_path: Path) -> None:
    net = network(read(tmp_path, DUMBBELL), 0)
    labels = [node.label for node in net.nodes]
    assert labels == ["left1", "left2", "left3", "r1", "r2", "right1", "right2", "right3"]
    assert layers(net) == [0, 0, 0, 1, 2, 3, 3, 3]
    assert net.ends == {"data": ("3 × left", "3 × right"), "back": ("right1", "left2")}
    assert net.flows["back"] == [[5, 4, 3, 1]]
    places = layout(net, 800.0, is_down=False).places
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    places = layout(net, 352.0, is_down=True).places
    assert [y for _, y in places] == sorted(y for _, y in places)


def test_nodes_with_positions_lie_to_scale_and_others_before_them() -> None:
    net = shown("examples/my-wifi")
    drawn = layout(net, 800.0, is_down=False)
    place = {node.label: drawn.places[n] for n, node in enumerate(net.nodes)}
    assert drawn.metre is not None
    assert math.dist(place["ap"], place["station3"]) == pytest.approx(3 * drawn.metre)
    assert math.dist(place["ap"], place["phone"]) == pytest.approx(6 * drawn.metre)
    assert place["server"][0] < min(x for name, (x, _) in place.items() if name != "server")
    assert {node.label for node in net.nodes} >= {"station1", "station8"}


def test_stations_are_joined_to_their_access_point_and_a_mesh_within_range() -> None:
    (air,) = [link for link in shown("examples/my-wifi").links if link.kind == "wifi"]
    assert {pair[0] for pair in air.pairs} == {air.access_point}
    (mesh,) = shown("load-adaptive/fig07-mesh").links
    assert len(mesh.pairs) == 42


def test_many_nodes_of_a_group_are_one(tmp_path: Path) -> None:
    net = network(read(tmp_path, DUMBBELL.replace("count = 3", "count = 40")), 0)
    assert [node.label for node in net.nodes] == ["left1 … left40", "r1", "r2", "right1 … right40"]
    assert net.size == 82
    assert net.ends["data"] == ("40 × left", "40 × right")


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_scenario_has_a_picture_in_which_no_node_covers_another(name: str) -> None:
    net = shown(name)
    for width, is_down in ((800.0, False), (352.0, True)):
        drawn = layout(net, width, is_down=is_down)
        for node, (x, y) in zip(net.nodes, drawn.places, strict=True):
            half = 4 if net.are_dots else node.width / 2
            assert half <= x <= drawn.width - half
            assert 0 < y < drawn.height
        if net.are_dots:
            continue
        for one, other in combinations(range(len(net.nodes)), 2):
            (ax, ay), (bx, by) = drawn.places[one], drawn.places[other]
            wide = (net.nodes[one].width + net.nodes[other].width) / 2
            assert abs(ax - bx) >= wide - 1 or abs(ay - by) >= HEIGHT - 1, (one, other)
    text = topology(lh.load(name))
    assert text.startswith('<figure class="network"') or (not text and len(net.nodes) > 600)


def test_a_picture_names_links_flows_and_values_also_in_words(tmp_path: Path) -> None:
    text = topology(read(tmp_path, DUMBBELL))
    about = re.search(r'aria-label="([^"]+)"', text)
    assert about is not None
    assert "Network of 8 nodes" in about[1]
    assert "mid (wire, 10 Mbit/s, 20 ms) joins r1, r2" in about[1]
    assert "data: 3 × left to 3 × right, CUBIC, BBR" in about[1]
    drawn = text.partition("</svg>")[0]
    for word in (">left3<", ">r1<", ">mid<", ">10 Mbit/s, 20 ms<"):
        assert word in drawn
    # The hops of each table, once: three in, one in the middle, three out.
    assert drawn.count('class="flow"') == 2
    assert re.findall(r'class="flow" d="([^"]+)"', drawn)[0].count("M") == 7
    assert re.findall(r'class="head" d="([^"]+)"', drawn)[0].count("M") == 3


# The texts of links that lie on a box of a node, on each other, or outside of the drawing.
_COVERED = """(() => {
  const drawn = [...document.querySelectorAll("svg[role=img]")].find((svg) => svg.checkVisibility());
  const box = (part) => part.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const inside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
  const nodes = [...drawn.querySelectorAll("rect.node")], texts = [...drawn.querySelectorAll("tspan")];
  const others = (text) => texts.filter((other) => other.parentNode !== text.parentNode);
  const isFree = (text) => [...nodes, ...others(text)].every((other) => !meet(box(other), box(text)));
  const found = texts.filter((text) => !inside(box(text), box(drawn)) || !isFree(text));
  return found.map((text) => text.textContent);
})()"""


@pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1280, 390])
def test_long_labels_of_links_cover_nothing(tab: Page, tmp_path: Path, width: int) -> None:
    style = f'<!doctype html><meta charset="utf-8"><style>{asset("report.css")}</style>'
    (tmp_path / "x.html").write_text(f"{style}<main>{topology(read(tmp_path, LONG))}</main>", "utf-8")
    tab.size(width)
    tab.open(tmp_path / "x.html")
    assert tab.do(_COVERED) == []
    text = tab.do("[...document.querySelectorAll('text')].map((t) => t.textContent).join(' ')")
    assert "120 ms or 10 ms" in text


def test_swept_values_are_ranges_and_alternatives(tmp_path: Path) -> None:
    text = topology(read(tmp_path, SMALL))
    assert "2 Mbit/s, 10 ms, loss 0 % to 3 %" in text
    assert "main: a to b, Reno or NewReno" in text
    assert "link lossy" in text


def test_a_network_with_too_many_nodes_is_left_out(tmp_path: Path) -> None:
    place = 'place = { kind = "disc", disc = { radius = "50 m" } }'
    many = DUMBBELL.replace("count = 3", f"count = 900, {place}")
    assert topology(read(tmp_path, many)) == ""
