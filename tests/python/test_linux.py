"""The peer linux: what it refuses, what it counts, and the kernel's TCP over three paths."""

from __future__ import annotations

import json
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
from lasthop.peer import system
from lasthop.peer.beside import Beside, Line, compare
from lasthop.peer.crew import IN_TIME_S, Crew, UnavailableError
from lasthop.peer.path import path, with_known_laws

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

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
    assert (down.law, down.start_s, down.size, down.window, down.sender) == ("cubic", 1.0, None, 144_800, 0)
    assert (up.law, up.start_s, up.size, up.sender) == ("reno", 0.0, 70 * 1448, 1)
    # 20 bytes of IP, 20 of TCP and 12 of timestamps are around 1448.
    assert found.settings == {
        "mtu": 1500,
        "timestamps": True,
        "sack": True,
        "ecn": False,
        "window": 4096 * 1448,
    }
    assert (found.warmup_s, found.duration_s) == (2.0, 20.0)


def test_a_job_is_plain_data(chain: Path) -> None:
    scenario = lh.load(chain)
    job = path(scenario, 0).job(scenario, 3, 0.0)
    assert json.loads(json.dumps(job))["replication"] == 3
    assert job["seed"] == scenario.seed


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["links.first.aqm.law=warning"], "a chain of wired and lossy links without it"),
        (["links.first.aqm.law=fq-codel"], "a chain of wired and lossy links without it"),
        (["flows.up.tcp.ecn=accurate"], "off or classic"),
        (["links.first.rtt.law=exponential", "links.first.rtt.exponential.mean=10 ms"], "without it"),
        (["flows.up.app.kind=on-off", "flows.up.app.on-off.rate=1 Mbit/s"], "bulk or file"),
        (["flows.up.app.spread=2 s"], "0 s"),
        (["flows.up.app.stop=5 s"], "none"),
        (["flows.up.sink.read-rate=1 Mbit/s"], "unlimited"),
        (["flows.up.sink.buffer=20 kB"], "none"),
        (["flows.up.tcp.congestion=westwood"], "one of reno, cubic, bbr, vegas, veno, westwood-plus"),
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
    # It does not go on for ever where every run is late.
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
from lasthop.peer import system
system.own_user()
system.namespace(system.Settings(1400, False, True, False, 1 << 20), ("10.77.0.1", "10.77.0.2"))
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


#: Mbit/s of Linux 6.18 without SACK over the paths of `validation/linux-sackless`, as the page has them.
WITHOUT_SACK = {
    "reno": {
        "0 %": (3.66, 16.7, 9.01),
        "0.1 %": (2.99, 9.98, 7.95),
        "1 %": (1.40, 3.28, 2.95),
        "5 %": (0.53, 1.08, 1.07),
    },
    "cubic": {
        "0 %": (4.31, 18.7, 9.54),
        "0.1 %": (4.04, 10.8, 8.82),
        "1 %": (1.45, 3.17, 3.02),
        "5 %": (0.50, 1.04, 0.98),
    },
}


@pytest.mark.parametrize("law", ["reno", "cubic"])
def test_bulk_without_sack_is_as_fast_as_with_linux(law: str) -> None:
    # The same random losses as those of the runs by the kernel; before duplicates counted as deliveries CUBIC
    # had 2.4 of 4.3, 6.6 of 18.7 and 3.2 of 9.5 Mbit/s on clean paths.
    scenario = lh.load("validation/linux-sackless").set({"flows.main.tcp.congestion": law})
    for loss, rates in WITHOUT_SACK[law].items():
        places = [at for at, point in enumerate(scenario.points()) if point["links.path.loss.rate"] == loss]
        for theirs, place in zip(rates, places, strict=True):
            ours = scenario.run(point=place).metrics["flows.main.goodput_bps"]
            assert ours == pytest.approx(theirs * 1e6, rel=0.12), (loss, place)


@pytest.mark.slow
def test_cells_of_the_table_are_as_with_linux(kernel: dict[str, Any]) -> None:
    if missing := {"cubic", "bbr"} - set(kernel["laws"]):
        pytest.skip(f"this kernel does not have {', '.join(sorted(missing))}")
    last = ["links.path.rate=10 Mbit/s"]
    bulk = lh.load("validation/linux-bulk").set({"run.duration": "15 s"})
    full = bulk.set({"flows.main.tcp.congestion": "cubic", "links.path.loss.rate": "0 %"})
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
    for one in needed(compare(lossy, last, 4, 6)).lines:
        assert not one.missed(0.03 if one.law == "bbr" else 0.1), one
    (one,) = needed(compare(file, last, 3, 3)).lines
    assert not one.missed(0.03), one


def test_listed_losses_hit_the_same_segments_of_both(kernel: dict[str, Any]) -> None:
    tail = lh.load("validation/linux-tail").set({"flows.main.tcp.congestion": "reno"})
    found = needed(compare(tail, ["links.path.loss.list.drop=[69, 70]"], 1, 1))
    assert found.lines[0].retransmitted == (2.0, 2.0)
    assert found.lines[0].off is not None


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
        worker.give(0, path(scenario, 0).job(scenario, 0, 0.0))
        os.kill(worker.process.pid, signal.SIGKILL)
        with pytest.raises(lh.RunError, match="a worker ended with exit code -9"):
            worker.answer()
