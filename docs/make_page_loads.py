"""Writes the table of page loads of docs/live.md: a browser in a busy cell of 802.11.

    python docs/make_page_loads.py

Wants what `lasthop live` wants, and Chromium; takes five minutes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lasthop.stats.intervals import interval

PAGE = Path(__file__).with_name("live.md")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
SCENARIO = """
[run]
duration = "60 s"
[nodes]
phone = {{}}
ap = {{}}
server = {{}}
{others}
[links.air]
kind = "wifi"
nodes = {stations}
access-point = "ap"
standard = "802.11a"
rate = "12 Mbit/s"
[links.wire]
kind = "wired"
nodes = ["ap", "server"]
rate = "100 Mbit/s"
delay = "10 ms"
[flows.page]
from = "server"
to = "phone"
tcp = {{}}
{downloads}
"""
DOWNLOADS = """[flows.downloads]
from = "ap"
to = "other"
tcp = { profile = "modern", variant = "cubic" }
"""
STATIONS = (1, 2, 4, 8)
RUNS = 8
IMAGES = 30
#: The title of the page is its load time in ms (Navigation Timing).
SCRIPT = (
    "onload = () => { const t = performance.timing; document.title = t.loadEventStart - t.navigationStart; }"
)


def site(folder: Path) -> None:
    """A page with images of 16 kB each, which do not compress."""
    for number in range(IMAGES):
        content = hashlib.shake_256(str(number).encode()).hexdigest(8000)
        image = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--{content}--></svg>'
        (folder / f"{number}.svg").write_text(image)
    images = "".join(f'<img src="{number}.svg">' for number in range(IMAGES))
    icon = '<link rel="icon" href="data:,">'
    (folder / "index.html").write_text(f"<!doctype html>{icon}{images}<script>{SCRIPT}</script>")


def load_s(folder: Path, stations: int, replication: int, late_ms: float = 1.0) -> float:
    """The time in which a browser on the phone loads the page, while the other stations download."""
    has_others = stations > 1
    text = SCENARIO.format(
        others=f"other = {{ count = {stations - 1} }}" if has_others else "",
        stations=json.dumps(["ap", "phone", "other"] if has_others else ["ap", "phone"]),
        downloads=DOWNLOADS if has_others else "",
    )
    (folder / "cell.toml").write_text(text)
    live = [sys.executable, "-m", "lasthop", "live", "cell.toml"]
    server = ("--node", "server", "--", sys.executable, "-m", "http.server", "--protocol", "HTTP/1.1", "80")
    browse = (
        f"sleep 1; exec {BROWSER} {' '.join(FLAGS)} --user-data-dir=$(mktemp -d) --dump-dom http://server/"
    )
    phone = ("--node", "phone", "--", "sh", "-c")
    # The browser puts sockets there, whose paths must be short.
    with tempfile.TemporaryDirectory() as own:
        done = subprocess.run(
            [*live, "--replication", str(replication), "--late", str(late_ms), "-q", *server, *phone, browse],
            cwd=folder,
            env={**os.environ, "TMPDIR": own},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
    found = re.search(r"<title>(\d+)</title>", done.stdout)
    assert found is not None, done.stdout + done.stderr
    return int(found[1]) / 1e3


def main() -> None:
    """Measure, and write the table."""
    lines = ["| stations | page load |", "| --- | --- |"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site(folder)
        for stations in STATIONS:
            loads = interval([load_s(folder, stations, replication) for replication in range(RUNS)])
            lines.append(f"| {stations} | {loads.mean:.2f} ± {loads.half:.2f} s |")
            print(lines[-1], flush=True)
    table = re.compile(r"\| stations \| page load .*?(?=\n\n)", re.DOTALL)
    PAGE.write_text(table.sub(lambda _: "\n".join(lines), PAGE.read_text("utf-8"), count=1), "utf-8")


if __name__ == "__main__":
    main()
