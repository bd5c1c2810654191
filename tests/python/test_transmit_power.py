"""The transmit power of a node, where that is less than the power of its link."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from collections.abc import Mapping

# At 100 m a frame of 20 dBm arrives 27 dB above the noise, and one of 10 dBm is too weak for 54 Mbit/s.
CELL: dict[str, Any] = {
    "run": {"duration": "1 s"},
    "nodes": {
        "ap": {"position": ["0 m", "0 m"]},
        "near": {"position": ["10 m", "0 m"]},
        "far": {"position": ["100 m", "0 m"]},
    },
    "links": {
        "air": {
            "kind": "wifi",
            "nodes": ["ap", "near", "far"],
            "standard": "802.11a",
            "rate": "54 Mbit/s",
            "radio": "ns3",
            "basic-rates": ["6 Mbit/s"],
            "propagation": {
                "model": "free-space",
                "frequency": "5.25 GHz",
                "transmit-power": "20 dBm",
            },
        }
    },
    "flows": {
        f"{way}-{name}": {
            "from": "ap" if way == "down" else name,
            "to": name if way == "down" else "ap",
            "udp": {},
            "app": {"kind": "cbr", "cbr": {"rate": "100 kbit/s", "packet": "500 B"}},
        }
        for name in ("near", "far")
        for way in ("down", "up")
    },
}


def received(powers: Mapping[str, str]) -> dict[str, float]:
    """The packets of each flow that arrive, by the powers of nodes."""
    cell = copy.deepcopy(CELL)
    for node, power in powers.items():
        cell["nodes"][node]["wifi"] = {"transmit-power": power}
    metrics = lh.from_dict(cell).run().metrics
    return {flow: metrics[f"flows.{flow}.packets_received"] or 0 for flow in cell["flows"]}


def test_data_of_a_weak_station_is_lost_from_afar_and_data_to_it_is_not() -> None:
    whole = received({})
    assert all(count > 20 for count in whole.values())
    assert received({"far": "20 dBm"}) == whole
    weak = received({"far": "10 dBm", "near": "10 dBm"})
    assert weak["up-far"] == 0
    assert {flow: weak[flow] for flow in ("down-far", "down-near", "up-near")} == {
        flow: pytest.approx(whole[flow], abs=1) for flow in ("down-far", "down-near", "up-near")
    }


@pytest.mark.parametrize(
    ("node", "power", "message"),
    [
        ("far", "21 dBm", "21.00 dBm; expected at most 20.00 dBm, that of links.air"),
        ("far", "20.001 dBm", "20.001 dBm; expected at most 20.000 dBm, that of links.air"),
        ("far", "1 W", "30.00 dBm; expected at most 20.00 dBm, that of links.air"),
        ("out", "1 dBm", "has no effect; expected out to have a position and an 802.11 link"),
    ],
)
def test_a_power_without_effect_or_above_that_of_the_link_is_refused(
    node: str, power: str, message: str
) -> None:
    cell = copy.deepcopy(CELL)
    cell["nodes"]["out"] = {}
    cell["links"]["wire"] = {"kind": "wired", "nodes": ["ap", "out"], "rate": "1 Mbit/s", "delay": "1 ms"}
    cell["nodes"][node]["wifi"] = {"transmit-power": power}
    with pytest.raises(lh.ScenarioError, match=f"nodes.{node}.wifi.transmit-power: {message}"):
        lh.from_dict(cell)


def test_the_rounded_level_of_the_links_power_is_that_power() -> None:
    cell = copy.deepcopy(CELL)
    del cell["links"]["air"]["propagation"]["transmit-power"]
    cell["links"]["air"]["radio"] = "ns2"
    own = copy.deepcopy(cell)
    # The default of the link is 281.83815 mW: 24.499998 dBm.
    own["nodes"]["far"]["wifi"] = {"transmit-power": "24.5 dBm"}
    assert lh.from_dict(own).run().metrics == lh.from_dict(cell).run().metrics


def test_a_power_under_flat_propagation_has_no_effect() -> None:
    cell = copy.deepcopy(CELL)
    cell["links"]["air"]["propagation"] = {"model": "flat"}
    cell["nodes"]["far"]["wifi"] = {"transmit-power": "1 dBm"}
    message = "has no effect, as the propagation of links.air is flat; expected positions of its nodes"
    with pytest.raises(lh.ScenarioError, match=message):
        lh.from_dict(cell)
