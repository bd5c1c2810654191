"""`lasthop agent`: an agent at an interface, in the guest of `lasthop virtual` and between namespaces.

Only a Wi-Fi interface reports what was acknowledged; how packets are diverted is tested without reports, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import needs_kernel
from lasthop.base.errors import ScenarioError
from lasthop.realtime import attached, confirmed
from test_air import frames

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOLS = [shutil.which(name) for name in ("ip", "nsenter", "unshare")]
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or None in _TOOLS or not os.access("/dev/net/tun", os.W_OK),
    reason="needs root, ip, nsenter, unshare and /dev/net/tun",
)


AIR = """
[run]
duration = "60 s"

[nodes]
a = { stack = "linux", wifi.rate = "54 Mbit/s" }
b = { stack = "linux", wifi.rate = "54 Mbit/s" }

[links.air]
kind = "wifi"
standard = "802.11a"
nodes = ["a", "b"]
loss = { rate = "5 %" }

[flows.main]
from = "a"
to = "b"
"""
#: It answers each connection with the hash of what came.
SERVER = """
import hashlib, socket, sys
listener = socket.create_server(("", 5000))
print("listens", flush=True)
for _ in range(int(sys.argv[1])):
    connection, _ = listener.accept()
    got = hashlib.sha256()
    while part := connection.recv(1 << 16):
        got.update(part)
    connection.sendall(got.digest())
    connection.close()
"""
#: It sends three parts, each after a line of input, and prints whether the hash was equal.
CLIENT = """
import hashlib, random, socket, sys
content = random.Random(7).randbytes(3_000_000)
end = socket.create_connection((sys.argv[1], 5000))
end.settimeout(60)
for part in range(3):
    sys.stdin.readline()
    end.sendall(content[part * 1_000_000 :][:1_000_000])
    print(part, flush=True)
end.shutdown(socket.SHUT_WR)
print(end.recv(99) == hashlib.sha256(content).digest(), flush=True)
"""
#: An agent at an interface that reports nothing.
AGENT = """
import json, sys
from lasthop.realtime.attached import serve
ready = lambda _: print("ready", flush=True)
print(json.dumps(serve("lle-tcp", sys.argv[1], [], needs_reports=False, on_ready=ready)))
"""
#: What outlives an agent that had kept a segment, which nobody confirms.
CHILD = """
import os, sys
from lasthop.realtime import attached
kept = os.memfd_create("kept")
os.write(kept, bytes.fromhex(sys.argv[1]))
alone = attached._alone("va")
ended, lives = os.pipe()
child = os.fork()
if child == 0:
    os.close(lives)
    attached._outlive(ended, (alone.fileno(), kept), "va", lambda: None)
alone.close()
try:
    attached._alone("va")
except attached.UsageError as error:
    print(child, error, flush=True)
os.close(lives)
attached._alone("va")
print("free", flush=True)
sys.stdin.read()
"""
#: In the guest: agents at both ends; that of the sender is killed once during a transfer, and starts again.
GUEST = """
import hashlib, json, os, random, signal, socket, sys, time
from lasthop.realtime.attached import serve
def attach():
    agent = os.fork()
    if agent == 0:
        print(json.dumps(serve("lle-tcp", "wlan0", [])), flush=True)
        os._exit(0)
    while not any(name.startswith("lasthop") for _, name in socket.if_nameindex()):
        assert os.waitpid(agent, os.WNOHANG)[0] == 0
        time.sleep(0.01)
    return agent
def detach(how):
    os.kill(agent, how)
    os.waitpid(agent, 0)
def connected():
    while True:
        try:
            return socket.create_connection((sys.argv[1], 5000), 60)
        except ConnectionRefusedError:
            time.sleep(0.05)
agent = attach()
if sys.argv[1] == "server":
    exec(sys.argv[2])
    time.sleep(1)
else:
    for turn in range(2):
        content = random.Random(turn).randbytes(400_000)
        end = connected()
        end.sendall(content[:200_000])
        if turn == 0:
            detach(signal.SIGKILL)
            end.sendall(content[200_000:300_000])
            agent = attach()
        end.sendall(content[200_000 + 100_000 * (turn == 0) :])
        end.shutdown(socket.SHUT_WR)
        print(end.recv(99) == hashlib.sha256(content).digest(), flush=True)
detach(signal.SIGTERM)
"""


@needs_kernel
def test_in_the_guest_hashes_are_equal_and_acknowledgements_stay_off_the_air(tmp_path: Path) -> None:
    (tmp_path / "air.toml").write_text(AIR)
    (tmp_path / "guest.py").write_text(GUEST)
    program = [sys.executable, str(tmp_path / "guest.py")]
    words = ["virtual", str(tmp_path / "air.toml"), "-q", "--pcap", str(tmp_path / "a.pcap")]
    words += ["--node", "b", "--", *program, "server", "sys.argv[1] = '2'\n" + SERVER]
    words += ["--node", "a", "--", *program, "10.0.0.2"]
    done = subprocess.run(
        [sys.executable, "-m", "lasthop", *words], capture_output=True, text=True, check=False, timeout=170
    )
    assert done.returncode == 0, done.stderr
    lines = [line.removeprefix("[a] ") for line in done.stdout.splitlines() if line.startswith("[a]")]
    assert lines[:2] == ["True", "True"], done.stdout
    found = json.loads(lines[2])
    assert found["done"]["generated"] > 100
    assert found["packets"]["acknowledged"] > 300
    # A segment without payload has 26 B of header, 8 B of LLC and 52 to 80 B.
    from_b = [frame for _, frame in frames(tmp_path / "a.pcap") if frame[10:16] == bytes([2, 0, 0, 0, 0, 2])]
    acks = [frame for frame in from_b if frame[0] == 0x88 and len(frame) < 130]
    from_a = [frame for _, frame in frames(tmp_path / "a.pcap") if frame[10:16] == bytes([2, 0, 0, 0, 0, 1])]
    full = [frame for frame in from_a if len(frame) > 1400]
    assert 0 < len(acks) < len(full) / 4


class Ends:
    """Two namespaces with an interface each, joined by a wire."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held
        self.places = [self.started(["unshare", "-n", "sh", "-c", "echo; exec sleep 1000"]) for _ in range(2)]
        for place in self.places:
            assert place.stdout is not None
            place.stdout.readline()
        first, second = (str(place.pid) for place in self.places)
        words = ["ip", "link", "add", "va", "netns", first, "type", "veth", "peer", "vb", "netns", second]
        subprocess.run(words, check=True)
        for place, name in enumerate(("va", "vb")):
            for given in (
                ["addr", "add", f"10.9.0.{place + 1}/24", "dev", name],
                ["link", "set", name, "up"],
                ["link", "set", "lo", "up"],
            ):
                self.run(place, "ip", *given)

    def run(self, place: int, *words: str) -> str:
        """The output of a program in a namespace."""
        within = ["nsenter", "-t", str(self.places[place].pid), "-n", *words]
        return subprocess.run(within, check=True, capture_output=True, text=True).stdout

    def state(self, place: int) -> tuple[str, str, str]:
        """What must be as before when an agent has ended."""
        strict = self.run(place, "sh", "-c", "cat /proc/sys/net/ipv4/conf/v*/rp_filter")
        return strict, self.run(place, "ip", "route"), self.run(place, "ip", "-o", "link")

    def start(self, place: int, code: str, *given: str) -> subprocess.Popen[str]:
        """A program in Python in a namespace."""
        within = ["nsenter", "-t", str(self.places[place].pid), "-n"]
        return self.started([*within, sys.executable, "-c", code, *given])

    def started(self, words: list[str]) -> subprocess.Popen[str]:
        """A program, which ends with the test."""
        pipe = subprocess.PIPE
        program = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self._held.enter_context(program)
        self._held.callback(program.kill)
        return program


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Two namespaces."""
    with ExitStack() as held:
        yield Ends(held)


def said(program: subprocess.Popen[str]) -> str:
    """The next line of a program."""
    assert program.stdout is not None
    return program.stdout.readline().strip()


@needs_root
def test_a_connection_goes_on_when_an_agent_begins_is_killed_and_ends_and_nothing_is_left(ends: Ends) -> None:
    before = ends.state(0)
    server = ends.start(1, SERVER, "1")
    assert said(server) == "listens"
    client = ends.start(0, CLIENT, "10.9.0.2")
    assert client.stdin is not None
    found: dict[str, Any] = {}
    for part, how in enumerate((signal.SIGKILL, None, signal.SIGTERM)):
        agent = ends.start(0, AGENT, "va") if how is not None else None
        if agent is not None:
            assert said(agent) == "ready", agent.communicate()
            status = Path(f"/proc/{agent.pid}/status").read_text(encoding="ascii")
            assert re.search(r"^Uid:(\s65534){4}$", status, re.MULTILINE)
            assert re.search(r"^CapEff:\s0+$", status, re.MULTILINE)
            assert ends.state(0) != before
        client.stdin.write("\n")
        client.stdin.flush()
        assert said(client) == str(part)
        if part == 2:
            assert said(client) == "True"
        if agent is not None and how is not None:
            agent.send_signal(how)
            output, error = agent.communicate(timeout=30)
            found = json.loads(output) if how == signal.SIGTERM else {}
            assert (agent.returncode, error) == (-signal.SIGKILL if not found else 0, "")
            for _ in range(100):
                if ends.state(0) == before:
                    break
            assert ends.state(0) == before
    assert found["packets"]["from_network"] > 100
    assert found["packets"]["from_link"] > 10
    assert found["packets"]["untouched"] == 0


@needs_root
def test_an_interface_has_one_agent_at_most_and_needs_an_address(ends: Ends) -> None:
    first = ends.start(0, AGENT, "va")
    assert said(first) == "ready"
    before = ends.state(0)
    second = ends.start(0, AGENT, "va")
    _, error = second.communicate(timeout=30)
    assert error.splitlines()[-1].endswith("and no other agent")
    assert ends.state(0) == before
    ends.run(1, "ip", "addr", "flush", "dev", "vb")
    _, error = ends.start(1, AGENT, "vb").communicate(timeout=30)
    assert error.splitlines()[-1].endswith("UsageError: dev: vb: no IPv4 address; expected one")
    ends.run(1, "ip", "link", "set", "vb", "down")
    ends.run(0, "ip", "link", "set", "va", "down")
    _, error = first.communicate(timeout=30)
    assert error.splitlines()[-1].endswith("UnavailableError: va: went down; expected it to be up")


@needs_root
def test_what_outlives_an_agent_holds_the_interface_until_all_is_restored_and_then_has_no_privileges(
    ends: Ends,
) -> None:
    program = ends.start(0, CHILD, filed(segment(5)).hex())
    child, _, refusal = said(program).partition(" ")
    assert refusal.endswith("va: has an agent; expected it to end first, and no other agent")
    assert said(program) == "free"
    status = ""
    for _ in range(300):
        status = Path(f"/proc/{child}/status").read_text(encoding="ascii")
        if "65534" in status:
            break
        time.sleep(0.01)
    os.kill(int(child), signal.SIGKILL)
    assert re.search(r"^Uid:(\s65534){4}$", status, re.MULTILINE)
    assert re.search(r"^CapEff:\s0+$", status, re.MULTILINE)


@needs_root
def test_without_root_it_says_so_in_one_line(ends: Ends) -> None:
    renounced = AGENT.replace("ready =", "import encodings.ascii, os\nos.setuid(65534)\nready =")
    _, error = ends.start(0, renounced, "va").communicate(timeout=30)
    assert error.splitlines()[-1].endswith("UsageError: dev: va: Operation not permitted; expected root")


def test_routes_are_halved_and_parameters_are_those_of_scenarios() -> None:
    (route,) = attached.routes("head\nwlan0 0000A8C0 00000000 0001 0 0 0 0000FFFF 0 0 0\n")
    assert (str(route), route.mask, route.is_direct) == ("192.168.0.0/16", 0xFFFF0000, True)
    assert list(route.halves()) == [(0xC0A80000, 17), (0xC0A88000, 17)]
    assert list(attached.Route("w", 0, 0, is_direct=False, metric=0).halves()) == [(0, 1), (1 << 31, 1)]
    air, wired = (
        attached.Route("w", 0, 0, is_direct=False, metric=600),
        attached.Route("e", 0, 0, is_direct=False, metric=100),
    )
    half = attached.Route("e", 1 << 31, 1, is_direct=False, metric=700)
    assert [attached.served([air, other], "w") for other in (wired, half)] == [[], []]
    assert attached.served([air, wired, attached.Route("e", 0, 8, is_direct=True, metric=0)], "e")[0] == wired
    for name in attached.AGENTS:
        attached.scheme(name, [("max-flows", "7")])
    with pytest.raises(ScenarioError, match="expected a time"):
        attached.scheme("lle-tcp", [("hold", "often")])


def test_what_is_cut_off_is_not_a_segment() -> None:
    whole = segment(1)
    assert confirmed.Segment.of(whole) is not None
    long, short = bytearray(whole), bytearray(whole)
    long[32], short[32] = 0xF0, 0x40
    assert [confirmed.Segment.of(bytes(one)) for one in (long[:52], short, whole[:30])] == [None] * 3
    cut = bytearray(whole)
    cut[43] = 4
    without = confirmed.Segment.of(bytes(cut))
    assert without is not None
    assert without.stamp() is None


def segment(
    seq: int, flags: int = 16, payload: bytes = b"x" * 100, ack: int = 0, value: int = 1, echo: int = 0
) -> bytes:
    """A packet from 10.0.0.1 to 10.0.0.2; without payload the other way."""
    ends, ports = (b"\x0a\0\0\1", b"\x0a\0\0\2"), (b"\0\x50", b"\x10\0")
    way = -1 if not payload and flags & 16 else 1
    stamps = b"\1\1\x08\x0a" + value.to_bytes(4, "big") + echo.to_bytes(4, "big")
    header = seq.to_bytes(4, "big") + ack.to_bytes(4, "big") + bytes([0x80, flags, 4, 0, 0, 0, 0, 0]) + stamps
    ip = b"\x45\0" + (52 + len(payload)).to_bytes(2, "big") + b"\0\0\x40\0\x40\6\0\0" + b"".join(ends[::way])
    return ip + b"".join(ports[::way]) + header + payload


def filed(*packets: bytes) -> bytes:
    """A file of segments, the last of which was put into the first place."""
    numbered = [*enumerate(packets)]
    parts = (
        n.to_bytes(8, "little") + len(p).to_bytes(2, "little") + p for n, p in numbered[-1:] + numbered[:-1]
    )
    return b"".join(part.ljust(confirmed.PLACE, b"\0") for part in parts)


def test_what_a_receiver_lacks_is_sent_until_it_has_it_with_the_newest_timestamp() -> None:
    top = 2**32 - 150
    packets = [segment(7, 2, b""), segment(5), segment(top, 2, b"")]
    packets += [segment((top + 100 * n) % 2**32, value=20 + n) for n in range(4)]
    ((key, one),) = confirmed.connections(filed(*packets)).items()
    assert key == (b"\x0a\0\0\1\0\x50", b"\x0a\0\0\2\x10\0")
    assert len(one.copies) == 4, "those of the connection before, on the same ports, are not sent"
    first = one.due(10.0)
    assert first is not None
    assert confirmed.Segment.of(first)[0][24:28] == packets[-1][24:28], (
        "the last: its answer says what is lacking"
    )
    assert (one.due(10.1), one.due_s) == (None, 10.2)
    answer = confirmed.Segment.of(segment(1, payload=b"", ack=(top + 100) % 2**32))
    assert answer is not None
    assert answer.key == key[::-1]
    one.hear(answer)
    again = one.due(10.1)
    assert again is not None
    assert again[24:28] == packets[4][24:28]
    assert again[44:48] == (23).to_bytes(4, "big")
    assert one.due(10.15) is None
    assert again == one.due(10.4), "it is sent again after the wait"
    one.hear(confirmed.Segment.of(segment(1, payload=b"", ack=(top + 100) % 2**32, echo=99)))
    later = one.due(11.0)
    assert later is not None
    assert later[44:48] == (99).to_bytes(4, "big"), "the receiver discards what is older than that"
    one.hear(confirmed.Segment.of(segment(1, payload=b"", ack=(top + 400) % 2**32)))
    assert not one.copies


def test_a_receiver_that_does_not_answer_is_left_alone_and_so_is_one_that_resets() -> None:
    (one,) = confirmed.connections(filed(segment(5))).values()
    now, sent = 0.0, 0
    while one.copies:
        sent += one.due(now) is not None
        now = one.due_s
    assert (sent, 100 < now < 200) == (12, True)
    (one,) = confirmed.connections(filed(segment(5))).values()
    one.hear(confirmed.Segment.of(segment(1, 20, b"", ack=5)))
    assert not one.copies
    assert not confirmed.connections(b"")


def test_the_checksum_of_a_segment_with_another_timestamp_is_right() -> None:
    whole = confirmed.Segment.of(segment(5, payload=b"odd"))
    assert whole is not None
    packet = whole.stamped(b"\1\2\3\4")
    covered = packet[12:20] + b"\0\6" + (len(packet) - 20).to_bytes(2, "big") + packet[20:] + b"\0"
    total = sum(int.from_bytes(covered[at : at + 2], "big") for at in range(0, len(covered), 2))
    assert total % 0xFFFF == 0
