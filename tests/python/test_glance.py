"""`lasthop run` at a glance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import lasthop
from lasthop.views import glance

if TYPE_CHECKING:
    from pathlib import Path

KINDS = [
    "examples/access-point",
    "examples/my-wifi",
    "examples/cells",
    "examples/queues",
    "examples/trace",
    "ejtcp/fig10-baselines",
    "lle-tcp/fig06",
    "lle-tcp/table1",
    "dynamic-arq/classes",
    "today/stations",
    "today/latency",
    "table1/receiver",
    "jersey/goodput",
]


@pytest.mark.parametrize("name", KINDS)
def test_it_fits_80_columns(name: str) -> None:
    text = glance.of_run(lasthop.load(name).run(max_events=200_000))
    assert text.startswith("flow")
    assert max(map(len, text.split("\n"))) <= glance.WIDTH


def test_flows_of_a_group_are_one_row() -> None:
    done = lasthop.load("validation/wifi-today-ap").run(max_events=200_000)
    rows = glance.of_run(done).split("\n\n")[0].split("\n")
    (row,) = [row for row in rows if row.startswith("down")]
    assert "least–most" in rows[0]
    assert f" {done.metrics['jain_index']:.2f} " in row


def test_what_limits_a_flow_for_most_of_the_time_is_named() -> None:
    def limits(settings: dict[str, str]) -> str:
        done = lasthop.load("validation/linux-bulk").set({"run.duration": "20 s", **settings}).run()
        return glance.of_run(done).split("\n\n")[1]

    clean = {"links.path.loss.rate": "0 %"}
    assert limits({"flows.main.tcp.congestion": "reno"}) == "limited by window (main)"
    assert limits({"flows.main.tcp.window": "20 segments", **clean}) == "limited by receiver (main)"
    assert limits({"flows.main.tcp.congestion": "bbr", **clean}) == "limited by pace (main)"
    little = {"flows.main.app.kind": "cbr", "flows.main.app.cbr.rate": "1 Mbit/s", **clean}
    assert limits(little) == "limited by application (main)"


def test_completed_files_and_transfers_of_users_are_named() -> None:
    file = lasthop.load("validation/linux-files").run()
    text = glance.of_run(file)
    assert f"completed: main after {1e3 * file.metrics['flows.main.completion_s']:.0f} ms" in text
    users = lasthop.load("validation/linux-bulk").set({"flows.main.app.kind": "web", "run.duration": "60 s"})
    assert re.search(r"^completed: main \d+ of \d+ web$", glance.of_run(users.run()), re.MULTILINE)


def test_flows_of_a_group_with_different_tcps_have_rows_of_their_own() -> None:
    done = lasthop.load("examples/my-wifi").set({"run.duration": "1500 ms", "nodes.station.count": 4}).run()
    rows = [row.split()[:2] for row in glance.of_run(done).split("\n\n")[0].split("\n")]
    named = [["download1", "CUBIC"], ["download2", "BBR"], ["download3", "Reno"], ["download4", "Vegas"]]
    assert [row for row in rows if row[1:] and row in named] == named
    assert "download" not in [row[0] for row in rows if row]


def test_remarks_name_the_full_queue_and_where_packets_are_dropped() -> None:
    scopes: dict[str, dict[str, float | None]] = {
        "links.a": {"queue_full_share": 0.004, "drops_queue": 70.0},
        "links.b": {"queue_full_share": None, "drops_queue": 7.0},
        "links.c": {"queue_full_share": 0.43, "drops_queue": 3.0},
    }
    limits = {"a": "100 packets", "b": "100 packets", "c": "64 kB"}
    assert glance.remarks(scopes, limits) == [
        "the queue of c (64 kB) was full for 43 % of the time and dropped 3 packets",
        "the queue of a (100 packets) was full at times and dropped 70 packets",
    ]
    del scopes["links.a"]
    assert glance.remarks(scopes, {})[1] == "the queue of b dropped 7 packets"


@pytest.mark.parametrize(
    ("share", "found"), [(0.4, []), (1.0, ["the queue of a was full for 100 % of the time"])]
)
def test_a_full_queue_that_drops_nothing_is_named_if_it_was_full_for_long(
    share: float, found: list[str]
) -> None:
    assert glance.remarks({"links.a": {"queue_full_share": share, "drops_queue": 0.0}}, {}) == found


def test_the_remark_on_the_queue_of_a_run_has_its_limit_and_its_metrics(tmp_path: Path) -> None:
    file = tmp_path / "too-much.toml"
    file.write_text(
        """
title = "Twice what a wire carries"
run   = { duration = "20 s", warmup = "1 s" }
nodes = { a = {}, b = {} }

[links]
wire = { kind = "wired", nodes = ["a", "b"], rate = "1 Mbit/s", queue = "9 packets" }

[flows.much]
from = "a"
to   = "b"
udp  = {}
app  = { kind = "cbr", cbr = { rate = "2 Mbit/s", packet = "1000 B" } }
"""
    )
    done = lasthop.load(file).run()
    # A packet leaves every 8224 us, and one comes every 4000 us: 2000 us after a departure in the mean.
    lasted = f"full for {100 * (1 - 2 / 8.224):.0f} % of the time"
    text = glance.of_run(done)
    dropped = f"dropped {done.metrics['links.wire.drops_queue']:.0f} packets"
    assert f"the queue of wire (9 packets) was {lasted} and {dropped}" in text.replace("\n", " ")
    assert max(map(len, text.split("\n"))) <= glance.WIDTH


def test_the_remark_on_an_802_11_link_says_whose_queue_was_full() -> None:
    values = {"queue_full_share": 0.43, "drops_queue": 3.0, "airtime_idle_s": 0.0}
    assert glance.remarks({"links.air": values}, {"air": "50 packets"}) == [
        "the queues of air (50 packets) dropped 3 packets; "
        "that of the observing station was full for 43 % of the time"
    ]


def test_flows_whose_names_look_like_those_of_a_group_have_rows_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    ends = 'from = "a"\nto = "b"\n'
    file.write_text(
        '[run]\nduration = "1 s"\n[nodes]\na = {}\nb = {}\n[links.w]\nkind = "wired"\nnodes = ["a", "b"]\n'
        f'rate = "1 Mbit/s"\n[flows.f]\n{ends}[flows.f1]\n{ends}'
    )
    flows = glance.of_run(lasthop.load(file).run()).split("\n\n")[0]
    assert [line.split()[0] for line in flows.split("\n")[-2:]] == ["f", "f1"]
