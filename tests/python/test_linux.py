"""The peer linux: what it refuses, what it counts, and the kernel's TCP over three paths."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from lasthop.base.errors import UnavailableError
from lasthop.peer import worker
from lasthop.peer.beside import Beside, Line, compare
from lasthop.peer.crew import IN_TIME_S, Crew
from lasthop.peer.measured import METRICS
from lasthop.peer.path import Flow, path, with_known_laws
from lasthop.peer.path import Path as Path_
from lasthop.realtime import system, tcp

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

# The relay runs under the wall clock, and what is compared counts only if it was in time.
alone = pytest.mark.alone

CHAIN = """\
title = "Two flows over a chain of two wires"

[run]
duration = "20 s"
warmup   = "2 s"

[nodes]
a = {}
m = {}
b = {}

[links.last]
kind  = "lossy"
nodes = ["b", "m"]
rate  = "2 Mbit/s"
loss  = { rate = "1 %" }

[links.first]
kind  = "wired"
nodes = ["a", "m"]
rate  = "10 Mbit/s"
delay = "5 ms"

[flows.down]
from = "a"
to   = "b"
app  = { kind = "bulk", start = "1 s" }
tcp  = { variant = "cubic", window = "100 segments" }

[flows.up]
from = "b"
to   = "a"
app  = { kind = "file", file = { size = "70 packets" } }
tcp  = { congestion = "reno" }
"""


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    place = tmp_path / "chain.toml"
    place.write_text(CHAIN)
    return place


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


EDGES = """\
title = "A recorded link with a managed queue"

[run]
duration = "3 s"
warmup   = "1 s"

[nodes]
s = {}
d = {}

[links.path]
kind  = "trace"
nodes = ["s", "d"]
delay = "10 ms"
queue = "100 packets"
trace = { file = "each.trace" }
aqm   = { law = "codel", codel = { ce-threshold = "20 ms" } }

[flows.main]
from = "s"
to   = "d"
app  = { kind = "cbr", start = "100 ms", stop = "2.5 s", cbr = { rate = "1 Mbit/s", packet = "500 B" } }
tcp  = { congestion = "reno", pacing = "on", nagle = false, idle-restart = false, ecn = "classic" }
"""


@pytest.fixture
def edges(tmp_path: Path) -> lh.Scenario:
    (tmp_path / "each.trace").write_text("1\n")
    (tmp_path / "edges.toml").write_text(EDGES)
    return lh.load(tmp_path / "edges.toml")


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


def line(ours: list[float | None], theirs: list[float | None], **more: Any) -> Line:
    return Line(
        {"links.a.loss.rate": "1 %"},
        "main",
        "reno",
        "goodput_bps",
        dict(enumerate(ours)),
        dict(enumerate(theirs)),
        **more,
    )


def test_the_difference_is_a_share_of_the_kernels_mean_and_its_interval_is_of_pairs() -> None:
    one = line([2e6, 4e6], [1e6, 3e6])
    assert one.off == pytest.approx(0.5)
    # The runs differ by the same in both pairs.
    assert one.off_half == pytest.approx(0.0)
    assert one.missed(0.4)
    assert not one.missed(0.6)
    assert line([None], [1e6]).missed(0.9)


def test_the_table_has_a_row_for_each_flow_and_point() -> None:
    text = Beside("x", "6.1", 2, [line([2e6, 4e6], [1e6, 3e6], late_p99_s=2e-4)]).text()
    head, row = text.splitlines()
    assert head.split() == [
        *("rate", "metric", "ours", "linux", "difference", "drops", "retransmitted", "late", "p99")
    ]
    assert "+50.0 ± 0.0 %" in row
    assert row.endswith("0.20 ms")


def test_the_table_has_a_row_for_each_metric_by_its_own_unit() -> None:
    lines = [line([2e6], [1e6]), line([3.0], [2.0]), line([0.04], [0.05])]
    lines[1].metric, lines[2].metric = "timeouts", "srtt_s"
    _, *rows = Beside("x", "6.1", 1, lines).text().splitlines()
    assert [row.split()[2:6] for row in rows] == [
        ["goodput", "Mbit/s", "2.000", "1.000"],
        ["timeouts", "3.000", "2.000", "+50.0"],
        ["last", "srtt", "ms", "40.00"],
    ]


def test_counters_of_a_namespace_with_two_senders_belong_to_neither() -> None:
    result = {"flows": [{"timeouts": None}, {"timeouts": None}], "tcp": [{"TCPTimeouts": 4}, {}]}
    flows = [Flow(name, "reno", 0.0, None, 1000, 0, is_paced=False, has_nagle=True) for name in "ab"]
    both = Path_(0, ("s", "d"), (("path", False),), tuple(flows), {}, 0.0, 1.0)
    assert METRICS["timeouts"].theirs(result, 1, both) is None
    back = dataclasses.replace(flows[1], sender=1)
    each = dataclasses.replace(both, flows=(flows[0], back))
    assert [METRICS["timeouts"].theirs(result, n, each) for n in (0, 1)] == [4.0, 0.0]


@alone
def test_what_a_run_takes_is_said_before_and_while_it_takes_it(
    kernel: dict[str, Any], edges: lh.Scenario, tmp_path: Path, cli: Cli
) -> None:
    done = cli(
        "check",
        tmp_path / "edges.toml",
        "--peer",
        "linux",
        "-r",
        "1",
        "-j",
        "1",
        "--metric",
        "goodput_bps,tail_probes",
    )
    assert done.returncode == 0, done.stderr
    own, first, second, *_ = done.stderr.splitlines()
    tick_ms = 1e3 * kernel["tick_s"]
    assert own == f"ours as this kernel: ack-tick = {tick_ms:g} ms, quick-acks-again = true"
    assert "1 runs by Linux" in first
    assert "at most 3.0 s with 1 at once; interfaces hold" in first
    assert "about 3.0 s" in second
    assert len(done.stdout.splitlines()) == 3


@alone
def test_the_kernel_is_held_by_the_window_of_the_scenario(kernel: dict[str, Any]) -> None:
    scenario = lh.load("validation/linux-bulk").set(
        {
            "run.duration": "4 s",
            "flows.main.tcp.congestion": "reno",
            "flows.main.tcp.window": "20 segments",
            "links.path.loss.rate": "0 %",
        }
    )
    (one,) = needed(compare(scenario, ["links.path.rate=5 Mbit/s"], 1, 1)).lines
    # 20 segments in a round trip of 95 ms: half of the link.
    assert not one.missed(0.03), one


@alone
def test_marks_of_the_relay_reach_the_kernel_and_are_answered(
    kernel: dict[str, Any], edges: lh.Scenario
) -> None:
    marked = edges.set(
        {
            "flows.main.app.kind": "bulk",
            "flows.main.app.stop": "none",
            "flows.main.tcp.pacing": "auto",
        }
    )
    marks, window = needed(compare(marked, [], 1, 1, metrics=["marks", "cwnd"])).lines
    assert marks.theirs[0], "packets that waited for 20 ms are marked"
    # 20 ms of propagation, and 20 to 30 ms of queue. A wrong checksum would stop the connection, and a lost
    # mark fill the queue.
    assert window.theirs[0] is not None
    assert 10 < window.theirs[0] < 60
    assert marks.values["drops"]["linux"][0] == 0


def test_a_late_run_is_repeated_with_fewer_beside_it_and_counts_alone() -> None:
    crew = Crew(8)
    late, in_time = {"late_p99_s": 2 * IN_TIME_S}, {"late_p99_s": IN_TIME_S / 2}
    assert not crew._counts(late, 1, beside=7)
    assert crew.at_once == 4
    assert crew._counts(in_time, 1, beside=3)
    assert crew.at_once == 5
    for _ in range(3):
        crew._counts(late, 1, beside=1)
    assert crew.at_once == 1
    assert crew._counts(late, 1, beside=0)
    # It does not continue for ever where every run is late.
    assert crew._counts(late, 3, beside=2)


def test_what_a_system_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_TUN", "/nowhere/tun")
    with pytest.raises(
        system.Refused, match="/nowhere/tun: No such file or directory; expected to be allowed"
    ):
        system._tun()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(system.Refused, match="expected Linux"):
        system.own_user()


@pytest.fixture(scope="module")
def kernel() -> dict[str, Any]:
    """The laws of this kernel; skips with what is missing."""
    try:
        with Crew(1) as crew:
            return crew.probe(["reno", "cubic", "bbr"])
    except UnavailableError as error:
        pytest.skip(str(error))


def needed(found: Beside) -> Beside:
    """A comparison that counts: a relay that is late makes the path longer."""
    late = max(one.late_p99_s for one in found.lines)
    if late >= IN_TIME_S:
        pytest.skip(f"the relay's timer was late by {late * 1e3:.1f} ms at the 99th percentile")
    assert found.warnings() == []
    return found


NEW_NAMESPACE = """\
import subprocess
from lasthop.realtime import system
from lasthop.peer import worker
system.own_user()
system.namespace(system.Settings(1400, False, True, False, 1 << 20), "10.77.0.1")
print(subprocess.check_output(["ip", "-d", "link", "show", "lasthop0"], text=True))
for name in ("tcp_timestamps", "tcp_sack", "tcp_no_metrics_save", "tcp_rmem"):
    print(name, open(f"/proc/sys/net/ipv4/{name}").read().split())
"""


@pytest.mark.skipif(not shutil.which("ip"), reason="ip of iproute2 is not installed")
def test_a_namespace_has_single_segments_and_the_settings_of_the_flow(kernel: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", NEW_NAMESPACE], capture_output=True, text=True, timeout=60, check=True
    )
    for text in ("mtu 1400 ", "gso_max_segs 1 ", "qlen 100000"):
        assert text in done.stdout
    *_, timestamps, sack, metrics, rmem = done.stdout.strip().splitlines()
    assert (timestamps, sack) == ("tcp_timestamps ['0']", "tcp_sack ['1']")
    assert metrics == "tcp_no_metrics_save ['1']"
    assert rmem == "tcp_rmem ['4096', '131072', '4194304']"


@alone
@pytest.mark.slow
def test_cells_of_the_table_are_as_with_linux(kernel: dict[str, Any]) -> None:
    if missing := {"cubic", "bbr"} - set(kernel["laws"]):
        pytest.skip(f"this kernel does not have {', '.join(sorted(missing))}")
    last = ["links.path.rate=10 Mbit/s"]
    bulk = lh.load("validation/linux-bulk").set({"run.duration": "15 s"})
    full = bulk.set(
        {"run.duration": "5 s", "flows.main.tcp.congestion": "cubic", "links.path.loss.rate": "0 %"}
    )
    lossy = bulk.set({"links.path.loss.rate": "1 %"})
    file = lh.load("validation/linux-files").set(
        {
            "flows.main.tcp.congestion": "reno",
            "flows.main.app.file.size": "10 kB",
            "links.path.loss.rate": "0 %",
        }
    )
    (one,) = needed(compare(full, last, 1, 1)).lines
    assert not one.missed(0.02), one
    for one in needed(compare(lossy, last, 4, 12)).lines:
        assert not one.missed(0.03 if one.law == "bbr" else 0.1), one
    (one,) = needed(compare(file, last, 3, 3)).lines
    assert not one.missed(0.03), one


@alone
def test_listed_losses_hit_the_same_segments_of_both(kernel: dict[str, Any]) -> None:
    tail = lh.load("validation/linux-tail").set({"flows.main.tcp.congestion": "reno"})
    found = needed(compare(tail, ["links.path.loss.list.drop=[69, 70]"], 1, 1))
    assert found.lines[0].retransmitted == (2.0, 2.0)
    assert found.lines[0].off is not None


@alone
def test_the_windows_of_both_are_sampled_and_drawn(kernel: dict[str, Any], tmp_path: Path) -> None:
    from lasthop.figures import window

    scenario = lh.load("validation/linux-files").set({"flows.main.tcp.congestion": "reno"})
    where = ["links.path.rate=20 Mbit/s", "links.path.loss.rate=0 %", "flows.main.app.file.size=100 kB"]
    found = compare(scenario, where, 1, 1, sampled=True)
    windows = found.lines[0].windows
    assert windows is not None
    for one in windows:
        assert one.cwnd[0] == 10.0
        assert max(one.cwnd) > 20.0
        assert one.times == sorted(one.times)
    window.write(found, tmp_path / "windows.svg")
    assert "beside Linux" in (tmp_path / "windows.svg").read_text()


def workers(of: int) -> list[int]:
    """The processes that a process has started."""
    children = Path(f"/proc/{of}/task/{of}/children").read_text(encoding="ascii")
    return [int(word) for word in children.split()]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_comparison_leaves_no_process_behind(
    kernel: dict[str, Any], chain: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-P", "-m", "lasthop", "check", str(chain), "--peer", "linux", "-r", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(found := workers(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(found) == 2
    time.sleep(1.0)
    process.send_signal(number)
    assert process.wait(10) == (130 if number != signal.SIGKILL else -signal.SIGKILL)
    deadline = time.monotonic() + 5
    while any(is_alive(pid) for pid in found) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_alive(pid) for pid in found)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_worker_that_is_killed_is_an_error_and_not_a_result(kernel: dict[str, Any], chain: Path) -> None:
    with Crew(1) as crew:
        crew.probe([])
        worker = crew._workers[0]
        scenario = lh.load(chain)
        worker.give({0: path(scenario, 0).job(scenario, 0, 0.0)})
        os.kill(worker.process.pid, signal.SIGKILL)
        with pytest.raises(lh.RunError, match="a worker ended with exit code -9"):
            worker.answer()
