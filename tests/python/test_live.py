"""Programs on the nodes of a scenario, in real time."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import random
import runpy
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lasthop.realtime.programs import listens
from search.live.signals import as_on_a_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.W_OK), reason="/dev/net/tun cannot be written"
)

# Two stations of 802.11a, and a wired host behind one of them.
SCENARIO = """
[run]
duration = "60 s"

[nodes]
phone = {}
ap = {}
server = {}

[links.air]
kind = "wifi"
nodes = ["phone", "ap"]
standard = "802.11a"

[links.wire]
kind = "lossy"
nodes = ["ap", "server"]
rate = "100 Mbit/s"
delay = "2 ms"
loss = { model = "packet", direction = "both", rate = "0.5 %" }

[flows.down]
from = "server"
to = "phone"
tcp = {}

[agents.x]
kind = "none"
"""

# It sends what it is given and closes; its other end prints a hash of what it gets, then sends it back.
SERVER = """
import hashlib, socket
listener = socket.create_server(("", 80))
connection, _ = listener.accept()
got = b""
while part := connection.recv(1 << 16):
    got += part
print("server", len(got), hashlib.sha256(got).hexdigest(), flush=True)
connection.sendall(got)
"""
CLIENT = """
import hashlib, random, socket, sys, time
size = int(sys.argv[1])
sent = random.Random(size).randbytes(size)
for _ in range(200):
    try:
        connection = socket.create_connection(("server", 80))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
connection.sendall(sent)
connection.shutdown(socket.SHUT_WR)
got = b""
while part := connection.recv(1 << 16):
    got += part
print("client", len(got), hashlib.sha256(got).hexdigest(), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cell.toml").write_text(SCENARIO)
    return tmp_path


def live(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lasthop", "live", "cell.toml", "--late", "1000", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=170, check=False)


def transfer(folder: Path, size: int, *settings: str) -> dict[str, Any]:
    """Sends random bytes over the network and back, and returns what the run reports."""
    words = [word for setting in settings for word in ("-s", setting)]
    server = ("--node", "server", "--", sys.executable, "-c", SERVER)
    client = ("--node", "phone", "--", sys.executable, "-c", CLIENT, str(size))
    done = live(folder, *words, "-o", "out", *server, *client)
    expected = hashlib.sha256(random.Random(size).randbytes(size)).hexdigest()
    assert f"[server] server {size} {expected}" in done.stdout, done.stdout + done.stderr
    assert f"[phone] client {size} {expected}" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0
    found: dict[str, Any] = json.loads((folder / "out" / "run.json").read_text())
    assert all(node["without_content"] == 0 for node in found["nodes"].values())
    return found


AGENTS = {
    "none": (),
    "lle-tcp": ("agents.x.lle-tcp.mode=safe",),
    "snoop": (),
    "wtcp": (),
    "proxy-tcp": (),
    "ack-filter": (),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_what_programs_send_arrives_whole_over_losses_and_agents(folder: Path, agent: str) -> None:
    lossy = "links.air.loss.rate=2 %"
    found = transfer(folder, 400_000, f"agents.x.kind={agent}", lossy, *AGENTS[agent])
    nodes, metrics = found["nodes"], found["metrics"]
    assert nodes["phone"]["opaque"] == 0
    assert metrics["flows.down.packets_received"] > 400_000 / 1448
    assert metrics["flows.down.reverse.packets_received"] > 400_000 / 1448
    # The wire takes 2 ms.
    assert metrics["flows.down.delay_p50_s"] > 0.002
    assert found["status"] == 0


def test_an_address_of_ipv6_does_not_wait_for_the_detection_of_duplicates() -> None:
    script = (
        "from lasthop.realtime import system; system.own_user(); system.node('10.0.0.1', 1500)\n"
        "print(open('/proc/thread-self/net/if_inet6').read())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    (row,) = (line.split() for line in done.stdout.splitlines() if line.startswith("fd6c"))
    # IFA_F_PERMANENT and IFA_F_NODAD.
    assert row[4] == "82"


def test_ipv6_passes_agents_as_datagrams(folder: Path) -> None:
    """The same programs, over TCP of IPv6."""
    over_6 = CLIENT.replace('("server", 80)', '("fd6c:6173:7468::10.0.0.3", 80)')
    listens = SERVER.replace('create_server(("", 80))', 'create_server(("::", 80), family=socket.AF_INET6)')
    server = ("--node", "server", "--", sys.executable, "-c", listens)
    client = ("--node", "phone", "--", sys.executable, "-c", over_6, "100000")
    done = live(folder, "-s", "agents.x.kind=snoop", "-o", "out", *server, *client)
    expected = hashlib.sha256(random.Random(100_000).randbytes(100_000)).hexdigest()
    assert f"[phone] client 100000 {expected}" in done.stdout, done.stdout + done.stderr
    found = json.loads((folder / "out" / "run.json").read_text())
    assert found["nodes"]["phone"]["opaque"] > 100_000 / 1500
    assert found["metrics"]["agents.x.passed"] == 0


@pytest.mark.parametrize("agent", ["snoop", "wtcp"])
def test_a_station_repairs_the_losses_of_a_kernel_that_checks_timestamps(folder: Path, agent: str) -> None:
    lossy = ("links.air.loss.rate=5 %", "links.air.loss.above-mac=true")
    found = transfer(folder, 1_000_000, f"agents.x.kind={agent}", *lossy)
    # If the kernel discards a copy for its timestamp, the station repeats it without end.
    assert 0 < found["metrics"]["agents.x.repaired"] < 1_000_000 / 1448


def test_a_live_run_is_traced_and_captured_like_any_other(folder: Path) -> None:
    sent = random.Random(3000).randbytes(3000)
    server = ("--node", "server", "--", sys.executable, "-c", SERVER)
    client = ("--node", "phone", "--", sys.executable, "-c", CLIENT, "3000")
    lossless = ("-s", "links.wire.loss.model=none")
    recorded = ("--trace", "events", "--pcap", "wire=wire.pcap", "--pcap", "air=air.pcap", "-o", "out")
    assert live(folder, *lossless, *recorded, *server, *client).returncode == 0
    with (folder / "out" / "traces" / "events.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    data = {(row["node"], row["seq"]) for row in rows if (row["layer"], row["event"]) == ("tcp", "send")}
    assert {("phone", "0"), ("phone", "1448"), ("server", "0")} <= data, "offsets begin at the first byte"
    took = {
        row["packet"]
        for row in rows
        if (row["node"], row["event"], row["layer"]) == ("server", "receive", "tcp")
    }
    assert took <= {row["packet"] for row in rows if row["node"] == "phone"}, "numbers tie rows together"
    for name in ("wire", "air"):
        capture = (folder / f"{name}.pcap").read_bytes()
        assert all(sent[at : at + 1000] in capture for at in (0, 1448)), name
    for view in ("ladder", "play"):
        command = [sys.executable, "-m", "lasthop", view, "out", "-o", f"{view}.html"]
        subprocess.run(command, cwd=folder, check=True, timeout=100)
        assert "phone" in (folder / f"{view}.html").read_text()


DATAGRAMS = """
import socket, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    to.sendto(bytes(1000), ("server", 9))
    time.sleep(0.01)
"""


def test_a_run_shows_its_rates_delays_queues_and_airtime_while_it_lasts(folder: Path) -> None:
    """A page asks twice; the second answer is newer. The server ends with the run."""
    phone = ("--node", "phone", "--", sys.executable, "-c", DATAGRAMS)
    run = [sys.executable, "-m", "lasthop", "live", "cell.toml"]
    command = [*run, "--late", "1000", "--watch", "-o", "out", "--hold", "server", *phone]
    kept = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    with subprocess.Popen(command, cwd=folder, env=kept, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        address = started.stderr.readline().removeprefix("watch the run at ").strip()
        first = newer(address, -1)
        second = newer(address, first["version"])
        started.send_signal(signal.SIGINT)
        last = newer(address, second["version"])
        try:
            started.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            started.kill()
            raise
    assert (last["state"], started.returncode) == ("done", 130)
    assert second["version"] > first["version"]
    charts = {one["chart"]["id"]: one["chart"] for one in last["figures"]}
    assert set(charts) == {"rate", "delay", "queue", "airtime-air"}
    arrived = json.loads((folder / "out" / "run.json").read_text())["nodes"]["server"]["arrived"]
    (rate,) = (one for one in charts["rate"]["panels"][0]["series"] if one["name"] == "down.reverse")
    lengths = (end - begin for begin, end in itertools.pairwise([0, *rate["x"]]))
    kilobits = sum(length * value for length, value in zip(lengths, rate["y"], strict=True))
    # Datagrams of 1028 B; those of the last half second are in no chart.
    shown = kilobits * 1000 / 8 / 1028
    assert shown == pytest.approx(round(shown), abs=0.01)
    assert 0 < shown <= arrived
    shares = [series["y"][-1] for series in charts["airtime-air"]["panels"][0]["series"]]
    assert sum(shares) == pytest.approx(100, abs=0.1)


def newer(address: str, known: int) -> dict[str, Any]:
    """What a page gets that has this version, once there are charts."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with urllib.request.urlopen(f"{address}data.json?known={known}") as answer:
            found: dict[str, Any] = json.load(answer)
        if found.get("figures"):
            return found
        time.sleep(0.05)
    raise AssertionError("no charts in 20 s")


def test_what_no_program_shows_cannot_be_traced(folder: Path) -> None:
    done = live(folder, "--trace", "cwnd", "--hold", "server", "--node", "phone", "--", "true")
    assert done.returncode == 2
    assert (
        '"cwnd" records nothing between bound nodes; expected a flow over tcp between others' in done.stderr
    )


def test_the_exit_code_is_that_of_the_last_program(folder: Path) -> None:
    done = live(folder, "--node", "phone", "--", "sh", "-c", "echo to stderr >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "")
    assert "[phone] to stderr" in done.stderr


def test_a_program_that_a_signal_ends_has_the_exit_code_of_a_shell(folder: Path) -> None:
    assert live(folder, "--node", "phone", "--", "sh", "-c", "kill -KILL $$").returncode == 137


def test_a_program_that_its_limit_ends_has_code_124(folder: Path) -> None:
    assert live(folder, "--limit", "0.3", "--node", "phone", "--", "sleep", "60").returncode == 124


def test_a_server_that_looks_up_its_own_machine_does_not_wait_for_a_name_server(folder: Path) -> None:
    ask = "import socket; print(socket.gethostbyname(socket.gethostname()))"
    done = live(folder, "--hold", "server", "--node", "phone", "--", sys.executable, "-c", ask)
    assert done.stdout == "[phone] 127.0.0.1\n"


def test_nodes_without_links_between_them_are_refused(folder: Path) -> None:
    text = SCENARIO.replace("server = {}", "server = {}\nlone = {}")
    (folder / "cell.toml").write_text(text)
    done = live(folder, "--hold", "lone", "--node", "phone", "--", "true")
    assert done.returncode == 2
    assert "nodes.phone: no links to lone; expected a path between bound nodes" in done.stderr


def test_late_packets_are_reported_with_code_3(folder: Path) -> None:
    send = (
        "import socket, time\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('server', 9))\n"
        "time.sleep(0.3)"
    )
    done = live(
        folder, "--late", "0", "--hold", "server", "--node", "phone", "--", sys.executable, "-c", send
    )
    assert done.returncode == 3
    assert "packets were late by" in done.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "no program; expected --node NAME -- PROGRAM, --shell or --hold"),
        (("--node", "phone"), '"--node phone"; expected --node NAME -- PROGRAM'),
        (
            ("--node", "fone", "--", "true"),
            'fone: no such node; did you mean "phone"? (known: phone, ap, server)',
        ),
        (("--node", "phone", "--", "no-such-program"), "no-such-program: No such file or directory"),
    ],
)
def test_a_wrong_request_is_named(folder: Path, words: tuple[str, ...], text: str) -> None:
    done = live(folder, *words)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("localhost", 0, "[localhost] 10.0.0.1\n"),
        ("2", 2, "error: --node: 2: programs read this as an address; expected a name\n"),
    ],
)
def test_a_node_is_found_by_its_name_unless_that_is_an_address(
    folder: Path, name: str, code: int, text: str
) -> None:
    (folder / "cell.toml").write_text(SCENARIO.replace("phone", name))
    ask = f"import socket; print(socket.gethostbyname('{name}'))"
    done = live(folder, "--node", name, "--", sys.executable, "-c", ask)
    assert (done.returncode, done.stdout if code == 0 else done.stderr) == (code, text)


def test_agents_that_make_data_are_refused_with_line_and_key(folder: Path) -> None:
    done = live(folder, "-s", "agents.x.kind=i-tcp", "--node", "phone", "--", "true")
    assert done.returncode == 2
    assert "agents.x.kind=i-tcp: terminates connections" in done.stderr


PAGE_LOADS = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "make_page_loads.py"))


@pytest.mark.skipif(PAGE_LOADS["BROWSER"] is None, reason="Chromium is not installed")
def test_a_browser_loads_a_page_while_others_download(tmp_path: Path) -> None:
    PAGE_LOADS["site"](tmp_path)
    # Half a megabyte at 12 Mbit/s.
    assert 0.3 < PAGE_LOADS["load_s"](tmp_path, 2, 0, late_ms=1e4) < 60


def children(of: str) -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if of in path.read_text():
                yield path.parent.name
        except OSError:
            continue


@pytest.mark.skipif(shutil.which("nsenter") is None, reason="nsenter is not installed")
def test_a_held_node_can_be_entered_and_knows_the_others(folder: Path) -> None:
    command = [sys.executable, "-m", "lasthop", "live", "cell.toml", "--hold", "phone", "--hold", "server"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        lines = [started.stderr.readline() for _ in range(3)]
        (enter,) = (line.removeprefix("phone: ").split() for line in lines if line.startswith("phone: "))
        names = subprocess.run(
            [*enter, "cat", "/etc/hosts"], capture_output=True, text=True, check=True
        ).stdout
        started.send_signal(signal.SIGINT)
    assert "10.0.0.3 server" in names


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL]
)
def test_nothing_is_left_of_a_run_that_a_signal_ends(folder: Path, number: signal.Signals) -> None:
    mark = f"sleep 61.{os.getpid()}{int(number)}"
    command = [
        sys.executable,
        "-m",
        "lasthop",
        "live",
        "cell.toml",
        "--node",
        "phone",
        "--",
        "sh",
        "-c",
        f"{mark} & {mark}",
    ]
    started = subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        preexec_fn=as_on_a_terminal,  # noqa: PLW1509
    )
    until = time.monotonic() + 60
    word = mark.split()[1]
    while len(list(children(word))) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    started.send_signal(number)
    started.wait(30)
    ended = time.monotonic()
    while list(children(word)) and time.monotonic() < ended + 20:
        time.sleep(0.02)
    assert list(children(word)) == []
    assert started.returncode == (-9 if number == signal.SIGKILL else 130)
    assert sorted(path.name for path in folder.iterdir()) == ["cell.toml"]


# A run that is killed as soon as it has made the first process of its programs' namespace, which begins late.
KILLED = """
import os, signal, time
from lasthop.realtime import programs, system
fork = os.fork
def late():
    child = fork()
    if child == 0:
        time.sleep(0.3)
    return child
os.fork = late
system.own_user()
programs._keeper()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_is_left_of_a_run_that_dies_while_it_starts_its_programs() -> None:
    mark = f"# {os.getpid()} {time.monotonic()}"
    done = subprocess.run([sys.executable, "-c", KILLED + mark], check=False)
    assert done.returncode == -signal.SIGKILL
    ended = time.monotonic()
    while list(children(mark)) and time.monotonic() < ended + 2:
        time.sleep(0.02)
    assert list(children(mark)) == []


def test_a_program_that_ends_while_it_is_looked_at_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        # It had not ended when its tables were looked for.
        monkeypatch.setattr(Path, "exists", lambda _: True)
        assert not listens(ended.pid)
        monkeypatch.undo()


def test_a_run_goes_on_at_a_signal_that_it_was_started_to_ignore(folder: Path) -> None:
    script = "echo begun; sleep 0.5; exit 7"
    started = subprocess.Popen(
        [sys.executable, "-m", "lasthop", "live", "cell.toml", "--node", "phone", "--", "sh", "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == "[phone] begun\n"
        started.send_signal(signal.SIGHUP)
    assert started.returncode == 7
