"""Quick runs: whether they confirm what is on record, and what is printed of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lasthop.papers import terminal
from lasthop.papers.claims import AGREES, DIFFERS, READING, Band, Claim, Finding
from lasthop.papers.confirm import CONFIRMS, CONTRADICTS, NOT_COMPARED, compared
from lasthop.papers.paper import known, paper
from lasthop.papers.reproduce import Reproduction
from lasthop.papers.results import Outcome
from lasthop.stats.intervals import Interval, t_factor


def gain(**more: object) -> Claim:
    made = {"kind": "gain", "metric": "flows.main.goodput_bps", **more}
    return Claim(
        "x",
        "",
        "main",
        band=Band(0.1, 0.3),
        paper=20,
        expected="20 ± 50 %",
        unit="%",
        **made,  # type: ignore[arg-type]
    )


def recorded(mean: float = 20.0, spread: float = 1.0, n: int = 10) -> Outcome:
    half = t_factor(n) * spread / n**0.5
    return Outcome(mean, mean - half, mean + half, n, AGREES)


def told(now: float, n: int = 2, *, claim: Claim | None = None, shorter: float = 1.0, among: int = 1) -> str:
    return compared(
        claim or gain(), recorded(), Outcome(now, None, None, n, ""), shorter=shorter, among=among
    )


def test_a_mean_outside_the_prediction_interval_contradicts_the_record() -> None:
    # t(9) at 1 % is 3.250, and sqrt(1 / 10 + 1 / 2) is 0.7746.
    assert told(20 + 2.51) == told(20 - 2.51) == CONFIRMS
    assert told(20 + 2.53) == told(20 - 2.53) == CONTRADICTS
    # Over a hundred claims the interval of each is wider: t(9) at 0.01 % is 6.594.
    assert told(20 + 5.10, among=100) == CONFIRMS
    assert told(20 + 5.12, among=100) == CONTRADICTS


def test_shorter_runs_vary_more_and_have_more_of_their_start() -> None:
    # t(9) sqrt(1 / 10 + 4 / 2) is 4.710; a quarter of 20 % and three points are 8.
    assert told(20 + 12.7, shorter=4.0) == CONFIRMS
    assert told(20 + 12.8, shorter=4.0) == CONTRADICTS


def test_runs_that_vary_more_than_the_record_contradict_it_less() -> None:
    now = Outcome(24.0, 24.0 - t_factor(2) * 3.0, 24.0 + t_factor(2) * 3.0, 2, "")
    assert compared(gain(), recorded(), now, shorter=1.0, among=1) == CONFIRMS
    assert told(24.0) == CONTRADICTS


def test_what_depends_on_the_length_of_runs_or_needs_many_is_not_compared() -> None:
    events = gain(kind="mean", metric="flows.main.timeouts")
    assert told(90.0, claim=replace(events, unit=""), shorter=4.0) == NOT_COMPARED
    assert told(90.0, claim=replace(events, unit="")) == CONTRADICTS
    assert told(90.0, claim=gain(metric="flows.main.jain_index"), shorter=2.0) == NOT_COMPARED
    assert told(90.0, claim=gain(kind="best")) == told(90.0, claim=gain(one_run=True)) == NOT_COMPARED
    none = Outcome(1.0, None, None, 1, AGREES)
    assert compared(gain(), none, Outcome(1.0, None, None, 2, ""), shorter=1.0, among=1) == NOT_COMPARED


def quick(name: str, change: dict[str, float], shorter: float) -> Reproduction:
    """Quick runs that give what is on record, but for claims whose id begins with a text."""
    one = paper(name)
    findings = []
    for claim in one.claims:
        found = one.results.claims.get(claim.id)
        if claim.role == READING or found is None or found.mean is None:
            continue
        new = next((mean for begin, mean in change.items() if claim.id.startswith(begin)), found.mean)
        findings.append(Finding(claim, Interval(new * claim.scale, None, None, 2), "cannot tell", ""))
    among = sum(claim.role != READING for known_ in known() for claim in paper(known_).claims)
    lengths = dict.fromkeys(one.studies, shorter)
    return Reproduction(one, True, Path(), findings, among=among, shorter=lengths)


@pytest.mark.parametrize("name", known())
def test_runs_that_give_what_is_on_record_confirm_it(name: str) -> None:
    result = quick(name, {}, 10.0)
    assert CONTRADICTS not in result.compared().values()
    assert CONFIRMS in result.confirmed().values()
    assert result.worse() == []


@pytest.mark.parametrize(
    ("name", "fault", "noticed", "agreed"),
    [
        # No acknowledgement is suppressed: nothing is gained.
        ("lle-tcp", {"fig07/gain": 0.0, "fig05/": 0.0}, "fig07/gain-1024", True),
        # The window is halved at each loss: what Reno does.
        ("ejtcp", {"fig10/": 0.0, "fig11/": 0.0}, "fig10/newreno-1-5", True),
        # What failed is repeated at once: what the baseline carries.
        ("dynamic-arq", {"table1/dynamic": 272.0, "control/": 0.0}, "table1/dynamic-uniform", False),
    ],
)
def test_a_broken_scheme_is_noticed_by_quick_runs(
    name: str, fault: dict[str, float], noticed: str, agreed: bool
) -> None:
    result = quick(name, fault, 5.0)
    assert result.compared()[noticed] == CONTRADICTS
    # What did not agree before cannot get worse.
    assert (noticed in result.worse()) is agreed
    text = terminal.paragraph(result, 80, lambda text, _: text)
    assert "not confirmed: " in text
    assert ("worse than recorded: " in text) is agreed
    assert len(text.splitlines()) <= 8


def test_a_paper_takes_at_most_eight_lines_of_a_terminal() -> None:
    for name in known():
        text = terminal.paragraph(quick(name, {}, 10.0), 80, lambda text, _: text)
        assert len(text.splitlines()) <= 8, text
        assert max(map(len, text.splitlines())) <= 100, text
        assert paper(name).finding[:30] in text


def test_no_interval_is_printed_of_fewer_than_five_runs() -> None:
    few = Finding(gain(), Interval(0.2, -1.0, 1.4, 2), DIFFERS, "", (0.15, 0.25))
    assert terminal.measured(few) == "20.00 % (15.00 to 25.00, n = 2)"
    assert (
        terminal.measured(replace(few, ours=Interval(0.2, 0.2, 0.2, 3), each=(0.2, 0.2, 0.2)))
        == "20.00 % (n = 3)"
    )
    many = replace(few, ours=Interval(0.2, 0.1, 0.3, 5), each=())
    assert terminal.measured(many) == "20.00 [10.00, 30.00] %"
