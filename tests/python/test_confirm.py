"""Quick runs: whether they confirm what is on record, and what is printed of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lasthop.papers import terminal
from lasthop.papers.claims import DIFFERS, READING, Band, Claim, Finding
from lasthop.papers.confirm import CONFIRMS, CONTRADICTS, NOT_COMPARED, compared
from lasthop.papers.paper import known, paper
from lasthop.papers.reproduce import Reproduction
from lasthop.papers.results import Repeated
from lasthop.stats.intervals import Interval


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


def told(now: float | None, *, spread: float = 1.0, among: int = 1) -> str:
    return compared(Repeated(20.0, spread, 10), now, among=among)


def test_a_value_outside_the_prediction_interval_contradicts_the_record() -> None:
    # t(9) at 1 % is 3.250, and sqrt(1 + 1 / 10) is 1.0488.
    assert told(20 + 3.40) == told(20 - 3.40) == CONFIRMS
    assert told(20 + 3.42) == told(20 - 3.42) == CONTRADICTS
    # Over a hundred claims the interval of each is wider: t(9) at 0.01 % is 6.594.
    assert told(20 + 6.91, among=100) == CONFIRMS
    assert told(20 + 6.93, among=100) == CONTRADICTS


def test_where_the_record_does_not_vary_any_other_value_contradicts_it() -> None:
    assert told(20.0, spread=0.0) == told(20.000001, spread=0.0) == CONFIRMS
    assert told(20.1, spread=0.0) == told(19.9, spread=0.0) == CONTRADICTS


def test_what_is_not_on_record_or_not_measured_is_not_compared() -> None:
    assert told(None) == compared(None, 20.0, among=1) == NOT_COMPARED


def test_the_record_has_the_mean_and_the_spread_of_what_quick_runs_gave() -> None:
    assert Repeated.of([1.0, 2.0, 6.0]) == Repeated(3.0, 2.645751, 3)
    assert Repeated.of([1.0]) == Repeated(1.0, 0.0, 1)


def quick(name: str, change: dict[str, float]) -> Reproduction:
    """Quick runs that give what is on record, but for claims whose id begins with a text."""
    one = paper(name)
    findings = []
    for claim in one.claims:
        found = one.results.quick.get(claim.id)
        if found is None:
            continue
        new = next((mean for begin, mean in change.items() if claim.id.startswith(begin)), found.mean)
        findings.append(Finding(claim, Interval(new * claim.scale, None, None, 2), "cannot tell", ""))
    among = sum(claim.role != READING for known_ in known() for claim in paper(known_).claims)
    return Reproduction(one, True, Path(), findings, among=among)


@pytest.mark.parametrize("name", known())
def test_runs_that_give_what_is_on_record_confirm_it(name: str) -> None:
    result = quick(name, {})
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
        ("dynamic-arq", {"table2/less-": 0.0, "text/better-": 0.0}, "table2/less-2", False),
    ],
)
def test_a_broken_scheme_is_noticed_by_quick_runs(
    name: str, fault: dict[str, float], noticed: str, agreed: bool
) -> None:
    result = quick(name, fault)
    assert result.compared()[noticed] == CONTRADICTS
    # What did not agree before cannot get worse, nor what no difference at all still meets.
    assert (noticed in result.worse()) is agreed
    text = terminal.paragraph(result, 80, lambda text, _: text)
    assert "not confirmed: " in text
    assert ("worse than recorded: " in text) is agreed
    assert len(text.splitlines()) <= 8


def test_a_paper_takes_at_most_eight_lines_of_a_terminal() -> None:
    for name in known():
        text = terminal.paragraph(quick(name, {}), 80, lambda text, _: text)
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
