"""Congestion laws in the kernel of this machine.

Most tests load laws, and are skipped with what is missing: root, BTF, clang. The others have a machine that
lacks something.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.base.errors import ScenarioError, UsageError
from lasthop.cli.main import invoke
from lasthop.kernel import build, libbpf, loaded, notes, parameters, tested
from lasthop.kernel.build import KernelLawError
from lasthop.peer.beside import compare
from lasthop.peer.crew import Crew
from lasthop.peer.path import loaded_otherwise, path, with_known_laws

if TYPE_CHECKING:
    from collections.abc import Iterator


def _missing() -> str:
    """Why no law can be loaded here; empty if one can."""
    return libbpf.cannot_load() or build.cannot_compile() or ""


needs_laws = pytest.mark.skipif(bool(_missing()), reason=_missing())


def simplest(folder: Path, number: int = 0, law: str = "keep") -> tuple[Path, str]:
    """The source of a law, and its name, which no test beside this one has."""
    name = f"own{os.getpid()}_{number}"
    text = (build.SOURCES / f"{law}.bpf.c").read_text().replace(f"lasthop_{law}", name)
    source = folder / f"own{number}{build.ENDING}"
    source.write_text(text)
    return source, name


def until_known(law: str, *, is_known: bool) -> None:
    """Wait until the kernel has a law, or has it no longer."""
    until = time.monotonic() + 60
    while (law in loaded.known()) != is_known:
        assert time.monotonic() < until, f"{law}: known {not is_known} for a minute"
        time.sleep(0.02)


@needs_laws
def test_a_law_is_gone_when_its_loader_ends_by_a_signal(tmp_path: Path) -> None:
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL]
    with ExitStack() as stack:
        loaders = []
        for number in (signal.SIGHUP, signal.SIGQUIT):
            # Who started the tests may ignore it, which a loader inherits.
            stack.callback(signal.signal, number, signal.signal(number, signal.SIG_DFL))
        for number in numbers:
            source, name = simplest(tmp_path, number)
            words = [sys.executable, "-P", "-m", "lasthop", "kernel", "load", str(source)]
            loader = stack.enter_context(subprocess.Popen(words, env=os.environ, stderr=subprocess.DEVNULL))
            stack.callback(loader.kill)
            loaders.append((loader, name))
        for _, name in loaders:
            until_known(name, is_known=True)
        with (
            pytest.raises(KernelLawError, match=r"not registered: File exists; expected no law of this name"),
            loaded.loaded(str(source)),
        ):
            pass
        assert name in loaded.known()
        for number, (loader, name) in zip(numbers, loaders, strict=True):
            loader.send_signal(number)
            assert loader.wait(60) == (0 if number in {signal.SIGINT, signal.SIGTERM} else -number)
            until_known(name, is_known=False)


@needs_laws
def test_a_law_carries_bytes_and_is_not_chosen_when_it_is_gone(tmp_path: Path) -> None:
    source, name = simplest(tmp_path)
    with loaded.loaded(str(source)):
        assert tested.carry(name, 1_000_000) == 1_000_000
    with pytest.raises(OSError, match="No such file"):
        tested.carry(name, 1)


@needs_laws
def test_an_option_of_both_ends_tells_when_a_segment_left_and_arrived(tmp_path: Path) -> None:
    source, name = simplest(tmp_path, 1, "ejtcp")
    scenario = parameters.scenario("ejtcp", [("k", "0.5")])
    constants = parameters.packed(scenario, "ejtcp", is_recorded=True, has_header=True)
    events = bytearray()
    with libbpf.Object(build.compiled(source), constants) as law:
        law.receive(events.extend)
        law.write_headers()
        begun = time.monotonic_ns()
        assert tested.carry(name, 1_000_000) == 1_000_000
        took_us = (time.monotonic_ns() - begun) / 1000
        law.drain()
    # Kind, flags, segments, round trip, arrival and departure; the FIN has no option.
    seen = [struct.unpack_from("=3Ii2I", events, at + 16) for at in range(0, len(events), 80)]
    acks = [event for event in seen if event[0] == 1 and event[2]][:-1]
    assert len(acks) > 5
    # An acknowledgement with SACK blocks has no room for the option; its times are in microseconds without.
    stamped = [event for event in acks if event[1] & 5 == 5]
    assert len(stamped) > len(acks) / 2
    for *_, arrived, left in stamped:
        assert 0 <= arrived - left <= took_us
    assert loaded.replayed("ejtcp", [("k", "0.5")], bytes(events))


@needs_laws
def test_the_answer_to_a_law_that_the_verifier_rejects_has_its_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (build.SOURCES / "keep.bpf.c").read_text()
    wrong = text.replace(
        "\treturn ((struct tcp_sock *)sk)",
        "\t((struct tcp_sock *)sk)->srtt_us = 0;\n\treturn ((struct tcp_sock *)sk)",
    )
    assert wrong != text
    (tmp_path / "mine.bpf.c").write_text(wrong)
    assert invoke(["kernel", "load", str(tmp_path / "mine.bpf.c")]) == 2
    first, *log = capfd.readouterr().err.splitlines()
    assert first.startswith("error: mine.bpf.c:17: `((struct tcp_sock *)sk)->srtt_us = 0;`: no write support")
    assert any("BEGIN PROG LOAD LOG" in line for line in log)
    (tmp_path / "mine.bpf.c").write_text(text + "?\n")
    assert invoke(["kernel", "load", str(tmp_path / "mine.bpf.c")]) == 2
    assert "mine.bpf.c:34:1: error: expected identifier" in capfd.readouterr().err


def test_the_answer_without_what_a_law_needs_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused() -> str:
        assert invoke(["kernel", "load", "keep"]) == 2
        (line,) = capfd.readouterr().err.splitlines()
        return line

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert refused() == "error: not root; expected root, which BPF needs"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(libbpf, "_BTF", tmp_path / "vmlinux")
    assert "vmlinux: no such file; expected a kernel with CONFIG_DEBUG_INFO_BTF" in refused()
    (tmp_path / "vmlinux").write_bytes(b"\0tcp_congestion_ops\0")
    none = SimpleNamespace(bpf_map_create=lambda *_: -1)
    monkeypatch.setattr(libbpf, "library", lambda: none)
    assert refused() == "error: BPF: Operation not permitted; expected root outside of a container"
    monkeypatch.setattr(none, "bpf_map_create", lambda *_: os.open(os.devnull, os.O_RDONLY))
    assert refused() == (
        "error: this kernel has no congestion laws in BPF; expected CONFIG_BPF_JIT and Linux 6.10"
    )
    (tmp_path / "vmlinux").write_bytes(b"\0bpf_struct_ops_tcp_congestion_ops\0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "_CLANGS", ())
    assert refused() == "error: clang: not found; expected `apt-get install clang-14 libbpf-dev`"
    monkeypatch.setattr(build, "_CLANGS", ("sh",))
    monkeypatch.setattr(build, "_HEADERS", tmp_path / "none.h")
    assert refused().endswith("none.h: no such file; expected `apt-get install libbpf-dev`")


def test_parameters_are_those_of_a_scenario_and_the_kernel_gets_them_in_millionths() -> None:
    own = [("k", "0.25"), ("rtt-threshold", "150 ms"), ("smooth", "off"), ("after-random-timeout", "half")]
    found = parameters.packed(parameters.scenario("ejtcp", own), "ejtcp", is_recorded=True)
    assert parameters._FORM.unpack(found) == (250_000, 800_000, 150_000_000, 1, 2, 2, 0, 2, 1, 0, 0)
    found = parameters.packed(parameters.scenario("ejtcp", []), "ejtcp", is_recorded=False)
    assert parameters._FORM.unpack(found) == (1_000_000, 800_000, 0, 1, 2, 1, 3, 0, 0, 0, 0)
    jtcp = parameters.packed(
        parameters.scenario("jtcp", [("jitter-window", "cwnd")]), "jtcp", is_recorded=False
    )
    assert parameters._FORM.unpack(jtcp) == (1_000_000, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0)
    with pytest.raises(
        UsageError, match=r"header: the law in the kernel does not have it; expected one of jitter-t"
    ):
        parameters.scenario("ejtcp", [("header", "paper")])
    with pytest.raises(UsageError, match=r"set: k: -1 is too small; expected more than 0"):
        parameters.scenario("jtcp", [("k", "-1")])


PATH = """
[run]
duration = "2 s"

[nodes]
s = {}
d = {}

[links.path]
kind = "lossy"
nodes = ["s", "d"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = "15 packets"
loss = { model = "packet", direction = "forward", rate = "2 %" }

"""
FLOW = """
[flows.LAW]
from = "s"
to = "d"
app = { kind = "bulk" }
tcp = { profile = "modern", timestamps = false, congestion = "LAW" }
"""


def over(*laws: str) -> lh.Scenario:
    """A flow of each law over a short lossy path."""
    return lh.Scenario.from_text(PATH + "".join(FLOW.replace("LAW", law) for law in laws), "path.toml")


def test_a_law_that_is_not_loaded_is_refused_with_the_command_that_loads_it() -> None:
    scenario = over("ejtcp")
    found = path(scenario, 0)
    assert (found.flows[0].law, found.settings["timestamps"]) == ("lasthop_ejtcp", True)
    assert found.settings["microseconds"]
    expected = "expected a law that `lasthop kernel load ejtcp` has loaded"
    with pytest.raises(ScenarioError, match=f"tcp.congestion: .*{expected}"):
        with_known_laws(found, scenario, ["reno"])
    assert with_known_laws(found, scenario, ["reno", "lasthop_ejtcp"]) == found


def test_a_law_that_was_loaded_with_other_parameters_is_refused_and_what_it_lacks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "PLACE", tmp_path / "laws")
    scenario = over("ejtcp", "jtcp")

    def said(scenario: lh.Scenario) -> list[str]:
        return loaded_otherwise(path(scenario, 0), scenario)

    assert said(scenario) == [
        f"{law}: the parameters of lasthop_{law} in the kernel are not known" for law in ("ejtcp", "jtcp")
    ]
    with notes.noted("ejtcp", [("k", "0.5")], has_header=False), notes.noted("jtcp", [], has_header=True):
        expected = r"ejtcp\.k: \"1\" is not .*; expected 0.5, or `lasthop kernel load ejtcp -s k=1`"
        with pytest.raises(ScenarioError, match=expected):
            said(scenario)
        assert said(scenario.set({"flows.ejtcp.tcp.ejtcp.k": "0.50"})) == [
            "ejtcp: ejtcp.double-retransmission is 1 % here and off in the kernel",
            "ejtcp: ejtcp.filter is true here and false in the kernel",
            "ejtcp: ejtcp.modulation is scale here and off in the kernel",
            "ejtcp: ejtcp.header is option here and timestamps in the kernel",
        ]
    assert list(notes.PLACE.iterdir()) == []
    # A loader that was killed leaves a file that nobody holds.
    (notes.PLACE / "ejtcp").write_text("[[], false]")
    assert notes.note("ejtcp") is None


@pytest.fixture(scope="module")
def relay() -> Iterator[None]:
    """The TCP of this kernel over a relay; skips with what is missing."""
    try:
        with Crew(1) as crew:
            crew.probe(["reno"])
    except lh.UnavailableError as error:
        pytest.skip(str(error))
    return


@needs_laws
@pytest.mark.alone
def test_the_kernel_decides_as_lasthop_on_what_it_saw(
    relay: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if {"lasthop_jtcp", "lasthop_ejtcp"} & set(loaded.known()):
        pytest.skip("another process has loaded a law")
    ahead = ["jtcp", "ejtcp"]

    def record() -> None:
        law = ahead.pop()
        assert invoke(["kernel", "load", law, "--record", str(tmp_path / law)]) == 0

    def attend(_: libbpf.Object) -> None:
        if ahead:
            record()
        else:
            compare(over("jtcp", "ejtcp"), (), 1, 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(libbpf.Object, "attend", attend)
    record()
    assert not {"lasthop_jtcp", "lasthop_ejtcp"} & set(loaded.known())
    for law in ("jtcp", "ejtcp"):
        capfd.readouterr()
        assert invoke(["kernel", "replay", str(tmp_path / law)]) == 0
        found = loaded.replay(tmp_path / law)
        assert capfd.readouterr().out == f"{found}\n"
        assert str(found).endswith("of 2 connections: the same decisions")
        assert found.acks > 50
        assert found.losses > 0
    # Another law decides otherwise on the same.
    raw = (tmp_path / "jtcp").read_bytes()
    (tmp_path / "other").write_bytes(raw.replace(b'"set": {}', b'"set": {"k": "1000"}'))
    assert invoke(["kernel", "replay", str(tmp_path / "other")]) == 1
    assert "other decisions, the first at event" in capfd.readouterr().out
    (tmp_path / "cut").write_bytes(raw[:-1])
    with pytest.raises(UsageError, match=r"bytes of events; expected a multiple of 80: the file is cut"):
        loaded.replay(tmp_path / "cut")
    (tmp_path / "gap").write_bytes(raw.partition(b"\n")[0] + b"\n" + raw.partition(b"\n")[2][80:])
    assert not loaded.replay(tmp_path / "gap")
