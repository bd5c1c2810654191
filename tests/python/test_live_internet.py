"""`--internet`: programs on nodes reach a server of this machine through the links, and nothing is left."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from lasthop.realtime.internet import HOST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = "slirp4netns"
TUN = "/dev/net/tun"
needs_tun = pytest.mark.skipif(not os.access(TUN, os.W_OK), reason=f"{TUN} cannot be written")
is_installed = pytest.mark.skipif(shutil.which(PROGRAM) is None, reason=f"{PROGRAM} is not installed")
CELL = """
[run]
duration = "60 s"
[nodes]
phone = {}
base = {}
gate = {}
[links.air]
kind = "lossy"
nodes = ["phone", "base"]
rate = "20 Mbit/s"
delay = "20 ms"
loss = { model = "packet", rate = "2 %", direction = "both" }
[links.wire]
kind = "wired"
nodes = ["base", "gate"]
rate = "100 Mbit/s"
delay = "5 ms"
[flows.down]
from = "gate"
to = "phone"
tcp = {}
"""
ROUND_TRIP_S = 0.05
CLIENT = """
import hashlib, json, socket, sys, time, urllib.request
host, port, echo, shut = sys.argv[1], *map(int, sys.argv[2:])
begun = time.monotonic()
socket.create_connection((host, port)).close()
connected = time.monotonic() - begun
bytes_of = urllib.request.urlopen(f"http://{host}:{port}/file").read()
datagrams = socket.socket(type=socket.SOCK_DGRAM)
datagrams.settimeout(0.5)
for _ in range(20):
    datagrams.sendto(b"anyone?", (host, echo))
    try:
        answer = datagrams.recv(100).decode()
        break
    except TimeoutError:
        pass
try:
    refused = socket.create_connection((host, shut)).recv(1) == b""
except OSError:
    refused = True
print(json.dumps([connected, hashlib.sha256(bytes_of).hexdigest(), answer, refused]))
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[list[str], str]]:
    """What the client has to know of a server on the loopback address of this machine, and a file's hash."""
    content = random.Random(5).randbytes(400_000)
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "cell.toml").write_text(CELL)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    def echo() -> None:
        while (got := datagrams.recvfrom(100))[0] != b"end":
            datagrams.sendto(got[0].upper(), got[1])

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path))) as server,
        socket.socket(type=socket.SOCK_DGRAM) as datagrams,
        socket.socket() as unused,
    ):
        for one in (datagrams, unused):
            one.bind(("127.0.0.1", 0))
        threads = [threading.Thread(target=work, daemon=True) for work in (server.serve_forever, echo)]
        for thread in threads:
            thread.start()
        ports = [server.server_address[1], *(one.getsockname()[1] for one in (datagrams, unused))]
        yield [HOST, *map(str, ports)], hashlib.sha256(content).hexdigest()
        server.shutdown()
        with socket.socket(type=socket.SOCK_DGRAM) as last:
            last.sendto(b"end", datagrams.getsockname())
        for thread in threads:
            thread.join()


@needs_tun
@is_installed
@pytest.mark.parametrize("node", ["phone", "gate"])
def test_a_program_reaches_a_server_outside_through_the_links(
    tmp_path: Path, served: tuple[list[str], str], node: str
) -> None:
    words = ["--internet", "gate", "--late", "1000000", "-o", "out", "--node", node, "--", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", "lasthop", "live", "cell.toml", *words, "-c", CLIENT, *served[0]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    connected, digest, answer, refused = json.loads(done.stdout.partition("] ")[2])
    assert (digest, answer, refused) == (served[1], "ANYONE?", True)
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    crossed = run["nodes"][node]["arrived"]
    if node == "gate":
        assert crossed == 0
        return
    assert connected > ROUND_TRIP_S
    assert crossed > 400_000 / 1448
    assert run["metrics"]["links.air.reverse.drops_loss"] > 0


@needs_tun
@is_installed
def test_python_reaches_it_too(tmp_path: Path, served: tuple[list[str], str]) -> None:
    with lh.live(tmp_path / "cell.toml", ["phone"], internet="gate") as net:
        command = [sys.executable, "-c", CLIENT, *served[0]]
        found = net.node("phone").run(command, capture_output=True, text=True)
        assert net.node("gate").address == "10.0.0.3"
    assert json.loads(found.stdout)[1] == served[1], found.stderr


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cell.toml").write_text(CELL)
    command = [sys.executable, "-m", "lasthop", "live", "cell.toml", "--internet", "gate"]
    monkeypatch.setenv("PATH", str(tmp_path))
    done = subprocess.run(
        [*command, "--node", "phone", "--", sys.executable, "-c", ""],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    text = "no such program; expected it on the path (install the package slirp4netns)"
    assert (done.returncode, done.stderr) == (2, f"error: --internet: {PROGRAM}: {text}\n")
