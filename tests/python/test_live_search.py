"""Kernels at both ends survive what a live network does, and nothing is left of a run that a signal ends.

`python -m search.live --case NUMBER`, in this folder, shows a case that fails.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import pytest

from lasthop.realtime import tcp
from search.live import signals, trial
from search.live.cases import AGENTS, DISTURBANCES, LAWS, QUIC_FROM, RADIOS, WIRES, Case, case

SOAK = "LASTHOP_SOAK" in os.environ
# Short ones, in which each agent acts.
CHOSEN = (7, 13, 34, 42, 186, 188, 201, 215, 622)
CASES = range(216) if SOAK else CHOSEN
BY_QUIC = range(QUIC_FROM, QUIC_FROM + 60) if SOAK else (10_001, 10_002, 10_005)
INSTANTS = 50 if SOAK else 1

needs_tun = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.W_OK), reason="/dev/net/tun cannot be written"
)


@needs_tun
@pytest.mark.parametrize("number", CASES)
def test_connections_of_kernels_end_whole_and_in_time(number: int) -> None:
    chosen = case(number)
    if chosen.law not in tcp.laws():
        pytest.skip(f"this kernel has no {chosen.law}")
    expect_no_fault(chosen)


@needs_tun
@pytest.mark.skipif(find_spec("aioquic") is None, reason="aioquic is not installed")
@pytest.mark.parametrize("number", BY_QUIC)
def test_transfers_by_quic_end_whole_and_in_time(number: int) -> None:
    expect_no_fault(case(number))


def expect_no_fault(chosen: Case) -> None:
    faults = trial.judge(chosen).faults
    if faults:
        pytest.fail("\n".join([chosen.label, *faults, chosen.text]), pytrace=False)


@needs_tun
@pytest.mark.parametrize("instant", range(INSTANTS))
def test_nothing_is_left_of_a_run_that_a_signal_ends_at_a_random_instant(instant: int) -> None:
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda number: signals.left(number, instant), signals.SIGNALS)
        assert [one for left in found for one in left] == []


def test_cases_meet_every_agent_law_link_and_disturbance() -> None:
    cases = [case(number) for number in range(216)]
    assert [case(number).text for number in range(5)] == [one.text for one in cases[:5]]
    links = Counter(one.link for one in cases)
    assert min(links[link] for link in (*RADIOS, *WIRES)) >= 5, links
    met = Counter((one.agent, one.law) for one in cases)
    assert min(met[agent, law] for agent in AGENTS for law in LAWS) >= 5, met
    disturbed = Counter(what for one in cases for what in one.disturbances)
    assert min(disturbed[what] for what in DISTURBANCES) >= 5, disturbed


END = {"read": 10, "written": 5, "fault": None, "is_over": True, "info": {}, "samples": []}
CONNECTION = {"name": "0.0", "reset": None, "client": {"size": 5}, "server": {"size": 10}}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"read": 9}, ["0.0 client: 9 of 10 read"]),
        ({"is_over": False}, ["0.0 client: hangs after 10 of 10 read: {}"]),
        ({"fault": "differs at byte 3 of 10"}, ["0.0 client: differs at byte 3 of 10"]),
    ],
)
def test_an_end_that_is_wrong_is_reported(change: dict[str, Any], expected: list[str]) -> None:
    assert list(trial.faults_of(CONNECTION, "client", END | change)) == expected


@pytest.mark.parametrize(("is_safe", "beyond"), [(False, [300, 800]), (True, [100])])
def test_what_is_acknowledged_before_it_has_arrived_is_reported(*, is_safe: bool, beyond: list[int]) -> None:
    def end(*samples: tuple[float, int, int, int]) -> dict[str, Any]:
        return {"samples": [(at, at, acked, received, window, 0) for at, acked, received, window in samples]}

    def ends(acked: int) -> dict[str, Any]:
        sender, receiver = end((1.0, acked + 2, 0, 0)), end((0.9, 0, 400, 900), (1.1, 0, 500, 700))
        return {"client": {"connections": {"0.0": sender}}, "server": {"connections": {"0.0": receiver}}}

    found = [fault for acked in (500, 800, 1300) for fault in trial.ahead(ends(acked), is_safe=is_safe)[1]]
    assert found == [
        f"0.0 client: {number} bytes acknowledged that the other end cannot have" for number in beyond
    ]
