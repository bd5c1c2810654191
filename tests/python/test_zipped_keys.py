"""Keys that advance together: no view of a study loses a point, or names one by another's values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import HOP, SMALL
from lasthop.figures.cdf import responses
from lasthop.views.classes import axis_column
from lasthop.views.groups import groups, pivot, series
from lasthop.views.matrix import matrix

if TYPE_CHECKING:
    from pathlib import Path

METRIC = "flows.main.goodput_bps"
KIND, MODE, PACKET = "agents.snoop.kind", "agents.snoop.lle-tcp.mode", "flows.main.tcp.packet"
ZIPPED = f"""
[sweep]
"{PACKET}" = ["200 B", "1000 B"]
[sweep.zip]
"{KIND}" = ["none", "lle-tcp", "lle-tcp"]
"{MODE}" = ["paper", "paper", "safe"]
"""


@pytest.fixture
def study(tmp_path: Path) -> lh.Study:
    scenario = lh.Scenario.from_text(HOP.split("[sweep]", 1)[0] + ZIPPED, "hop.toml")
    return scenario.set({"run.duration": "1500 ms"}).sweep(out=tmp_path / "s").run()


def mean(study: lh.Study, **wanted: str) -> float:
    found = [
        row["mean"]
        for row in study.table(METRIC).rows
        if (row[PACKET], row[KIND], row[MODE]) == (wanted["packet"], wanted["kind"], wanted["mode"])
    ]
    assert len(found) == 1
    return float(found[0])


def test_a_contrast_keeps_each_point_and_names_what_advances_with_its_key(study: lh.Study) -> None:
    table = study.contrast(METRIC, KIND)
    assert [(row[PACKET], row[KIND], row["minus"]) for row in table.rows] == [
        (packet, label, "none")
        for packet in ("200 B", "1000 B")
        for label in ("lle-tcp (paper)", "lle-tcp (safe)")
    ]
    for row in table.rows:
        mode = row[KIND].removeprefix("lle-tcp (").removesuffix(")")
        level = mean(study, packet=row[PACKET], kind="lle-tcp", mode=mode)
        base = mean(study, packet=row[PACKET], kind="none", mode="paper")
        assert row["difference"] == pytest.approx(level - base)
        assert row["n"] == 2


def test_a_contrast_takes_a_baseline_by_its_label_and_refuses_one_that_means_several(study: lh.Study) -> None:
    table = study.contrast(METRIC, KIND, baseline="lle-tcp (safe)")
    assert [row[KIND] for row in table.rows] == ["none", "lle-tcp (paper)"] * 2
    labels = r'"lle-tcp \(paper\)", "lle-tcp \(safe\)"'
    several = rf'"lle-tcp" has several points of agents\.snoop\.kind; expected one of {labels}'
    with pytest.raises(lh.UsageError, match=several):
        study.contrast(METRIC, KIND, baseline="lle-tcp")


def test_a_contrast_without_its_baseline_at_a_point_says_so(study: lh.Study, tmp_path: Path) -> None:
    where = [f"{PACKET}=1000 B|200 B", f"{KIND}!=none"]
    part = study.scenario.sweep(out=tmp_path / "t", where=where).run()
    assert [row["minus"] for row in part.contrast(METRIC, KIND).rows] == ["lle-tcp (paper)"] * 2
    part.plan = [planned for planned in part.plan if planned.point != 1]
    rows = part.contrast(METRIC, KIND, "lle-tcp (paper)").rows
    assert [(row[PACKET], row["difference"] is None, row["n"]) for row in rows] == [
        ("200 B", True, 0),
        ("1000 B", False, 2),
    ]


def test_a_line_has_one_point_at_each_x(study: lh.Study) -> None:
    for lines in (None, MODE, PACKET):
        found = groups(study, KIND, lines, {})
        assert all(len(set(group.xs)) == len(group.xs) for group in found)
        assert sorted(point for group in found for point in group.points) == list(range(6))
        assert len({group.label for group in found}) == len(found)
    alone = groups(study, KIND, None, {MODE: "paper"})
    assert [group.label for group in alone] == ["200 B", "1000 B"]
    assert {"200 B, paper", "200 B, safe"} <= {group.label for group in groups(study, KIND, None, {})}


def test_a_pivot_prints_each_point(study: lh.Study) -> None:
    sheet = pivot(study, KIND, METRIC, None, {})
    assert sheet is not None
    text = sheet.text()
    cells = [cell for row in text.splitlines()[2:] for cell in re.split(r"\s{2,}", row.strip())[1:]]
    assert len(cells) == 6, text


def test_a_gain_is_over_the_baseline_whatever_advances_with_its_key(study: lh.Study) -> None:
    every = series(study, PACKET, METRIC, KIND, {}, {KIND: "none"})
    assert sorted(line.label for line in every) == ["lle-tcp, paper", "lle-tcp, safe"]
    for line in every:
        mode = line.label.removeprefix("lle-tcp, ")
        for packet, it in zip(line.xs, line.intervals, strict=True):
            level = mean(study, packet=packet, kind="lle-tcp", mode=mode)
            base = mean(study, packet=packet, kind="none", mode="paper")
            assert it.mean == pytest.approx(level / base - 1)


def test_a_gain_over_a_value_that_a_fixed_key_does_not_have_is_none(tmp_path: Path) -> None:
    chosen = lh.load("ejtcp/header").set({"flows.main.tcp.ejtcp.header": "option", "run.duration": "3 s"})
    found = chosen.sweep(1, tmp_path / "fixed").run()
    over = {"flows.main.tcp.ejtcp.header": "paper"}
    for line in series(found, "links.r2-d.loss.rate", METRIC, None, {}, over):
        assert [it.mean for it in line.intervals] == [None] * len(line.xs)


def test_a_matrix_has_a_row_or_a_column_for_each_point(study: lh.Study) -> None:
    figure = {"id": "m", "y": METRIC, "rows": KIND, "columns": PACKET}
    found = matrix(study, figure)
    assert found.rows == ["unchanged", "kind = LLE-TCP", "kind = LLE-TCP, mode = safe"]
    assert len(found.known()) == 6
    turned = matrix(study, {**figure, "rows": PACKET, "columns": KIND})
    assert (turned.rows, turned.columns) == (found.columns, found.rows)
    assert [list(row) for row in zip(*turned.cells, strict=True)] == found.cells


def test_lines_of_response_times_have_a_label_for_each_point(study: lh.Study) -> None:
    found, runs = responses(study, {"class": "web", "lines": KIND})
    assert len(found) == len(runs) == 6


def test_a_contrast_by_a_key_names_what_always_advances_with_it(tmp_path: Path) -> None:
    zipped = {"links.path.rate": ["1 Mbit/s", "2 Mbit/s"], "links.path.delay": ["20 ms", "5 ms"]}
    scenario = lh.Scenario.from_text(SMALL, "small.toml").set({"run.duration": "500 ms"})
    study = scenario.vary({"zip": zipped}).sweep(1, tmp_path / "s").run()
    table = study.contrast(METRIC, "links.path.rate", baseline="2 Mbit/s")
    assert {(row["links.path.rate"], row["minus"]) for row in table.rows} == {
        ("1 Mbit/s (20 ms)", "2 Mbit/s (5 ms)")
    }
    assert len(table) == 6


def test_keys_that_advance_together_are_one_column_of_the_table_of_classes(study: lh.Study) -> None:
    zipped = next(keys for keys, _ in study.scenario.axes() if KIND in keys)
    head, texts = axis_column(study, zipped, study.points())
    assert len(zipped) > 1
    assert head == f"{zipped[0]}, …"
    assert len(texts) == len(study.points())
    assert set(texts) == {"unchanged", "kind = lle-tcp", "kind = lle-tcp, mode = safe"}
    packets = next(keys for keys, _ in study.scenario.axes() if PACKET in keys)
    assert axis_column(study, packets, study.points())[0] == packets[0]
