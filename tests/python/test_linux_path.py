"""The path that the peer linux gives the kernel: its parts, its refusals, and what an application writes."""

from __future__ import annotations

import errno
import json
import socket
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from chains import CHAIN, chain_in, edges_in
from lasthop.peer import worker
from lasthop.peer.path import path, with_known_laws
from lasthop.realtime import system, tcp

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    return chain_in(tmp_path)


@pytest.fixture
def edges(tmp_path: Path) -> lh.Scenario:
    return edges_in(tmp_path)


def test_a_point_gives_the_kernel_a_chain_in_the_order_of_the_way(chain: Path) -> None:
    found = path(lh.load(chain), 0)
    assert found.steps == (("first", False), ("last", True))
    down, up = found.flows
    assert found.ends == ("a", "b")
    assert (down.law, down.start_s, down.size, down.window, down.sender) == ("cubic", 1.0, None, 144_800, 0)
    assert (up.law, up.start_s, up.size, up.sender) == ("reno", 0.0, 70 * 1448, 1)
    # 20 bytes of IP, 20 of TCP and 12 of timestamps are around 1448.
    assert found.settings == {
        "mtu": 1500,
        "timestamps": True,
        "microseconds": False,
        "sack": True,
        "ecn": 0,
        "window": 4096 * 1448,
        "idle_restart": True,
        "pacing": [200, 120],
    }
    assert (down.is_paced, down.has_nagle) == (False, True)
    assert (found.warmup_s, found.duration_s) == (2.0, 20.0)


def test_a_job_is_plain_data(chain: Path) -> None:
    scenario = lh.load(chain)
    job = path(scenario, 0).job(scenario, 3, 0.0)
    assert json.loads(json.dumps(job))["replication"] == 3
    assert job["seed"] == scenario.seed


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["links.first.aqm.law=warning"], "red, codel, fq-codel, pie or dualpi2"),
        (
            ["links.first.outages.law=script", "links.first.outages.script=1 s at 2 s"],
            "trace links without it",
        ),
        (["flows.up.tcp.pacing=off", "flows.up.tcp.congestion=bbr"], "the kernel's bbr paces itself"),
        (["flows.up.tcp.idle-restart=false"], "true, as flows.down.tcp.idle-restart"),
        (["links.first.rtt.law=exponential", "links.first.rtt.exponential.mean=10 ms"], "without it"),
        (["flows.up.app.kind=web"], "bulk, file, cbr, poisson or on-off"),
        (["flows.up.app.spread=2 s"], "0 s"),
        (["flows.up.app.stop=5 s"], "none"),
        (["flows.up.sink.read-rate=1 Mbit/s"], "unlimited"),
        (["flows.up.sink.buffer=20 kB"], "none"),
        (
            ["flows.up.tcp.congestion=westwood"],
            "one of reno, cubic, bbr, vegas, veno, westwood-plus, jtcp, ejtcp",
        ),
        (["flows.up.tcp.packet=1000 B"], "1448 B, as flows.down.tcp.packet"),
        (["flows.up.tcp.timestamps=false"], "true, as flows.down.tcp.timestamps"),
        (["flows.up.tcp.extra-header=20 B"], "0 B"),
        (["flows.up.tcp.acks=tack"], "delayed: the kernel has no other law of acknowledgement"),
        (["flows.up.from=m"], "a or b, as flows.down"),
    ],
)
def test_what_the_kernel_or_the_relay_does_not_have_is_refused_by_key(
    settings: list[str], expected: str
) -> None:
    pairs = [(key, value) for key, _, value in (setting.partition("=") for setting in settings)]
    scenario = lh.Scenario.from_text(CHAIN, "chain.toml", pairs)
    with pytest.raises(lh.ScenarioError) as error:
        path(scenario, 0)
    found = str(error.value)
    assert found.startswith(f"set {settings[0]}: ")
    assert "is not possible with the peer linux; expected" in found
    assert found.endswith(expected)


def test_a_refusal_names_file_and_line(chain: Path, cli: Cli) -> None:
    chain.write_text(CHAIN.replace('start = "1 s"', 'stop = "9 s"'))
    done = cli("check", chain, "--peer", "linux")
    assert done.returncode == 2
    place = f"error: {chain.name}:27: flows.down.app.stop"
    assert done.stderr == f'{place}: "9 s" is not possible with the peer linux; expected none\n'


def test_recorded_links_managed_queues_paces_and_writes_with_times_are_a_path(edges: lh.Scenario) -> None:
    found = path(edges, 0)
    assert found.steps == (("path", False),)
    (flow,) = found.flows
    assert (flow.size, flow.start_s, flow.is_paced, flow.has_nagle) == (None, 0.1, True, False)
    assert (found.settings["ecn"], found.settings["idle_restart"]) == (1, False)
    halved = edges.set({"flows.main.tcp.pacing-avoidance": "1.5"})
    assert path(halved, 0).settings["pacing"] == [200, 150]


def test_a_kind_of_ecn_that_this_kernel_lacks_is_refused(edges: lh.Scenario) -> None:
    accurate = edges.set({"flows.main.tcp.ecn": "accurate"})
    found = path(accurate, 0)
    assert found.settings["ecn"] == tcp.ACCURATE_ECN
    assert with_known_laws(found, accurate, ["reno"]) == found
    with pytest.raises(lh.ScenarioError, match=r"main\.tcp\.ecn.*expected off or classic, which this kernel"):
        with_known_laws(found, accurate, ["reno"], has_accurate_ecn=False)


class Sender:
    """A socket that records when what is written to it, and takes at most 600 bytes at once."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, float, int]] = []

    def connect(self, to: tuple[str, int]) -> None:
        self.calls.append(("connect", time.monotonic(), to[1]))

    def send(self, data: bytes, flags: int) -> int:
        taken = min(len(data), 600)
        self.calls.append(("more" if flags == socket.MSG_MORE else "send", time.monotonic(), taken))
        return taken

    def shutdown(self, how: int) -> None:
        self.calls.append(("shutdown", time.monotonic(), how))

    def getsockopt(self, level: int, option: int, size: int) -> bytes:
        return bytes(size)


def written(writes: list[tuple[int, int | None, bool]]) -> list[tuple[str, float, int]]:
    """What a sender of the worker does with these writes, with times after the start."""
    facts = {"size": None, "start_s": 0.0}
    flow = worker._Flow(facts, 5001, 0.0, iter(writes))
    flow.sender = sender = Sender()  # type: ignore[assignment]
    clock = worker._Clock()
    clock.start()
    flow.write("10.0.0.1", clock)
    assert flow.failure is None
    return [(what, at - clock.begin, size) for what, at, size in sender.calls]


def test_an_application_writes_each_packet_at_its_time_and_closes_after_the_last() -> None:
    calls = written([(0, 500, False), (150_000_000, 1000, False)])
    assert [(what, size) for what, _, size in calls] == [
        ("connect", 5001),
        ("send", 500),
        ("send", 600),
        ("send", 400),
        ("shutdown", socket.SHUT_WR),
    ]
    # A busy machine may be late, and never early.
    assert 0.0 <= calls[1][1] < 0.15 <= calls[2][1]


def test_the_kernel_itself_reads_a_part_of_a_window_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Reader:
        def recv_into(self, _into: bytearray, left: int, flags: int) -> int:
            asked.append((left, flags))
            return left

    flow = worker._Flow({"size": 250_000, "window": 6_400_000}, 5001, 0.0, iter(()))
    flow.listener = SimpleNamespace(accept=lambda: (Reader(), None))  # type: ignore[assignment]
    monkeypatch.setattr(tcp, "clamp", lambda *_: None)
    clock = worker._Clock()
    clock.start()
    flow.read(clock)
    assert [left for left, _ in asked] == [100_000, 100_000, 50_000]
    assert {flags for _, flags in asked} == {socket.MSG_TRUNC | socket.MSG_WAITALL}


def test_the_last_segment_of_a_file_waits_for_the_fin() -> None:
    calls = written([(10_000_000, 1300, True)])
    assert [(what, size) for what, _, size in calls[1:]] == [
        *(("more", size) for size in (600, 600, 100)),
        ("shutdown", socket.SHUT_WR),
    ]
    assert calls[0][1] >= 0.01


def test_counts_of_the_kernel_are_of_the_measured_time_and_timeouts_without_those_of_a_syn() -> None:
    flow = worker._Flow({"size": None, "start_s": 0.0}, 5001, 0.0, iter([]))
    blank = tcp.Info(10, 20, 0.1, 0.1, 0, 0, 0, 0, 0, 0.0)
    flow.connected, flow.info = blank._replace(timeouts=1), blank._replace(retransmitted=7, timeouts=4)
    assert (flow.result()["retransmitted"], flow.result()["timeouts"]) == (7, 3)
    flow.measured = blank._replace(retransmitted=5, timeouts=3)
    assert (flow.result()["retransmitted"], flow.result()["timeouts"]) == (2, 1)
    flow.info = blank._replace(timeouts=None)
    assert flow.result()["timeouts"] is None


@pytest.mark.parametrize(("most", "expected"), [(1 << 20, 100_000), (32_767, 32_767), (20_000, 10_000)])
def test_an_interface_holds_as_many_packets_as_its_kernel_accepts(
    monkeypatch: pytest.MonkeyPatch, most: int, expected: int
) -> None:
    asked = []

    def ask(_interface: int, length: int) -> int:
        asked.append(length)
        return errno.EINVAL if length > most else 0

    monkeypatch.setattr(system, "_ask_link", ask)
    system._set_link(1)
    assert asked[-1] == expected
    monkeypatch.setattr(system, "_ask_link", lambda *_: errno.EPERM)
    with pytest.raises(
        system.Refused, match="queue and gso_max_segs of an interface: Operation not permitted"
    ):
        system._set_link(1)


def test_a_branch_is_not_a_chain() -> None:
    branch = CHAIN.replace('nodes = ["b", "m"]', 'nodes = ["b", "a"]')
    found = r'links\.last\.nodes: \["b", "a"\] is not possible .* one chain of'
    with pytest.raises(lh.ScenarioError, match=found):
        path(lh.Scenario.from_text(branch, "branch.toml"), 0)


def test_an_agent_is_refused_unless_it_does_nothing() -> None:
    for kind, is_refused in (("none", False), ("snoop", True)):
        scenario = lh.load(
            "validation/snoop", [("agents.station.kind", kind), ("links.air.loss.rate", "1 %")]
        )
        if not is_refused:
            assert path(scenario, 0).steps == (("core", False), ("air", False))
            continue
        with pytest.raises(lh.ScenarioError, match=r"agents\.station\.kind=snoop"):
            path(scenario, 0)


def test_a_law_that_this_kernel_lacks_is_refused_by_name(chain: Path) -> None:
    scenario = lh.load(chain)
    with pytest.raises(
        lh.ScenarioError, match=r'"cubic" is not possible .* expected one of reno, bbr, which'
    ):
        with_known_laws(path(scenario, 0), scenario, ["reno", "bbr"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--peer", "linux", "--theory"], "--peer: --theory too; expected one of them"),
        (["--metric", "cwnd"], "--metric: applies only to --peer; expected --peer linux too"),
        (
            ["--peer", "linux", "--metric", "cwnd,rtt"],
            '--metric: "rtt"; expected some of goodput_bps, completion_s,',
        ),
        (["-j", "2"], "--jobs: applies only to --peer; expected --peer linux too"),
        (["--window", "w.png"], "--window: applies only to --peer; expected --peer linux too"),
        (["--peer", "linux", "--window", "w.txt"], '--window: "w.txt"; expected a name that ends in'),
    ],
)
def test_options_that_do_not_fit_are_refused(words: list[str], message: str, chain: Path, cli: Cli) -> None:
    done = cli("check", chain, *words)
    assert done.returncode == 2
    assert message in done.stderr
