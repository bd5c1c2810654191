"""The cell of dynamic ARQ: one channel for all its scenarios, and what the scheme gains there."""

from __future__ import annotations

import lasthop as lh
from lasthop.base import paths

EXPONENT = "links.cell.propagation.exponent"


def test_every_scenario_keeps_the_calibrated_exponent() -> None:
    found = {}
    for name in (name for name in paths.shipped() if name.startswith("dynamic-arq/")):
        scenario = lh.load(name)
        points = range(len(scenario.points()))
        found[name] = {entry["value"] for i in points if (entry := scenario.resolved(i).get(EXPONENT))}
    swept = found.pop("dynamic-arq/calibration")
    assert found.pop("dynamic-arq/ber") == set()
    assert found.pop("dynamic-arq/exponent") > {"2.87", "3.14"}
    assert found.pop("dynamic-arq/assumptions") == {"2.87", "3.14"}
    assert len(found) > 5
    assert set().union(*found.values()) == {"3.14"}
    assert sorted(swept, key=float)[len(swept) // 2] == "3.14"


def test_the_scheme_waits_out_fades_that_three_retransmissions_do_not() -> None:
    goodput = {}
    for kind in ("fixed", "dynamic"):
        cell = lh.load("dynamic-arq/mobility").set(
            {"nodes.client.move.kind": "circle", "links.cell.arq.kind": kind, "run.duration": "30 s"}
        )
        goodput[kind] = cell.run().metrics["flows.down.goodput_bps"]
    assert goodput["fixed"] is not None
    assert goodput["dynamic"] is not None
    assert goodput["dynamic"] > 2 * goodput["fixed"]


def test_an_order_that_knows_nothing_of_tcp_carries_as_much() -> None:
    goodput = []
    for order in ({}, {"links.cell.arq.time": "none"}, {"links.cell.arq.queues": "one"}):
        cell = lh.load("dynamic-arq/calibration").set(
            {
                "links.cell.propagation.exponent": "3.14",
                "links.cell.arq.kind": "dynamic",
                "flows.down.app.kind": "bulk",
                "run.duration": "30 s",
                **order,
            }
        )
        runs = [cell.run(replication=number).metrics["flows.down.goodput_bps"] for number in range(3)]
        goodput.append(sum(one or 0.0 for one in runs))
    scheme, *controls = goodput
    assert all(control > scheme for control in controls)
