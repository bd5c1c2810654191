"""What is read from a study: contrasts, lines of figures, chosen points and exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest

import lasthop as lh
from lasthop.scenario.overrides import parse_where, select
from lasthop.views.groups import series
from lasthop.views.losses import of_study
from studies import METRIC, FakeStudy

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.scenario.overrides import Numeric
    from lasthop.study.study import Study


def test_contrasts_are_paired_and_relative_to_the_first_value(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(4, tmp_path / "s").run()
    table = study.contrast(METRIC, "flows.main.tcp.variant")
    assert [(r["flows.main.tcp.variant"], r["minus"]) for r in table.rows] == [("newreno", "reno")] * 3
    a, b = study.values(4, METRIC), study.values(1, METRIC)
    gaps = [(a[k] or 0.0) - (b[k] or 0.0) for k in range(4)]
    assert table.rows[1]["difference"] == pytest.approx(sum(gaps) / 4)
    assert table.rows[1]["n"] == 4
    swapped = study.contrast(METRIC, "flows.main.tcp.variant", baseline="newreno")
    assert swapped.rows[1]["difference"] == pytest.approx(-table.rows[1]["difference"])


def test_a_contrast_over_a_key_that_is_not_swept_names_those_that_are(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s").run()
    with pytest.raises(lh.UsageError, match=r'did you mean "links\.path\.loss\.rate"'):
        study.contrast(METRIC, "links.path.loss.rat")
    with pytest.raises(lh.UsageError, match="no such metric"):
        study.table("flows.main.goodputt_bps")


def test_a_point_is_found_without_a_list_of_all(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table reads each of them: with the list it took 2e8 steps for 10 000 points."""
    study = lh.load(small).sweep(1, tmp_path / "s").run()
    listed: list[object] = []
    monkeypatch.setattr("lasthop.study.study.listing", lambda values: listed.append(values) or "")
    assert all(study.values(point, METRIC) for point in range(len(study.plan)))
    assert not listed
    with pytest.raises(lh.UsageError):
        study.values(len(study.plan), METRIC)
    assert listed


def test_lines_of_a_figure_are_sorted_by_number_and_labelled_by_value() -> None:
    study = FakeStudy([({"v": v, "x": x}, [1.0, 2.0]) for v in "ab" for x in ("10 %", "2 %")])
    lines = series(study, "x", METRIC, "v", {})  # type: ignore[arg-type]
    assert [line.label for line in lines] == ["a", "b"]
    assert lines[0].xs == ["2 %", "10 %"]
    fixed = series(study, "x", METRIC, "v", {"v": "b"})  # type: ignore[arg-type]
    assert [line.points for line in fixed] == [[3, 2]]


def test_a_study_knows_the_metrics_of_all_its_points(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "judges.toml"
    path.write_text(small.read_text().replace('["reno", "newreno"]', '["reno", "jtcp"]'))
    study = lh.load(path).sweep(replications=2, out=tmp_path / "s").run()
    judged = "flows.main.judged.fast.random_as_random"
    assert judged in study.metrics()
    assert study.values(0, judged) == {0: None, 1: None}
    rows = [line for line in of_study(study).splitlines() if "flows.main (law)" in line]
    assert rows
    assert all("jtcp" in row for row in rows)


def test_a_gain_is_over_the_paired_runs_of_another_point() -> None:
    values = {"a": [1.0, 2.0], "b": [3.0, 6.0]}
    study = FakeStudy([({"v": v, "x": x}, values[v]) for v in "ab" for x in ("1 %", "2 %")])
    lines = series(study, "x", METRIC, "v", {}, {"v": "a"})  # type: ignore[arg-type]
    assert [line.label for line in lines] == ["b"]
    assert [(it.mean, it.low, it.high, it.n) for it in lines[0].intervals] == [(2.0, 2.0, 2.0, 2)] * 2


def test_a_line_is_named_by_what_tells_it_from_the_others() -> None:
    points = [
        ({"x": x, "line": line, "hops": hops, "to": f"n{hops}"}, [1.0, 2.0])
        for x in ("1", "2")
        for line in ("a", "b")
        for hops in ("4", "8")
    ]
    study = cast("Study", FakeStudy(points))
    assert [one.label for one in series(study, "x", METRIC, "line", {"hops": "4"})] == ["a", "b"]
    whole = series(study, "x", METRIC, "line", {})
    assert {one.label for one in whole} == {"a, 4, n4", "b, 4, n4", "a, 8, n8", "b, 8, n8"}
    one = series(study, "x", METRIC, "line", {"hops": "4", "line": "a"})
    assert [line.label for line in one] == ["n4"]


def test_where_compares_swept_keys_with_each_other() -> None:
    points = [{"low": low, "high": high} for low in ("5", "9") for high in ("5", "9.0")]
    numeric = cast("Numeric", lambda _key, text: float(text))
    chosen = {
        sign: select(points, parse_where([f"low {sign} high"]), numeric)
        for sign in ("<", "<=", "=", "!=", ">")
    }
    assert chosen == {"<": [1], "<=": [0, 1, 3], "=": [0, 3], "!=": [1, 2], ">": [2]}


def test_where_leaves_the_points_that_meet_it(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s", where=["links.path.loss.rate>0 %"]).run()
    assert [planned.point for planned in study.plan] == [1, 2, 4, 5]
    assert len(lh.Study.open(tmp_path / "s").table(METRIC)) == 4
    with pytest.raises(lh.UsageError, match="no point satisfies"):
        lh.load(small).sweep(1, tmp_path / "t", where=["links.path.loss.rate>50 %"])
    assert not (tmp_path / "t").exists()
    with pytest.raises(lh.UsageError, match='"7 %" is not a swept value'):
        lh.load(small).sweep(1, tmp_path / "t", where=["links.path.loss.rate=7 %"])


def test_exports_are_tidy_and_hold_no_clock(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(2, tmp_path / "s").run()
    study.to_csv(tmp_path / "a.csv")
    study.to_json(tmp_path / "a.json")
    study.to_parquet(tmp_path / "a.parquet")
    import pyarrow.parquet as pq

    whole = json.loads((tmp_path / "a.json").read_text())
    assert len(whole["rows"]) == 12
    assert whole["rows"][2]["links.path.loss.rate"] == "1 %"
    assert whole["rows"][2]["links.path.loss.rate_si"] == 0.01
    assert not [c for c in whole["columns"] if "wall" in c or "cpu" in c]
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == whole["rows"]
    head = (tmp_path / "a.csv").read_text().splitlines()[0].split(",")
    assert head == whole["columns"]
