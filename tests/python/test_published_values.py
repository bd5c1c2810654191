"""Figures show what few runs support, and the paper's values: no band of three runs, hollow markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from matplotlib.collections import PathCollection, PolyCollection

import lasthop as lh
from conftest import HOP, SMALL
from lasthop.figures.draw import draw
from lasthop.figures.lines import Mark
from lasthop.figures.page import caption_of
from lasthop.papers.claims import Band, Claim
from lasthop.papers.published import claims_of, published

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

GOODPUT = "flows.main.goodput_bps"


def swept(folder: Path, replications: int, text: str = SMALL) -> lh.Study:
    path = folder / "small.toml"
    path.write_text(text)
    return lh.load(path).sweep(replications=replications, out=folder / f"s{replications}").run()


def bands(axes: Axes) -> list[PolyCollection]:
    return [one for one in axes.collections if isinstance(one, PolyCollection)]


def runs(axes: Axes) -> list[tuple[float, float]]:
    """What is drawn one by one."""
    found = [one for one in axes.collections if isinstance(one, PathCollection)]
    return [(float(x), float(y)) for one in found for x, y in one.get_offsets()]


def finite(axes: Axes) -> list[float]:
    return [float(y) for band in bands(axes) for path in band.get_paths() for y in path.vertices[:, 1]]


def test_three_runs_are_drawn_one_by_one_and_four_as_an_interval(tmp_path: Path) -> None:
    few = swept(tmp_path, 3)
    sheet = draw(few, few.scenario.figures()[0])
    assert finite(sheet.axes[0]) == []
    values = [value / 1e6 for point in range(6) for value in few.values(point, GOODPUT).values()]
    assert sorted(y for _, y in runs(sheet.axes[0])) == pytest.approx(sorted(v for v in values if v))
    assert caption_of(sheet).startswith("mean and each run, n = 3")
    enough = swept(tmp_path, 4)
    sheet = draw(enough, enough.scenario.figures()[0])
    assert finite(sheet.axes[0])
    assert runs(sheet.axes[0]) == []
    assert caption_of(sheet).startswith("mean and 95 % confidence interval")


def test_no_interval_of_a_goodput_is_drawn_below_zero(tmp_path: Path) -> None:
    study = swept(tmp_path, 4)
    # Runs so different that the interval of their mean reaches below zero.
    for i, row in enumerate(study.runs.values()):
        assert row.metrics is not None
        row.metrics[GOODPUT] = 9e6 if i % 4 == 0 else 1e3
    axes = draw(study, study.scenario.figures()[0]).axes[0]
    assert min(finite(axes)) == 0.0
    gains = {**study.scenario.figures()[0], "gain-over": {"flows.main.tcp.variant": "reno"}}
    axes = draw(study, gains).axes[0]
    assert min(finite(axes), default=0.0) >= -100.0


def test_few_runs_over_time_have_no_band_either(tmp_path: Path) -> None:
    study = swept(tmp_path, 2, HOP)
    figure = next(f for f in study.scenario.figures() if f["id"] == "time")
    sheet = draw(study, figure)
    assert not any(bands(axes) for axes in sheet.axes)
    assert "each run" in caption_of(sheet)
    goodput = next(axes for axes in sheet.axes if axes.get_ylabel().startswith("goodput"))
    most = max(value for patch in goodput.patches for value in patch.get_data()[0])
    assert goodput.get_ylim()[1] > 0.9 * most > 0
    study = swept(tmp_path, 4, HOP)
    assert any(bands(axes) for axes in draw(study, figure).axes)


def claim(kind: str, value: float, **more: object) -> Claim:
    band = Band(value * 0.9e6, value * 1.1e6, value * 0.1e6)
    return Claim("x", "", "main", kind, GOODPUT, band, value, "", "Mbit/s", **more)  # type: ignore[arg-type]


def test_a_published_value_is_a_hollow_marker_on_its_line_with_what_is_accepted(tmp_path: Path) -> None:
    study = swept(tmp_path, 2)
    figure = study.scenario.figures()[0]
    at = {"flows.main.tcp.variant": ("newreno",), "links.path.loss.rate": ("1 %",)}
    (mark,) = published([claim("mean", 1.5, at=at)], figure, study)
    assert mark == Mark(GOODPUT, "NewReno", "1 %", 1.5e6, pytest.approx(0.15e6))
    sheet = draw(study, figure, [mark])
    axes = sheet.axes[0]
    ours = next(line for line in axes.get_lines() if line.get_label() == "NewReno")
    (container,) = axes.containers
    hollow, caps, (bar,) = container.lines
    assert (hollow.get_xdata()[0], hollow.get_ydata()[0]) == (pytest.approx(1.0), pytest.approx(1.5))
    assert (hollow.get_markerfacecolor(), hollow.get_marker()) == ("none", ours.get_marker())
    assert hollow.get_color() == ours.get_color()
    assert [cap.get_ydata()[0] for cap in caps] == pytest.approx([1.35, 1.65])
    assert bar is not None
    assert "hollow: published" in caption_of(sheet)


def test_only_values_at_a_point_that_a_figure_shows_belong_to_it(tmp_path: Path) -> None:
    study = swept(tmp_path, 2)
    figure = study.scenario.figures()[0]
    reno = {"flows.main.tcp.variant": ("reno",)}
    place = {**reno, "links.path.loss.rate": ("1 %",)}
    assert published([claim("mean", 1.5, at=reno)], figure, study) == []
    assert published([claim("mean", 1.5, at=place, role="ours")], figure, study) == []
    assert published([claim("mean", 1.5, at=place)], {**figure, "y": "flows.main.timeouts"}, study) == []
    bound = Claim("x", "", "main", "mean", GOODPUT, Band(1.0, 2.0), 1.0, "", "", at=place)
    assert published([bound], figure, study) == []
    # A gain is drawn where gains over the same points are.
    this, that = {"flows.main.tcp.variant": "newreno"}, {"flows.main.tcp.variant": "reno"}
    gain = claim("gain", 0.2, at={"links.path.loss.rate": ("1 %",)}, this=this, that=that)
    assert published([gain], figure, study) == []
    (mark,) = published([gain], {**figure, "gain-over": that}, study)
    assert (mark.label, mark.x) == ("NewReno", "1 %")


def test_plot_draws_what_the_paper_of_a_scenario_states_with_one_entry_of_the_legend(tmp_path: Path) -> None:
    where = ["flows.main.tcp.packet = 1024 B"]
    sizes = lh.load("lle-tcp/fig07", [("run.duration", "2 s")])
    study = sizes.sweep(replications=1, where=where, out=tmp_path / "sizes").run()
    axes = study.plot("fig07-gain").axes[0]
    assert axes.containers
    texts = axes.get_legend_handles_labels()[1]
    assert texts.count("published") == 1


def test_values_of_a_paper_are_not_drawn_for_a_scenario_with_other_settings() -> None:
    assert claims_of(lh.load("lle-tcp/fig07", [("run.duration", "2 s")]))
    assert not claims_of(lh.load("lle-tcp/fig07", [("links.wlan.rate", "2 Mbit/s")]))
