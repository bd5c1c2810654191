"""A station with Linux's stack that walks between two access points, in the guest of `lasthop virtual`.

What needs the kernel, hostapd or wpa_supplicant is skipped without them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from conftest import needs_kernel
from test_air import needs_daemons

if TYPE_CHECKING:
    from pathlib import Path

AIR = """
[run]
duration = "200 s"

[nodes]
west = { stack = "linux", position = ["0 m", "0 m"] }
east = { stack = "linux", position = ["40 m", "0 m"], wifi.access-point = true }

[nodes.phone]
stack = "linux"
position = ["20 m", "0 m"]

[nodes.phone.move]
kind = "circle"
speed = "8 m/s"
circle.radius = "16 m"

[links.air]
kind = "wifi"
standard = "802.11a"
radio = "ns3"
nodes = ["west", "east", "phone"]
access-point = "west"
security = "wpa2"

[flows.main]
from = "west"
to = "phone"
"""
#: Each node. A wire joins the access points, and the server is on the first. The station states there at
#: which of them it is, which a distribution system would learn from its association.
NODE = """
import hashlib, json, os, random, signal, socket, struct, subprocess, sys, threading, time
from pathlib import Path
from lasthop.realtime.attached import serve
from lasthop.realtime.netlink import Generic
role, transfers, agent_of = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
shared = Path("/tmp")
def ip(*words):
    subprocess.run(["ip", *words], check=True)
def put(name, text):
    (shared / name).write_text(text)
def wait_for(name):
    while not (shared / name).exists():
        time.sleep(0.05)
    return (shared / name).read_text()
def attach():
    if role not in agent_of:
        return None
    agent = os.fork()
    if agent == 0:
        found = serve("lle-tcp", "wlan0", [])
        print(json.dumps({"agent": role, **found["done"], **found["packets"]}), flush=True)
        os._exit(0)
    while not any(name.startswith("lasthop") for _, name in socket.if_nameindex()):
        assert os.waitpid(agent, os.WNOHANG)[0] == 0
        time.sleep(0.01)
    return agent
def wire(own):
    ip("addr", "add", own + "/30", "dev", "ds")
    ip("link", "set", "ds", "up")
def content(n):
    return random.Random(n).randbytes(100_000)
def west():
    put("west", str(os.getpid()))
    wait_for("east")
    wire("192.168.9.1")
    threading.Thread(target=claims, daemon=True).start()
    listener = socket.create_server(("", 80))
    put("serves", "")
    for n in range(transfers):
        end, _ = listener.accept()
        threading.Thread(target=send, args=(end, n), daemon=True).start()
    wait_for("over")
def claims():
    at, heard = "west", socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    heard.bind(("", 9))
    while True:
        claim = heard.recv(99).decode()
        if claim != at:
            way = ["via", "192.168.9.2"]
            ip("route", *(["replace", "10.0.0.3/32", *way] if claim == "east" else ["del", "10.0.0.3/32"]))
            at = claim
def send(end, n):
    for at in range(0, 100_000, 5_000):
        end.sendall(content(n)[at : at + 5_000])
        time.sleep(0.05)
    end.shutdown(socket.SHUT_WR)
    end.recv(1)
def east():
    ip("link", "add", "ds", "type", "veth", "peer", "name", "ds", "netns", wait_for("west"))
    wire("192.168.9.2")
    ip("route", "add", "10.0.0.1/32", "via", "192.168.9.1")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    put("east", "")
    wait_for("over")
def follow(places):
    asked, own = Generic(), {3: struct.pack("=I", socket.if_nametoindex("wlan0"))}
    family, out = asked.family("nl80211"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        for found in asked.ask(family, 17, own, dumps=True):
            at = found[6]
            if not places or places[-1] != at:
                places.append(at)
                ip("neigh", "replace", "10.0.0.1", "lladdr", at.hex(":"), "dev", "wlan0", "nud", "permanent")
            try:
                out.sendto({1: b"west", 2: b"east"}[at[5]], ("10.0.0.1", 9))
            except OSError:
                pass
        time.sleep(0.05)
def phone():
    places, straddled, longest = [], 0, 0.0
    threading.Thread(target=follow, args=(places,), daemon=True).start()
    wait_for("serves")
    for n in range(transfers):
        begun, before, got = time.monotonic(), len(places), bytearray()
        while True:
            try:
                end = socket.create_connection(("10.0.0.1", 80), 60)
                break
            except OSError:
                time.sleep(0.1)
        while part := end.recv(1 << 16):
            got += part
        end.close()
        assert hashlib.sha256(got).digest() == hashlib.sha256(content(n)).digest(), n
        straddled += len(places) > before
        longest = max(longest, time.monotonic() - begun)
    found = {"equal": transfers, "moves": len(places) - 1, "straddled": straddled, "longest_s": longest}
    print(json.dumps(found), flush=True)
    put("over", "")
agent = attach()
{"west": west, "east": east, "phone": phone}[role]()
if agent is not None:
    os.kill(agent, signal.SIGTERM)
    os.waitpid(agent, 0)
put(role + " ended", "")
for other in ("west ended", "east ended"):
    wait_for(other)
"""


def walked(folder: Path, transfers: int, agents: str, *, limit_s: float) -> list[dict[str, Any]]:
    """The reports of the nodes after this number of transfers, with agents at these nodes."""
    (folder / "air.toml").write_text(AIR)
    (folder / "node.py").write_text(NODE)
    words = ["virtual", str(folder / "air.toml"), "-q"]
    for role in ("west", "east", "phone"):
        words += ["--node", role, "--", sys.executable, str(folder / "node.py"), role, str(transfers), agents]
    done = subprocess.run(
        [sys.executable, "-m", "lasthop", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line.partition("] ")[2]) for line in done.stdout.splitlines() if "] {" in line]


@needs_kernel
@needs_daemons
def test_transfers_through_agents_go_on_while_the_station_roams(tmp_path: Path) -> None:
    found = walked(tmp_path, 6, "west,east,phone", limit_s=600)
    (of_phone,) = (one for one in found if "equal" in one)
    assert of_phone["moves"] >= 1
    assert of_phone["straddled"] >= 1
    agents = {one["agent"]: one for one in found if "agent" in one}
    assert agents["phone"]["suppressed"] > 0
    assert agents["west"]["generated"] + agents["east"]["generated"] > 0
