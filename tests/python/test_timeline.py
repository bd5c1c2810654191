"""Flows over time: the lines are the traces and the bins, of a study and of a stored run."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import HOP, SMALL
from lasthop.figures import run as plot_run
from lasthop.figures.page import caption_of
from lasthop.views.timeline import traced

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def study(tmp_path: Path) -> lh.Study:
    path = tmp_path / "hop.toml"
    path.write_text(HOP)
    return lh.load(path).sweep(out=tmp_path / "s").run()


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    return {
        str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()
    }


def test_the_round_trips_drawn_are_those_traced(study: lh.Study) -> None:
    rtt, rto, cwnd, _, _ = study.plot("time").axes
    for label, point in (("standard", 1), ("LLE", 3)):
        trace = study.scenario.run(study.seed, 0, point, trace=["rtt"]).trace("rtt")
        own = [i for i, flow in enumerate(trace["flow"]) if flow == "main"]
        times, values = lines(rtt)[label]
        assert times == [trace["time_s"][i] for i in own]
        assert values == pytest.approx([1e3 * float(trace["rtt_s"][i]) for i in own])
        assert lines(rto)[label][0] == times
        window = lines(cwnd)[label]
        assert window[0][-1] == times[-1]
        assert window[1][-1] == window[1][-2]
    assert (rtt.get_ylabel(), rto.get_ylabel(), cwnd.get_ylabel()) == (
        "round trip\n(ms)",
        "timeout (RTO)\n(s)",
        "window (cwnd)\n(segments)",
    )


def test_a_line_has_the_rows_of_its_flow_alone() -> None:
    columns = {
        "time_s": [1.0, 2.0, 3.0],
        "flow": ["main", "main.reverse", "main"],
        "cwnd": [2.0, 9.0, 3.0],
        "ssthresh": [math.inf, 1.0, 8.0],
    }
    (line,) = traced({"cwnd": columns}, "cwnd", "main", "x")
    assert line is not None
    assert (line.times, line.values) == ([1.0, 3.0], [2.0, 3.0])
    (threshold,) = traced({"cwnd": columns}, "ssthresh", "main", "x")
    assert threshold is not None
    assert (threshold.times, threshold.values) == ([3.0], [8.0])
    assert traced({"cwnd": columns}, "cwnd", "other", "x") == []
    assert traced({}, "rtt", "main", "x") == []


def test_goodput_over_time_is_the_mean_of_the_bins_and_adds_up_to_what_was_received(study: lh.Study) -> None:
    goodput, received = study.plot("time").axes[3:]
    # The means have labels; the runs, too few for an interval, are drawn around them without.
    means = [patch for patch in goodput.patches if patch.get_label()]
    assert len(goodput.patches) == len(means) + 2 * 2
    for patch, point in zip(means, (1, 3), strict=True):
        runs = [study.scenario.run(study.seed, r, point) for r in range(2)]
        series = [run.series["flows.main.goodput_bps"] for run in runs]
        values, edges, _ = patch.get_data()
        assert list(edges) == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
        assert list(values) == pytest.approx([(a + b) / 2e3 for a, b in zip(*series, strict=True)])
        label = str(patch.get_label())
        times, totals = lines(received)[label]
        assert times == list(edges)
        # In kilobytes; the warm-up counts here and not in the metric.
        whole = sum(sum(rates) * 0.5 / 8 for rates in series) / 2e3
        assert totals[0] == 0
        assert totals[-1] == pytest.approx(whole)
    assert goodput.get_ylabel() == "goodput\n(kbit/s)"
    assert received.get_ylabel() == "received\n(kB)"
    assert received.get_xlabel() == "simulated time (s)"
    assert received.get_xlim() == (0, 2.75)


def test_the_caption_tells_traces_from_means(study: lh.Study) -> None:
    caption = caption_of(study.plot("time"))
    assert "traces of replication 0 of seed 1" in caption
    assert "bins: mean and each run, n = 2" in caption


def test_a_study_keeps_its_bins_through_reopening_and_merging(study: lh.Study, tmp_path: Path) -> None:
    from lasthop.study.merge import merge

    before = study.series(1, "flows.main.goodput_bps")
    assert sorted(before) == [0, 1]
    assert lh.Study.open(study.path).series(1, "flows.main.goodput_bps") == before
    assert merge(tmp_path / "joined", [study.path]).series(1, "flows.main.goodput_bps") == before


def test_a_study_that_this_build_would_not_repeat_is_not_traced(study: lh.Study) -> None:
    row = study.run_at(1, 0)
    assert row is not None
    assert row.metrics is not None
    row.metrics["flows.main.goodput_bps"] = 1.0
    with pytest.raises(lh.StudyError, match="point 1 gives other values than the study"):
        study.plot("time")


def test_a_stored_run_is_drawn_from_its_files(tmp_path: Path, within: Cli) -> None:
    (tmp_path / "hop.toml").write_text(HOP)
    within("run", "hop.toml", "--trace", "rtt,cwnd", "-o", "one", "--point", "3")
    done = within("plot", "one", "--format", "png")
    assert done.stderr.splitlines() == ["one/figures/time.png", "one/figures/airtime.png"]
    figures = plot_run.draw(tmp_path / "one")
    (rtt,) = lines(figures["time"].axes[0]).values()
    run = lh.load(tmp_path / "hop.toml").run(point=3, trace=["rtt"])
    own = [i for i, flow in enumerate(run.trace("rtt")["flow"]) if flow == "main"]
    assert rtt[1] == pytest.approx([1e3 * float(run.trace("rtt")["rtt_s"][i]) for i in own])
    heights = [container[0].get_height() for container in figures["airtime"].axes[0].containers]
    assert math.fsum(heights) == pytest.approx(100)
    assert run.metrics["links.wlan.airtime_data_payload_s"] == pytest.approx(heights[0] / 100 * 2.5)
    assert within("plot", "one", "tiem").returncode == 2


def test_a_run_with_nothing_to_draw_says_so(small: Path, within: Cli) -> None:
    within("run", small, "-o", "plain")
    done = within("plot", "plain")
    assert done.returncode == 2
    assert done.stderr == ("error: plain: nothing to draw; expected traces (run --trace) or an 802.11 link\n")
    within("run", small, "-o", "traced", "--trace", "cwnd")
    assert within("plot", "traced").stderr.splitlines() == ["traced/figures/time.svg"]


def test_a_damaged_run_is_refused(small: Path, within: Cli, tmp_path: Path) -> None:
    within("run", small, "-o", "out", "--trace", "cwnd")
    (tmp_path / "out" / "run.json").write_text("{}")
    done = within("plot", "out")
    assert done.returncode == 4
    assert "no scenario; expected the output of this version of lasthop run" in done.stderr


def test_a_window_alone_is_drawn_to_the_end_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(
        SMALL[: SMALL.index("[sweep]")] + '[[figure]]\nid = "w"\nkind = "time"\npanels = ["cwnd"]\n'
    )
    study = lh.load(path).sweep(out=tmp_path / "s", replications=1).run()
    (axes,) = study.plot("w").axes
    ((times, _),) = lines(axes).values()
    assert times[-1] == 3.0
    assert axes.get_legend() is None


def test_a_run_in_json_has_its_bins_and_their_width(tmp_path: Path, within: Cli) -> None:
    (tmp_path / "hop.toml").write_text(HOP)
    run = json.loads(within("run", "hop.toml", "--json").stdout)
    assert run["series"]["bin_s"] == 0.5
    assert len(run["series"]["values"]["flows.main.goodput_bps"]) == 6
    plain = json.loads(within("run", "hop.toml", "--json", "-s", "run.bin=none").stdout)
    assert plain["series"] is None
    del run["series"], plain["series"]
    for changed in (run, plain):
        del changed["events"], changed["wall_s"], changed["overrides"]
    assert run == plain
