"""`lasthop link`: a program behind a link that is made of options."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh

ROOT = Path(__file__).resolve().parents[2]
TRACES = [str(ROOT / "scenarios" / "examples" / "traces" / f"cell.{way}") for way in ("up", "down")]
is_live = pytest.mark.skipif(not os.access("/dev/net/tun", os.W_OK), reason="/dev/net/tun cannot be written")

# It reads what a client sends, and answers with as many bytes as that says.
SERVER = """
import socket
listener = socket.create_server(("", 80))
while True:
    connection, _ = listener.accept()
    got = b""
    while not got.endswith(b"."):
        got += connection.recv(1 << 16)
    connection.sendall(bytes(int(got.split(b"x")[0])))
    connection.close()
"""
# It prints the time of a connection, and that of sending and getting some bytes.
CLIENT = """
import socket, sys, time
up, down = map(int, sys.argv[1:])
begun = time.monotonic()
connection = socket.create_connection(("server", 80))
connected = time.monotonic()
connection.sendall(f"{down}".encode() + b"x" * up + b".")
got = 0
while part := connection.recv(1 << 16):
    got += len(part)
assert got == down, got
print(connected - begun, time.monotonic() - connected)
"""


def link(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lasthop", "link", "--late", "1000", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, input=given)


def transfer(*words: str, up: int = 1, down: int = 1, first: str = "") -> tuple[float, float]:
    """The seconds of a connection over a link, and of a transfer, from a server that does something first."""
    server = f"{first}{sys.executable} -c '{SERVER}'"
    client = (sys.executable, "-c", CLIENT, str(up), str(down))
    done = link("--server", server, *words, "--", *client)
    assert done.returncode == 0, done.stderr
    connected, took = map(float, done.stdout.split())
    return connected, took


def shown(*words: str) -> dict[str, Any]:
    done = link(*words, "--show")
    assert (done.returncode, done.stderr) == (0, "")
    return tomllib.loads(done.stdout)


@is_live
def test_a_link_has_its_delay_and_the_rate_of_each_direction() -> None:
    # 250 kB take 1 s at 2 Mbit/s, and 0.1 s at 20 Mbit/s.
    options = ("--rate", "2Mbit,20Mbit", "--delay", "20ms", "--queue", "1000p")
    connected, took = transfer(*options, down=250_000)
    assert connected > 0.04
    assert took > 0.1
    assert transfer(*options, up=250_000)[1] > max(1.0, took)


@is_live
def test_what_is_lost_is_sent_again(tmp_path: Path) -> None:
    transfer("--loss", "0%,5%", "--delay", "1ms", "-o", str(tmp_path / "out"), down=300_000)
    metrics = json.loads((tmp_path / "out" / "run.json").read_text())["metrics"]
    assert metrics["links.link.reverse.drops_loss"] > 0
    assert metrics["links.link.drops_loss"] == 0


@is_live
def test_the_command_starts_when_a_slow_server_listens() -> None:
    transfer(first="sleep 4; exec ")


@is_live
def test_a_recorded_link_is_that_of_mahimahi() -> None:
    # The record has less than 9 Mbit/s at any time.
    assert transfer("--trace", *TRACES, down=250_000)[1] > 0.2


@is_live
def test_a_busy_cell_carries_the_traffic_of_others(tmp_path: Path) -> None:
    cell = ("--wifi", "g", "--stations", "4", "--busy", "2")
    transfer(*cell, "-o", str(tmp_path / "out"), down=500_000)
    found = json.loads((tmp_path / "out" / "run.json").read_text())
    assert found["metrics"]["flows.busy2.goodput_bps"] > 1e5
    assert found["metrics"]["flows.file.packets_received"] > 500_000 / 1448
    assert list(found["nodes"]) == ["server", "client"]


@is_live
def test_the_command_has_the_terminal_and_servers_print_beside_it() -> None:
    server = f"echo here; exec {sys.executable} -c '{SERVER}'"
    done = link("--server", server, "--", "sh", "-c", "cat; exit 7", given="bytes\nand more")
    assert (done.returncode, done.stdout) == (7, "bytes\nand more")
    assert "[server] here\n" in done.stderr
    # The first word ends the options.
    assert link("sh", "-c", "exit 6").returncode == 6


@is_live
def test_a_command_that_does_not_exist_is_named() -> None:
    done = link("-q", "--", "no-such-program")
    assert done.returncode == 2
    assert done.stderr.startswith("error: COMMAND: no-such-program: No such file or directory; expected")


@is_live
def test_without_a_command_there_is_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    done = link(given="echo typed; exit 5\n")
    assert (done.returncode, done.stdout) == (5, "typed\n")


def test_the_scenario_that_is_shown_is_that_of_the_options(tmp_path: Path) -> None:
    found = shown("--rate", "5mbit,20Mbps", "--delay", "30msec", "--loss", "1%", "--queue", "100p,64kB")
    assert found["links"]["link"] == {
        "kind": "lossy",
        "nodes": ["client", "server"],
        "rate": "5 Mbit/s",
        "delay": "30 ms",
        "reverse": {"rate": "20 Mbit/s", "queue": "64 kB"},
        "loss": {"model": "packet", "direction": "both", "rate": "1 %"},
        "queue": "100 packets",
    }
    cell = ("--wifi", "ax", "--stations", "8", "--busy", "3", "--aqm", "codel", "--agent", "lle-tcp")
    air = shown(*cell)["links"]["air"]
    assert air["standard"] == "802.11ax"
    assert air["aqm"] == {"law": "codel"}
    assert shown("--trace", *TRACES)["links"]["link"]["reverse"] == {"trace": {"file": TRACES[1]}}
    for number, words in enumerate((cell, ("--trace", *TRACES, "--loss", "2%,0%"), ("--agent", "snoop"))):
        path = tmp_path / f"{number}.toml"
        path.write_text(link(*words, "--show").stdout)
        run = lh.load(path).set({"run.duration": "1 s"}).run()
        assert run.metrics["flows.file.goodput_bps"] > 1e6, path
    assert lh.load(tmp_path / "0.toml").network()["nodes"][7]["name"] == "idle4"
