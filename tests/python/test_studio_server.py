"""The server of `lasthop studio`, its command, and the build of what it serves."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import COMMAND, environment
from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.report import simulator
from lasthop.report.studio import Studio, StudioServer
from lasthop.tools import testing, web
from studios import IS_BUILT

if TYPE_CHECKING:
    from collections.abc import Iterator

needs_module = pytest.mark.skipif(
    not IS_BUILT, reason="the simulator for pages is not built: make web, which needs a compiler for it"
)


@pytest.fixture
def served(small: Path) -> Iterator[tuple[StudioServer, Path]]:
    """A server for a scenario of the user's own."""
    with StudioServer(Studio(str(small))) as server:
        runs = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        runs.start()
        yield server, small
        server.shutdown()
        runs.join()


def get(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@needs_module
def test_only_who_knows_the_address_reads_and_writes(served: tuple[StudioServer, Path]) -> None:
    server, file = served
    top = server.address.removesuffix(server.below) + "/"
    assert get(server.address) == 200
    assert get(server.address, Host="example.org") == 403
    before = file.read_text()
    for address in (top, f"{top}lasthop.wasm", f"{top}x{server.below[1:]}", f"{server.address}../small.toml"):
        assert get(address) == 404, address
    for address, sent, status in (
        (f"{top}save", {"name": "small.toml", "text": ""}, 404),
        (f"{server.address}save", {"name": "/etc/passwd", "text": ""}, 403),
        (f"{server.address}save", {"name": "small.toml"}, 403),
        (f"{server.address}save", "small.toml", 403),
    ):
        request = urllib.request.Request(address, json.dumps(sent).encode(), method="POST")
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(request)
        with raised.value:
            assert raised.value.code == status
    assert file.read_text() == before


@needs_module
@pytest.mark.parametrize("is_ignored", [False, True])
def test_the_command_prints_the_address_until_it_is_interrupted(small: Path, is_ignored: bool) -> None:
    """Shells start what runs behind them with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_ignored else None
    command = [*COMMAND, "studio", str(small)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe, text=True)
    if before is not None:
        signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    try:
        assert get(address) == 200
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert "Traceback" not in said


def test_without_the_module_the_command_says_how_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "MODULE", "missing.wasm")
    with pytest.raises(UsageError, match=r"missing\.wasm: not found; .*make web"):
        StudioServer(Studio(None))


def test_without_a_compiler_the_build_names_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_sysroot(rustc: str) -> Path:
        return Path("/nowhere") / rustc

    monkeypatch.setattr(web, "_sysroot", no_sysroot)
    assert web.main() == 2
    said = capsys.readouterr().err
    assert "rustup target add wasm32-unknown-unknown" in said
    assert "rustc-web" in said
    assert "wasm build" not in [step.name for step in testing.builds_of_tests()]


def test_the_editor_is_the_file_that_the_readme_names() -> None:
    digest = sha256((paths.DATA / "web" / "codemirror.min.js").read_bytes()).hexdigest()
    assert digest in (paths.DATA / "web" / "README.md").read_text()
