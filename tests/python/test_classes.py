"""Users and their classes: response times with censoring, tables and figures."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from lasthop import Scenario
from lasthop.base.errors import UsageError
from lasthop.figures.cdf import draw_responses, responses
from lasthop.stats.intervals import interval
from lasthop.stats.survival import Lasted, common_limit, kaplan_meier, restricted_mean
from lasthop.views.classes import lengths, of_run, of_study, study_json
from lasthop.views.tables import study_text

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
[run]
duration = "60 s"
warmup = "5 s"
replications = 3

[nodes]
server = { count = 3 }
ap = {}
phone = { count = 3 }

[links.path]
kind = "wired"
nodes = ["server", "ap"]
rate = "100 Mbit/s"
rtt = { law = "uniform", uniform = { min = "5 ms", max = "100 ms" } }

[links.last]
kind = "wired"
nodes = ["ap", "phone"]
rate = "1 Mbit/s"

[flows.down]
from = "server"
to = "phone"

[flows.down.app]
kind = "mix"
ftp = { size = "2 MB", pause = "5 s" }
web = { reading = "5 s" }
mail = { pause = "5 s" }

[sweep]
"links.last.rate" = ["1 Mbit/s", "4 Mbit/s"]

[[figure]]
id = "files"
kind = "cdf"
class = "ftp"
flow = "down"
lines = "links.last.rate"
"""

# Freireich's remission times under 6-MP, as every textbook of survival analysis has them.
ENDED = [6, 6, 6, 7, 10, 13, 16, 22, 23]
CENSORED = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
REMISSIONS = [*(Lasted(t, True) for t in ENDED), *(Lasted(t, False) for t in CENSORED)]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.from_text(SCENARIO, "users.toml")


def test_the_curve_of_a_textbook_is_met() -> None:
    curve = kaplan_meier(REMISSIONS)
    assert curve.times == [6, 7, 10, 13, 16, 22, 23]
    expected = [0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482]
    assert curve.shares == pytest.approx(expected, abs=5e-5)
    assert (curve.median, curve.n, curve.told_until) == (23, 21, 35)


def test_without_censoring_the_curve_is_that_of_the_sample() -> None:
    curve = kaplan_meier([Lasted(t, True) for t in (1.0, 2.0, 4.0, 9.0)])
    assert curve.shares == pytest.approx([0.75, 0.5, 0.25, 0.0])
    assert curve.median == 2.0
    assert curve.restricted_mean(100.0) == pytest.approx(4.0)
    assert curve.restricted_mean(4.0) == pytest.approx((1 + 2 + 4 + 4) / 4)


def test_leaving_out_the_unfinished_or_taking_them_for_finished_would_be_too_short() -> None:
    lengths_ = [Lasted(1.0, True), Lasted(2.0, False), Lasted(3.0, True), Lasted(4.0, True)]
    mean = kaplan_meier(lengths_).restricted_mean(4.0)
    assert mean == pytest.approx(1 + 0.75 * 2 + 0.375)
    assert mean > sum(it.time for it in lengths_) / 4
    assert mean > sum(it.time for it in lengths_ if it.ended) / 3


def test_a_median_that_nobody_reached_is_none() -> None:
    assert kaplan_meier([Lasted(1.0, True), Lasted(2.0, False), Lasted(2.0, False)]).median is None
    assert kaplan_meier([]).median is None


def test_the_interval_of_a_mean_without_censoring_is_that_of_the_means_of_equal_runs() -> None:
    runs = [[Lasted(t, True) for t in run] for run in ([1.0, 2.0], [3.0, 6.0], [2.0, 7.0])]
    plain = interval([1.5, 4.5, 4.5])
    found = restricted_mean(runs, 10.0)
    assert (found.mean, found.low, found.high, found.n) == pytest.approx(
        (plain.mean, plain.low, plain.high, 3)
    )
    assert restricted_mean([[], []], 1.0).mean is None
    assert restricted_mean([runs[0], []], 10.0).low is None


def test_means_are_restricted_to_what_is_known_of_all() -> None:
    whole, cut = [Lasted(50.0, True)], [Lasted(1.0, True), Lasted(7.0, False)]
    assert common_limit([whole, cut]) == 7.0
    assert common_limit([whole, []]) == 50.0
    assert common_limit([]) == 0.0


def test_what_is_unfinished_lasts_from_its_start_to_the_end_of_the_run(scenario: Scenario) -> None:
    columns = scenario.set({"run.duration": "10 s"}).run().transfers
    rows = zip(columns["begun_s"], columns["lasted_s"], columns["done"], strict=True)
    ends = [begun + lasted for begun, lasted, is_done in rows if not is_done]
    assert ends == pytest.approx([10.0] * 3)


def test_a_run_tells_each_transfer_and_its_classes(scenario: Scenario) -> None:
    run = scenario.run()
    columns = run.transfers
    assert {len(column) for column in columns.values()} == {len(columns["flow"])}
    begun = [it >= 5.0 for it in columns["begun_s"]]
    for name in ("ftp", "web", "mail"):
        every = lengths(scenario, 0, columns, "down", name)
        counts = {k: run.metrics[f"flows.down.class.{name}.transfers_{k}"] for k in ("begun", "done")}
        assert (len(every), sum(it.ended for it in every)) == (counts["begun"], counts["done"])
        alone = [len(lengths(scenario, 0, columns, f"down{n}", name)) for n in (1, 2, 3)]
        assert sum(alone) == len(every) == len(lengths(scenario, 0, columns, None, name))
    assert sum(begun) < len(begun)
    text = of_run(run)
    assert "down   ftp" in text
    assert "down1" not in text
    assert run.as_dict()["transfers"] == columns


def test_a_study_keeps_the_transfers_of_every_run(scenario: Scenario, tmp_path: Path) -> None:
    study = scenario.sweep(out=tmp_path / "study").run(jobs=1)
    assert [row.transfers for row in study.rows(0)] == [
        scenario.run(replication=r).transfers for r in range(3)
    ]
    text = study_text(study)
    assert of_study(study) in text
    assert text.count("down   mail") == 2
    rows = study_json(study)
    files = [row for row in rows if row["class"] == "ftp"]
    assert len(rows) == 6
    assert files[0]["response_mean_s"] > files[1]["response_mean_s"]
    assert files[0]["response_within_s"] == files[1]["response_within_s"]
    assert math.isfinite(files[0]["response_within_s"])
    assert json.loads(json.dumps(rows)) == rows

    figure = scenario.figures()[0]
    found, runs = responses(study, figure)
    assert list(found) == ["1 Mbit/s", "4 Mbit/s"]
    assert runs == [3, 3]
    for (label, every), row in zip(found.items(), files, strict=True):
        assert len(every) == 3 * row["transfers_begun"], label
    drawn = draw_responses(study, figure)
    (axes,) = drawn.axes
    for line, every in zip(axes.lines, found.values(), strict=True):
        assert line.get_ydata()[-1] == pytest.approx(1 - kaplan_meier(every).shares[-1])
    other = {**figure, "class": "web", "flow": "nobody"}
    with pytest.raises(UsageError, match="no transfers"):
        draw_responses(study, other)


def test_without_users_there_is_no_table(tmp_path: Path) -> None:
    text = SCENARIO.split("[flows.down.app]", maxsplit=1)[0]
    plain = Scenario.from_text(text, "plain.toml")
    assert of_run(plain.run()) == ""
    assert plain.run().as_dict()["transfers"] is None
    study = plain.sweep(out=tmp_path / "study").run(jobs=1)
    assert of_study(study) == ""
    assert study_json(study) == []
