"""`lasthop sweep --watch`: the data of the page at each run, its server, and the page in Chromium."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from browser import CONTRASTS, PROGRAM, Browser
from conftest import COMMAND, HOP, SMALL, environment
from lasthop.report.server import Server
from lasthop.report.watch import Watch
from lasthop.study.progress import Lines
from lasthop.study.sweep import Sweep
from test_report import hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = SMALL.replace('duration     = "3 s"', 'duration     = "2000 s"').replace(
    "replications = 3", "replications = 8"
)


@pytest.fixture
def sweeping(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A sweep of some time with --watch, and the address of its page."""
    (tmp_path / "long.toml").write_text(LONG)
    with Started(tmp_path) as process:
        yield process, address(process)


class Started:
    """A sweep as a user starts it, which does not outlive its test."""

    def __init__(self, folder: Path, *more: str, **variables: str) -> None:
        command = [*COMMAND, "sweep", "long.toml", "--watch", "--no-progress", "-j", "1", *more]
        kept = {k: v for k, v in environment().items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        self.process = subprocess.Popen(
            command, cwd=folder, env={**kept, **variables}, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> subprocess.Popen[str]:
        return self.process

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.fullmatch(r"watch the sweep at (http://127\.0\.0\.1:\d+/)\n", line)
    assert found is not None, line + process.stderr.read()
    return found[1]


def port(url: str) -> int:
    return int(url.rstrip("/").rpartition(":")[2])


def get(url: str, path: str = "/", host: str | None = None) -> tuple[int, str, str]:
    """The status, policy or type, and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port(url), timeout=20)
    try:
        connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port(url)}"})
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


def is_closed(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port(url))) != 0


def test_after_each_run_the_page_has_the_figures_of_the_runs_so_far(tmp_path: Path) -> None:
    more = "".join(
        f'\n[[figure]]\nid = "{kind}"\nkind = "{kind}"\ny = "flows.main.goodput_bps"\n{text}\n'
        for kind, text in {
            "bar": 'x = "flows.main.tcp.variant"\nlines = "links.path.loss.rate"',
            "box": 'x = "links.path.loss.rate"\nlines = "flows.main.tcp.variant"',
            "scatter": 'against = "flows.main.rtt_mean_s"\nlines = "flows.main.tcp.variant"',
            "matrix": 'rows = "flows.main.tcp.variant"\ncolumns = "links.path.loss.rate"',
        }.items()
    )
    (tmp_path / "small.toml").write_text(SMALL + more)
    study = lh.load(tmp_path / "small.toml").sweep(out=tmp_path / "s")
    seen: list[dict[str, Any]] = []

    class Each(Watch):
        def step(self, row: Any) -> None:
            super().step(row)
            seen.append(self.data(-1))

    watch = Each(study, Lines(silent=True))
    Sweep(study, jobs=1, listener=watch).run()
    watch.finish()
    seen.append(watch.data(-1))
    assert [data["done"] for data in seen] == [*range(1, 19), 18]
    assert [data["state"] for data in seen] == ["running"] * 18 + ["done"]
    assert "so far" in seen[0]["hero"]
    assert "so far" not in seen[-1]["hero"]
    for data in seen:
        json.dumps(data, allow_nan=False)
        first = data["figures"][0]["chart"]["panels"][0]["series"]
        assert sum(sum(line["n"]) for line in first) == data["done"]
        assert len(data["figures"]) == 5
    # The last one is that of the report.
    means = {row["mean"] for row in study.table("flows.main.goodput_bps").rows}
    last = {y * 1e6 for line in first for y in line["y"]}
    assert sorted(last) == pytest.approx(sorted(means), rel=1e-6)
    # A complete page requests little.
    assert "figures" not in watch.data(seen[-1]["version"])


def test_nothing_is_simulated_for_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hop.toml").write_text(HOP)
    study = lh.load(tmp_path / "hop.toml").sweep(out=tmp_path / "h").run()
    watch = Watch(study, Lines(silent=True))
    monkeypatch.setattr(type(study.scenario), "run", lambda *_, **__: pytest.fail("a run for the page"))
    airtime, over_time = watch.data(-1)["figures"]
    assert airtime["chart"]["form"] == "stack"
    labels = [panel["label"].split(" (")[0] for panel in over_time["chart"]["panels"]]
    assert labels == ["goodput", "received"]
    assert "round trip, timeout (RTO), window (cwnd)" in over_time["card"]


def test_more_replications_are_more_runs(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = lh.load(tmp_path / "small.toml").sweep(1, out=tmp_path / "s")
    watch = Watch(study, Lines(silent=True))
    Sweep(study, jobs=2, precision=lh.Precision(0.1, 6, 2), listener=watch).run()
    data = watch.data(-1)
    assert data["total"] == data["done"] == study.size > 12


def test_the_server_answers_this_computer_only_and_ends_with_its_block(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = lh.load(tmp_path / "small.toml").sweep(1, out=tmp_path / "s").run()
    before = threading.active_count()
    with Server(Watch(study, Lines(silent=True))) as server:
        status, kind, page = get(server.address)
        assert (status, kind) == (200, "text/html; charset=utf-8")
        assert "connect-src 'self'" in page
        assert get(server.address, "/data.json?known=-1")[:2] == (200, "application/json; charset=utf-8")
        assert get(server.address, "/data.json?known=x")[0] == 200
        assert get(server.address, "/study.sqlite")[0] == 404
        assert get(server.address, "/../../etc/passwd")[0] == 404
        assert get(server.address, host="evil.example")[0] == 403
        assert get(server.address, host=f"localhost:{port(server.address)}")[0] == 200
    assert is_closed(server.address)
    assert threading.active_count() == before


def test_what_is_not_a_request_of_a_page_is_answered_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = lh.load(tmp_path / "small.toml").sweep(1, out=tmp_path / "s")
    with Server(Watch(study, Lines(silent=True))) as server:
        number = port(server.address)

        def status(target: str, *hosts: str, method: str = "GET") -> int:
            lines = [f"{method} {target} HTTP/1.1", *(f"Host: {host}" for host in hosts), "", ""]
            with socket.create_connection(("127.0.0.1", number), timeout=20) as made:
                made.sendall("\r\n".join(lines).encode("latin-1"))
                made.shutdown(socket.SHUT_WR)
                said = made.recv(4096).decode("latin-1")
            return int(said.split()[1]) if said else 0

        here = f"localhost:{number}"
        for known in (
            "9" * 5000,
            "-" * 5000,
            "1_0",
            "²",
            "%D9%A3",
            "1&known=2",
            "1&a=b" * 1000,
            "%ff",
            "1e9",
        ):
            asked = f"/data.json?known={known.encode('latin-1', 'replace').decode('latin-1')}"
            assert status(asked, here) == 200, known
        for target in (
            "http://[::1",
            "http://[::1/",
            "//[",
            "/[",
            "http://[v1.x]/",
            "*",
            "x",
            "\x01",
            "/" * 5000,
        ):
            assert status(target, here) in {200, 400, 404}, target
        for host in (
            *("localhost:1@evil.com", f"localhost:{number}@evil.com", f"evil.com:{number}", "localhost", ""),
            *(f"localhost:{number}.evil.com", f"evil.localhost:{number}", "localhost:1", f"[::1]:{number}"),
            *(
                f"127.0.0.1:{number}/@evil.com",
                f"127.1:{number}",
                f"localhost:{number}#",
                f"user@localhost:{number}",
            ),
        ):
            assert status("/", host) == 403, host
        assert status("/") == 403
        assert status("/", here, "evil.com") == 403
        assert status("/", here, method="POST") == 501
        assert status("/", here) == 200
    assert capfd.readouterr() == ("", "")


def test_a_page_that_is_open_gets_the_last_run(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = lh.load(tmp_path / "small.toml").sweep(1, out=tmp_path / "s").run()
    states = []
    with Server(Watch(study, Lines(silent=True))) as server:

        def read() -> None:
            for _ in range(20):
                states.append(json.loads(get(server.address, "/data.json")[2])["state"])
                if states[-1] == "done":
                    return
                time.sleep(0.1)

        reader = threading.Thread(target=read)
        reader.start()
        time.sleep(0.25)
    reader.join()
    assert states[0] == "running"
    assert states[-1] == "done"


def test_the_page_ends_with_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(SMALL)
    with Started(tmp_path) as process:
        url = address(process)
        begun = time.monotonic()
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        # Without an open page the end does not wait for one.
        assert time.monotonic() - begun < 30
    assert is_closed(url)
    assert errors.splitlines()[-1] == "studies/long"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("executor", ["thread", "process"])
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, executor: str, number: signal.Signals) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    with Started(tmp_path, "--executor", executor) as process:
        url = address(process)
        # A reader that never finishes its request does not hold the end up.
        with socket.create_connection(("127.0.0.1", port(url))) as half:
            half.sendall(b"GET / HT")
            while json.loads(get(url, "/data.json")[2])["done"] < 2:
                time.sleep(0.1)
            process.send_signal(number)
            _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "interrupted: " in errors
    assert "Traceback" not in errors
    assert is_closed(url)
    again = next(line for line in errors.splitlines() if line.startswith("  "))
    assert "--watch" in again


def test_the_browser_is_opened_if_there_is_one_and_its_absence_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(SMALL)
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    script.chmod(0o755)
    with Started(tmp_path, "--fresh", "-q", BROWSER=str(script)) as process:
        url = address(process)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "studies/long\n")
    for _ in range(50):
        if (tmp_path / "opened").exists():
            break
        time.sleep(0.1)
    assert (tmp_path / "opened").read_text().strip() == url
    with Started(tmp_path, "--fresh", BROWSER=str(tmp_path / "none")) as process:
        address(process)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in errors


@pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
def test_the_page_grows_and_keeps_what_it_has_when_the_sweep_is_interrupted(
    sweeping: tuple[subprocess.Popen[str], str], tmp_path: Path
) -> None:
    process, url = sweeping
    browser = Browser(tmp_path / "chromium")
    try:
        tab = browser.page()
        for width in (1280, 360):
            tab.size(width, mobile=width < 600)
            tab.go(url)
            tab.until("cards.length === 1 && FIGURES.length === 1 && FIGURES[0].plots.length > 0")
            assert tab.do("innerWidth") == width
            assert tab.do("document.scrollingElement.scrollWidth") == width
        first = tab.do("Number($('#runs-done').textContent.split(' ')[0])")
        tab.do("$('.legend button').click()")
        tab.until(f"Number($('#runs-done').textContent.split(' ')[0]) > {first} + 1")
        tab.until("!cards[0].isStale")
        # Lines hidden by the reader stay hidden while the figure grows.
        assert tab.do("$('.legend button').getAttribute('aria-pressed')") == "false"
        assert tab.do("$('#progress').value") > 0
        assert re.match(r"\d+ % – ", tab.do("document.title"))
        assert tab.problems == []
        assert [u for u in tab.requests if not u.startswith((url, "data:"))] == []
        process.send_signal(signal.SIGINT)
        process.wait(30)
        tab.until("!$('#gone').hidden")
        assert "keeps what it has" in tab.do("$('#gone').textContent")
        assert tab.do("FIGURES.length") == 1
    finally:
        browser.close()


@pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_says_that_the_sweep_is_done_and_can_be_read(scheme: str, tmp_path: Path) -> None:
    study = hostile(tmp_path)
    browser = Browser(tmp_path / "chromium")
    try:
        tab = browser.page()
        tab.size(1280)
        tab.prefer(scheme)
        watch = Watch(study, Lines(silent=True))
        with Server(watch) as server:
            tab.go(server.address)
            tab.until("cards.length > 0")
            watch.finish()
            tab.until("document.title.startsWith('Done')")
        assert "All runs have ended" in tab.do("$('#gone').textContent")
        assert "<img src=x" in tab.do("$('h1').textContent")
        assert tab.do("typeof hacked") == "undefined"
        assert tab.do(CONTRASTS) == []
        assert tab.problems == []
    finally:
        browser.close()


def test_scripts_of_a_page_share_one_scope_without_names_twice() -> None:
    from lasthop.report import page, play, watch
    from lasthop.report.sheet import asset

    pages = {
        "report": page.SCRIPTS,
        "watch": watch.SCRIPTS,
        "play": play.SCRIPTS,
    }
    declared = re.compile(r"^(?:async )?(?:function|const|let|class) \*?([\w$]+)", re.MULTILINE)
    for name, scripts in pages.items():
        names = [found for script in scripts for found in declared.findall(asset(script))]
        assert sorted({n for n in names if names.count(n) > 1}) == [], name
