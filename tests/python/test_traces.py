"""Traces longer than what a run holds of them at a time."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lasthop as lh
from lasthop.views import packets

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.scenario.scenario import Run

TEXT = """
[run]
duration = "200 s"
[nodes]
a = {}
b = {}
[links.ab]
kind = "lossy"
nodes = ["a", "b"]
rate = "5 Mbit/s"
delay = "5 ms"
loss = { rate = "0.1 %" }
[flows.one]
from = "a"
to = "b"
tcp = { judges = ["jtcp"] }
[flows.two]
from = "b"
to = "a"
"""


@pytest.fixture(scope="module")
def long() -> Run:
    return lh.Scenario.from_text(TEXT, "long.toml").run(trace=["tcp", "jitter"])


def test_the_parts_of_a_trace_are_all_of_it_in_order(long: Run) -> None:
    trace = long.trace("tcp")
    parts = list(trace.chunks())
    assert len(parts) > 3
    assert sum(len(part["time_s"]) for part in parts) == len(trace)
    for name, column in trace.columns.items():
        assert np.array_equal(np.concatenate([np.asarray(part[name]) for part in parts]), column)
    assert len({len(part["time_s"]) for part in parts[:-1]}) == 1
    table = trace.to_numpy()
    assert (np.diff(table["time_s"]) >= 0).all()
    assert set(table["flow"]) == {"one", "two"}


def test_a_trace_is_written_as_it_is(long: Run, tmp_path: Path) -> None:
    trace = long.trace("tcp")
    trace.to_csv(tmp_path / "tcp.csv")
    with (tmp_path / "tcp.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == list(trace.columns)
    assert len(rows) == len(trace)
    for place in (0, len(rows) // 2, len(rows) - 1):
        assert [str(column[place]) for column in trace.columns.values()] == rows[place]


def test_a_trace_without_rows_has_its_columns(tmp_path: Path) -> None:
    # Nothing is acknowledged so soon.
    short = lh.Scenario.from_text(TEXT.replace("200 s", "10 ms"), "short.toml")
    trace = short.run(trace=["jitter"]).trace("jitter")
    assert len(trace) == 0
    trace.to_csv(tmp_path / "jitter.csv")
    assert (tmp_path / "jitter.csv").read_text() == "time_s,flow,law,ratio,threshold\n"


def test_holes_are_found_part_by_part_as_in_the_whole(long: Run) -> None:
    trace = long.trace("tcp")
    found = packets.holes_by_flow(trace.chunks)
    assert list(found) == list(dict.fromkeys(trace["flow"]))
    for flow, holes in found.items():
        assert holes == packets.holes(packets.events(trace.columns, flow))
    assert sum(map(len, found.values())) > 50
