"""The airtime ledger: what `run`, `show` and `plot` say of it, and what they say without 802.11."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import HOP
from lasthop import _core
from lasthop.figures.airtime import COLOURS
from lasthop.figures.draw import draw, figure_named
from lasthop.figures.page import caption_of
from lasthop.scenario import airtime

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes

    Cli = Callable[..., subprocess.CompletedProcess[str]]

# Links without block acknowledgement lack its class.
DCF = {name: words for name, words in airtime.CLASSES.items() if name != "block_ack"}


@pytest.fixture
def hop(tmp_path: Path) -> Path:
    path = tmp_path / "hop.toml"
    path.write_text(HOP)
    return path


@pytest.fixture
def study(hop: Path, tmp_path: Path) -> lh.Study:
    return lh.load(hop).sweep(out=tmp_path / "s").run()


def bars(axes: Axes) -> dict[str, list[float]]:
    """The heights of the bars of each class, by its name in the legend."""
    return {str(c.get_label()): [bar.get_height() for bar in c] for c in axes.containers}


def shares(study: lh.Study, point: int, replications: int = 2) -> dict[str, float]:
    """The share of each class at a point, in per cent, from single runs."""
    found: dict[str, float] = {}
    for name, words in DCF.items():
        runs = [study.scenario.run(point=point, replication=r).metrics for r in range(replications)]
        found[words] = sum(100 * run[f"links.wlan.airtime_{name}_s"] / 2.5 for run in runs) / replications
    return found


def test_the_classes_are_those_of_the_simulator_in_its_order() -> None:
    metrics = [entry["name"] for entry in json.loads(_core.registry())["metrics"]]
    ours = [airtime.metric("<l>", name) for name in (*DCF, "concurrent", "block_ack")]
    assert [name for name in metrics if ".airtime_" in name] == ours
    assert list(COLOURS) == list(airtime.CLASSES)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_run_prints_the_ledger_with_its_sum_beside_the_metrics(hop: Path, within: Cli) -> None:
    text = within("run", hop, "-v").stdout
    ledger = text[text.index("airtime of wlan as observed by left") :].splitlines()
    rows = {line.rsplit("  ", 2)[0].strip(): line.split() for line in ledger[2:]}
    assert [name.split("  ")[0] for name in rows] == [
        *DCF.values(),
        "sum",
        "concurrent, not in the sum",
    ]
    assert ledger[-2].split() == ["sum", "2.500", "s", "100.00", "%"]
    assert "airtime_" not in text


def test_run_json_has_the_ledger_and_its_classes_add_up_to_the_measured_time(hop: Path, within: Cli) -> None:
    run = json.loads(within("run", hop, "--json", "-s", "links.wlan.observer=right").stdout)
    (ledger,) = run["airtime"]
    assert (ledger["link"], ledger["observer"]) == ("wlan", "right")
    seconds = {name: entry["time_s"] for name, entry in ledger["classes"].items()}
    assert seconds == {name: run["metrics"][airtime.metric("wlan", name)] for name in DCF}
    assert math.fsum(seconds.values()) == pytest.approx(2.5, abs=1e-9)
    assert ledger["measured_s"] == pytest.approx(2.5, abs=1e-9)
    assert math.fsum(entry["share"] for entry in ledger["classes"].values()) == pytest.approx(1)
    assert ledger["concurrent_s"] == run["metrics"]["links.wlan.airtime_concurrent_s"]


def test_a_run_that_ends_in_its_warm_up_has_no_shares(hop: Path, within: Cli) -> None:
    run = json.loads(within("run", hop, "--json", "--max-events", "10").stdout)
    assert run["airtime"][0]["measured_s"] == 0
    assert run["airtime"][0]["classes"]["idle"]["share"] is None
    assert "100.00 %" not in within("run", hop, "--max-events", "10").stdout


def test_the_bars_are_the_ledgers(study: lh.Study) -> None:
    axes = study.plot("airtime").axes[0]
    drawn = bars(axes)
    # By size, and within a size by agent: points 0 and 2, then 1 and 3.
    for place, point in enumerate([0, 2, 1, 3]):
        expected = shares(study, point)
        for name, heights in drawn.items():
            assert heights[place] == pytest.approx(expected[name], abs=1e-9), (place, name)
        missing = set(expected) - set(drawn)
        assert all(expected[name] == 0 for name in missing)
        assert sum(heights[place] for heights in drawn.values()) == pytest.approx(100)


def test_bars_stand_on_each_other_in_fixed_colours_and_the_legend_reads_like_the_stack(
    study: lh.Study,
) -> None:
    from matplotlib.colors import to_hex

    axes = study.plot("airtime").axes[0]
    bottom = [0.0] * 4
    for container in axes.containers:
        assert [bar.get_y() for bar in container] == pytest.approx(bottom)
        bottom = [bar.get_y() + bar.get_height() for bar in container]
    by_words = {words: COLOURS[name].lower() for name, words in airtime.CLASSES.items()}
    for container in axes.containers:
        assert to_hex(container[0].get_facecolor()) == by_words[str(container.get_label())]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == [str(container.get_label()) for container in axes.containers][::-1]
    assert legend[-1] == "data"
    handles = [to_hex(patch.get_facecolor()) for patch in axes.get_legend().get_patches()]
    assert handles == [by_words[words] for words in legend]


def test_the_axes_of_the_bars_are_labelled(study: lh.Study) -> None:
    figure = study.plot("airtime")
    axes = figure.axes[0]
    assert axes.get_ylabel() == "share of the time (%)"
    assert axes.get_ylim() == (0, 100)
    assert [t.get_text() for t in axes.get_xticklabels()] == ["standard", "LLE"] * 2
    below = axes.child_axes[0]
    assert [t.get_text().strip() for t in below.get_xticklabels()] == ["200 B", "1000 B"]
    assert below.get_xlabel() == "payload"
    assert "share of 2.5 s as observed by left, mean, n = 2" in caption_of(figure)


def test_a_study_of_802_11_has_bars_without_a_figure(hop: Path, tmp_path: Path, within: Cli) -> None:
    hop.write_text(HOP[: HOP.index("[[figure]]")])
    within("sweep", hop, "-r", "1")
    done = within("plot", "studies/hop", "airtime", "--format", "png")
    assert done.stderr.splitlines() == ["studies/hop/figures/airtime.png"]
    study = lh.Study.open(tmp_path / "studies" / "hop")
    axes = draw(study, figure_named(study.scenario, "airtime")).axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()][:2] == ["no agent, 200 B", "no agent, 1000 B"]
    assert within("plot", "studies/hop").returncode == 2


def test_without_802_11_there_are_no_bars(small: Path, within: Cli) -> None:
    within("sweep", small, "-r", "1")
    done = within("plot", "studies/small", "airtime")
    assert done.returncode == 2
    assert done.stderr == "error: figure airtime: small has no link of kind wifi; expected at least one\n"
    assert json.loads(within("run", small, "--json").stdout)["airtime"] == []
    assert json.loads(within("show", "studies/small", "--json").stdout)["airtime"] == []


def test_bars_that_cannot_be_drawn_are_refused(study: lh.Study) -> None:
    figure = next(f for f in study.scenario.figures() if f["id"] == "airtime")
    with pytest.raises(lh.UsageError, match=r"run\.warmup is not swept"):
        draw(study, {**figure, "x": "run.warmup"})
    with pytest.raises(lh.UsageError, match='wlna: no such wifi link; did you mean "wlan"'):
        draw(study, {**figure, "link": "wlna"})


def test_show_tells_the_shares_of_every_point(study: lh.Study, within: Cli) -> None:
    text = within("show", study.path).stdout
    assert "airtime of wlan: share of 2.5 s as observed by left" in text
    head = next(line for line in text.splitlines() if line.startswith("class "))
    assert head.split("  ")[-1].strip() == "1000 B, LLE"
    found = json.loads(within("show", study.path, "--json").stdout)["airtime"]
    assert [entry["point"] for entry in found] == study.points()
    expected = shares(study, 3)
    for name, words in DCF.items():
        entry = found[3]["shares"][name]
        assert (100 * entry["mean"], entry["n"]) == (pytest.approx(expected[words]), 2)


def test_a_sweep_of_other_points_than_the_bars_shows_its_metric(hop: Path, within: Cli) -> None:
    hop.write_text(HOP.replace("lines   =", 'where   = { "agents.snoop.kind" = "none" }\nlines   ='))
    done = within("sweep", hop, "-r", "1", "--where", "agents.snoop.kind=lle-tcp")
    assert done.returncode == 0
    assert "airtime of" not in done.stdout
    assert done.stdout.startswith("flows.main.goodput_bps\n")


def test_a_swept_observer_names_each_bar(hop: Path, tmp_path: Path) -> None:
    text = HOP.replace(
        '"agents.snoop.kind"     = ["none", "lle-tcp"]', '"links.wlan.observer" = ["left", "right"]'
    )
    hop.write_text(
        text[: text.index("[[figure]]")]
        + '[[figure]]\nid = "seen"\nkind = "airtime"\nx = "links.wlan.observer"\n'
        + 'where = { "flows.main.tcp.packet" = "1000 B" }\n'
    )
    study = lh.load(hop).sweep(out=tmp_path / "seen", replications=1).run()
    figure = study.plot("seen")
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["left", "right"]
    assert "as observed by each observer" in caption_of(figure)
