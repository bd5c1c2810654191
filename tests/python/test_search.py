"""Random scenarios keep what must always hold, and broken files are read or refused with file and line.

A failing case is named by its number and printed as a file, made as small as it goes:
`./lasthop test --case NUMBER` shows the whole of it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import SOAK
from lasthop import _core
from lasthop.cli.main import invoke
from search.cases import case
from search.invariants import RULES, broken
from search.minimise import minimise
from search.mutations import Mutation
from search.stored import Stored, prepare
from search.traffic import VARIANTS
from search.tree import text
from search.trial import judge, observe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from search.invariants import Broken
    from search.observed import Observed

CASES = 10_000 if SOAK else 300
MUTATIONS = 20_000 if SOAK else 2_000
STORED = 5_000 if SOAK else 300
BLOCK = 100
STORED_BLOCK = 50
MUTATION_BLOCK = 500
SHOWN = 2
"""The number of failing cases of a block that are made smaller and printed."""


def blocks(count: int, size: int) -> list[range]:
    return [range(begin, min(begin + size, count)) for begin in range(0, count, size)]


def named(block: range) -> str:
    return f"{block[0]}-{block[-1]}"


@pytest.mark.parametrize("block", blocks(CASES, BLOCK), ids=named)
def test_random_scenarios_keep_what_must_always_hold(block: range) -> None:
    def trial(number: int) -> tuple[int, list[Broken]]:
        # Whether a run without traces repeats itself is looked at in every fourth case, or in all.
        return number, judge(case(number).tree, thorough=SOAK or number % 4 == 0)

    # Runs let other threads in.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = {number: found for number, found in pool.map(trial, block) if found}
    report = [f"case {number}: {one}" for number, found in failed.items() for one in found]
    for number, found in list(failed.items())[:SHOWN]:
        small = minimise(case(number).tree, found[0].rule, most_trials=100)
        report.append(f"\ncase {number}, made smaller; {found[0].rule} is broken by\n{text(small)}")
    if failed:
        pytest.fail("\n".join(report), pytrace=False)


@pytest.mark.parametrize("block", blocks(MUTATIONS, MUTATION_BLOCK), ids=named)
def test_broken_files_are_read_or_refused_with_file_and_line(block: range, tmp_path: Path) -> None:
    def trial(number: int) -> Iterator[str]:
        mutation = Mutation(number)
        return (f"mutation {number} of {mutation.file}: {fault}" for fault in mutation.faults(tmp_path))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for found in pool.map(lambda number: list(trial(number)), block) for fault in found]
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@pytest.mark.parametrize("block", blocks(MUTATIONS // 20, MUTATION_BLOCK), ids=named)
def test_the_command_line_says_of_broken_files_what_the_reader_says(
    block: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for mutation in map(Mutation, block):
        if not mutation.is_scenario:
            continue
        (tmp_path / "broken.toml").write_text(mutation.text, encoding="utf-8")
        code = invoke(["check", "broken.toml"])
        err = capsys.readouterr().err
        assert code in {0, 2}, f"mutation {mutation.number}: {code}: {err}"
        if code == 2:
            lines = err.rstrip("\n").split("\n")
            assert all(line.startswith("error: broken.toml:") for line in lines), f"{mutation.number}: {err}"


def test_a_number_makes_the_same_case_again_and_cases_meet_every_kind_of_part() -> None:
    drafts = [case(number) for number in range(200)]
    assert [case(number).text for number in range(5)] == [draft.text for draft in drafts[:5]]
    # What the reader refuses is not searched.
    assert sum(draft.refused for draft in drafts) < 0.3 * len(drafts)
    met = "\n".join(draft.text for draft in drafts)
    kinds = [
        "wired",
        "lossy",
        "wifi",
        "wimax",
        "trace",
        "frn",
        "lle-tcp",
        "proxy-tcp",
        "dynamic",
        "pcf",
        "waypoint",
    ]
    kinds += ["red", "codel", "fq-codel", "pie", "dualpi2", "mac80211", "accurate", "drop-head"]
    kinds += ["warning", "classic", "i-tcp", "m-tcp", "ilc-tcp", "snoop", "wtcp", "arq-proxy"]
    kinds += ["pareto-normal", "rates"]
    kinds += ["circle", "bulk", "file", "cbr", "poisson", "on-off", "ftp", "web", "mail", "mix", "ping"]
    missing = [word for word in (*kinds, *VARIANTS) if f'"{word}"' not in met]
    assert not missing
    assert met.count("udp = {}") > 10
    assert "reverse = { kind" in met
    assert "pause-at" in met


CELL: dict[str, Any] = {
    "run": {"duration": "4 s", "bin": "300 ms"},
    "nodes": {"host": {}, "ap": {}, "sta": {}},
    "links": {
        "wire": {"kind": "lossy", "nodes": ["host", "ap"], "rate": "2 Mbit/s", "delay": "10 ms"}
        | {"queue": "8 packets", "loss": {"rate": "2 %"}},
        "air": {"kind": "wifi", "nodes": ["ap", "sta"], "access-point": "ap", "arq": {"kind": "dynamic"}},
    },
    "flows": {
        "file": {"from": "host", "to": "sta", "app": {"kind": "file", "file": {"size": "50 kB"}}},
        "user": {"from": "host", "to": "sta", "app": {"kind": "mail", "mail": {"pause": "200 ms"}}},
        "datagrams": {
            "from": "host",
            "to": "sta",
            "app": {"kind": "cbr", "cbr": {"rate": "80 kbit/s"}},
            "udp": {},
        },
    },
}


def _account(seen: Observed, name: str, term: str, packets: int) -> None:
    terms = seen.accounts[name][0]
    terms[term] = (terms[term][0] + packets, terms[term][1])


def _stream(seen: Observed, name: str, **parts: object) -> None:
    stream = seen.accounts[name][1]
    assert stream is not None
    stream.update(parts)


def _station(seen: Observed, name: str, **parts: object) -> None:
    seen.tree = seen.tree | {"agents": {"station": {"kind": "i-tcp"}}}
    _stream(seen, name, **parts)


def _column(seen: Observed, channel: str, column: str, value: float) -> None:
    values = seen.traces[channel][column]
    values[len(values) // 2] = value


def _undone(seen: Observed) -> None:
    """A trace in which an undo brings back a window that a mark has kept down."""
    lines = [
        ("send", 0, 1448, 0, 10.0, 20.0),
        ("timeout", 0, 0, 0, 1.0, 5.0),
        ("mark", 0, 0, 0, 1.0, 5.0),
        ("undo", 0, 0, 0, 10.0, 20.0),
    ]
    event, *numbers = zip(*lines, strict=True)
    names = ("seq", "len", "ack", "cwnd", "ssthresh")
    columns = {name: np.asarray(column) for name, column in zip(names, numbers, strict=True)}
    times = np.asarray([0.1, 0.5, 0.6, 0.6])
    seen.traces["tcp"] = {"time_s": times, "flow": ["file"] * len(lines), "event": list(event), **columns}


def _leap(seen: Observed, flow: str) -> None:
    """In avoidance the window is twice what it was at the event before."""
    rows = seen.traces["tcp"]
    of_flow = np.flatnonzero(np.asarray(rows["flow"]) == flow)
    place = of_flow[np.asarray(rows["event"])[of_flow] == "ack"][-1]
    before = of_flow[of_flow < place][-1]
    rows["event"][before] = "send"
    rows["ssthresh"][[before, place]] = 2.0
    rows["cwnd"][before], rows["cwnd"][place] = 10.0, 20.0


# One wrong result for each rule, which the rule must detect.
LIES: dict[str, Callable[[Observed], object]] = {
    "packets_are_conserved": lambda seen: _account(seen, "file", "lost", 1),
    "nothing_is_repeated_but_by_slots_and_wires": lambda seen: _account(seen, "file", "repeated", 1),
    "losses_are_counted_where_they_happen": lambda seen: _account(seen, "file", "lost", 100_000),
    "marks_are_of_flows_that_use_ecn": lambda seen: seen.metrics.update({"links.wire.marks": 3.0}),
    "datagrams_are_received_once": lambda seen: seen.metrics.update(
        {"flows.datagrams.packets_received": 1e6}
    ),
    "streams_are_in_order": lambda seen: _stream(seen, "file", acknowledged=60_000),
    "what_stations_acknowledge_is_counted": lambda seen: _station(seen, "file", received=1_000),
    "whoever_waits_has_a_timer": lambda seen: _stream(seen, "file", is_stalled=True),
    "a_completed_file_is_whole": lambda seen: _stream(seen, "file", received=49_999),
    "goodput_is_what_arrived": lambda seen: seen.metrics.update({"flows.file.goodput_bps": 7.0}),
    "transfers_are_counted": lambda seen: seen.transfers["lasted_s"].__setitem__(0, -1.0),
    "metrics_are_numbers": lambda seen: seen.metrics.update({"flows.file.timeouts": 1.5}),
    "metrics_are_in_order": lambda seen: seen.metrics.update({"flows.file.rtt_p95_s": 9.0}),
    "airtime_adds_up": lambda seen: seen.metrics.update({"links.air.airtime_idle_s": 0.0}),
    "events_are_below_the_estimate": lambda seen: seen.estimate.update(events=10.0),
    "the_run_goes_to_its_end": lambda seen: seen.settings.update({"run.duration": "5 s"}),
    "traced_times_go_forward": lambda seen: _column(seen, "queue", "time_s", -1.0),
    "a_mark_is_answered_once_a_round_trip": _undone,
    "windows_have_a_segment": lambda seen: _column(seen, "cwnd", "cwnd", 0.5),
    "windows_grow_by_half_a_round_trip": lambda seen: _leap(seen, "file"),
    "round_trips_are_times": lambda seen: _column(seen, "rtt", "rto_s", 1e9),
    "queues_hold_what_they_have_room_for": lambda seen: seen.traces["queue"]["packets"].fill(99),
    "events_are_those_of_the_accounts": lambda seen: _account(seen, "file", "entered", 1),
    "frames_end_once_and_are_of_a_packet_that_was_made": lambda seen: seen.traces["events"]["frame"].fill(7),
}


@pytest.fixture(scope="module")
def observed() -> Observed:
    tree = deepcopy(CELL)
    seen = observe(_core.Scenario.from_text(text(tree), "cell.toml"), tree)
    assert not broken(seen)
    return seen


@pytest.mark.parametrize("rule", LIES)
def test_each_rule_finds_the_lie_it_is_there_for(observed: Observed, rule: str) -> None:
    seen = observed.copy()
    LIES[rule](seen)
    assert rule in {one.rule for one in broken(seen)}


def test_no_rule_is_without_its_lie() -> None:
    # The one of slots needs a slotted network: the faults that it was written for are in its history.
    assert {rule.__name__ for rule in RULES} - LIES.keys() == {"slots_deliver_or_lose_what_enters"}


def test_a_failing_case_is_made_smaller_and_still_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rule that every scenario with datagrams breaks, only datagrams and what they need remain."""

    def nobody_sends_datagrams(seen: Observed) -> Iterator[str]:
        yield from (name for name, flow in seen.tree["flows"].items() if "udp" in flow)

    monkeypatch.setattr("search.invariants.RULES", [nobody_sends_datagrams])
    small = minimise(deepcopy(CELL), "nobody_sends_datagrams")
    assert list(small["flows"]) == ["datagrams"]
    assert "loss" not in small["links"]["wire"]
    assert "bin" not in small["run"]


@pytest.mark.skipif("LASTHOP_CORE" not in os.environ, reason="the checked extension is for CI and --soak")
def test_the_extension_under_test_is_the_checked_one() -> None:
    assert _core.is_checked
    assert _core.__file__ == os.environ["LASTHOP_CORE"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study, its archive and a run, to be changed."""
    folder = tmp_path_factory.mktemp("stored")
    prepare(folder)
    return folder


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("block", blocks(STORED, STORED_BLOCK), ids=named)
def test_changed_files_are_read_or_refused_and_outputs_leave_alone_what_is_there(
    stored: Path, block: range, tmp_path: Path
) -> None:
    faults = [fault for number in block for fault in Stored(number, stored).faults(tmp_path)]
    assert faults == []
