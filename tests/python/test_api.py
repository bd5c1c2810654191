"""The public Python API, as the guide shows it."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lasthop as lh
from lasthop.scenario.overrides import as_text

if TYPE_CHECKING:
    from pathlib import Path


def test_the_example_of_the_guide_runs(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small).set({"run.duration": "2 s"})
    one = sc.run(seed=1, trace=["cwnd", "rtt"], pcap=tmp_path / "x.pcap")
    assert one.metrics["flows.main.goodput_bps"] > 0  # type: ignore[operator]
    cwnd = one.trace("cwnd").to_numpy()
    assert cwnd.dtype.names == ("time_s", "flow", "cwnd", "ssthresh")
    assert (np.diff(cwnd["time_s"]) >= 0).all()
    study = sc.sweep(replications=2, out=tmp_path / "study")
    assert study.run(executor=None) is study
    assert set(study.table("flows.main.goodput_bps").columns) >= {"mean", "ci_low", "ci_high", "n"}
    assert len(study.contrast("flows.main.goodput_bps", "flows.main.tcp.variant")) == 3
    study.plot("goodput").savefig(tmp_path / "x.pdf")
    study.to_parquet(tmp_path / "x.parquet")


def test_bounds_of_counts_are_whole(small: Path) -> None:
    bound = lh.load(small).estimate()
    assert isinstance(bound.events, int)
    assert isinstance(bound.memory_bytes, int)
    assert bound.events > 1000


def test_a_scenario_is_immutable(small: Path) -> None:
    sc = lh.load(small)
    other = sc.set({"run.duration": "1 s"})
    assert sc.resolved()["run.duration"]["value"] == "3 s"
    assert other.resolved()["run.duration"]["value"] == "1 s"


def test_mistakes_raise_at_once_with_the_place(small: Path) -> None:
    with pytest.raises(lh.ScenarioError, match="did you mean"):
        lh.load(small).set({"flows.main.tcp.variant": "renno"})
    with pytest.raises(lh.UsageError, match='did you mean "cwnd"'):
        lh.load(small).run(trace=["cwmd"])
    with pytest.raises(lh.UsageError, match="from 0 to 5, the points of small"):
        lh.load(small).run(point=6)
    with pytest.raises(lh.UsageError, match="was not recorded"):
        lh.load(small).run(trace=["rtt"]).trace("cwnd")


def test_the_same_seed_and_replication_give_the_same_run(small: Path) -> None:
    sc = lh.load(small)
    again = [sc.run(seed=3, replication=1, point=1, trace=t).metrics for t in ((), ("cwnd",), ())]
    assert again[0] == again[1] == again[2]
    assert sc.run(seed=3, replication=2, point=1).metrics != again[0]


def test_a_cancelled_run_raises_interrupted(small: Path) -> None:
    cancel = lh.Cancel()
    cancel.set()
    with pytest.raises(lh.Interrupted):
        lh.load(small).set({"run.duration": "1000 s"}).run(cancel=cancel)


def test_every_error_is_a_lasthop_error_that_can_be_pickled(small: Path) -> None:
    cancel = lh.Cancel()
    cancel.set()
    sc = lh.load(small)
    for call in (
        lambda: sc.set({"flows.main.tcp.variant": "renno"}),
        lambda: sc.run(cancel=cancel),
        lambda: sc.run(seed=-1),
        lambda: lh.Study.open(small),
    ):
        with pytest.raises(lh.LasthopError) as raised:
            call()
        again = pickle.loads(pickle.dumps(raised.value))
        assert (type(again), str(again), again.argument) == (
            type(raised.value),
            str(raised.value),
            raised.value.argument,
        )
    assert issubclass(lh.RunError, lh.LasthopError)
    # What these were before they had a common base.
    for error in (lh.ScenarioError, lh.UsageError):
        assert issubclass(error, ValueError)
    for error in (lh.RunError, lh.Interrupted):
        assert issubclass(error, RuntimeError)


def test_values_become_text_that_means_the_same() -> None:
    assert as_text("1 %") == "1 %"
    assert as_text("true") == '"true"'
    assert as_text(3) == "3"
    assert as_text(1e-6) == "1e-06"
    assert as_text(["1 %", "2 %"]) == '["1 %", "2 %"]'
    assert as_text({"rate": "1 %"}) == '{"rate" = "1 %"}'
    with pytest.raises(lh.UsageError, match="is not a scenario value"):
        as_text(object())


def test_a_table_prints_and_renders(small: Path, tmp_path: Path) -> None:
    table = lh.load(small).sweep(2, tmp_path / "s").run().table("flows.main.goodput_bps")
    head = str(table).splitlines()[0]
    assert head.endswith("mean (Mbit/s)  ci_low (Mbit/s)  ci_high (Mbit/s)  n")
    assert table._repr_html_().count("<tr>") == 7
    assert table.column("n") == [2] * 6


def test_everything_public_can_be_imported() -> None:
    for name in lh.__all__:
        assert getattr(lh, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lh.nothing  # noqa: B018


def test_whatever_the_api_gives_has_all_of_its_methods(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    assert isinstance(sc.set({"run.duration": "1 s"}), lh.Scenario)
    assert isinstance(lh.Scenario.from_text(sc.text, "x.toml"), lh.Scenario)
    study = sc.sweep(1, tmp_path / "s")
    opened = lh.Study.open(study.path)
    assert isinstance(opened, lh.Study)
    assert isinstance(opened.scenario.sweep(1, tmp_path / "t"), lh.Study)
    assert isinstance(sc.run().scenario, lh.Scenario)
