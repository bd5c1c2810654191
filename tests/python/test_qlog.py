"""Qlogs: whether they are what the drafts of the IETF define, and what the run did."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
[run]
duration = "{seconds} s"
[nodes]
a = {{}}
b = {{}}
[links.wire]
kind = "lossy"
nodes = ["a", "b"]
rate = "10 Mbit/s"
delay = "15 ms"
queue = "25 packets"
loss = {{ model = "packet", rate = "{loss}", direction = "forward" }}
[flows.main]
from = "a"
to = "b"
{flow}
"""
NUMBER, TRUTH, LIST, WORD, RAW = (int, float), bool, list, str, dict
#: The fields of each event and frame, those of the drafts with `?` are optional.
EVENTS: dict[str, dict[str, Any]] = {
    "quic:connection_started": {"local": RAW, "remote": RAW},
    "quic:packet_sent": {
        "header": RAW,
        "frames?": LIST,
        "raw?": RAW,
        "is_mtu_probe_packet?": TRUTH,
        "trigger?": WORD,
    },
    "quic:packet_received": {"header": RAW, "frames?": LIST, "raw?": RAW, "trigger?": WORD},
    "quic:packet_lost": {"header?": RAW, "frames?": LIST, "trigger?": WORD},
    "quic:recovery_metrics_updated": {
        f"{name}?": NUMBER
        for name in (
            "smoothed_rtt",
            "latest_rtt",
            "congestion_window",
            "bytes_in_flight",
            "ssthresh",
            "packets_in_flight",
            "pacing_rate",
        )
    },
}
FRAMES: dict[str, dict[str, Any]] = {
    "padding": {},
    "ping": {},
    "handshake_done": {},
    "datagram": {},
    "ack": {"ack_delay?": NUMBER, "acked_ranges?": LIST, "ect0?": int, "ect1?": int, "ce?": int},
    "crypto": {"offset": int, "raw": RAW},
    "stream": {"stream_id": int, "offset?": int, "fin?": TRUTH},
    "max_data": {"maximum": int},
    "max_stream_data": {"stream_id": int, "maximum": int},
    "data_blocked": {"limit": int},
    "stream_data_blocked": {"stream_id": int, "limit": int},
    "max_streams": {"stream_type": WORD, "maximum": int},
    "new_connection_id": {
        "sequence_number": int,
        "retire_prior_to": int,
        "connection_id": WORD,
        "stateless_reset_token?": WORD,
    },
    "retire_connection_id": {"sequence_number": int},
    "connection_close": {"error_space?": WORD, "error?": WORD, "error_code?": int},
    "unknown": {"frame_type_bytes": int},
}
HEADER = {"packet_type": WORD, "packet_number?": int, "version?": WORD, "scil?": int, "dcil?": int} | {
    f"{end}cid?": WORD for end in "sd"
}
TYPES = {"initial", "handshake", "1RTT", "0RTT"}
TRIGGERS = {
    "quic:packet_sent": {"pto_probe"},
    "quic:packet_lost": {"reordering_threshold", "time_threshold"},
}


def _scenario(folder: Path, flow: str, *, loss: str = "1 %", seconds: float = 3) -> lh.Scenario:
    path = folder / "q.toml"
    path.write_text(TEXT.format(flow=flow, loss=loss, seconds=seconds))
    return lh.load(str(path))


def _records(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    assert text.startswith("\x1e")
    assert text.endswith("\n")
    texts = text[1:].split("\x1e")
    assert all(record.endswith("\n") for record in texts), "RFC 7464 (2.2)"
    return [json.loads(record) for record in texts]


def _expect_fields(found: dict[str, Any], defined: dict[str, Any]) -> None:
    known = {name.rstrip("?"): kind for name, kind in defined.items()}
    assert set(found) <= set(known), found
    assert {name for name in defined if not name.endswith("?")} <= set(found), found
    for name, value in found.items():
        assert isinstance(value, known[name]), (name, value)


def _expect_valid(records: list[dict[str, Any]], end: str) -> list[dict[str, Any]]:
    head, *events = records
    assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    assert head["serialization_format"] == "application/qlog+json-seq"
    assert head["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic"]
    assert head["trace"]["vantage_point"]["type"] == end
    clock = head["trace"]["common_fields"]["reference_time"]
    assert clock == {"clock_type": "monotonic", "epoch": "unknown"}
    times = [event["time"] for event in events]
    assert times == sorted(times)
    for event in events:
        assert set(event) == {"time", "name", "group_id", "data"}
        data = event["data"]
        _expect_fields(data, EVENTS[event["name"]])
        if "header" in data:
            _expect_fields(data["header"], HEADER)
            assert data["header"]["packet_type"] in TYPES
        assert data.get("trigger") in {None, *TRIGGERS.get(event["name"], ())}
        for frame in data.get("frames", []):
            _expect_fields(frame, {"frame_type": WORD, "raw?": RAW} | FRAMES[frame["frame_type"]])
    return events


def _packets(events: list[dict[str, Any]], name: str) -> dict[tuple[str, str, int], dict[str, Any]]:
    keyed = {}
    for event in events:
        if event["name"] == f"quic:{name}":
            header = event["data"]["header"]
            keyed[event["group_id"], header["packet_type"], header["packet_number"]] = event["data"]
    return keyed


def test_the_logs_of_both_ends_are_valid_and_agree_with_each_other_and_the_metrics(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, 'quic = { law = "bbr" }')
    run = scenario.run(qlog=tmp_path / "logs")
    assert run.metrics == scenario.run().metrics, "a log changes nothing"
    names = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert names == ["main-receiver.sqlog", "main-sender.sqlog"]
    receiver, sender = (
        _expect_valid(_records(tmp_path / "logs" / name), end)
        for name, end in zip(names, ("server", "client"), strict=True)
    )
    sent, lost = _packets(sender, "packet_sent"), _packets(sender, "packet_lost")
    received = _packets(receiver, "packet_received")
    assert {key: sent[key]["frames"] for key in received} == {
        key: data["frames"] for key, data in received.items()
    }
    assert lost.keys() <= sent.keys()
    assert not lost.keys() & received.keys(), "what is declared lost is lost"
    assert len(lost) == run.metrics["flows.main.packets_lost"]
    assert len(lost) > 10
    with_data = [data for data in sent.values() if any(f["frame_type"] == "stream" for f in data["frames"])]
    assert len(with_data) == run.metrics["flows.main.segments_sent"]
    assert any(data.get("is_mtu_probe_packet") for data in sent.values())
    metrics = [event["data"] for event in sender if event["name"].endswith("metrics_updated")]
    assert all(0 <= one["bytes_in_flight"] <= one["congestion_window"] + 1452 for one in metrics[50:])
    assert any("pacing_rate" in one for one in metrics)
    assert min(one["latest_rtt"] for one in metrics if "latest_rtt" in one) > 30


def test_the_triggers_are_those_of_rfc_9002(tmp_path: Path) -> None:
    scenario = _scenario(
        tmp_path, 'app = { kind = "file", file = { size = "200 kB" } }\nquic = {}', loss="30 %"
    )
    run = scenario.run(qlog=tmp_path / "logs")
    sender = _expect_valid(_records(tmp_path / "logs" / "main-sender.sqlog"), "client")
    triggers = Counter(event["data"].get("trigger") for event in sender)
    assert triggers["reordering_threshold"] > 5
    assert triggers["time_threshold"] > 5
    assert triggers["pto_probe"] >= (run.metrics["flows.main.probe_timeouts"] or 0) > 0


def test_each_connection_of_a_user_has_a_group(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, 'app = { kind = "web" }\nquic = {}', seconds=60)
    scenario.run(qlog=str(tmp_path / "logs"))
    events = _expect_valid(_records(tmp_path / "logs" / "main-sender.sqlog"), "server")
    begun = [event for event in events if event["name"] == "quic:connection_started"]
    assert len(begun) == len({event["group_id"] for event in begun}) > 1


def _least_gap_s(folder: Path, law: str) -> float:
    scenario = _scenario(folder, f'quic = {{ law = "{law}" }}', loss="0 %")
    scenario.run(qlog=folder / law)
    times = [event["time"] for event in _records(folder / law / "main-sender.sqlog")[1:] if _is_data(event)]
    late = [time for time in times if time > 2000]
    return min(after - before for before, after in pairwise(late)) / 1000


def _is_data(event: dict[str, Any]) -> bool:
    return event["name"] == "quic:packet_sent" and event["data"]["raw"]["length"] > 1400


def test_a_law_that_paces_sends_no_burst(tmp_path: Path) -> None:
    """At 10 Mbit/s, packets of 1480 B leave 1.2 ms apart; quinn's pacer alone lets ten leave at once."""
    assert _least_gap_s(tmp_path, "bbr") > 0.9e-3
    assert _least_gap_s(tmp_path, "reno") == 0


def test_sessions_that_resume_another_one_send_their_request_with_the_first_message(tmp_path: Path) -> None:
    app = 'app = { kind = "ftp", ftp = { size = "20 kB", pause = "2 s" } }'
    scenario = _scenario(tmp_path, f"{app}\nquic = {{ zero-rtt = true }}", loss="0 %", seconds=30)
    scenario.run(qlog=tmp_path / "logs")
    events = _expect_valid(_records(tmp_path / "logs" / "main-receiver.sqlog"), "client")
    waits: dict[str, float] = {}
    for event in events:
        group = event["group_id"]
        if event["name"] == "quic:connection_started":
            begun = event["time"]
        elif event["name"] == "quic:packet_received" and group not in waits:
            has_data = any(frame["frame_type"] == "stream" for frame in event["data"]["frames"])
            waits |= {group: event["time"] - begun} if has_data else {}
    first, *others = waits.values()
    assert len(others) > 3
    assert 60 < first < 70, "two round trips"
    assert all(30 < other < 40 for other in others), "one"
    assert any(
        event["data"]["header"]["packet_type"] == "0RTT" for event in events if "header" in event["data"]
    )


def test_a_scenario_without_quic_has_no_log(tmp_path: Path) -> None:
    with pytest.raises(lh.UsageError, match="has no flow over QUIC at point 0; expected one"):
        _scenario(tmp_path, "tcp = {}").run(qlog=tmp_path / "logs")
