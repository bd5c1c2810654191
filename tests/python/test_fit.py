"""`lasthop fit`: a capture of our own says the truth of its scenario; other files are refused in one line."""

from __future__ import annotations

import gzip
import json
import runpy
import struct
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.captures import fitted
from lasthop.captures.network import network
from lasthop.captures.pcap import records
from lasthop.captures.traffic import Flow
from lasthop.captures.varying import Varying
from lasthop.stats.intervals import Interval

ROOT = Path(__file__).resolve().parents[2]
MAKE = runpy.run_path(str(ROOT / "docs" / "make_fit.py"))
# A capture of each kind whose intervals all hold the truth, as 19 of 20 should.
CAPTURES = {
    "fixed_rate": (1, "1 s"),
    "aggregation": (1, "1 s"),
    "rate_control": (2, "1 s"),
    "varying": (2, "3 s"),
}
HOME = """
[run]
duration = "1.5 s"

[nodes]
server = {}
ap     = {}
sta    = { count = 2 }

[links]
wire = { kind = "wired", nodes = ["server", "ap"], rate = "30 Mbit/s", delay = "10 ms" }

[links.air]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11n"
mcs          = 5
aggregate    = { count = 8 }

[flows.down]
from = "server"
to   = "sta1"

[flows.call]
from = "sta2"
to   = "server"
app  = { kind = "cbr", cbr = { rate = "500 kbit/s", packet = "400 B" } }
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of a download through a wire, and of a call."""
    file = tmp_path_factory.mktemp("home") / "air.pcap"
    lh.Scenario.from_text(HOME, "home.toml").run(pcap={"air": file})
    return file


@pytest.mark.parametrize("make", CAPTURES)
def test_the_intervals_of_a_capture_hold_the_truth(make: str, tmp_path: Path) -> None:
    kind = next(kind for kind in MAKE["KINDS"] if kind.make.__name__ == make)
    number, length = CAPTURES[make]
    fit, said = MAKE["trial"](kind, number, tmp_path, length)
    assert [name for name, holds in said if holds is False] == []
    assert sum(holds is True for _, holds in said) >= 4
    assert fit.scenario.set({"run.duration": "50 ms", "run.warmup": "0 s"}).run().events > 0


def test_the_first_half_predicts_the_second(tmp_path: Path) -> None:
    file = tmp_path / "air.pcap"
    values, _ = MAKE["aggregation"](MAKE["random"].Random(3))
    lh.from_dict(values).set({"run.duration": "1.2 s"}).run(seed=3, pcap={"air": file})
    rows = {row["quantity"]: row for row in lh.fit(file).predict().rows}
    for name in ("transmissions of data (1/s)", "airtime (%)", "delivered (Mbit/s)"):
        assert abs(rows[name]["difference (%)"]) < 10
        assert rows[name]["low"] * 0.97 < rows[name]["second half"] < rows[name]["high"] * 1.03


def test_predictions_are_made_from_values_all_over_their_intervals(home: Path) -> None:
    found = fitted.measured(network(home))
    found = replace(found, loss=Interval(0.1, 0.05, 0.2, 100), ratio=Interval(15.0, 14.0, 17.0, 100))
    drawn = [fitted._plausible(found, seed) for seed in range(400)]
    for given, values in (
        (found.loss, [one.loss.mean for one in drawn]),
        (found.ratio, [one.ratio.mean for one in drawn if one.ratio is not None]),
    ):
        assert given is not None
        assert given.mean is not None
        bounds = given.low, given.high
        inside = [bounds[0] <= value <= bounds[1] for value in values]
        assert 0.92 < sum(inside) / 400 < 0.98
        assert 0.45 < sum(value < given.mean for value in values) / 400 < 0.55
    assert fitted._plausible(found, 1) == fitted._plausible(found, 1)


def test_drawn_values_are_those_that_a_scenario_can_have(home: Path) -> None:
    found = fitted.measured(network(home))
    wide = Varying(
        Interval(15.0, 5.0, 25.0, 100), Interval(10.0, 3.0, 60.0, 100), Interval(0.1, 0.01, 1.0, 100)
    )
    found = replace(found, loss=Interval(0.5, 0.2, 0.98, 100), varying=wide)
    drawn = [fitted._plausible(found, seed) for seed in range(100)]
    assert max(one.loss.mean or 0 for one in drawn) == 0.99
    assert max(one.varying.deviation.mean or 0 for one in drawn if one.varying is not None) == 40


def test_flows_their_ends_and_the_wire_are_those_of_the_network(home: Path) -> None:
    fit = lh.fit(home)
    links, flows = (tomllib.loads(fit.text)[name] for name in ("links", "flows"))
    assert 9.5 < float(links["wire"]["delay"].split()[0]) < 13
    assert {(flow["from"], flow["to"], "tcp" in flow) for flow in flows.values()} == {
        ("server", "sta2", True),
        ("sta1", "server", False),
    }
    # Stations are named in the order of their frames; the wire limits the download, so that it has its rate.
    assert next(flow for flow in flows.values() if "tcp" in flow)["app"]["kind"] == "cbr"
    call = next(flow for flow in flows.values() if "udp" in flow)["app"]["poisson"]
    assert call["packet"] == "400 B"
    assert abs(float(call["rate"].split()[0]) - 500) < 25


@pytest.mark.parametrize("kind", ["cbr", "poisson"])
def test_a_flow_has_constant_intervals_if_its_packets_come_so(kind: str, tmp_path: Path) -> None:
    app = f'app = {{ kind = "{kind}", {kind} = {{ rate = "8 Mbit/s", packet = "1000 B" }} }}'
    text = HOME.replace('app  = { kind = "cbr", cbr = { rate = "500 kbit/s", packet = "400 B" } }', app)
    lh.Scenario.from_text(text, "home.toml").run(pcap={"air": tmp_path / "air.pcap"})
    flows = tomllib.loads(lh.fit(tmp_path / "air.pcap").text)["flows"].values()
    assert next(flow for flow in flows if "udp" in flow)["app"]["kind"] == kind


def test_intervals_are_judged_whatever_the_clock_of_a_capture_does() -> None:
    starts = [1000.0 * number for number in range(500)]
    for given, is_even in (
        (starts, True),
        (starts[::-1], True),
        ([*starts[250:], *starts[:250]], True),
        ([7.0] * 500, False),
    ):
        assert Flow("ap", "sta", "udp", None, starts=given).is_even == is_even


def test_the_scenario_says_how_sure_each_value_is(home: Path, tmp_path: Path) -> None:
    fit = lh.fit(home)
    fit.save(tmp_path / "air.toml")
    written = (tmp_path / "air.toml").read_text()
    assert written == fit.text
    lines = [line for line in written.splitlines() if line.startswith(("loss ", "mcs ", "f1 "))]
    assert len(lines) == 3
    assert all("  # " in line and any(c.isdigit() for c in line.partition("  # ")[2]) for line in lines)
    assert repr(fit).startswith("<Fit of ")
    assert lh.load(tmp_path / "air.toml").run(seed=1, replication=1).events > 0


def pcapng(file: Path) -> bytes:
    """The same capture in blocks, with times in nanoseconds."""

    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + length + body + length

    whole = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    whole.append(block(1, struct.pack("<HHI", 127, 0, 0) + struct.pack("<HHBxxx", 9, 1, 9) + bytes(4)))
    for record in records(file):
        head = struct.pack(
            "<IIIII", 0, record.time >> 32, record.time & 0xFFFFFFFF, len(record.data), record.size
        )
        whole.append(block(6, head + record.data + bytes(-len(record.data) % 4)))
    return b"".join(whole)


@pytest.mark.parametrize("form", ["pcapng", "gzip"])
def test_other_forms_of_a_capture_say_the_same(form: str, home: Path, tmp_path: Path) -> None:
    other = tmp_path / home.name
    other.write_bytes(pcapng(home) if form == "pcapng" else gzip.compress(home.read_bytes(), 1))
    assert list(records(other)) == list(records(home))


def test_what_belongs_to_another_network_is_airtime_of_others(home: Path, tmp_path: Path) -> None:
    merged = []
    for record in records(home):
        merged.append(record)
        if len(merged) % 50 == 0:
            # A beacon of another network, at 6 Mbit/s, between two frames.
            head = struct.pack("<BBHIBBHH", 0, 0, 16, 0b1110, 0x10, 12, 5180, 0x0140)
            beacon = b"\x80\0\0\0" + b"\xff" * 6 + b"\x02\0\0\0\0\x99" * 2 + bytes(120)
            merged.append(record._replace(data=head + beacon, size=len(head + beacon)))
    head = home.read_bytes()[:24]
    (tmp_path / "air.pcap").write_bytes(head + b"".join(map(stored, merged)))
    fit = lh.fit(tmp_path / "air.pcap")
    rows = {row["quantity"]: row for row in fit.parameters().rows}
    assert rows["airtime of others, and of management"]["low"] > 0
    assert tomllib.loads(fit.text)["flows"]["others"]["from"] == "other1"


def stored(record: Any) -> bytes:
    seconds, rest = divmod(record.time, 10**9)
    return struct.pack("<IIII", seconds, rest, len(record.data), record.size) + bytes(record.data)


def cut(file: Path) -> bytes:
    return file.read_bytes()[:5000]


WRONG = {
    "is empty; expected a capture in pcap or pcapng": lambda _: b"",
    "begins with '[run'; expected a capture in pcap or pcapng": lambda _: b"[run]\n",
    "ends within record": cut,
    "none of 0 frames is one of data; expected frames of data": lambda file: file.read_bytes()[:24],
    "frames of link type 101; expected 127, 802.11 with radiotap headers": lambda file: (
        file.read_bytes()[:20] + struct.pack("<I", 101)
    ),
    "record 1 has no radiotap header; expected one in each": lambda file: (
        file.read_bytes()[:24] + struct.pack("<IIII", 0, 0, 4, 4) + b"\x01\0\0\0"
    ),
    "Compressed file ended before": lambda file: gzip.compress(file.read_bytes(), 1)[:3000],
    "transmissions of data; expected at least 20": lambda file: (
        file.read_bytes()[:24] + b"".join(stored(record) for record in list(records(file))[:12])
    ),
}


@pytest.mark.parametrize("said", WRONG)
def test_a_file_that_cannot_be_fitted_is_refused_with_the_reason(
    said: str, home: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.pcap"
    wrong.write_bytes(WRONG[said](home))
    with pytest.raises(lh.UsageError, match=r"^.*wrong\.pcap: ") as error:
        lh.fit(wrong)
    assert said in str(error.value)


def test_a_capture_of_802_11be_alone_is_refused_with_what_was_left_out(tmp_path: Path) -> None:
    air = {"kind": "wifi", "nodes": ["ap", "sta"], "access-point": "ap", "standard": "802.11be"}
    packets = {"kind": "cbr", "cbr": {"rate": "1 Mbit/s", "packet": "1000 B"}}
    flow = {"from": "ap", "to": "sta", "udp": {}, "app": packets}
    run = {"duration": "100 ms"}
    cell = {"run": run, "nodes": {"ap": {}, "sta": {}}, "links": {"air": air}, "flows": {"main": flow}}
    lh.from_dict(cell).run(pcap=tmp_path / "be.pcap")
    why = r"none of \d+ frames is one of data \(\d+ are damaged, of several stations, of 802\.11be, or"
    with pytest.raises(lh.UsageError, match=why):
        lh.fit(tmp_path / "be.pcap")


def test_the_command_prints_tables_or_json_and_writes_the_scenario(home: Path, within: Any, cli: Any) -> None:
    done = within("fit", str(home), "-o", "air.toml", "--no-prediction")
    assert done.stdout.startswith("quantity")
    assert Path("air.toml").read_text() == cli("fit", home, "-o", "-").stdout
    found = json.loads(within("fit", str(home), "--json", "--no-prediction").stdout)
    assert found["prediction"] is None
    assert found["scenario"] == Path("air.toml").read_text()
    assert {"quantity", "estimate", "low", "high", "unit", "from"} == set(found["quantities"][0])
