"""Programs on the nodes of a scenario, in virtual time.

Most tests need the kernel that `lasthop virtual --build-kernel` makes, and are skipped without it. The others
have a program that takes its part.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import needs_kernel
from lasthop.base.errors import UnavailableError
from lasthop.realtime import system
from lasthop.virtual import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator


WIRE = """
[run]
duration = "60 s"

[nodes]
client = {}
server = {}

[links.wire]
kind = "lossy"
nodes = ["client", "server"]
rate = "5 Mbit/s"
delay = "10 ms"
queue = "50 packets"
loss = { rate = "0.5 %", direction = "both" }

[flows.up]
from = "client"
to = "server"
tcp = {}
"""

SERVER = """
import socket, sys
connection, _ = socket.create_server(("", int(sys.argv[1]))).accept()
got = 0
while part := connection.recv(1 << 18):
    got += len(part)
print("got", got, flush=True)
"""
CLIENT = """
import socket, sys, time
while True:
    end = socket.socket()
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
    try:
        end.connect(("server", int(sys.argv[3])))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
end.sendall(bytes(int(sys.argv[2])))
"""
SPIN = "while True: pass"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wire.toml").write_text(WIRE)
    # Longer than the name of a socket.
    (tmp_path / "tmp" / (100 * "x")).mkdir(parents=True)
    return tmp_path


def temporary(folder: Path) -> Path:
    return folder / "tmp" / (100 * "x")


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(temporary(folder))}


def words(*given: str) -> list[str]:
    return [sys.executable, "-m", "lasthop", "virtual", *given]


def virtual(folder: Path, *given: str) -> subprocess.CompletedProcess[str]:
    """Runs `lasthop virtual`, of which nothing may be left."""
    done = subprocess.run(
        words(*given), cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert list(temporary(folder).iterdir()) == []
    return done


def ended(how: str) -> str:
    return f"error: virtual: the guest ended with {how}; expected its program to end\n"


def transfers(folder: Path, laws: list[str], size: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Transfers that compete, one by each law of the kernel."""
    given = list(options)
    for port, law in enumerate(laws, start=80):
        given += ["--node", "client", "--", sys.executable, "-c", CLIENT, law, str(size), str(port)]
        given += ["--node", "server", "--", sys.executable, "-c", SERVER, str(port)]
    return virtual(folder, "wire.toml", *given)


@contextmanager
def full_load() -> Iterator[None]:
    """Programs that keep all processors busy."""
    count = len(os.sched_getaffinity(0)) + 1
    busy = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


@needs_kernel
def test_two_runs_have_equal_captures_however_busy_the_machine_is(folder: Path) -> None:
    found = []
    for number in range(2):
        with full_load() if number else nullcontext():
            done = transfers(folder, ["reno", "cubic", "bbr"], 400_000, "--pcap", "a.pcap", "-o", "out")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("[server] got 400000\n") == 3
        outcome = json.loads((folder / "out" / "run.json").read_text())
        outcome["file"] = None
        found.append((hashlib.sha256((folder / "a.pcap").read_bytes()).hexdigest(), outcome))
    assert found[0] == found[1]
    # A packet waits for a few reads of the clock, of 256 ns each.
    assert 0 < found[0][1]["late_max_s"] < 1e-5
    assert found[0][1]["kernel"].endswith("-lasthop")


@needs_kernel
def test_another_replication_has_other_random_numbers(folder: Path) -> None:
    ports = []
    for replication in "001":
        show = "import socket; s = socket.create_server(('', 0)); print(s.getsockname()[1])"
        program = ("--node", "client", "--", sys.executable, "-c", show)
        done = virtual(folder, "wire.toml", "--replication", replication, *program)
        ports.append(done.stdout)
    assert ports[0] == ports[1] != ports[2]


@needs_kernel
def test_time_passes_only_while_all_programs_sleep(folder: Path) -> None:
    begun = time.monotonic()
    done = virtual(folder, "wire.toml", "--json", "--node", "client", "--", "sleep", "2000")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["length_s"] == pytest.approx(2000, abs=0.1)
    assert time.monotonic() - begun < 200


@needs_kernel
def test_pauses_end_early_in_real_time_only(folder: Path) -> None:
    script = "from lasthop.realtime import system; print(system.early_s())"
    done = virtual(folder, "wire.toml", "-q", "--node", "client", "--", sys.executable, "-c", script)
    assert (done.stdout, done.stderr) == ("[client] 0.0\n", "")
    assert system.early_s() > 0


@needs_kernel
def test_the_exit_code_and_the_streams_are_those_of_the_last_program(folder: Path) -> None:
    script = "echo out; echo error >&2; echo lost > kept; exit 7"
    done = virtual(folder, "wire.toml", "-q", "--node", "client", "--", "sh", "-c", script)
    assert (done.returncode, done.stdout, done.stderr) == (7, "[client] out\n", "[client] error\n")
    assert not (folder / "kept").exists()


@needs_kernel
def test_errors_of_the_run_are_those_of_live(folder: Path) -> None:
    done = virtual(folder, "wire.toml", "--node", "client", "--", "no-such-program")
    expected = "no-such-program: No such file or directory; expected a program that can be run"
    assert (done.returncode, done.stderr) == (2, f"error: --node: {expected}\n")


@needs_kernel
def test_what_spins_is_named_when_the_time_is_over(folder: Path) -> None:
    script = "echo begun; sleep 1; while true; do :; done"
    # On a busy machine the guest starts late.
    for limit in (4, 60):
        given = ("wire.toml", "--limit", str(limit), "--node", "client", "--", "sh", "-c", script)
        done = virtual(folder, *given)
        assert done.returncode == 124
        if done.stdout:
            break
    text = f'{limit} s of this machine are over; "sh" runs, and time stands still while a program computes'
    assert (done.stdout, done.stderr) == ("[client] begun\n", f"error: virtual: {text}\n")


@needs_kernel
def test_a_panic_is_named(folder: Path) -> None:
    done = virtual(folder, "wire.toml", "--node", "client", "--", "sh", "-c", "echo c > /proc/sysrq-trigger")
    assert (done.returncode, done.stderr) == (1, ended("exit code -6: sysrq triggered crash"))


@needs_kernel
def test_a_call_in_python_gives_the_same_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scenario = lh.load(folder / "wire.toml")
    programs = [
        ("client", [sys.executable, "-c", CLIENT, "reno", "50000", "80"]),
        ("server", [sys.executable, "-c", SERVER, "80"]),
    ]
    first, second = (scenario.virtual(programs, out=folder / name) for name in ("a", "b"))
    assert first.as_dict() == second.as_dict()
    assert json.loads(json.dumps(first.as_dict())) == json.loads((folder / "a" / "run.json").read_text())
    assert first.nodes["client"]["packets"] > 35
    assert capfd.readouterr().out == 2 * "[server] got 50000\n"


@needs_kernel
def test_the_kernel_beside_ours_repeats_in_virtual_time(folder: Path) -> None:
    command = [sys.executable, "-m", "lasthop", "check", "validation/linux-bulk"]
    chosen = ["links.path.loss.rate=1 %", "links.path.delay=20 ms", "links.path.rate=10 Mbit/s"]
    command += [word for one in chosen for word in ("--where", one)]
    command += ["--peer", "linux", "--virtual", "-r", "1", "-s", "run.duration=3 s", "--json", "-q"]
    first, second = (
        subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False)
        for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert {line["law"] for line in json.loads(first.stdout)["lines"]} == {"reno", "cubic", "bbr"}


def left_of(folder: Path) -> list[str]:
    """Processes that run in a folder, and its contents."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state = process.joinpath("stat").read_text().rpartition(")")[2].split()[0]
            where = process.joinpath("cwd").readlink()
        except OSError:
            continue
        if state != "Z" and where.is_relative_to(folder):
            found.append(process.name)
    return found + [str(path) for path in folder.iterdir()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda one: one.name)
@pytest.mark.parametrize("is_real", [pytest.param(True, marks=needs_kernel), False], ids=["kernel", "shell"])
def test_a_signal_leaves_nothing(folder: Path, number: signal.Signals, *, is_real: bool) -> None:
    (folder / "kernel").write_text("#!/bin/sh\nexec sleep 1000\n")
    (folder / "kernel").chmod(0o700)
    given = [] if is_real else ["--kernel", str(folder / "kernel")]
    script = "echo begun; sleep 1; while true; do :; done"
    command = words("wire.toml", *given, "--node", "client", "--", "sh", "-c", script)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = subprocess.Popen(command, cwd=folder, env=environment(folder), text=True, **pipes)
    assert run.stdout is not None
    if is_real:
        assert run.stdout.readline() == "[client] begun\n"
    else:
        while not list(temporary(folder).glob("lasthop-*/log")):
            time.sleep(0.01)
    run.send_signal(number)
    _, said = run.communicate(timeout=60)
    expected = (-9, "") if number == signal.SIGKILL else (130, "\nerror: interrupted\n")
    assert (run.returncode, said) == expected
    until = time.monotonic() + 30
    while left_of(temporary(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left_of(temporary(folder)) == []


def test_a_kernel_that_fails_is_named_with_its_last_line(folder: Path) -> None:
    (folder / "kernel").write_text("#!/bin/sh\necho first; echo no ptrace >&2; exit 3\n")
    (folder / "kernel").chmod(0o700)
    done = virtual(folder, "wire.toml", "--kernel", "kernel", "--node", "client", "--", "true")
    assert (done.returncode, done.stderr) == (1, ended("exit code 3: no ptrace"))


def test_a_folder_that_a_guest_does_not_have_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = lh.load(folder / "wire.toml")
    monkeypatch.chdir("/proc/sys")
    with pytest.raises(lh.RunError, match="/proc/sys: a guest has its own /proc; expected another"):
        scenario.virtual([("client", ["true"])], kernel="/bin/true")


def test_a_kernel_that_does_not_answer_ends_with_the_limit(folder: Path) -> None:
    (folder / "kernel").write_text("#!/bin/sh\nexec sleep 1000\n")
    (folder / "kernel").chmod(0o700)
    done = virtual(
        folder, "wire.toml", "--kernel", "kernel", "--limit", "1", "--node", "client", "--", "true"
    )
    assert (done.returncode, done.stderr) == (124, "error: virtual: 1 s of this machine are over\n")


def test_only_whole_kernels_of_this_configuration_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("build-x", "linux-6.12.99-lasthop-00000000"):
        (kernel.folder() / name).mkdir(parents=True)
    mark = kernel._mark()
    (kernel.folder() / "build-x" / f"linux-6.12.1-lasthop-{mark}").touch()
    with pytest.raises(
        UnavailableError, match="no kernel; expected one that `lasthop virtual --build-kernel`"
    ):
        kernel.find()
    for version in ("6.12.9", "6.12.10"):
        (kernel.folder() / f"linux-{version}-lasthop-{mark}").touch()
    assert kernel.find().name == kernel.build(print).name == f"linux-6.12.10-lasthop-{mark}"


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: None if name in {"flex", "xz"} else name)
    with pytest.raises(kernel.KernelError) as caught:
        kernel.build(print)
    assert str(caught.value) == "kernel: flex, xz-utils missing; expected `apt-get install flex xz-utils`"
    assert caught.value.exit_code == 2


def test_without_apt_the_source_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "apt-get" else name)
    monkeypatch.setattr(kernel, "_INSTALLED", tmp_path)
    with pytest.raises(kernel.KernelError, match="no such file, and no apt-get; expected Debian's"):
        kernel.build(print)
    assert not list(kernel.folder().glob("build-*"))


# What takes the part of tools; the build is killed when the kernel is nearly there.
TOOLS = {
    "make": """case "$*" in
    *kernelversion*) echo 6.12.7 ;;
    *linux*) echo half > linux; [ -e stop ] && kill -9 $PPID; true ;;
esac""",
    "strip": "true",
    "patch": "true",
}


def test_a_build_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "linux-source-6.12").mkdir()
    for name in ("Kbuild", "stop"):
        (tmp_path / "linux-source-6.12" / name).touch()
    (tmp_path / "bin").mkdir()
    for name in kernel._TOOLS:
        if name in TOOLS or shutil.which(name) is None:
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{TOOLS.get(name, 'true')}\n")
            (tmp_path / "bin" / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script = (
        "import sys; from pathlib import Path; from lasthop.virtual import kernel\n"
        "kernel._INSTALLED = Path(sys.argv[1]); print(kernel.build(lambda text: None))"
    )
    for is_killed in (True, False):
        if not is_killed:
            (tmp_path / "linux-source-6.12" / "stop").unlink()
        archive = ["tar", "-cJf", "linux-source-6.12.tar.xz", "linux-source-6.12"]
        subprocess.run(archive, cwd=tmp_path, check=True)
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
        )
        if is_killed:
            assert done.returncode == -9
            with pytest.raises(kernel.KernelError):
                kernel.find()
    assert done.returncode == 0, done.stderr
    assert kernel.find() == Path(done.stdout.strip())
    assert kernel.find().name == f"linux-6.12.7-lasthop-{kernel._mark()}"
    assert not list(kernel.folder().glob("build-*"))
