"""The peer linux: what it counts and compares, and the kernel's TCP over three paths."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from chains import chain_in, edges_in
from lasthop.base.errors import UnavailableError
from lasthop.peer.beside import Beside, Line, compare
from lasthop.peer.crew import IN_TIME_S, Crew
from lasthop.peer.measured import METRICS
from lasthop.peer.path import Flow, path
from lasthop.peer.path import Path as Path_
from lasthop.realtime import system

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

# The relay runs under the wall clock, and what is compared counts only if it was in time.
alone = pytest.mark.alone


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    return chain_in(tmp_path)


@pytest.fixture
def edges(tmp_path: Path) -> lh.Scenario:
    return edges_in(tmp_path)


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
