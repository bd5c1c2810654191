"""bench: what it measures, and the same work in ns-2 and ns-3."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lasthop.cli.main import invoke
from lasthop.scenario.overrides import as_text
from lasthop.scenario.scenario import load
from lasthop.tools import bench

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def library(make_library: Callable[..., Path]) -> Path:
    return make_library("")


def test_bench_measures_every_duration(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (library / "bench").mkdir()
    (library / "bench" / "tiny.toml").write_text(
        'title = "t"\nscenario = "paper/fig1"\nflow = "main"\ndurations = ["2 s", "8 s"]\n'
        'set = { "flows.main.tcp.variant" = "reno" }\n'
    )
    assert invoke(["bench", "--json"]) == 0
    short, long = json.loads(capsys.readouterr().out)
    assert (short["simulated_s"], long["simulated_s"]) == (2.0, 8.0)
    assert long["events"] > short["events"]
    assert long["ns_per_packet"] > 0
    assert long["peak_bytes"] > 1e6


def test_bench_measures_an_agent_by_its_flows(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (library / "bench").mkdir()
    case = library / "bench" / "few.toml"
    case.write_text('title = "t"\n[agent]\nmodes = ["paper", "safe"]\nflows = [1, 20]\npackets = 2000\n')
    assert invoke(["bench", "--json"]) == 0
    costs = json.loads(capsys.readouterr().out)
    assert [(c["mode"], c["flows"]) for c in costs] == [
        ("paper", 1), ("paper", 20), ("safe", 1), ("safe", 20)
    ]  # fmt: skip
    one, twenty = costs[2:]
    assert twenty["state_bytes_idle"] == 20 * one["state_bytes_idle"]
    # Safe mode keeps up to ten packets of 1000 bytes for each flow, and paper mode none.
    assert 10_000 < one["state_bytes_max"] < 12_000
    assert 200_000 < twenty["state_bytes_max"] <= 20 * one["state_bytes_max"]
    assert costs[1]["state_bytes_max"] < 20_000
    assert invoke(["bench"]) == 0
    assert "ns/packet" in capsys.readouterr().out
    case.write_text('title = "t"\n[agent]\nmodes = ["safe"]\nflow = [1]\npackets = 1\n')
    assert invoke(["bench"]) == 2
    assert 'agent.flow: unknown key; did you mean "flows"?' in capsys.readouterr().err


def test_bench_measures_laws_by_the_acknowledgement(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (library / "bench").mkdir()
    case = library / "bench" / "laws.toml"
    case.write_text('title = "t"\n[laws]\nnames = ["reno", "ejtcp"]\nacks = 20000\n')
    assert invoke(["bench", "--json"]) == 0
    costs = json.loads(capsys.readouterr().out)
    assert [(c["case"], c["law"], c["acks"]) for c in costs] == [
        ("laws", "reno", 20000), ("laws", "ejtcp", 20000)
    ]  # fmt: skip
    assert invoke(["bench"]) == 0
    assert "law    ns/ACK" in capsys.readouterr().out
    case.write_text('title = "t"\n[laws]\nnames = ["rneo"]\nacks = 1\n')
    assert invoke(["bench"]) == 2
    assert 'laws.names: law: "rneo"; expected one of none, reno, ' in capsys.readouterr().err


def test_bench_counts_frames_and_the_packets_of_all_flows_of_a_group() -> None:
    case = replace(bench.cases(("cells-10x20",))[0], durations=("5 s",))
    (line,) = bench.measure(case)
    # 200 stations send one packet at once and then two a second: 2200, give or take four standard deviations.
    assert 2020 < line.packets < 2380
    assert line.packet_bytes == 1000
    assert line.goodput_bps == pytest.approx(line.packets * 8000 / 5)
    # Data and acknowledgement, and a repetition now and then.
    assert line.frames is not None
    assert 2 <= line.frames / line.packets < 2.2
    assert line.ns_per_frame == pytest.approx(line.cpu_s / line.frames * 1e9)


def test_bench_counts_the_slots_and_frames_of_a_slotted_network() -> None:
    case = replace(bench.cases(("mesh-19",))[0], durations=("20 s",))
    (line,) = bench.measure(case)
    # 2000 slots of 10 ms; most are used, by one frame or by several that do not hear each other.
    assert line.slots is not None
    assert line.frames is not None
    assert 1000 < line.slots <= 2000
    assert line.slots < line.frames < 6 * line.slots
    assert line.ns_per_slot == pytest.approx(line.cpu_s / line.slots * 1e9)
    assert line.slots_per_s == pytest.approx(1e9 / line.ns_per_slot)
    assert "slots/s" in bench.text([line])
    assert "slots/s" not in bench.text([replace(line, slots=None)])


def test_bench_says_why_there_is_no_peer_and_goes_on(
    library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    (library / "bench").mkdir()
    for name, peer in [("a", '{ ns2 = "path.tcl", duration = 1 }'), ("b", '{ none = "it has no such TCP" }')]:
        (library / "bench" / f"{name}.toml").write_text(
            f'title = "t"\nscenario = "paper/fig1"\nflow = "main"\ndurations = ["2 s"]\npeer = {peer}\n'
        )
    assert invoke(["bench", "--peer", "ns2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [line["simulator"] for line in json.loads(out)] == ["lasthop", "lasthop"]
    assert "a: not compared with ns-2: ns is not installed" in err
    assert "b: not compared with ns-2: it has no such TCP" in err


def test_bench_says_why_ns3_cannot_run(
    library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = library / "bench" / "peers" / "ns3" / "build.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys\nsys.exit('the Python wheel ns3 is not installed')\n")
    ran = '{ ns3 = { duration = 1, arguments = ["wifi"] } }'
    for name, peer in [("a", ran), ("b", '{ ns2 = "path.tcl", duration = 1 }')]:
        (library / "bench" / f"{name}.toml").write_text(
            f'title = "t"\nscenario = "paper/fig1"\nflow = "main"\ndurations = ["2 s"]\npeer = {peer}\n'
        )
    assert invoke(["bench", "--peer", "ns3", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [line["simulator"] for line in json.loads(out)] == ["lasthop", "lasthop"]
    assert "a: not compared with ns-3: the Python wheel ns3 is not installed" in err
    assert "b: not compared with ns-3: the case has no program" in err


def test_every_case_of_the_bench_is_a_valid_scenario_with_that_flow() -> None:
    for case in bench.cases():
        if not isinstance(case, bench.Case):
            continue
        scenario = load(case.scenario, [(key, as_text(value)) for key, value in case.settings.items()])
        assert case.flow in scenario.flows().values(), case.name
        script = case.peer.get("ns2")
        assert not script or (bench.folder() / "peers" / "ns2" / script).is_file(), case.name


@pytest.mark.skipif(not shutil.which("ns"), reason="ns-2 is not installed")
def test_bench_runs_the_same_path_in_ns2() -> None:
    case = bench.cases(("newreno-1pct",))[0]
    theirs = bench.peer(replace(case, peer={**case.peer, "duration": 250}))
    assert 25000 < theirs.packets < 37000


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("ns3"), reason="the Python wheel ns3 is not installed")
@pytest.mark.parametrize(
    ("name", "seconds", "tolerance"),
    # On the hop with RTS ns-3 has NewReno instead of Tahoe.
    [("newreno-1pct", 500, 0.1), ("wifi-rts", 50, 0.02), ("access-point-15", 5, 0.05), ("cell-20", 20, 0.1)],
)
def test_ns3_does_the_same_work(name: str, seconds: int, tolerance: float) -> None:
    case = replace(bench.cases((name,))[0], durations=(f"{seconds} s",))
    peer = {"ns3": {**case.peer["ns3"], "duration": seconds}}
    theirs = bench.peer(replace(case, peer=peer), "ns-3")
    (ours,) = bench.measure(case)
    assert ours.goodput_bps == pytest.approx(theirs.goodput_bps, rel=tolerance)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("ns"), reason="ns-2 is not installed")
@pytest.mark.parametrize(
    ("name", "seconds", "tolerance"),
    [
        ("wifi-rts", 100, 0.01),
        ("access-point-15", 20, 0.03),
        ("cells-10x20", 10, 0.1),
        ("chain-8", 200, 0.15),
    ],
)
def test_ns2_does_the_same_work_on_the_air(name: str, seconds: int, tolerance: float) -> None:
    case = replace(bench.cases((name,))[0], durations=(f"{seconds} s",))
    theirs = bench.peer(replace(case, peer={**case.peer, "duration": seconds}))
    (ours,) = bench.measure(case)
    assert ours.goodput_bps == pytest.approx(theirs.goodput_bps, rel=tolerance)
    assert ours.frames == pytest.approx(theirs.frames, rel=tolerance)
