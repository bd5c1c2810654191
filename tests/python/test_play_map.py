"""`lasthop play` of nodes on a plane: where the map has them, and the page in a headless Chromium."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from browser import PROGRAM, Browser, Page
from lasthop.report.play import map_of
from lasthop.scenario.kept import keep
from lasthop.scenario.places import positions
from lasthop.views.film import film
from lasthop.views.sources import of_folder, of_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lasthop.api import Run

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def mesh() -> Run:
    return lh.load("load-adaptive/fig11").run(trace=["events"], max_events=4000)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    try:
        yield browser.page()
    finally:
        browser.close()


def placed(run: Run) -> list[tuple[float, float]] | None:
    source = of_run(run)
    return map_of(source, film(source.read(), "", (0.0, run.simulated_s)))


def test_a_mesh_has_neighbours_at_the_distance_of_the_scenario(mesh: Run) -> None:
    found = positions(mesh.scenario.resolved(0))
    nearest = [
        min(math.dist(one, other) for other in found.values() if other != one) for one in found.values()
    ]
    assert list(found) == [f"n{number}" for number in range(1, 20)]
    assert nearest == pytest.approx([200.0] * 19)
    assert len(placed(mesh) or ()) == 19


def test_stations_are_around_their_access_point_and_servers_beside_it() -> None:
    run = lh.load("dynamic-arq/clients").run(trace=["events"], max_events=20_000)
    made = film(of_run(run).read(), "", (0.0, run.simulated_s))
    at = dict(zip(made.nodes, map_of(of_run(run), made) or (), strict=True))
    assert {round(math.dist(at["ap"], at[name]), 6) for name in at if name.startswith("client")} == {55.0}
    servers = sorted(at[name] for name in at if name.startswith("server"))
    assert len({x for x, _ in servers}) == 1
    assert all(b[1] - a[1] > 1 for a, b in pairwise(servers))
    assert servers[0][0] < min(at[name][0] for name in at if not name.startswith("server"))


@pytest.mark.parametrize("name", ["lle-tcp/multihop", "ejtcp/fig10-baselines", "examples/moving-cell"])
def test_a_chain_and_nodes_at_unknown_places_are_on_a_line(name: str) -> None:
    assert placed(lh.load(name).run(trace=["events"], max_events=3000)) is None


def test_a_kept_run_has_the_places_of_its_nodes(mesh: Run, tmp_path: Path) -> None:
    keep(mesh, tmp_path)
    kept = of_folder(tmp_path)
    assert {name: pytest.approx(at) for name, at in kept.places.items()} == of_run(mesh).places


@needs_chromium
@pytest.mark.parametrize("width", [360, 1280])
def test_the_boxes_of_a_map_are_apart_and_the_page_is_not_wider(
    mesh: Run, tab: Page, width: int, tmp_path: Path
) -> None:
    mesh.play().save(tmp_path / "mesh.html")
    tab.size(width, 900)
    tab.open(tmp_path / "mesh.html")
    tab.do("for (let i = 0; i < 30; i++) jump(next('loss'))")
    assert (tab.problems, tab.do("innerWidth")) == ([], width)
    assert tab.do("document.scrollingElement.scrollWidth") == width
    assert tab.do("PANELS[0].stage.isMap")
    assert tab.do("PANELS[0].stage.height") < 700
    boxes = tab.do(
        "$$('.stage-slide .box').map((e) => e.getBoundingClientRect())"
        ".map((b) => [b.left, b.top, b.right, b.bottom])"
    )
    assert len(boxes) >= 19
    for one, other in combinations(boxes, 2):
        assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
    # A frame is near the straight line between its nodes.
    off = tab.do(
        """(() => { const stage = PANELS[0].stage;
          return stage.film.flights.slice(0, 200).map((flight) => {
            const at = stage.at(flight, (flight.t + flight.end) / 2);
            const x = (stage.x[flight.source] + stage.x[flight.target]) / 2;
            const y = (stage.y[flight.source] + stage.y[flight.target]) / 2;
            return Math.hypot(at.x - x, at.y - y);
          }); })()"""
    )
    assert max(off) < 10
