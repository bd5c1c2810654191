"""Writes the table of multipath in docs/quic.md from the scenario examples/multipath.

    .venv/bin/python docs/make_multipath.py

It takes ten seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop.stats.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("quic.md")
BEGIN, END = "<!-- written by docs/make_multipath.py -->\n", "<!-- end of multipath -->\n"
OUTAGES = {"1 ms at 80 s": "does not fail", "2 s at 3 s": "fails for 2 s", "10 s at 3 s": "fails for 10 s"}
#: The way of a download by its receiver, its second interface and its `path-idle-timeout`.
WAYS = {
    "Wi-Fi alone": ("wifi", "none", "none"),
    "cellular alone": ("cell", "none", "none"),
    "both": ("wifi", "cell", "none"),
    "both, `path-idle-timeout` of 500 ms": ("wifi", "cell", "500 ms"),
}
REPLICATIONS = 10


def lines() -> Iterator[str]:
    """The table: completion times, and the share of Wi-Fi."""
    yield f"| download by | {' | '.join(f'Wi-Fi {said}' for said in OUTAGES.values())} |"
    yield f"| --- |{' --- |' * len(OUTAGES)}"
    for way, (to, second, timeout) in WAYS.items():
        cells = [_cell(outage, to, second, timeout) for outage in OUTAGES]
        yield f"| {way} | {' | '.join(cells)} |"


def _cell(outage: str, to: str, second: str, timeout: str) -> str:
    scenario = lh.load(
        "examples/multipath",
        [
            ("links.air.outages.script", outage),
            ("flows.file.to", to),
            ("flows.file.quic.second", second),
            ("flows.file.quic.path-idle-timeout", timeout),
        ],
    )
    runs = [scenario.run(replication=number).metrics for number in range(REPLICATIONS)]
    times = interval([run["flows.file.completion_s"] for run in runs])
    assert times.mean is not None
    assert times.high is not None
    assert times.n == REPLICATIONS
    text = f"{times.mean:.2f} ± {times.high - times.mean:.2f}"
    shares = interval([run.get("flows.file.paths.wifi.share") for run in runs]).mean
    return text if shares is None else f"{text}, {shares * 100:.0f} %"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    table = "\n".join(lines())
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
