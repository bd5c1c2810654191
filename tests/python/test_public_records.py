"""What `docs/make_records.py` counts, on the record of `examples/trace`."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAKE = runpy.run_path(str(ROOT / "docs" / "make_records.py"))
FOLDER = ROOT / "scenarios" / "examples"


def test_a_flood_crosses_at_each_opportunity_of_a_record_and_no_more_often() -> None:
    record = MAKE["Record"]("example", "traces/cell.down", "traces/cell.up")
    crossed, met = MAKE["crossed"](record, FOLDER)
    # The file is repeated: its length goes into the run a whole number of times, and 20 ms less.
    times = MAKE["times"](FOLDER / record.down)
    rounds, rest = divmod(MAKE["SECONDS"] * 1000 - 20, times[-1])
    assert met == sum(0 < at <= MAKE["SECONDS"] * 1000 - 20 for at in times) > 10_000
    assert crossed == rounds * len(times) + sum(at <= rest for at in times)


def test_a_record_with_its_own_delays_has_no_other_delay() -> None:
    record = MAKE["Record"](
        "example", "traces/cell.down", "traces/cell.up", "traces/leo.delays", "500 packets"
    )
    run = record.scenario(FOLDER, "bbr", MAKE["SPLIT"]).set({"run.duration": "20 s"}).run()
    assert run.metrics["flows.file.goodput_bps"] > 1e5
    assert MAKE["mean"]([1.0, 2.0, 3.0, 4.0]) == "2.5 ± 2.1"
