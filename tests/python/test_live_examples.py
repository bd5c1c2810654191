"""The examples of docs/live.md: each runs, with less to do."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from lasthop.realtime import tcp

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUN = "/dev/net/tun"
is_root = pytest.mark.skipif(
    not os.access(TUN, os.W_OK) or os.geteuid() != 0, reason=f"root is needed, and {TUN}"
)


def printed(name: str, amount: int) -> list[list[str]]:
    """The rows of the table that an example prints."""
    command = [sys.executable, str(DOCS / "live" / f"{name}.py"), str(amount)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=170)
    assert (done.returncode, done.stderr) == (0, "")
    return [re.split(r" ?\| ?", line)[1:-1] for line in done.stdout.splitlines()[2:]]


def numbers(row: list[str]) -> list[float]:
    return [float(re.sub(r"[^\d.]", "", cell)) for cell in row[1:]]


def test_the_cell_is_what_link_shows() -> None:
    text = (DOCS / "live.md").read_text()
    (line,) = re.findall(r"^lasthop (link .*) --show > docs/live/cell.toml$", text, re.MULTILINE)
    command = [sys.executable, "-m", "lasthop", *line.split(), "--show"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == (DOCS / "live" / "cell.toml").read_text()


@is_root
def test_a_player_gets_less_beside_downloads() -> None:
    alone, _, busy = map(numbers, printed("player", 3))
    assert alone[2] > busy[2]
    # A first chunk of 125 kB, over 20 ms.
    assert 0.05 < alone[0] < busy[0]


@is_root
@pytest.mark.skipif(not tcp.has_law("bbr"), reason="the kernel has no BBR")
def test_two_laws_share_what_others_leave() -> None:
    alone, busy = map(numbers, printed("laws", 2))
    assert 20 < sum(alone[:2]) < 65
    assert sum(busy[:2]) < 0.8 * sum(alone[:2])


@is_root
def test_a_game_waits_behind_downloads_but_less_behind_fair_queues() -> None:
    alone, busy, managed = map(numbers, printed("game", 60))
    # The wire takes 10 ms in each direction.
    assert 20 < alone[0] < busy[0]
    assert managed[1] < busy[1]


@is_root
@pytest.mark.skipif(find_spec("aioquic") is None, reason="aioquic is not installed")
@pytest.mark.skipif(which("openssl") is None, reason="openssl is not installed")
def test_quic_crosses_the_cell() -> None:
    alone, busy = map(numbers, printed("quic", 500_000))
    # How fast Python makes packets depends on other work.
    assert 0 < alone[0] < 65
    assert 0 < busy[0] < 65


@is_root
@pytest.mark.skipif(which("iperf3") is None, reason="iperf3 is not installed")
def test_four_stations_share_a_cell() -> None:
    down, up, wide, wider = map(numbers, printed("stations", 1))
    # MCS 11 of one stream has 143 Mbit/s in 20 MHz.
    assert max(down[0], up[0]) < 143
    assert all(row[0] > 5 and 0 < row[2] < 100 for row in (down, up, wide, wider))


@pytest.mark.skipif(not os.access(TUN, os.W_OK), reason=f"{TUN} cannot be written")
def test_the_kernel_fills_a_link_with_and_without_lle_tcp(monkeypatch: pytest.MonkeyPatch) -> None:
    make: dict[str, Any] = runpy.run_path(str(DOCS / "make_live.py"))
    shorter = make["RECEIVER"].replace("< 25", "< 4").replace("> 3", "> 1")
    assert shorter != make["RECEIVER"]
    # Other work may hold up a test.
    make["live"].__globals__.update(RECEIVER=shorter, LATE_MS=1000)
    for settings in make["AGENTS"].values():
        # 1 Mbit/s less what the MAC and the headers take.
        assert 5e5 < make["live"](settings, 0) < 9.5e5


@is_root
@pytest.mark.parametrize("number", [0, 1])
def test_python_of_the_page_runs(tmp_path: Path, number: int) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / "live.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    (tmp_path / "test_shown.py").write_text(blocks[number])
    command = ("-m", "pytest", "-p", "lasthop.realtime.fixtures") if "def test_" in blocks[number] else ()
    done = subprocess.run(
        [sys.executable, *command, "test_shown.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not command or "1 passed" in done.stdout
