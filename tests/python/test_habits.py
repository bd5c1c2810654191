"""What ours does as a kernel in a comparison: by its clock, and by the rules of its release."""

from __future__ import annotations

import lasthop as lh
from lasthop.peer.habits import habits, in_words
from lasthop.peer.path import path

OF = "flows.main.tcp"


def of(scenario: lh.Scenario, release: str, tick_s: float = 0.004) -> dict[str, str | bool]:
    return habits(scenario, path(scenario, 0), release, tick_s)


def test_acknowledgements_wait_by_the_clock_of_the_kernel() -> None:
    bulk = lh.load("validation/linux-bulk")
    assert of(bulk, "6.18.44-fc") == {f"{OF}.ack-tick": "4 ms", f"{OF}.quick-acks-again": True}
    cubic = bulk.set({f"{OF}.congestion": "cubic"})
    assert of(cubic, "7.0-rc1", 0.001)[f"{OF}.cubic.tick"] == "1 ms"


def test_a_receive_buffer_has_the_room_of_its_release() -> None:
    bulk = lh.load("validation/linux-bulk")
    cushion = f"{OF}.receive-cushion"
    assert of(bulk, "6.12.117-lasthop")[cushion] == "16 segments"
    assert cushion not in of(bulk, "6.16.0")
    assert cushion not in of(bulk.set({f"{OF}.receive-autotuning": False}), "6.12.117")


def test_a_segment_takes_the_memory_that_it_does_in_this_release() -> None:
    sackless = lh.load("validation/linux-sackless")
    overhead = f"{OF}.send-overhead"
    assert of(sackless, "6.12.117-lasthop")[overhead] == "960 B"
    assert of(sackless, "6.18.44")[overhead] == "832 B"
    assert of(sackless, "6.18.44")[f"{OF}.send-merging"] is True
    assert overhead not in of(lh.load("validation/linux-bulk"), "6.12.117-lasthop")


def test_what_a_scenario_states_stays() -> None:
    stated = lh.load("validation/linux-bulk").set({f"{OF}.ack-tick": "2 ms"})
    assert of(stated, "6.18.44") == {f"{OF}.quick-acks-again": True}


def test_keys_of_some_flows_alone_have_the_names_of_these() -> None:
    two = {"flows.a.tcp.ack-tick": "4 ms", "flows.b.tcp.ack-tick": "4 ms", "flows.b.tcp.cubic.tick": "4 ms"}
    assert in_words([two, two], {"a", "b"}) == "ack-tick = 4 ms, cubic.tick = 4 ms (b)"
    one = {"flows.a.tcp.quick-acks-again": True}
    assert in_words([one], {"a"}) == "quick-acks-again = true"
    assert in_words([one], {"a", "b"}) == "quick-acks-again = true (a)"
