"""Linux's own mac80211 over a simulated 802.11 link, in the guest of `lasthop virtual`.

What needs the kernel, hostapd or wpa_supplicant is skipped without them.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import needs_kernel
from lasthop.base.errors import UsageError
from lasthop.realtime import netlink, radios, system

if TYPE_CHECKING:
    from pathlib import Path

AD_HOC = """
[run]
duration = "10 s"

[nodes]
a = { stack = "linux", wifi.rate = "54 Mbit/s" }
b = { stack = "linux", wifi.rate = "54 Mbit/s" }
c = {}
d = {}

[links.air]
kind = "wifi"
standard = "802.11a"
nodes = ["a", "b", "c", "d"]

[flows.beside]
from = "c"
to = "d"
app = { kind = "cbr", cbr.rate = "1 Mbit/s" }
"""
SECRET = """
[run]
duration = "10 s"

[nodes]
ap = { stack = "linux" }
station = { stack = "linux" }

[links.air]
kind = "wifi"
standard = "802.11a"
nodes = ["ap", "station"]
access-point = "ap"
security = "wpa2"
loss = { rate = "5 %" }

[flows.main]
from = "station"
to = "ap"
"""
FAR = """
[run]
duration = "10 s"

[nodes]
a = { stack = "linux", position = ["0 m", "0 m"] }
b = { stack = "linux", position = ["32 m", "0 m"] }

[links.air]
kind = "wifi"
standard = "802.11n"
radio = "ns3"
nodes = ["a", "b"]
queue = "190 packets"
rate-control.kind = "minstrel-ht"
loss = { model = "snr" }

[flows.main]
from = "a"
to = "b"
"""
SERVER = """
import socket
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.bind(("", 5000))
print("got", sum(len(end.recv(2000)) for _ in range(300)))
"""
CLIENT = """
import socket, sys, time
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(300):
    end.sendto(bytes(1000), (sys.argv[1], 5000))
    time.sleep(2e-3)
"""


BURSTS = """
import socket, sys, time
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    end.sendto(bytes(1000), (sys.argv[1], 5000))
    if number % 60 == 0:
        time.sleep(0.05)
"""


_daemons = [shutil.which(name, path="/usr/sbin:/sbin") for name in ("hostapd", "wpa_supplicant")]
needs_daemons = pytest.mark.skipif(None in _daemons, reason="needs hostapd and wpa_supplicant")


def virtual(folder: Path, scenario: str, *given: str) -> subprocess.CompletedProcess[str]:
    (folder / "air.toml").write_text(scenario)
    words = [sys.executable, "-m", "lasthop", "virtual", "air.toml", *given]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def records(file: Path) -> list[tuple[bytes, bytes]]:
    """The radiotap header and the frame of each record of a capture."""
    content, found, at = file.read_bytes(), [], 24
    while at < len(content):
        length = struct.unpack_from("<I", content, at + 8)[0]
        record = content[at + 16 : at + 16 + length]
        head = struct.unpack_from("<H", record, 2)[0]
        found.append((record[:head], record[head:]))
        at += 16 + length
    return found


def frames(file: Path) -> list[tuple[float, bytes]]:
    """The frames of a capture, each with its rate in Mbit/s."""
    return [(head[17] / 2, frame) for head, frame in records(file)]


def mcs(head: bytes) -> int:
    """The index of the MCS of a frame of 802.11n."""
    (present,) = struct.unpack_from("<I", head, 4)
    assert present >> 19 & 1
    return head[24 + (present >> 5 & 1)]


@needs_kernel
def test_frames_of_linux_contend_with_simulated_ones_at_their_rate_and_are_acknowledged(
    tmp_path: Path,
) -> None:
    programs = ("--node", "b", "--", sys.executable, "-c", SERVER)
    sender = ("--node", "a", "--", sys.executable, "-c", CLIENT, "b")
    done = virtual(tmp_path, AD_HOC, "-q", "--pcap", "a.pcap", *sender, *programs)
    assert (done.stdout, done.stderr, done.returncode) == ("[b] got 300000\n", "a.pcap\n", 0)
    found = frames(tmp_path / "a.pcap")
    from_a = [(rate, frame) for rate, frame in found if frame[10:16] == bytes([2, 0, 0, 0, 0, 1])]
    data = [(rate, frame) for rate, frame in from_a if len(frame) > 1000]
    assert {rate for rate, _ in data} == {54}
    assert len({frame[22:24] for _, frame in data}) >= 300
    beacons = [frame for _, frame in from_a if frame[0] == 0x80]
    assert beacons
    assert all(frame[4:10] == b"\xff" * 6 for frame in beacons)
    of_simulated = [frame for _, frame in found if frame[10:16] == bytes([2, 0, 0, 0, 0, 3])]
    assert of_simulated
    acknowledged = Counter(frame[4:10] for _, frame in found if frame[0] == 0xD4)
    # Each data frame that arrives is, but for the one at the end, and no beacon.
    assert 299 <= acknowledged[bytes([2, 0, 0, 0, 0, 1])] <= len(data) + 5


@needs_kernel
def test_frames_that_an_agreement_covers_go_as_aggregates_of_802_11n_and_all_arrive_in_order(
    tmp_path: Path,
) -> None:
    scenario = AD_HOC.replace("802.11a", "802.11n").replace('wifi.rate = "54 Mbit/s"', "wifi.mcs = 3")
    scenario = scenario.replace("[flows", 'queue = "190 packets"\nloss = { rate = "5 %" }\n\n[flows')
    programs = ("--node", "b", "--", sys.executable, "-c", SERVER)
    sender = ("--node", "a", "--", sys.executable, "-c", BURSTS, "b", "300")
    done = virtual(tmp_path, scenario, "-q", "--pcap", "a.pcap", *sender, *programs)
    assert (done.stdout, done.stderr, done.returncode) == ("[b] got 300000\n", "a.pcap\n", 0)
    found = [frame for _, frame in frames(tmp_path / "a.pcap")]
    own = bytes([2, 0, 0, 0, 0, 1])
    data = [frame for frame in found if frame[10:16] == own and len(frame) > 1000]
    # Some are sent again; the number is that of mac80211.
    assert 300 <= len({frame[22:24] for frame in data}) < len(data) < 400
    acks, block_acks = (sum(f[0] == kind and f[4:10] == own for f in found) for kind in (0xD4, 0x94))
    assert block_acks >= 5
    assert acks + block_acks < 100
    assert any(frame[0] == 0xD0 and frame[24:26] == b"\3\0" for frame in found), "the request for it"


@needs_kernel
def test_minstrel_learns_from_aggregates_which_mode_of_802_11n_a_distance_bears(tmp_path: Path) -> None:
    server = SERVER.replace("range(300)", "range(1600)")
    programs = ("--node", "b", "--", sys.executable, "-c", server)
    sender = ("--node", "a", "--", sys.executable, "-c", BURSTS, "b", "2000")
    done = virtual(tmp_path, FAR, "-q", "--pcap", "a.pcap", *sender, *programs)
    assert (done.stdout, done.stderr, done.returncode) == ("[b] got 1600000\n", "a.pcap\n", 0)
    own = bytes([2, 0, 0, 0, 0, 1])
    found = records(tmp_path / "a.pcap")
    chosen = [mcs(head) for head, frame in found if frame[10:16] == own and len(frame) > 1000]
    # It begins with the slowest one. At 32 m MCS 5 fails, as each above it.
    assert Counter(chosen[:20]).most_common(1)[0][0] == 0
    later = Counter(chosen[len(chosen) // 2 :])
    assert later[4] > 0.9 * later.total()
    assert {5, 6, 7} & {*chosen}, "samples"
    block_acks = [frame for _, frame in found if frame[0] == 0x94 and frame[4:10] == own]
    assert len(chosen) > 8 * len(block_acks) > 400


@needs_kernel
@needs_daemons
def test_a_station_joins_by_wpa2_minstrel_learns_what_was_lost_and_runs_repeat(tmp_path: Path) -> None:
    programs = ("--node", "ap", "--", sys.executable, "-c", SERVER)
    sender = ("--node", "station", "--", sys.executable, "-c", CLIENT, "ap")
    for name in ("a.pcap", "b.pcap"):
        done = virtual(tmp_path, SECRET, "-q", "--pcap", name, *sender, *programs)
        assert (done.stdout, done.stderr, done.returncode) == ("[ap] got 300000\n", f"{name}\n", 0)
    assert (tmp_path / "a.pcap").read_bytes() == (tmp_path / "b.pcap").read_bytes()
    found = frames(tmp_path / "a.pcap")
    protected = [(rate, frame) for rate, frame in found if frame[0] == 0x08 and frame[1] & 0x40]
    assert len(protected) > 300
    rates = Counter(rate for rate, frame in protected if len(frame) > 1000)
    assert len(rates) > 2
    assert any(frame[1] & 0x08 for _, frame in protected)


def test_two_stacks_need_a_common_link_with_radios(tmp_path: Path) -> None:
    refused = {
        AD_HOC.replace("802.11a", "802.11ax").replace(
            ', wifi.rate = "54 Mbit/s"', ""
        ): "aggregate nothing of it",
        AD_HOC.replace('b = { stack = "linux"', 'b = { stack = "lasthop"'): "and b is bound without it",
        AD_HOC.replace("[flows", 'security = "wpa2"\n[flows'): "expected an access point",
    }
    for scenario, text in refused.items():
        (tmp_path / "air.toml").write_text(scenario)
        words = ["live", "air.toml", "--node", "a", "--", "true", "--node", "b", "--", "true"]
        done = subprocess.run(
            [sys.executable, "-m", "lasthop", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert text in done.stderr
    (tmp_path / "air.toml").write_text(AD_HOC)
    with (
        pytest.raises(UsageError, match="only radios") as refusal,
        lh.live(tmp_path / "air.toml", ["a", "b"], internet="a"),
    ):
        pass
    assert refusal.value.argument == "internet"


def test_a_kernel_whose_radios_count_no_aggregates_is_refused_where_minstrel_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = os.uname()
    plain = os.uname_result((names.sysname, names.nodename, "6.1.0-44-amd64", names.version, names.machine))
    monkeypatch.setattr(os, "uname", lambda: plain)
    setting = radios.Setting(5180, [12], [[12]], [], is_secret=False, mcs=[[0, 1]])
    with pytest.raises(system.Refused, match=r"Linux 6\.1\.0-44-amd64, .* or rate-control\.kind = .constant"):
        radios.Radios(setting)


def test_attributes_are_padded_and_may_be_nested() -> None:
    encoded = netlink.encoded({1: b"abc", 2: {3: b"", 4: b"\1\2\3\4\5"}})
    outer = struct.pack("=HH3sx", 7, 1, b"abc")
    inner = struct.pack("=HH", 4, 3) + struct.pack("=HH5s3x", 9, 4, b"\1\2\3\4\5")
    assert encoded == outer + struct.pack("=HH", 4 + len(inner), 2 | 0x8000) + inner
    found = netlink.decoded(encoded)
    assert found == {1: b"abc", 2: inner}
    assert netlink.decoded(found[2]) == {3: b"", 4: b"\1\2\3\4\5"}
    assert netlink.decoded(b"\0\0\0\0") == {0: b""}


@pytest.mark.parametrize(
    ("frequency", "rates", "expected"),
    [
        (5180, [12, 24, 108], ["hw_mode=a", "channel=36", "supported_rates=60 120 240 540"]),
        (2412, [2, 4, 11, 22], ["hw_mode=b", "channel=1", "supported_rates=10 20 55 110 120 240"]),
        (2412, [2, 4, 108], ["hw_mode=g", "channel=1"]),
    ],
)
def test_an_access_point_has_the_channel_and_the_rates_of_its_link(
    frequency: int, rates: list[int], expected: list[str]
) -> None:
    setting = radios.Setting(frequency, [24, 48], [rates], [0], is_secret=False)
    lines = radios._access_point(setting, 0).splitlines()
    assert set(expected) <= {*lines}
    assert "basic_rates=120 240" in lines
    assert not any(line.startswith("wpa") for line in lines)
    assert "wpa=2" in radios._access_point(setting._replace(is_secret=True), 0).splitlines()
