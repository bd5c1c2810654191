"""Metrics: Python takes units and words from the simulator's table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop import _core
from lasthop.base.quantity import metric_unit, metric_words
from lasthop.figures.draw import draw
from lasthop.study.export import text, tidy

if TYPE_CHECKING:
    from pathlib import Path


def test_each_metric_has_the_unit_and_the_words_of_the_table() -> None:
    for entry in json.loads(_core.registry())["metrics"]:
        assert metric_unit(entry["name"]) == entry["unit"]
        assert metric_words(entry["name"]) == entry["label"]


SHIPPED = (
    "examples/udp-cross",
    "examples/proxy-tcp",
    "dynamic-arq/classes",
    "ejtcp/judges",
    "load-adaptive/fig04",
)


@pytest.mark.parametrize("scenario", SHIPPED)
def test_each_metric_of_a_run_is_in_the_table(scenario: str) -> None:
    metrics = lh.load(scenario).run(max_events=1000).metrics
    assert len(metrics) > 20
    assert [name for name in metrics if not json.loads(_core.metric(name))] == []


def test_what_is_no_metric_of_this_version_has_no_unit() -> None:
    assert (metric_unit("links.a.gone_bps"), metric_words("links.a.gone_bps")) == ("", "gone bps")


def test_counts_have_units_on_axes_and_in_exports(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    study = lh.load(path).sweep(out=tmp_path / "s").run()
    figure = study.scenario.figures()[0]
    axes = draw(study, {**figure, "y": "links.path.drops_loss"}).axes[0]
    assert axes.get_ylabel() == "drops loss (packets)"
    # The unit is not said twice.
    axes = draw(study, {**figure, "y": "flows.main.timeouts"}).axes[0]
    assert axes.get_ylabel() == "timeouts"
    units = json.loads(text(study, "json", tidy(study)))["units"]
    assert units["flows.main.segments_sent"] == "segments"
    assert units["links.path.utilisation"] == ""


@pytest.mark.parametrize("law", ["none", "codel", "fq-codel", "red"])
def test_a_packet_in_transmission_from_before_the_measurement_is_in_the_greatest_queue(
    law: str, tmp_path: Path
) -> None:
    file = tmp_path / "slow.toml"
    file.write_text(
        f"""
title = "One packet of eight seconds"
run   = {{ duration = "4 s", warmup = "2 s" }}
nodes = {{ a = {{}}, b = {{}} }}

[links]
wire = {{ kind = "wired", nodes = ["a", "b"], rate = "1 kbit/s", aqm = {{ law = "{law}" }} }}

[flows.one]
from = "a"
to   = "b"
udp  = {{}}
app  = {{ kind = "cbr", cbr = {{ rate = "1 kbit/s" }}, stop = "1 s" }}
"""
    )
    metrics = lh.load(file).run().metrics
    assert metrics["links.wire.queue_mean_packets"] == 1
    assert metrics["links.wire.queue_max_packets"] == 1
