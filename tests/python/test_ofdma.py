"""PPDUs to several stations of 802.11ax: the closed form of each sequence of acknowledgements beside runs."""

from __future__ import annotations

import itertools
import math
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from pathlib import Path

SLOT, SIFS, SYMBOL = 9.0, 16.0, 13.6
AIFS, BACKOFF = SIFS + 3 * SLOT, 7.5 * SLOT
# RUs by width: tones, how many, data subcarriers.
RUS = {
    20: [(26, 9, 24), (52, 4, 48), (106, 2, 102)],
    40: [(26, 18, 24), (52, 8, 48), (106, 4, 102), (242, 2, 234)],
    80: [(26, 37, 24), (52, 16, 48), (106, 8, 102), (242, 4, 234), (484, 2, 468)],
    160: [(26, 74, 24), (52, 32, 48), (106, 16, 102), (242, 8, 234), (484, 4, 468), (996, 2, 980)],
}
# Coded bits of a subcarrier and the rate of the code, by MCS.
CODES = [(1, 1 / 2), (2, 1 / 2), (2, 3 / 4), (4, 1 / 2), (4, 3 / 4), (6, 2 / 3), (6, 3 / 4), (6, 5 / 6)]
CODES += [(8, 3 / 4), (8, 5 / 6), (10, 3 / 4), (10, 5 / 6)]
MPDU, SUBFRAME, TRIGGER = 1538, 1544, 37

# Stations of one access point, at the beginning of the table of their link.
CELL = """\
[nodes]
ap  = {{}}
sta = {{ count = {stations} }}
[links.air]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11ax"
width        = "{width} MHz"
mcs          = {mcs}
"""
TEXT = (
    '[run]\nduration = "3 s"\nwarmup   = "500 ms"\n'
    + CELL
    + """\
queue        = "6000 packets"
aggregate    = {{ count = 64 }}
block-ack    = {{ window = 64 }}
ofdma        = {{ scheduler = "{scheduler}", acknowledgement = "{how}" }}
{more}
[flows.down]
from = "ap"
to   = "sta"
udp  = {{}}
app  = {{ kind = "cbr", cbr = {{ packet = "1472 B", rate = "{rate} Mbit/s" }} }}
"""
)


def scenario(stations: int, width: int, mcs: int, how: str, **more: Any) -> lh.Scenario:
    # More than the link carries, so that queues fill during the warm-up.
    rate = more.get("rate") or round(1.3 * closed_form_mbps(stations, width, mcs, how) / stations, 3)
    settings = {"scheduler": "round-robin", "more": "", **more, "rate": rate}
    text = TEXT.format(stations=stations, width=width, mcs=mcs, how=how, **settings)
    return lh.Scenario.from_text(text, "ofdma.toml")


def legacy(size: int) -> float:
    """A control frame at 24 Mbit/s."""
    return 20 + 4 * math.ceil((22 + 8 * size) / 96)


def sig_b(width: int, tones: int, rus: int, mcs: int) -> float:
    """HE-SIG-B: the field in common, then blocks of two user fields."""
    common = {20: 18, 40: 18, 80: 27, 160: 43}[width]
    users = rus if width == 20 or tones > 242 else math.ceil(rus / 2)
    bits = common + users // 2 * 52 + users % 2 * 31
    return 4 * math.ceil(bits / (52 * CODES[min(mcs, 5)][0] * CODES[min(mcs, 5)][1]))


def closed_form_mbps(stations: int, width: int, mcs: int, how: str) -> float:
    tones, rus, subcarriers = next(ru for ru in RUS[width] if ru[1] <= stations)

    def bits(mcs: int) -> int:
        return round(subcarriers * CODES[mcs][0] * CODES[mcs][1])

    preamble = 32 + sig_b(width, tones, rus, mcs) + 4 + 6.4 + 0.8

    def ppdu(mpdus: int) -> float:
        last = MPDU + 4 if how != "aggregated-trigger" else SUBFRAME + 4 + TRIGGER
        size = (mpdus - 1) * SUBFRAME + last
        return preamble + SYMBOL * math.ceil((22 + 8 * size) / bits(mcs))

    mpdus = next(n for n in range(64, 0, -1) if ppdu(n) <= 5484)
    together = 32 + 8 + 8 + 14.4 * math.ceil((22 + 8 * 32) / bits(min(mcs, 5)))
    sequence = {
        "requests": SIFS + legacy(32 if mpdus > 1 else 14) + (rus - 1) * (2 * SIFS + legacy(24) + legacy(32)),
        "trigger": 2 * SIFS + legacy(28 + 9 * rus) + together,
        "aggregated-trigger": SIFS + together,
    }[how]
    return rus * mpdus * 1472 * 8 / (AIFS + BACKOFF + ppdu(mpdus) + sequence)


@pytest.mark.parametrize("how", ["requests", "trigger", "aggregated-trigger"])
@pytest.mark.parametrize(
    ("stations", "width", "mcs"), [(2, 20, 7), (9, 20, 7), (3, 80, 5), (16, 80, 9), (9, 160, 4)]
)
def test_saturated_stations_have_the_goodput_of_the_closed_form(
    stations: int, width: int, mcs: int, how: str
) -> None:
    run = scenario(stations, width, mcs, how).run()
    goodput = (run.metrics["flows.down.goodput_bps"] or 0.0) / 1e6
    assert goodput == pytest.approx(closed_form_mbps(stations, width, mcs, how), rel=0.005)
    shares = [run.metrics[f"flows.down{n + 1}.goodput_bps"] or 0.0 for n in range(stations)]
    assert min(shares) > 0.9 * max(shares)


def test_more_stations_than_rus_are_served_in_turns() -> None:
    metrics = scenario(11, 20, 7, "trigger").run().metrics
    assert metrics["links.air.ofdma_parts"] == 9 * (metrics["links.air.ofdma_ppdus"] or 0)
    assert (metrics["jain_index"] or 0.0) > 0.99


def test_an_ru_in_which_a_packet_does_not_fit_is_not_used() -> None:
    # 26 tones carry 599 B at MCS 0 in the longest PPDU, and 106 tones 2549 B: two stations of nine.
    metrics = scenario(9, 20, 0, "trigger", rate=1).run().metrics
    assert metrics["links.air.ofdma_parts"] == 2 * (metrics["links.air.ofdma_ppdus"] or 0) > 0


def test_a_station_without_ofdma_is_served_alone_beside_others() -> None:
    old = "[nodes.old]\nwifi = { ofdma = false }"
    text = scenario(3, 20, 7, "trigger").text.replace("[links.air]", f"{old}\n[links.air]")
    text = text.replace('["ap", "sta"]', '["ap", "sta", "old"]')
    text += '[flows.old]\nfrom = "ap"\nto = "old"\nudp = {}\n'
    text += 'app = { kind = "cbr", cbr = { packet = "1472 B", rate = "50 Mbit/s" } }\n'
    metrics = lh.Scenario.from_text(text, "old.toml").run().metrics
    assert metrics["links.air.ofdma_parts"] == 2 * (metrics["links.air.ofdma_ppdus"] or 0) > 0
    assert (metrics["flows.old.goodput_bps"] or 0.0) > 5e6


@pytest.mark.parametrize("how", ["requests", "trigger", "aggregated-trigger"])
def test_a_ppdu_to_several_stations_reserves_the_medium_up_to_its_last_acknowledgement(
    how: str, tmp_path: Path
) -> None:
    one = scenario(4, 20, 7, how).set({"run.duration": "40 ms", "run.warmup": "0 s"})
    run = one.run(trace=["events"], pcap=tmp_path / "air.pcap")
    rows = run.trace("events").to_numpy()
    rows = rows[(rows["layer"] == "frame") & (rows["event"] == "receive")]
    ends = sorted({float(it) for it in rows["time_s"][rows["what"] == "a-mpdu"]})
    acks = [float(it) for it in rows["time_s"][rows["what"] == "block-ack"]]
    reserved = durations(tmp_path / "air.pcap")
    assert len(ends) > 5
    for end, after in itertools.pairwise(ends):
        last = max(it for it in acks if end < it < after)
        assert any(abs(last - end - 1e-6 * us) < 1.001e-6 for us in reserved), (last - end, reserved)


def durations(capture: Path) -> set[int]:
    """The durations, in us, of the data frames of a capture with radiotap."""
    octets, at, found = capture.read_bytes(), 24, set()
    while at < len(octets):
        length = int.from_bytes(octets[at + 8 : at + 12], "little")
        frame = octets[at + 16 :][:length]
        frame = frame[int.from_bytes(frame[2:4], "little") :]
        if frame[0] == 0x88:
            found.add(int.from_bytes(frame[2:4], "little"))
        at += 16 + length
    return found


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
@pytest.mark.parametrize("how", ["requests", "trigger", "aggregated-trigger"])
def test_tshark_reads_a_cycle_of_each_sequence(how: str, tmp_path: Path) -> None:
    capture = tmp_path / "air.pcap"
    scenario(4, 20, 7, how).set({"run.duration": "40 ms", "run.warmup": "0 s"}).run(pcap=capture)
    words = [
        "wlan.fc.type_subtype",
        "radiotap.he.data_1.ppdu_format",
        "radiotap.he.data_5.data_bw_ru_allocation",
    ]
    words += ["radiotap.he.data_4.sta_id_user", "wlan.trigger.he.trigger_type", "_ws.expert.severity"]
    fields = [part for word in words for part in ("-e", word)]
    done = subprocess.run(
        ["tshark", "-r", capture, "-T", "fields", *fields], capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert not any(row[5] for row in rows)
    several = [row for row in rows if int(row[0], 0) == 40 and int(row[1] or "0", 0) == 2]
    # Four RUs of 52 tones.
    assert {int(row[2], 0) for row in several} == {5}
    triggers = [row for row in rows if int(row[0], 0) == 18]
    answers = [row for row in rows if int(row[0], 0) == 25 and int(row[1] or "0", 0) == 3]
    requests = [row for row in rows if int(row[0], 0) == 24]
    if how == "requests":
        assert requests
        assert not triggers + answers
    else:
        assert {int(row[4], 0) for row in triggers} == {2}
        assert answers
        assert not requests


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"links.air.access-point": "none"}, "only an access point sends to several stations at once"),
        ({"nodes.sta.wifi.ofdma": False}, "ofdma.scheduler: has no effect where each station has"),
        ({"links.air.ofdma.least-ru": "100"}, "expected one of 26, 52, 106, 242, 484, 996"),
        (
            {"links.air.ofdma.least-ru": "996"},
            "fewer than two RUs of 996 tones; expected at most 484",
        ),
        (
            {"links.air.ofdma.least-ru": "26", "links.air.mcs": "0"},
            "RUs of 26 tones carry 586 B at MCS 0 in 5484 us, less than a packet of 1500 B; expected 106",
        ),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, str | bool], wrong: str) -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        scenario(4, 80, 7, "trigger").set(changes)
    assert wrong in str(caught.value)


def test_a_standard_without_he_has_no_such_keys() -> None:
    text = scenario(4, 80, 7, "trigger").text.replace("802.11ax", "802.11ac")
    with pytest.raises(lh.ScenarioError, match=r'expected links\.air\.standard = "802.11ax"'):
        lh.Scenario.from_text(text, "ac.toml")
    text = text.replace("ofdma ", "# ").replace(
        "[nodes]\nap  = {}", "[nodes]\nap = { wifi = { ofdma = false } }"
    )
    with pytest.raises(lh.ScenarioError, match=r"expected ap to be on a link of 802\.11ax"):
        lh.Scenario.from_text(text, "ac.toml")
