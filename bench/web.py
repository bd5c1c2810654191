"""The processor time of runs in the module for pages against the native build; the first use in Chromium.

    .venv/bin/python bench/web.py

Each case runs natively and in node in turn, after a run that warms up; what is shown is the least of five.
The first use is by a browser with an empty cache: from the address to a page that can run, and from there to
the results of the scenario that the page opens, each point once.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop as lh
from lasthop.base import paths
from lasthop.report.studio import Studio, StudioServer
from lasthop.scenario.overrides import as_text

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH.parent / "tests" / "python"))
from browser import Browser  # noqa: E402 - found by the path above

CASES = ("newreno-clean", "newreno-1pct", "wifi-lle", "wifi-rts", "access-point-15", "cell-20")
RUNS = 5
SCRIPT = """
const fs = require("fs");
const PAGE = { page: { reached() {} } };
const module_ = new WebAssembly.Module(fs.readFileSync(process.argv[1]));
const engine = new WebAssembly.Instance(module_, PAGE).exports;
const lent = (bytes) => {
  const at = engine.reserve(bytes.length) >>> 0;
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  return [at, bytes.length];
};
const call = (value) => {
  const whole = BigInt.asUintN(64, engine.call(...lent(Buffer.from(JSON.stringify(value)))));
  const at = Number(whole >> 32n), length = Number(whole & 0xffffffffn);
  const text = Buffer.from(engine.memory.buffer, at, length).toString();
  engine.release(at, length);
  return JSON.parse(text);
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const given = JSON.parse(line), begun = process.cpuUsage();
  const { error, events } = call(given), used = process.cpuUsage(begun);
  console.log(JSON.stringify({ error, events, cpu_s: (used.user + used.system) / 1e6 }));
});
"""


def main() -> None:
    """Print a row for each case."""
    module = paths.DATA / "web" / "lasthop.wasm"
    node = subprocess.Popen(
        ["node", "--eval", SCRIPT, str(module)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(**call: object) -> dict[str, float]:
        assert node.stdin is not None
        assert node.stdout is not None
        node.stdin.write(json.dumps(call) + "\n")
        node.stdin.flush()
        found: dict[str, float] = json.loads(node.stdout.readline())
        return found

    print(f"{'case':<16} {'events':>10} {'native':>8} {'page':>8} {'ratio':>6}")
    for name in CASES:
        case = tomllib.loads((BENCH / f"{name}.toml").read_text(encoding="utf-8"))
        settings = {**case["set"], "run.duration": case["durations"][0]}
        pairs = [(key, as_text(value)) for key, value in settings.items()]
        scenario = lh.load(case["scenario"], pairs)
        ask(do="open", text=scenario.text, set=pairs)
        native, page = [], []
        for _ in range(RUNS + 1):
            run, other = scenario.run(), ask(do="run")
            if other["events"] != run.events:
                sys.exit(f"{name}: {other}; expected {run.events} events")
            native.append(run.cpu_s)
            page.append(other["cpu_s"])
        one, two = min(native[1:]), min(page[1:])
        print(f"{name:<16} {run.events:>10} {one:>6.3f} s {two:>6.3f} s {two / one:>6.2f}", flush=True)
    node.stdin.close() if node.stdin else None
    node.wait()
    first_use()


def first_use() -> None:
    """Print how long a first visitor waits."""
    with TemporaryDirectory() as folder, StudioServer(Studio(None)) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        browser = Browser(Path(folder))
        try:
            tab, begun = browser.page(), time.monotonic()
            tab.go(server.address)
            tab.until("!$('#run').disabled")
            ready = time.monotonic()
            tab.do("($('#replications').value = 1, run())")
            print(f"first use: {ready - begun:.2f} s, and {time.monotonic() - ready:.2f} s for results")
        finally:
            browser.close()
            server.shutdown()


if __name__ == "__main__":
    main()
