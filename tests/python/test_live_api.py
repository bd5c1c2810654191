"""`lasthop.live`: programs and sockets of Python on the nodes of a scenario."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.W_OK), reason="/dev/net/tun cannot be written"
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may move a thread to another network")

WIRE = """
run.duration = "60 s"
nodes = { phone = {}, server = {} }

[links.wire]
kind = "wired"
nodes = ["phone", "server"]
rate = "20 Mbit/s"
delay = "5 ms"

[flows.down]
from = "server"
to = "phone"
tcp = {}
"""
# It answers each connection with what it is sent.
ECHO = """
import socket
listener = socket.create_server(("", 80))
while True:
    connection, _ = listener.accept()
    connection.sendall(connection.recv(1000))
    connection.close()
"""
ROOT = Path(__file__).resolve().parents[2]
MARK = f"61.{os.getpid()}"


@pytest.fixture
def wire(tmp_path: Path) -> lh.Scenario:
    (tmp_path / "wire.toml").write_text(WIRE)
    return lh.load(tmp_path / "wire.toml")


def echoed(name: str, text: bytes = b"hello") -> bytes:
    with socket.create_connection((name, 80), timeout=10) as connection:
        connection.sendall(text)
        return connection.recv(1000)


def where() -> tuple[str, ...]:
    """What the calling thread sees."""
    names = (Path(f"/proc/thread-self/ns/{kind}").readlink() for kind in ("net", "mnt", "pid", "user"))
    return (*map(str, names), str(Path.cwd()), Path("/etc/hosts").read_text())


def running(word: str) -> list[str]:
    """The processes with a word in their command lines, but this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in path.read_text() and path.parent.name != str(os.getpid()):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def gone(word: str) -> bool:
    """Whether no process with this word is left, after a short time."""
    until = time.monotonic() + 20
    while running(word) and time.monotonic() < until:
        time.sleep(0.02)
    return not running(word)


def below(process: int | str) -> list[str]:
    """The processes that a process has started, and those that these have."""
    own = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [*own, *(other for one in own for other in below(one))]


@as_root
@pytest.mark.parametrize("times", [1, 2])
def test_python_and_programs_meet_over_the_network(wire: lh.Scenario, times: int) -> None:
    # What other tests have left open must not close meanwhile.
    gc.collect()
    before, files, threads = where(), len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for _ in range(times):
        with lh.live(wire, ["phone", "server"]) as net:
            net.node("server").start([sys.executable, "-c", ECHO], port=80)
            with net.node("phone") as phone:
                begun = time.monotonic()
                assert echoed("server") == b"hello"
                # A connection and an answer are two round trips of 10 ms.
                assert time.monotonic() - begun > 0.02
                assert echoed(net.node("server").address) == b"hello"
                assert phone.name == "phone"
        assert net.outcome.metrics["flows.down.packets_received"] > 0
        assert net.outcome.nodes["phone"]["packets"] > 0
        assert net.outcome.commands == [("server", (sys.executable, "-c", ECHO))]
    assert where() == before
    assert len(list(Path("/proc/self/fd").iterdir())) == files
    assert threading.active_count() == threads


@as_root
def test_only_the_calling_thread_is_on_the_node_and_nodes_nest(wire: lh.Scenario) -> None:
    enter, leave = threading.Event(), threading.Event()
    seen = []

    def look() -> None:
        enter.wait(10)
        seen.append(where())
        leave.set()

    other = threading.Thread(target=look)
    other.start()
    before = where()
    with lh.live(wire, ["phone", "server"]) as net, net.node("phone"):
        inside = where()
        with net.node("server"):
            assert where()[0] != inside[0]
            child = subprocess.run(["cat", "/etc/hosts"], capture_output=True, text=True, check=True)
            assert f"{net.node('server').address} server\n" in child.stdout
        assert where() == inside
        enter.set()
        leave.wait(10)
    other.join()
    assert where() == before
    assert seen == [before]
    assert inside[0] != before[0]


@as_root
def test_networks_run_beside_each_other(wire: lh.Scenario) -> None:
    far = wire.set({"links.wire.delay": "50 ms"})
    with lh.live(wire, ["phone", "server"]) as near, lh.live(far, ["phone", "server"]) as other:
        took = []
        for net in (near, other):
            net.node("server").start([sys.executable, "-c", ECHO], port=80)
            with net.node("phone"):
                begun = time.monotonic()
                assert echoed("server") == b"hello"
                took.append(time.monotonic() - begun)
        # Two round trips of 10 ms, and of 100 ms.
        assert took[0] > 0.02
        assert took[1] > max(0.2, took[0])


def test_a_program_has_its_streams_folder_variables_and_exit_code(wire: lh.Scenario, tmp_path: Path) -> None:
    with lh.live(wire, ["phone"]) as net:
        phone = net.node("phone")
        done = phone.run(
            ["sh", "-c", "pwd; echo $WORD; cat; exit 3"],
            capture_output=True,
            text=True,
            input="in",
            cwd=tmp_path,
            env={**os.environ, "WORD": "word"},
        )
        assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\nword\nin", "")
        assert done.args == ["sh", "-c", "pwd; echo $WORD; cat; exit 3"]
        with pytest.raises(subprocess.CalledProcessError, match=r"'false'.* 1"):
            phone.run(["false"], check=True)
        with pytest.raises(subprocess.TimeoutExpired, match="'sleep', '60'"):
            phone.run(["sleep", "60"], timeout=0.2)
        sleeping = phone.start(["sleep", MARK])
        until = time.monotonic() + 10
        while len(running(MARK)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        sleeping.terminate()
        assert sleeping.wait(10) == -signal.SIGTERM


def test_an_exception_ends_the_network_and_passes_on(wire: lh.Scenario) -> None:
    net = lh.live(wire, ["phone"])
    for kind in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(kind), net:  # noqa: PT012
            started = net.node("phone").start(["sh", "-c", f"sleep {MARK} & sleep {MARK}"])
            raise kind
        assert started.returncode == -signal.SIGKILL
        assert gone(MARK)
        assert net.outcome.length_s > 0


ENDED = f"""
import sys, time
import lasthop as lh
with lh.live(sys.argv[1], ["phone"]) as net:
    net.node("phone").start(["sh", "-c", "sleep {MARK} & sleep {MARK}"])
    if len(sys.argv) > 2:
        net.node("phone").__enter__()
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("inside", [(), pytest.param(("inside",), marks=as_root)])
def test_nothing_is_left_of_a_network_whose_process_a_signal_ends(
    wire: lh.Scenario, tmp_path: Path, number: signal.Signals, inside: tuple[str, ...]
) -> None:
    command = [sys.executable, "-c", ENDED, str(tmp_path / "wire.toml"), *inside]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        own = below(started.pid)
        assert len(own) > 2
        started.send_signal(number)
        started.wait(30)
    until = time.monotonic() + 20
    while any(Path("/proc", one).exists() for one in own) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [one for one in own if Path("/proc", one).exists()]
    assert gone(MARK)
    assert [path.name for path in tmp_path.iterdir()] == ["wire.toml"]


def test_a_network_that_is_killed_is_an_error(wire: lh.Scenario) -> None:
    net = lh.live(wire, ["phone"])
    with pytest.raises(lh.RunError, match="live: the network ended with exit code -9"), net:  # noqa: PT012
        started = net.node("phone").start(["sleep", "60"])
        assert net._process is not None
        net._process.kill()
        assert started.wait(10) == -signal.SIGKILL
        with pytest.raises((lh.RunError, lh.UnavailableError)):
            net.node("phone").__enter__()


def test_the_limit_ends_the_network(wire: lh.Scenario) -> None:
    with lh.live(wire, ["phone"], limit_s=0.3) as net:
        assert net.node("phone").run(["sleep", "60"]).returncode != 0
    assert net.outcome.length_s == pytest.approx(0.3, abs=0.01)


def test_wrong_requests_are_named(wire: lh.Scenario) -> None:
    wrong: dict[str, Callable[[], object]] = {
        'nodes: fone: no such node; did you mean "phone"?': lambda: lh.live(wire, ["fone"]),
        'nodes: "phone" is a string; expected a list such as': lambda: lh.live(wire, "phone"),
        "nodes: no node; expected one of phone, server": lambda: lh.live(wire, []),
        "limit_s: 0; expected a number of seconds above 0": lambda: lh.live(wire, ["phone"], limit_s=0),
        "scenario: 1; expected a Scenario, a path or an id": lambda: lh.live(1, ["phone"]),  # type: ignore[arg-type]
        "the network does not run; expected to be in its block": lambda: lh.live(wire, ["phone"]).node(
            "phone"
        ),
        "there is no outcome yet; expected the block to have ended": lambda: lh.live(wire, ["phone"]).outcome,
    }
    for message, call in wrong.items():
        with pytest.raises(lh.UsageError) as raised:
            call()
        assert str(raised.value).startswith(message)
    with lh.live(wire, ["phone"]) as net:
        with pytest.raises(lh.UsageError, match="name: fone: no such node"):
            net.node("fone")
        with pytest.raises(lh.UsageError, match=r"command: no-such-program: no such program"):
            net.node("phone").run(["no-such-program"])
        with pytest.raises(lh.UsageError, match=r"shell: cannot be given; expected a program"):
            net.node("phone").run(["true"], shell=True)
        with pytest.raises(lh.UsageError, match="runs already"):
            net.__enter__()
        with pytest.raises(lh.RunError, match="live: true: expected a program that listens on port 80"):
            net.node("phone").start(["true"], port=80)


def test_what_cannot_run_in_real_time_is_refused() -> None:
    scenario = lh.load("lle-tcp/fig08").set({"agents.snoop.kind": "i-tcp"})
    with pytest.raises(lh.ScenarioError, match="terminates connections"):
        lh.live(scenario, ["sender", "receiver"]).__enter__()
    assert not [one for one in below(os.getpid()) if one in running("realtime/worker.py")]


OF_A_PROJECT = """
import socket, sys
import pytest
from lasthop.base.errors import UnavailableError


def test_that_nothing_heavy_is_loaded():
    parts = ("", ".base", ".base.errors", ".realtime", ".realtime.fixtures")
    light = [f"lasthop{part}" for part in parts]
    assert sorted(name for name in sys.modules if name.startswith("lasthop")) == light


def test_over_the_network(lasthop_live):
    with lasthop_live("wire.toml", nodes=["phone", "server"]) as net:
        assert net.node("phone").run(["getent", "ahostsv4", "server"]).returncode == 0
    assert net.outcome.length_s > 0


def test_that_fails(lasthop_live):
    with lasthop_live("wire.toml", nodes=["phone"]):
        raise ZeroDivisionError


def test_that_cannot_run(lasthop_live, monkeypatch):
    def refuse(_):
        raise UnavailableError("live: nothing works; expected more")

    from lasthop.realtime.network import Live
    monkeypatch.setattr(Live, "__enter__", refuse)
    with lasthop_live("wire.toml", nodes=["phone"]):
        pass
"""


def test_pytest_has_a_fixture_that_skips_with_the_reason(wire: lh.Scenario, tmp_path: Path) -> None:
    (tmp_path / "test_project.py").write_text(OF_A_PROJECT)
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    command = [sys.executable, "-m", "pytest", "-rs", "-W", "error", "-p", entries["lasthop"], str(tmp_path)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert "1 failed, 2 passed, 1 skipped" in done.stdout, done.stdout
    assert "live: nothing works; expected more" in done.stdout
    assert "ZeroDivisionError" in done.stdout
