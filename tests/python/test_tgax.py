"""The calibration tests of TGax: the page shows what is simulated, and that is what the standard says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.stats.wifi_today import bianchi

ROOT = Path(__file__).resolve().parents[2]
MAKE = runpy.run_path(str(ROOT / "docs" / "make_tgax.py"))
NEVER, ALWAYS = MAKE["NEVER"], MAKE["ALWAYS"]


@pytest.mark.parametrize("name", ["overhead", "checked", "deferral", "widths"])
def test_the_page_shows_what_is_simulated(name: str) -> None:
    """Those of Box 5 take half a minute."""
    text = (ROOT / "docs" / "tgax.md").read_text()
    assert text == MAKE["written"](text, name), "run docs/make_tgax.py"


@pytest.mark.parametrize("rts", [NEVER, ALWAYS])
@pytest.mark.parametrize("mcs", [0, 8])
def test_each_interval_is_that_of_the_standard(mcs: int, rts: str) -> None:
    found = MAKE["check_points"](mcs, rts)
    # ceil((8 (2 (1500 + 30 + 4) + 2) + 22) / 26 and 312) symbols of 4 us, and 40 us.
    exact: dict[str, Any] = {"a-mpdu": {{0: 3824.0, 8: 356.0}[mcs]}, "block-ack": {68.0}}
    exact["a-mpdu to block-ack"] = {16.0}
    if rts == ALWAYS:
        exact |= {"rts": {52.0}, "cts": {44.0}, "rts to cts": {16.0}, "cts to a-mpdu": {16.0}}
    first = "rts" if rts == ALWAYS else "a-mpdu"
    exact[f"block-ack to {first}"] = {34.0 + 9 * slots for slots in range(16)}
    assert found == exact


@pytest.mark.parametrize("rts", [NEVER, ALWAYS])
@pytest.mark.parametrize("mcs", [0, 8])
def test_the_overhead_is_that_of_the_closed_form(mcs: int, rts: str) -> None:
    settings = {"links.air.mcs": str(mcs), "links.air.rts-threshold": rts}
    run = lh.load("validation/tgax-1").set({**settings, "flows.down.app.cbr.packet": "1464 B"}).run()
    expected = MAKE["cell"](mcs, 1500, rts=rts == ALWAYS).goodput_bps
    assert run.metrics["flows.down.goodput_bps"] == pytest.approx(expected, rel=0.005)


def test_two_access_points_that_hear_each_other_follow_bianchis_model() -> None:
    expected, _ = bianchi(MAKE["cell"](0, 1500, rts=False), 2)
    near, hidden = (lh.load("validation/tgax-2").run(point=point) for point in (0, 2))
    goodput = [
        sum(run.metrics[f"flows.{flow}.goodput_bps"] or 0.0 for flow in ("one", "two"))
        for run in (near, hidden)
    ]
    assert goodput[0] == pytest.approx(expected, rel=0.02)
    assert goodput[1] < expected / 4


def test_access_points_starve_unless_preambles_that_can_be_received_make_the_medium_busy() -> None:
    scenario = lh.load("validation/tgax-box5").set({"run.duration": "1 s", "run.warmup": "200 ms"})
    shares = []
    for settings in ({}, MAKE["EQUAL"] | {"links.air.reception.carrier-sense-threshold": "-70 dBm"}):
        metrics = scenario.set(settings).run(point=2).metrics
        down, up = (
            sum(metrics[f"flows.{way}-{bss}.goodput_bps"] or 0.0 for bss in "bc") for way in ("down", "up")
        )
        shares.append(down / (down + up))
    assert 0.1 < shares[0] < 0.4
    assert shares[1] < 0.05
