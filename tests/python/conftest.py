"""What the tests of the Python package share: a small scenario, and the command line."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser import Browser, Page
from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import UnavailableError
from lasthop.virtual import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lasthop.report.studio import StudioServer

#: With --soak the searches run longer.
SOAK = "LASTHOP_SOAK" in os.environ


def _kernel() -> str:
    """The reason why no guest can start; empty if a kernel is installed."""
    try:
        kernel.find()
    except UnavailableError as error:
        return str(error)
    return ""


needs_kernel = pytest.mark.skipif(bool(_kernel()), reason=_kernel())

SMALL = """\
title = "Two TCPs on a short lossy path"

[run]
duration     = "3 s"
replications = 3

[nodes]
a = {}
b = {}

[links.path]
kind  = "lossy"
nodes = ["a", "b"]
rate  = "2 Mbit/s"
delay = "10 ms"
loss  = { rate = "0 %" }

[flows.main]
from = "a"
to   = "b"
app  = { kind = "bulk" }
tcp  = { profile = "ns2-2004", variant = "reno", min-rto = "200 ms" }

[sweep]
"flows.main.tcp.variant" = ["reno", "newreno"]
"links.path.loss.rate"   = ["0 %", "1 %", "3 %"]

[[figure]]
id    = "goodput"
x     = "links.path.loss.rate"
y     = "flows.main.goodput_bps"
lines = "flows.main.tcp.variant"
"""

HOP = """\
title = "One 802.11 hop with and without LLE-TCP"

[run]
duration     = "3 s"
warmup       = "500 ms"
bin          = "500 ms"
replications = 2

[nodes]
left  = { position = ["0 m", "0 m"] }
right = { position = ["100 m", "0 m"] }

[links.wlan]
kind          = "wifi"
nodes         = ["left", "right"]
standard      = "802.11"
rate          = "1 Mbit/s"
rts-threshold = "0 B"

[flows.main]
from = "left"
to   = "right"
app  = { kind = "bulk" }
tcp  = { profile = "ns2-2004", variant = "tahoe", packet = "1000 B" }

[agents.snoop]
kind  = "lle-tcp"
lle-tcp.mode = "paper"
flows = ["main"]

[sweep]
"agents.snoop.kind"     = ["none", "lle-tcp"]
"flows.main.tcp.packet" = ["200 B", "1000 B"]

[[figure]]
id      = "airtime"
kind    = "airtime"
x       = "flows.main.tcp.packet"
x-label = "payload"
lines   = "agents.snoop.kind"
names   = { none = "standard", lle-tcp = "LLE" }

[[figure]]
id     = "time"
kind   = "time"
panels = ["rtt", "rto", "cwnd", "goodput", "received"]
until  = "2.75 s"
lines  = "agents.snoop.kind"
names  = { none = "standard", lle-tcp = "LLE" }
where  = { "flows.main.tcp.packet" = "1000 B" }
"""


def script(file: Path) -> Any:
    """The module of a file that is not part of a package."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytest_report_header() -> str:
    """Name the extension under test: the checked one, or with --release and --lowest that of the checkout."""
    return f"lasthop: {'checked' if _core.is_checked else 'release'} extension {_core.__file__}"


@pytest.fixture(autouse=True)
def own_laws() -> Iterator[None]:
    """Forget the laws that a test registers, whose names would be in the messages of others."""
    yield
    registered = sys.modules.get("lasthop.laws.registered")
    for name in registered.known() if registered else ():
        registered.forget(name)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A tab of a headless Chromium, for tests that look at pages."""
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    try:
        yield browser.page()
    finally:
        browser.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StudioServer, Path]]:
    """A server of `lasthop studio` for a scenario of the user's own."""
    from lasthop.report.studio import Studio, StudioServer

    file = tmp_path_factory.mktemp("studio") / "mine.toml"
    file.write_text(SMALL)
    with StudioServer(Studio(str(file))) as server:
        runs = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        runs.start()
        yield server, file
        server.shutdown()
        runs.join()


@pytest.fixture
def page(tab: Page, served: tuple[StudioServer, Path]) -> Page:
    """The page of `lasthop studio`, when it has loaded the simulator."""
    from studios import fresh

    tab.size(1280)
    tab.prefer("light")
    return fresh(tab, served[0].address)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario of six points that run in no time."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def edited(small: Path) -> Callable[[str, str], Path]:
    """Change a text of the small scenario."""

    def edit(old: str, new: str) -> Path:
        text = small.read_text()
        assert old in text
        small.write_text(text.replace(old, new, 1))
        return small

    return edit


@pytest.fixture
def make_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Make a checkout with one paper, in place of the real one."""

    web, cited = paths.data("web"), paths.data("CITATION.cff")

    def make(claims: str, **figures: str) -> Path:
        (tmp_path / "web").symlink_to(web)
        (tmp_path / "CITATION.cff").symlink_to(cited)
        scenarios = tmp_path / "scenarios" / "paper"
        scenarios.mkdir(parents=True)
        for name, text in {"fig1": SMALL, **figures}.items():
            (scenarios / f"{name}.toml").write_text(text)
        (tmp_path / "papers").mkdir()
        (tmp_path / "papers" / "paper.claims.toml").write_text(claims)
        monkeypatch.setattr(paths, "DATA", tmp_path)
        monkeypatch.setattr(paths, "checkout", lambda: tmp_path)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return make


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **more}


COMMAND = [sys.executable, "-P", "-m", "lasthop"]


@pytest.fixture
def cli(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `lasthop` as a user does, in the test's own directory."""

    def run(*args: object, **more: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*COMMAND, *map(str, args)],
            cwd=tmp_path,
            env=environment(**more),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `lasthop` in this process, in the directory of the test; a traceback would fail the test."""
    from lasthop.cli.main import invoke

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*args: object) -> subprocess.CompletedProcess[str]:
        words = [str(arg) for arg in args]
        capsys.readouterr()
        code = invoke(words)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, out, err)

    return run
