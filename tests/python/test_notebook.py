"""What a notebook shows and what other libraries take: HTML, pictures, Arrow, numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.base.frames import array

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scenario(tmp_path: Path) -> lh.Scenario:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return lh.load(path)


def test_everything_shows_itself(scenario: lh.Scenario, tmp_path: Path) -> None:
    run = scenario.run(trace=["cwnd"])
    study = scenario.sweep(out=tmp_path / "s", replications=2).run()
    for shown, words in (
        (scenario, ("newreno", "links.path.loss.rate")),
        (run, ("flows.main.goodput_bps", "Mbit/s", "seed 1")),
        (study, ("12 of 12 runs", "flows.main.goodput_bps")),
        (study.table("flows.main.timeouts"), ("mean", "newreno")),
        (run.trace("cwnd"), ("ssthresh", "rows")),
    ):
        text = shown._repr_html_()  # type: ignore[attr-defined]
        assert text.count("<table>") <= 2
        assert all(word in text for word in words), (type(shown), text)
    picture, size = study.plot()._repr_png_()  # type: ignore[attr-defined]
    assert picture.startswith(b"\x89PNG")
    assert size == {"width": 600, "height": 400}


def test_titles_cannot_carry_html(scenario: lh.Scenario) -> None:
    text = scenario._repr_html_()
    dangerous = lh.Scenario.from_text(SMALL.replace('title = "', 'title = "<script>', 1), "x")
    assert "<script>" not in text + dangerous._repr_html_()


def test_a_trace_and_a_table_are_arrow_and_numpy(scenario: lh.Scenario, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    trace = scenario.run(trace=["cwnd"]).trace("cwnd")
    table = pa.table(trace)
    assert table.num_rows == len(trace)
    assert table.column_names == list(trace.columns)
    assert np.asarray(trace)["cwnd"].tolist() == list(trace["cwnd"])
    study = scenario.sweep(out=tmp_path / "s", replications=2).run()
    means = study.table("flows.main.goodput_bps")
    from_arrow = pa.table(means)
    assert from_arrow.column("n").type == pa.int64()
    assert from_arrow.column("mean").to_pylist() == means.column("mean")
    assert np.asarray(means)["n"].dtype == np.int64


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2], np.int64, [1, 2]),
        ([1, None], np.float64, [1.0, np.nan]),
        ([1.5, 2], np.float64, [1.5, 2.0]),
        ([None, None], np.float64, [np.nan, np.nan]),
        (["a", "bc"], "<U2", ["a", "bc"]),
    ],
)
def test_columns_keep_their_kind(values: list[Any], kind: Any, expected: list[Any]) -> None:
    column = array({"x": values})["x"]
    assert column.dtype == np.dtype(kind)
    assert np.array_equal(column, np.asarray(expected), equal_nan=column.dtype == np.float64)


def test_pandas_takes_them_or_is_asked_for(scenario: lh.Scenario) -> None:
    trace = scenario.run(trace=["cwnd"]).trace("cwnd")
    try:
        import pandas as pd  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        with pytest.raises(lh.LasthopError, match=r"pandas: .*; expected it to be installed"):
            trace.to_pandas()
    else:
        assert isinstance(trace.to_pandas(), pd.DataFrame)
