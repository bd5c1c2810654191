"""PPDUs of several stations of 802.11ax that the access point triggers: the closed form beside runs."""

from __future__ import annotations

import math
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from test_ofdma import AIFS, BACKOFF, CELL, CODES, MPDU, RUS, SIFS, SUBFRAME, legacy

if TYPE_CHECKING:
    from pathlib import Path

NULL = 30
SYMBOL, PREAMBLE = 14.4, 32 + 8 + 8
SILENT = 'edca = "mu", mu-edca = { aifsn = 0 }'

TEXT = (
    '[run]\nduration = "4 s"\nwarmup   = "2.5 s"\n'
    + CELL
    + """\
queue        = "600 packets"
ofdma        = {{ uplink = "{scheduler}", report-interval = "{interval}", {more} }}
[flows.up]
from = "sta"
to   = "ap"
udp  = {{}}
app  = {{ kind = "cbr", spread = "300 ms", cbr = {{ packet = "1472 B", rate = "{rate} Mbit/s" }} }}
"""
)


def scenario(
    stations: int,
    width: int,
    mcs: int,
    interval: str = "400 ms",
    *,
    more: str = SILENT,
    scheduler: str = "round-robin",
    rate: float | None = None,
) -> lh.Scenario:
    rate = rate or round(1.5 * closed_form_mbps(stations, width, mcs, interval) / stations, 3)
    settings = {"interval": interval, "more": more, "scheduler": scheduler, "rate": rate}
    return lh.Scenario.from_text(
        TEXT.format(stations=stations, width=width, mcs=mcs, **settings), "uplink.toml"
    )


def closed_form_mbps(
    stations: int, width: int, mcs: int, interval: str, txop: float = math.inf, window: int = 256
) -> float:
    """Saturated stations that do not contend, with a request for reports each time or hardly any."""
    alone = {20: (242, 1, 234), 40: (484, 1, 468), 80: (996, 1, 980), 160: (1992, 1, 1960)}
    _, rus, subcarriers = next(ru for ru in [*RUS[width], alone[width]] if ru[1] <= stations)
    bits = round(subcarriers * CODES[mcs][0] * CODES[mcs][1])

    def ppdu(size: int) -> float:
        return PREAMBLE + SYMBOL * math.ceil((22 + 8 * size) / bits)

    asking = legacy(28 + 5 * rus) + SIFS + ppdu(NULL + 4) + SIFS if interval == "1 ms" else 0
    before, after = legacy(28 + 6 * rus) + SIFS, SIFS + legacy(22 + 2 * rus)
    # The time that is reserved has a BlockAck with a bitmap for each station.
    reserved = asking + before + SIFS + legacy(22 + (4 + window // 8) * rus)
    longest = PREAMBLE + SYMBOL * math.floor((min(5484, txop - reserved) - PREAMBLE) / SYMBOL)
    mpdus = next(n for n in range(256, 0, -1) if ppdu((n - 1) * SUBFRAME + MPDU + 4) <= longest)
    turn = AIFS + BACKOFF + asking + before + longest + after
    return rus * mpdus * 1472 * 8 / turn


@pytest.mark.parametrize("interval", ["400 ms", "1 ms"])
@pytest.mark.parametrize(
    ("stations", "width", "mcs"), [(1, 20, 7), (2, 20, 7), (9, 20, 5), (3, 80, 9), (16, 80, 11), (8, 160, 4)]
)
def test_saturated_stations_have_the_goodput_of_the_closed_form(
    stations: int, width: int, mcs: int, interval: str
) -> None:
    run = scenario(stations, width, mcs, interval).run()
    goodput = (run.metrics["flows.up.goodput_bps"] or 0.0) / 1e6
    assert goodput == pytest.approx(closed_form_mbps(stations, width, mcs, interval), rel=0.005)
    assert run.metrics.get("jain_index", 1.0) > 0.99
    assert run.metrics["links.air.frames_collided"] == 0


@pytest.mark.parametrize(("stations", "width", "mcs"), [(2, 80, 11), (8, 80, 11), (9, 20, 7)])
def test_reports_data_and_a_block_ack_with_all_bitmaps_end_within_the_txop(
    stations: int, width: int, mcs: int
) -> None:
    limits = {"links.air.edca.best-effort.txop": "4096 us"}
    run = scenario(stations, width, mcs, "1 ms").set(limits).run()
    goodput = (run.metrics["flows.up.goodput_bps"] or 0.0) / 1e6
    assert goodput == pytest.approx(closed_form_mbps(stations, width, mcs, "1 ms", 4096), rel=0.005)


def test_more_stations_than_rus_are_triggered_in_turns() -> None:
    metrics = scenario(11, 20, 7).run().metrics
    assert metrics["links.air.ofdma_uplink_parts"] == 9 * (metrics["links.air.ofdma_uplink_triggers"] or 0)
    assert (metrics["jain_index"] or 0.0) > 0.99


def test_the_ledger_has_all_of_the_time_and_the_stations_nearly_all_of_it() -> None:
    metrics = scenario(4, 80, 7, "5 ms").run().metrics
    kinds = "data_payload tcp_ack_payload headers rts_cts mac_ack block_ack interframe"
    kinds += " backoff collision errored idle"
    air = {kind: metrics[f"links.air.airtime_{kind}_s"] or 0.0 for kind in kinds.split()}
    assert sum(air.values()) == pytest.approx(1.5, rel=1e-9)
    up = metrics["links.air.uplink_airtime_s"] or 0.0
    frames = sum(
        air[kind] for kind in ("data_payload", "headers", "block_ack", "mac_ack", "collision", "errored")
    )
    # A PPDU counts where it begins, also the last one.
    assert up == pytest.approx(frames, abs=6e-3)
    # Three of four PPDUs are on the air beside the one that counts.
    assert metrics["links.air.airtime_concurrent_s"] == pytest.approx(3 * up, rel=0.05)


def test_a_station_without_ofdma_contends_beside_those_that_are_triggered() -> None:
    old = "[nodes.old]\nwifi = { ofdma = false }"
    text = scenario(3, 20, 7).text.replace("[links.air]", f"{old}\n[links.air]")
    text = text.replace('["ap", "sta"]', '["ap", "sta", "old"]')
    text += '[flows.old]\nfrom = "old"\nto = "ap"\nudp = {}\n'
    text += 'app = { kind = "cbr", cbr = { packet = "1472 B", rate = "50 Mbit/s" } }\n'
    metrics = lh.Scenario.from_text(text, "old.toml").run().metrics
    # Some triggers collide.
    triggers = metrics["links.air.ofdma_uplink_triggers"] or 0.0
    assert 1.7 * triggers < (metrics["links.air.ofdma_uplink_parts"] or 0.0) <= 2 * triggers
    assert (metrics["flows.old.goodput_bps"] or 0.0) > 10e6


@pytest.mark.parametrize("scheduler", ["round-robin", "longest-queue"])
def test_stations_that_were_triggered_contend_less_with_the_parameters_of_mu_edca(scheduler: str) -> None:
    def collided(more: str) -> float:
        run = scenario(8, 80, 7, "5 ms", more=more, scheduler=scheduler).run()
        return run.metrics["links.air.frames_collided"] or 0.0

    all_contend, defer, silent = (collided(more) for more in ('edca = "contend"', 'edca = "mu"', SILENT))
    assert all_contend > 5 * defer
    assert silent == 0


def test_a_triggered_station_that_holds_nothing_sends_a_report() -> None:
    # A packet at all of them each 20 ms, asked for every 2 ms.
    same_time = scenario(4, 20, 7, "2 ms", rate=0.5888).set({"flows.up.app.spread": "0 s"})
    metrics = same_time.run().metrics
    requests = metrics["links.air.ofdma_report_requests"] or 0.0
    assert requests == pytest.approx(750, rel=0.05)
    assert 70 < (metrics["links.air.ofdma_uplink_triggers"] or 0.0) < 0.5 * requests
    assert metrics["flows.up.goodput_bps"] == pytest.approx(4 * 0.5888e6, rel=0.01)


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_reads_a_cycle(tmp_path: Path) -> None:
    capture = tmp_path / "air.pcap"
    scenario(4, 20, 7, "5 ms").set(
        {"run.duration": "60 ms", "run.warmup": "0 s", "flows.up.app.spread": "0 s"}
    ).run(pcap=capture)
    words = ["wlan.fc.type_subtype", "radiotap.he.data_1.ppdu_format", "wlan.trigger.he.trigger_type"]
    words += [
        "wlan.trigger.he.ru_allocation",
        "wlan.ba.control.ba_type",
        "wlan.qos.queue_size",
        "_ws.expert.message",
    ]
    fields = [part for word in words for part in ("-e", word)]
    done = subprocess.run(
        ["tshark", "-r", capture, "-T", "fields", *fields], capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert {row[6] for row in rows} <= {"", "Retransmission (retry)"}
    kinds = {
        "basic": [row for row in rows if int(row[0], 0) == 18 and int(row[2], 0) == 0],
        "bsrp": [row for row in rows if int(row[0], 0) == 18 and int(row[2], 0) == 4],
        "data": [row for row in rows if int(row[0], 0) == 40 and int(row[1] or "0", 0) == 3],
        "null": [row for row in rows if int(row[0], 0) == 44 and int(row[1] or "0", 0) == 3],
        "acks": [row for row in rows if int(row[0], 0) == 25 and int(row[4] or "0", 0) == 11],
    }
    assert all(kinds.values()), {kind: len(found) for kind, found in kinds.items()}
    # The four RUs of 52 tones.
    assert kinds["basic"][-1][3] == "37,38,39,40"
    assert any(int(row[5] or "0", 0) > 0 for row in kinds["data"])


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"links.air.access-point": "none"}, "only an access point triggers several stations at once"),
        ({"links.air.ofdma.mu-edca.cw-min": "500"}, "500; expected 2^n - 1, such as 511 or 1023"),
        ({"links.air.ofdma.mu-edca.cw-max": "255"}, "511 is above mu-edca.cw-max, 255; expected less"),
        ({"links.air.ofdma.mu-edca.timer": "10 ms"}, "expected a multiple of 8.192 ms, such as 16.384 ms"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, str], wrong: str) -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        scenario(4, 80, 7).set(changes)
    assert wrong in str(caught.value)


def test_a_number_of_stations_without_ppdus_to_several_or_from_several_is_refused() -> None:
    text = TEXT.format(stations=2, width=80, mcs=7, interval="none", more="", scheduler="none", rate=1)
    text = text.replace('uplink = "none", report-interval = "none", ', "stations = 4")
    with pytest.raises(lh.ScenarioError, match=r"has no effect; expected ofdma\.scheduler or ofdma\.uplink"):
        lh.Scenario.from_text(text, "uplink.toml")
