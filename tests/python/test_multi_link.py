"""Multi-link devices of 802.11be: the sum of their links, one queue and one order, and what is refused."""

from __future__ import annotations

import pytest

import lasthop as lh
from lasthop.stats.wifi_today import Cell

CELL = """
[run]
duration     = "600 ms"
warmup       = "100 ms"
replications = 1
[nodes]
ap  = {}
sta = {}
[links.low]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11be"
width        = "80 MHz"
queue        = "4000 packets"
[flows.down]
from = "ap"
to   = "sta"
udp  = {}
app  = { kind = "cbr", cbr = { packet = "1472 B", rate = "6 Gbit/s" } }
"""


def cell(*others: str, text: str = CELL) -> lh.Scenario:
    """The cell with further links of these settings."""
    for number, settings in enumerate(others):
        text += f'[links.more-{number}]\nkind = "wifi"\nnodes = ["ap", "sta"]\naccess-point = "ap"\n'
        text += f'standard = "802.11be"\nqueue = "4000 packets"\nmulti-link = "low"\n{settings}\n'
    return lh.Scenario.from_text(text, "links.toml")


def goodput(scenario: lh.Scenario) -> float:
    return scenario.run().metrics["flows.down.goodput_bps"] or 0.0


@pytest.mark.parametrize(
    "others",
    [
        [(13, 80)],
        [(9, 160)],
        [(13, 80), (5, 40)],
    ],
)
def test_links_carry_the_sum_of_what_each_carries_alone(others: list[tuple[int, int]]) -> None:
    settings = [f'mcs = {mcs}\nwidth = "{width} MHz"\naggregate = {{ count = 256 }}' for mcs, width in others]
    scenario = cell(*settings).set({"links.low.aggregate.count": "256"})
    alone = [Cell("802.11be", mcs, width, count=256, window=1024) for mcs, width in [(13, 80), *others]]
    assert goodput(scenario) == pytest.approx(sum(one.goodput_bps for one in alone), rel=0.01)
