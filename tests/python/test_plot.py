"""Figures: labels with units, lines that differ in grey, bytes that repeat."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.figures.axis import KeyAxis
from lasthop.figures.draw import draw
from lasthop.figures.page import caption_of, page
from lasthop.figures.style import COLOURS, looks, save
from lasthop.report.charts import chart
from lasthop.report.headline import _level
from lasthop.views.matrix import matrix, matrix_sheet
from lasthop.views.tables import study_text

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

    from matplotlib.axes import Axes


@pytest.fixture
def study(tmp_path: Path) -> lh.Study:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return lh.load(path).sweep(out=tmp_path / "s").run()


def axes(study: lh.Study, **changes: object) -> Axes:
    figure = {**study.scenario.figures()[0], **changes}
    return draw(study, figure).axes[0]


def test_axes_carry_units_and_the_caption_carries_n(study: lh.Study) -> None:
    sheet = study.plot("goodput")
    ax = sheet.axes[0]
    assert ax.get_xlabel() == "loss rate (%)"
    assert ax.get_ylabel() == "goodput (Mbit/s)"
    assert "n = 3" in caption_of(sheet)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["Reno", "NewReno"]


def test_the_lines_are_the_means_in_the_units_of_the_labels(study: lh.Study) -> None:
    line = axes(study).get_lines()[0]
    rows = study.table("flows.main.goodput_bps").rows[:3]
    assert list(line.get_xdata()) == pytest.approx([0.0, 1.0, 3.0])
    assert list(line.get_ydata()) == pytest.approx([r["mean"] / 1e6 for r in rows])


def test_a_line_beside_lines_with_labels_has_one_and_the_headline_says_whose_it_is(tmp_path: Path) -> None:
    one = SMALL.replace('"flows.main.tcp.variant" = ["reno", "newreno"]\n', "").replace(
        'lines = "flows.main.tcp.variant"\n', ""
    )
    panels = '[["flows.main.goodput_bps", "flows.main.throughput_bps"], "flows.main.rtt_p95_s"]'
    (tmp_path / "one.toml").write_text(one.replace('"flows.main.goodput_bps"', panels))
    alone = lh.load(tmp_path / "one.toml").sweep(out=tmp_path / "s").run()
    drawn = draw(alone, alone.scenario.figures()[0])
    assert [line.get_label() for line in drawn.axes[0].get_lines()] == ["goodput", "throughput"]
    assert [line.get_label() for line in drawn.axes[1].get_lines()] == ["rtt p95"]
    names = {"names": {"flows.main.goodput_bps": "what arrives"}}
    assert _level(alone, {**alone.scenario.figures()[0], **names}, "flows.main.goodput_bps").text.startswith(
        "Goodput of what arrives falls from"
    )


def test_metrics_of_one_panel_share_an_axis_and_have_labels_of_their_own(study: lh.Study) -> None:
    together = ["flows.main.rtt_p50_s", "flows.main.rtt_p95_s"]
    drawn = draw(study, {**study.scenario.figures()[0], "y": [together, "flows.main.goodput_bps"]})
    above, below = drawn.axes
    assert [len(ax.get_lines()) for ax in (above, below)] == [4, 2]
    assert above.get_ylabel() == "rtt p50, rtt p95 (ms)"
    labels = {text.get_text() for text in above.get_legend().get_texts()}
    named = {f"{law}, {metric}" for law in ("Reno", "NewReno") for metric in ("rtt p50", "rtt p95")}
    assert labels == named | {"Reno", "NewReno"}
    assert len({(line.get_color(), line.get_linestyle()) for line in above.get_lines()}) == 4
    rows = study.table(together[1]).rows[:3]
    line = next(line for line in above.get_lines() if line.get_label() == "Reno, rtt p95")
    assert list(line.get_ydata()) == pytest.approx([r["mean"] * 1e3 for r in rows])


def test_names_label_metrics(study: lh.Study) -> None:
    together = ["flows.main.rtt_p50_s", "flows.main.rtt_p95_s"]
    names = {together[0]: "median", "flows.main.goodput_bps": "what arrives"}
    drawn = draw(
        study, {**study.scenario.figures()[0], "y": [together, "flows.main.goodput_bps"], "names": names}
    )
    assert {line.get_label() for line in drawn.axes[0].get_lines()} >= {"Reno, median", "Reno, rtt p95"}
    assert drawn.axes[1].get_ylabel() == "what arrives (Mbit/s)"


def test_panels_of_one_quantity_say_whose_it_is(study: lh.Study) -> None:
    both = ["links.path.drops_queue", "links.path.reverse.drops_queue"]
    drawn = draw(study, {**study.scenario.figures()[0], "y": both})
    labels = ["drops queue of path (packets)", "drops queue of path reverse (packets)"]
    assert [ax.get_ylabel() for ax in drawn.axes] == labels


def test_a_page_draws_metrics_of_one_panel_on_one_axis(study: lh.Study) -> None:
    together = ["flows.main.rtt_p50_s", "flows.main.rtt_p95_s"]
    drawn = chart(study, {**study.scenario.figures()[0], "y": [together]}, (), 100)
    (panel,) = drawn["panels"]
    names = ["Reno, rtt p50", "NewReno, rtt p50", "Reno, rtt p95", "NewReno, rtt p95"]
    assert [line["name"] for line in panel["series"]] == names
    assert len(drawn["tables"]) == 2


def test_lines_differ_in_colour_marker_and_dashes(study: lh.Study) -> None:
    first, second = axes(study).get_lines()
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()


def test_tcp_variants_keep_the_colour_of_the_registry(study: lh.Study) -> None:
    import json

    from lasthop import _core

    registered = {e["name"]: COLOURS[e["style"][0]] for e in json.loads(_core.registry())["tcp"]}
    expected = [registered["reno"], registered["newreno"]]
    assert [line.get_color() for line in axes(study).get_lines()] == expected
    # Under another name, alone, and as a recovery it is drawn in the same way.
    named = axes(study, names={"newreno": "RFC 6582"}, where={"flows.main.tcp.variant": "newreno"})
    assert [line.get_color() for line in named.get_lines()] == expected[1:]
    assert (
        looks({"lines": "flows.main.tcp.recovery"}, ["NewReno"], {"newreno": "NewReno"})[0].colour
        == expected[1]
    )


def test_schemes_beyond_the_last_colour_of_the_registry_differ_by_their_place() -> None:
    names = {"hack": "TCP/HACK", "ack-filter": "ACK filter"}
    found = looks({"lines": "agents.air.kind"}, list(names.values()), names)
    assert found[0].colour != found[1].colour


def test_labels_and_scale_of_the_scenario_win_and_get_the_unit(study: lh.Study) -> None:
    ax = axes(study, **{"x-label": "loss", "y-label": "rate (of user data)", "y-scale": "log", "title": "T"})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("loss (%)", "rate (of user data)")
    assert (ax.get_yscale(), ax.get_title()) == ("log", "T")


def test_the_scale_of_the_horizontal_axis_is_that_of_the_figure() -> None:
    coherence = lh.load("dynamic-arq/coherence")
    figure = coherence.figures()[0]
    texts = ["1 ms", "10 ms", "500 ms"]
    given = KeyAxis(coherence, figure["x"], texts, label=figure["x-label"], scale=figure["x-scale"])
    assert (given.spans_decades, given.label) == (True, "coherence time (ms)")
    assert not KeyAxis(coherence, figure["x"], texts).spans_decades
    assert KeyAxis(coherence, figure["x"], ["1 ms", "1 s"]).spans_decades
    assert not KeyAxis(coherence, figure["x"], ["0.1 ms", "500 ms"], scale="linear").spans_decades


def test_the_legend_is_headed_by_the_keys_of_the_lines(study: lh.Study) -> None:
    assert axes(study).get_legend().get_title().get_text() == "TCP variant"
    named = axes(study, names={"reno": "RFC 5681", "newreno": "RFC 6582"})
    assert named.get_legend().get_title().get_text() == ""


def test_words_on_the_x_axis_are_drawn_at_equal_distances(study: lh.Study) -> None:
    ax = axes(study, x="flows.main.tcp.variant", lines="links.path.loss.rate")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["Reno", "NewReno"]


def test_where_fixes_a_swept_key(study: lh.Study) -> None:
    ax = axes(study, where={"flows.main.tcp.variant": "newreno"})
    assert len([line for line in ax.get_lines() if len(line.get_xdata()) == 3]) == 1


def test_the_same_figure_is_the_same_bytes(study: lh.Study, tmp_path: Path) -> None:
    for kind in ("svg", "png", "pdf"):
        save(study.plot(), tmp_path / f"a.{kind}")
        save(study.plot(), tmp_path / f"b.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_a_figure_over_a_key_that_is_fixed_is_refused(study: lh.Study) -> None:
    with pytest.raises(lh.UsageError, match="is not swept"):
        axes(study, x="run.duration")
    with pytest.raises(lh.UsageError, match='did you mean "goodput"'):
        study.plot("godput")


MATRIX = {
    "id": "matrix",
    "kind": "matrix",
    "y": "flows.main.goodput_bps",
    "rows": "flows.main.tcp.variant",
    "columns": "links.path.loss.rate",
}


def test_a_matrix_holds_the_means_and_is_coloured_against_its_first_row(study: lh.Study) -> None:
    ax = draw(study, MATRIX).axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["Reno", "NewReno"]
    means = [row["mean"] / 1e6 for row in study.table("flows.main.goodput_bps").rows]
    written = [float(t.get_text().split()[0]) for t in ax.texts]
    assert written == pytest.approx(means, rel=0.01)
    shades = ax.get_images()[0].get_array()
    assert shades is not None
    assert list(shades[0]) == [0.0, 0.0, 0.0]
    assert [shade > 0 for shade in shades[1]] == [b > a for a, b in zip(means, means[3:], strict=False)]
    # The interval of three runs mostly shows how few they are.
    assert "goodput (Mbit/s), mean, n = 3" in matrix_sheet(study, MATRIX).text()
    assert not any("±" in t.get_text() for t in ax.texts)
    assert ax.get_xlabel() == "loss rate"


def test_a_matrix_of_four_runs_has_half_widths_below_the_means_in_a_column(study: lh.Study) -> None:
    study.scenario.sweep(out=study.path, replications=4).run()
    more = lh.Study.open(study.path)
    wide = draw(more, MATRIX, page=page()).axes[0]
    assert any(" ± " in t.get_text() for t in wide.texts)
    assert "half-width" in matrix_sheet(more, MATRIX).text()
    narrow = draw(more, MATRIX, page=page(width=60)).axes[0]
    assert any("\n± " in t.get_text() for t in narrow.texts)
    assert not any(" ± " in t.get_text() for t in narrow.texts)


def test_cells_and_names_of_columns_do_not_overlap_at_any_width(study: lh.Study) -> None:
    study.scenario.sweep(out=study.path, replications=4).run()
    names = {"0 %": "without any loss", "1 %": "one of hundred", "3 %": "three of hundred"}
    for width in ("column", 60, 45, None):
        drawn = draw(lh.Study.open(study.path), {**MATRIX, "names": names}, page=page(width=width))
        drawn.draw_without_rendering()
        ax = drawn.axes[0]
        for texts in (ax.texts, [] if ax.get_xticklabels()[0].get_rotation() else ax.get_xticklabels()):
            boxes = [text.get_window_extent() for text in texts]
            assert not any(a.overlaps(b) for a, b in combinations(boxes, 2)), width


def test_a_matrix_of_shares_is_in_per_cent_of_the_sum(study: lh.Study) -> None:
    found = matrix(study, {**MATRIX, "among": "goodput_bps"})
    assert found.scale() == (0.01, "%")
    assert [it.mean for it in found.known()] == pytest.approx([0.5] * 6)


def test_a_matrix_with_several_points_in_a_cell_is_refused(study: lh.Study) -> None:
    with pytest.raises(lh.UsageError, match="several points in one cell"):
        matrix(study, {**MATRIX, "columns": MATRIX["rows"]})


def test_the_table_of_a_figure_of_gains_shows_gains(tmp_path: Path) -> None:
    header = lh.load("ejtcp/header").set({"run.duration": "3 s", "links.r2-d.loss.rate": "0 %"})
    header = header.set({"flows.main.tcp.variant": "ejtcp"})
    study = header.sweep(out=tmp_path / "s", replications=2).run()
    difference = study.contrast("flows.main.goodput_bps", "flows.main.tcp.ejtcp.header", "paper")
    (relative,) = difference.column("relative")
    levels, gains = study_text(study).split("\n\n")[:2]
    assert "goodput (Mbit/s)" in levels
    assert "gain in goodput (%)" in gains
    assert float(gains.split()[-1]) == pytest.approx(100 * relative, rel=1e-3)


@pytest.mark.parametrize("value", ["abc", "-1", "1.5", "9" * 30, "٣", ""])
def test_a_date_that_matplotlib_cannot_read_is_a_sentence(
    small: Path, within: Cli, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lh.load(small).sweep(1, small.parent / "s").run()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    for words in (
        ("plot", "s", "--format", "pdf"),
        ("ladder", "small.toml", "--between", "0..0.1", "-o", "x.pdf"),
    ):
        done = within(*words)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith(f'error: SOURCE_DATE_EPOCH: "{value}"; expected ')


def test_the_backend_of_matplotlib_does_not_matter(small: Path, cli: Cli, tmp_path: Path) -> None:
    lh.load(small).sweep(1, tmp_path / "s").run()
    for name in ("nonsense", "module://nothing", ""):
        assert cli("plot", "s", MPLBACKEND=name, SOURCE_DATE_EPOCH="0").returncode == 0


def test_a_shell_that_completes_nonsense_gets_a_sentence(cli: Cli) -> None:
    for place in ("abc", "-1", "", "9" * 5000):
        done = cli(_LASTHOP_COMPLETE="bash_complete", COMP_WORDS="lasthop sh", COMP_CWORD=place)
        assert done.returncode in {0, 2}


def crowded(tmp_path: Path) -> lh.Study:
    path = tmp_path / "crowded.toml"
    six = '"flows.main.tcp.variant" = ["tahoe", "reno", "newreno", "sack", "fack", "cubic"]'
    path.write_text(re.sub(r'"flows.main.tcp.variant" *= \[.*\]', six, SMALL))
    return lh.load(path).sweep(replications=1, out=tmp_path / "crowded").run()


def test_six_lines_have_a_panel_each_with_the_others_in_grey(tmp_path: Path) -> None:
    study = crowded(tmp_path)
    for width in ("column", "page"):
        sheet = study.plot(width=width)
        assert [panel.get_title(loc="left") for panel in sheet.axes] == [
            *("Tahoe", "Reno", "NewReno", "SACK", "FACK", "CUBIC")
        ]
        for panel in sheet.axes:
            lines = panel.get_lines()
            assert len(lines) == 6
            assert [line.get_color() for line in lines].count("0.82") == 5
            assert panel.get_ylim() == sheet.axes[0].get_ylim()
        sheet.draw_without_rendering()
        boxes = [panel.get_window_extent() for panel in sheet.axes]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    (together,) = study.plot(legend="above").axes
    assert len(together.get_lines()) == 6
