"""Figures for a page: widths, what stands around the axes, kinds, several metrics, fonts and colours."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop import _core
from lasthop.figures.draw import draw
from lasthop.figures.page import caption_of, page
from lasthop.figures.scatter import covariance
from lasthop.figures.style import COLOURS, save
from lasthop.stats.intervals import interval

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from conftest import Cli

GOODPUT, TIMEOUTS = "flows.main.goodput_bps", "flows.main.timeouts"
KEYS = {"x": "links.path.loss.rate", "lines": "flows.main.tcp.variant"}
KINDS: dict[str, dict[str, Any]] = {
    "lines": {**KEYS, "y": GOODPUT},
    "words": {"kind": "lines", "x": KEYS["lines"], "lines": KEYS["x"], "y": GOODPUT},
    "panels": {**KEYS, "kind": "lines", "y": [GOODPUT, TIMEOUTS]},
    "bar": {**KEYS, "y": GOODPUT},
    "box": {**KEYS, "y": GOODPUT},
    "scatter": {"against": "flows.main.rtt_mean_s", "y": GOODPUT, "lines": KEYS["lines"]},
    "matrix": {"rows": KEYS["lines"], "columns": KEYS["x"], "y": GOODPUT},
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> lh.Study:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "small.toml"
    path.write_text(SMALL)
    return lh.load(path).sweep(out=folder / "s", replications=5).run()


def figure(kind: str, **changes: object) -> dict[str, Any]:
    return {
        "id": kind,
        "kind": kind,
        "title": "A title of several words that is wide",
        **KINDS[kind],
        **changes,
    }


def clipped(drawn: Figure) -> list[str]:
    """The texts of a figure that do not lie within it."""
    from matplotlib.text import Text

    drawn.canvas.draw()
    whole = drawn.bbox
    texts = [
        text
        for text in drawn.findobj(Text)
        if isinstance(text, Text) and text.get_text() and text.get_visible()
    ]
    found = []
    for text in texts:
        box = text.get_window_extent()
        # Ticks outside the limits of their axis are not drawn.
        if text.axes is not None and not text.get_in_layout():
            continue
        if box.x0 < whole.x0 - 1 or box.x1 > whole.x1 + 1 or box.y0 < whole.y0 - 1 or box.y1 > whole.y1 + 1:
            found.append(text.get_text())
    shown = {
        tick.get_text()
        for axes in drawn.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_ticklabels()
    }
    return [text for text in found if text not in shown]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [None, "column", "page", 60])
def test_nothing_is_clipped_at_any_width(study: lh.Study, kind: str, width: str | float | None) -> None:
    drawn = draw(study, figure(kind), page=page(width=width))
    assert clipped(drawn) == []
    if width is not None:
        inches = {"column": 3.5, "page": 7.16, 60: 60 / 25.4}[width]
        assert drawn.get_figwidth() == pytest.approx(inches)


def test_a_legend_covers_no_line_and_may_be_put_elsewhere(study: lh.Study) -> None:
    # A line through every place inside leaves only that above.
    for limits, is_inside in (((None, None), True), ((0.0, 5.0), False)):
        drawn = draw(study, figure("words"), page=page(y_limits=limits))
        axes = drawn.axes[0]
        drawn.canvas.draw()
        legend = axes.get_legend()
        assert legend is not None
        box = legend.get_window_extent()
        for line in axes.get_lines():
            for x, y in axes.transData.transform(line.get_xydata()):
                assert not box.contains(x, y) or not is_inside
    assert draw(study, figure("lines"), page=page(legend="none")).axes[0].get_legend() is None
    above = draw(study, figure("lines"), page=page(legend="above")).axes[0]
    above.get_figure().canvas.draw()  # type: ignore[union-attr]
    legend = above.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y0 >= above.get_window_extent().y1


def test_title_caption_and_limits_are_the_users(study: lh.Study) -> None:
    bare = study.plot(title=False, caption=False, x_limits=(0, None), y_limits=(1, 9))
    axes = bare.axes[0]
    assert (axes.get_title(), caption_of(bare)) == ("", "")
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim() == (1, 9)


def test_axes_of_another_figure_can_be_drawn_in(study: lh.Study) -> None:
    from matplotlib.figure import Figure

    own = Figure()
    left, right = own.subplots(1, 2)
    assert study.plot(ax=right) is own
    assert (len(left.get_lines()), len(right.get_lines())) == (0, 2)
    with pytest.raises(lh.UsageError, match="2 panels; expected a figure with one panel"):
        draw(study, figure("panels"), page=page(ax=left))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": "wide"}, 'width: "wide" is not a width; expected column, page, or 40 to 1000 mm'),
        ({"width": 3}, "is not a width"),
        ({"legend": "bset"}, 'did you mean "best"'),
        ({"y_limits": (2, 1)}, "expected a lower limit below the upper one"),
    ],
)
def test_a_page_that_cannot_be_is_refused(study: lh.Study, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(lh.UsageError, match=message):
        study.plot(**arguments)


def test_bars_are_as_high_as_the_means_and_have_their_intervals(study: lh.Study) -> None:
    axes = draw(study, figure("bar")).axes[0]
    rows = study.table(GOODPUT).rows
    heights = [patch.get_height() for patch in axes.patches]  # type: ignore[attr-defined]
    assert heights == pytest.approx([row["mean"] / 1e6 for row in rows])
    # Two variants at three rates: no two bars overlap.
    spans = sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches)  # type: ignore[attr-defined]
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_boxes_hold_the_quartiles_of_the_runs(study: lh.Study) -> None:
    axes = draw(study, figure("box")).axes[0]
    medians = [line.get_ydata()[0] for line in axes.get_lines() if line.get_linewidth() == 1.4]  # type: ignore[index]
    runs = [sorted(v for v in study.values(p, GOODPUT).values() if v is not None) for p in range(6)]
    assert medians == pytest.approx([values[2] / 1e6 for values in runs])


def test_a_scatter_plot_has_the_means_and_the_ellipse_of_the_covariance(study: lh.Study) -> None:
    axes = draw(study, figure("scatter")).axes[0]
    line = axes.get_lines()[0]
    means = [interval(list(study.values(p, GOODPUT).values())).mean or 0.0 for p in range(3)]
    assert list(line.get_ydata()) == pytest.approx([mean / 1e6 for mean in means])
    # The ellipse of a point reaches one standard deviation from its mean in either direction.
    ellipse = next(line for line in axes.get_lines() if len(line.get_xdata()) == 73)  # type: ignore[arg-type]
    ys = list(ellipse.get_ydata())
    values = [v / 1e6 for v in study.values(0, GOODPUT).values() if v is not None]
    deviation = math.sqrt(covariance([(v, v) for v in values])[0])
    assert (max(ys) - min(ys)) / 2 == pytest.approx(deviation, rel=0.01, abs=1e-12)


def test_several_metrics_have_a_panel_each_and_one_legend(study: lh.Study) -> None:
    top, below = draw(study, figure("panels")).axes
    assert (top.get_ylabel(), below.get_ylabel()) == ("goodput (Mbit/s)", "timeouts")
    assert below.get_legend() is None
    assert [len(axes.get_lines()) for axes in (top, below)] == [2, 2]


def test_words_have_dots_side_by_side_without_a_line_between(study: lh.Study) -> None:
    lines = draw(study, figure("words")).axes[0].get_lines()
    markers = [line for line in lines if line.get_label() and not str(line.get_label()).startswith("_")]
    assert {line.get_linestyle() for line in markers} == {"None"}
    places = [x for line in markers for x in line.get_xdata()]
    assert len(set(places)) == len(places)


def test_a_share_and_its_interval_end_at_one(study: lh.Study) -> None:
    drawn = draw(study, figure("lines", y="links.path.utilisation"))
    band = drawn.axes[0].collections[0].get_paths()[0].vertices
    assert max(y for _, y in band) <= 1.0  # type: ignore[union-attr]


def test_fonts_are_embedded_as_truetype_and_text_is_text(study: lh.Study, tmp_path: Path) -> None:
    study.plot().savefig(tmp_path / "a.pdf")
    save(study.plot(), tmp_path / "a.svg")
    written = (tmp_path / "a.pdf").read_bytes()
    assert b"/Type3" not in written
    assert b"/FontFile2" in written
    assert ">NewReno</text>" in (tmp_path / "a.svg").read_text()


def _contrast(colour: str) -> float:
    """The contrast of a colour on white by WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_colours_have_a_contrast_of_three_to_one_and_variants_differ_in_look() -> None:
    assert all(_contrast(colour) >= 3 for colour in COLOURS)
    styles = [tuple(entry["style"]) for entry in json.loads(_core.registry())["tcp"]]
    assert len(set(styles)) == len(styles)
    assert max(style[0] for style in styles) < len(COLOURS)


def test_the_command_line_draws_for_a_column(study: lh.Study, within: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done = within(
        "plot", study.path, "goodput", "--width", "column", "--no-title", "--y-limits", "0..", "-o", out
    )
    assert done.returncode == 0
    assert 'width="252pt"' in (out / "goodput.svg").read_text()
    for option, value, message in (
        ("--width", "huge", '--width: "huge" is not a width'),
        ("--y-limits", "5", "expected limits such as 0..5"),
        ("--legend", "nowhere", "is not a place"),
    ):
        refused = within("plot", study.path, option, value)
        assert refused.returncode == 2
        assert message in refused.stderr


def test_tables_come_as_markdown_and_latex(study: lh.Study, within: Cli) -> None:
    markdown = within("show", study.path, "--format", "markdown").stdout
    assert "| links.path.loss.rate | newreno | reno |" in markdown or "| reno | newreno |" in markdown
    latex = within("show", study.path, "--format", "latex").stdout
    assert latex.count(r"\begin{tabular}{lrr}") == 1
    assert r"1 \% & " in latex
    assert r"$\pm$" in latex
    table = study.table(GOODPUT)
    assert table.to_markdown().count("\n") == 2 + len(table.rows) - 1
    assert table.to_latex().startswith(r"\begin{tabular}")
    refused = within("show", "examples/slow-reader", "--format", "latex")
    assert refused.returncode == 2
