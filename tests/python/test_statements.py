"""Published statements: what holds of several claims together, under one reading and over all."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from lasthop.base.errors import UsageError
from lasthop.papers import page
from lasthop.papers.claims import AGREES, CANNOT_TELL, DIFFERS, Band, Claim, Finding
from lasthop.papers.paper import Paper
from lasthop.papers.reproduce import Reproduction
from lasthop.papers.results import Outcome, Repeated, Results, read, write
from lasthop.papers.statements import (
    BY_READING,
    STATEMENT_VERDICTS,
    Row,
    Statement,
    best,
    counts,
    rows,
    worse,
)
from lasthop.stats.intervals import Interval


def claim(ident: str, **more: object) -> Claim:
    role = "reading" if "reading" in more else "paper"
    made = {"statement": "s", "role": role, **more}
    return Claim(ident, "", "main", "gain", "m", Band(0.2, math.inf), 20, "≥ 20", "%", **made)  # type: ignore[arg-type]


def outcome(verdict: str, mean: float = 30.0) -> Outcome:
    return Outcome(mean, mean - 1, mean + 1, 10, verdict)


RANGE = [claim("reno"), claim("westwood")]
OTHERS = [
    claim("reno-1s", reading={"floor": "1 s"}),
    claim("westwood-1s", reading={"floor": "1 s"}),
    claim("both", reading={"losses": "both"}),
]


def row(claims: list[Claim], results: Results) -> Row:
    (found,) = rows([Statement("s", "4.1", "EJTCP is ahead of each.")], claims, results)
    return found


@pytest.mark.parametrize(
    ("reno", "westwood", "verdict"),
    [
        (AGREES, AGREES, AGREES),
        (AGREES, CANNOT_TELL, CANNOT_TELL),
        (AGREES, DIFFERS, DIFFERS),
        (CANNOT_TELL, DIFFERS, DIFFERS),
    ],
)
def test_a_statement_holds_if_all_that_it_says_does(reno: str, westwood: str, verdict: str) -> None:
    found = row(RANGE, Results({"reno": outcome(reno), "westwood": outcome(westwood, 5.0)}))
    assert found.verdict == verdict
    # The least favourable claim is shown.
    assert found.figures.claim.id == "westwood"
    assert page.ours(found) == "5.000 [4.000, 6.000] % (worst of 2 claims: `westwood`)"


def test_another_reading_meets_a_statement_only_with_all_of_its_claims() -> None:
    figures = {"reno": outcome(AGREES), "westwood": outcome(DIFFERS, -30.0)}
    under = {"reno-1s": outcome(AGREES, 40.0), "westwood-1s": outcome(DIFFERS, -40.0)}
    found = row([*RANGE, *OTHERS], Results({**figures, **under}))
    assert (found.verdict, list(found.others)) == (DIFFERS, ["floor: 1 s"])
    assert page.extremes(found) == "-40.0 to -30.0 %"
    under["westwood-1s"] = outcome(AGREES, 21.0)
    found = row([*RANGE, *OTHERS], Results({**figures, **under}))
    assert (found.verdict, found.agrees_under) == (BY_READING, ["floor: 1 s"])
    one = Paper("x", "", {}, [], [], Results(), Path("x.claims.toml"))
    assert page.verdict(found, one) == "by reading (floor: 1 s)"
    assert page.extremes(found) == "-30.0 to 21.0 %"
    assert best([found]) == ("floor: 1 s", 1, 1)
    assert counts([found]) == {AGREES: 0, BY_READING: 1, CANNOT_TELL: 0, DIFFERS: 0}
    # A reading run by itself counts if every claim of the paper was judged under it.
    figures["westwood"] = outcome(CANNOT_TELL)
    part = Results(figures, {"tahoe": {"reno": outcome(AGREES)}})
    assert row(RANGE, part).others == {}
    whole = Results(figures, {"tahoe": {"reno": outcome(AGREES), "westwood": outcome(AGREES)}})
    assert row(RANGE, whole).verdict == BY_READING


def test_the_reading_of_the_figures_with_fewer_runs_is_no_other_reading(tmp_path: Path) -> None:
    head = {"readings": {"figures": {"title": "as in the figures"}, "sack": {"title": "", "set": {"a": "b"}}}}
    under = {name: {"reno": outcome(AGREES)} for name in head["readings"]}
    record = Results({"reno": outcome(AGREES)}, under)
    stated = [Statement("s", "", "")]
    one = Paper("x", "", {}, [claim("reno")], stated, record, tmp_path / "x.claims.toml", head)
    assert one.rows()[0].agrees_under == ["sack"]
    assert one.rows({"reno": outcome(DIFFERS)})[0].verdict == BY_READING
    del record.readings["sack"]
    assert one.rows({"reno": outcome(DIFFERS)})[0].verdict == DIFFERS


def test_a_quick_run_has_the_verdicts_on_record(tmp_path: Path) -> None:
    claims = [claim("reno"), OTHERS[2]]
    record = Results({"reno": outcome(AGREES), "both": outcome(AGREES)})
    one = Paper("x", "", {}, claims, [Statement("s", "", "")], record, tmp_path / "x.claims.toml")
    found = Finding(claims[0], Interval(0.05, None, None, 1), CANNOT_TELL, "")
    now = Reproduction(one, quick=True, folder=Path(), findings=[found])
    (stated,) = now.as_dict()["statements"]
    assert stated["verdict"] == AGREES
    # A paper without a record has only what the quick run gives.
    one.results = Results()
    assert now.as_dict()["statements"][0]["verdict"] == CANNOT_TELL


def test_numbers_in_a_text_are_those_on_record(tmp_path: Path) -> None:
    record = Results(
        {"reno": Outcome(-30.0, -31.5, -28.5, 10, AGREES), "one": Outcome(4.0, 4.0, 4.0, 2, AGREES)}
    )
    head = {"readings": {"sack": {}, "tahoe": {}}}
    claims = [claim("reno"), claim("one")]
    one = Paper("x", "", {}, claims, [], record, tmp_path / "x.claims.toml", head)
    text = "It loses <!-- -reno -->12 %<!-- --> and gains <!-- one --> <!-- -->; <!-- a b -->."
    now = page.with_numbers(text, one)
    assert now == (
        "It loses <!-- -reno -->30.0 ± 1.5 %<!-- --> and gains <!-- one -->4.00 %<!-- -->; <!-- a b -->."
    )
    assert page.with_numbers(now, one) == now
    record.readings["sack"] = {"one": outcome(AGREES, 5.0)}
    under = page.with_numbers("<!-- one@sack --><!-- --> <!-- one@tahoe --><!-- -->", one)
    assert under == "<!-- one@sack -->5.0 ± 1.0 %<!-- --> <!-- one@tahoe -->– %<!-- -->"
    with pytest.raises(UsageError, match=r"x\.md: ren: is not a claim"):
        page.with_numbers("<!-- ren -->1<!-- -->", one)
    with pytest.raises(UsageError, match=r"x\.md: sac: is not a reading; did you mean \"sack\""):
        page.with_numbers("<!-- one@sac -->1<!-- -->", one)


def test_a_reading_of_a_search_is_shown_by_what_it_changes_for_the_statement(tmp_path: Path) -> None:
    floor = {"title": "", "options": {"0.2 s": {}, "1 s": {"set": {"a": "b"}, "only": ["main"]}}}
    queue = {"title": "", "options": {"100": {}, "50": {"set": {"q": "50"}, "only": ["other"]}}}
    of = {"title": "", "options": {"all": {}, "half": {}}}
    head = {"switches": {"floor": floor, "queue": queue, "of": of}}
    departs = {"floor": "1 s", "queue": "50", "of": "half"}
    met = {"s": {"claim": "reno", "mean": 30.0, "n": 20, "verdict": AGREES}}
    found = {"switches": departs, "departs": departs, "confirmed": True, "statements": met}
    record = Results({"reno": outcome(DIFFERS)}, search={"reading": [found]})
    studies = {"main": {}, "other": {}}
    stated = [Statement("s", "", "")]
    one = Paper("x", "", studies, [claim("reno")], stated, record, tmp_path / "x.claims.toml", head)
    assert page.verdict(one.rows()[0], one) == "by reading (search 1, floor: 1 s)"
    half = claim("half", reading={"of": "half"})
    one.claims.append(half)
    assert page.verdict(one.rows()[0], one) == "by reading (search 1, floor: 1 s, of: half)"


def test_by_reading_is_worse_than_agreeing_and_better_than_not_knowing() -> None:
    assert STATEMENT_VERDICTS == (AGREES, BY_READING, CANNOT_TELL, DIFFERS)
    for i, before in enumerate(STATEMENT_VERDICTS):
        for j, now in enumerate(STATEMENT_VERDICTS):
            assert worse({"s": now}, {"s": before}, STATEMENT_VERDICTS) == (["s"] if j > i else [])
    assert worse({"new": DIFFERS}, {}, STATEMENT_VERDICTS) == []


def test_a_statement_that_now_holds_by_reading_alone_is_worse_than_recorded(tmp_path: Path) -> None:
    claims = [claim("reno"), OTHERS[2]]
    record = Results({"reno": outcome(AGREES), "both": outcome(AGREES)})
    one = Paper("x", "", {}, claims, [Statement("s", "", "")], record, tmp_path / "x.claims.toml")
    found = Finding(claims[0], Interval(0.05, 0.01, 0.09, 10), DIFFERS, "")
    now = Reproduction(one, quick=False, folder=Path(), findings=[found])
    assert [row.verdict for row in now.rows()] == [BY_READING]
    assert now.worse() == ["s", "reno"]


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    results = Results(
        {
            "a/1 %": Outcome(1.5, 1.25, 1.75, 3, AGREES, 'with a "note"'),
            "b": Outcome(None, None, None, 0, CANNOT_TELL),
        },
        {"figures": {"b": outcome(DIFFERS)}},
        {"seed": 1, "decides": {"s": "floor: 1 s 2 of 2"}, "reading": [{"switches": {"a b": "c"}, "met": 2}]},
        {"b": Repeated(1.5, 0.25, 10)},
        {"main": 0.001},
        {"main": 1.5},
        {"claims.main": "3", "readings.figures": "4"},
    )
    path = tmp_path / "x.results.toml"
    write(path, results)
    assert read(path) == results
    assert read(tmp_path / "none.toml") == Results()


@pytest.mark.parametrize(
    ("kind", "band", "paper", "effect"),
    [
        ("gain", Band(0.042, 0.078, 0.018), 6.0, 6.0),
        ("ratio", Band(1.7, 2.3, 0.3), 1.96, pytest.approx(0.96)),
        ("gain", Band(0.2, math.inf), 20.0, 20.0),
        # "At most 2 % worse", "better" and a level do not claim an effect of a certain size.
        ("gain", Band(-0.02, math.inf), -2.0, None),
        ("gain", Band(0.001, math.inf), 0.1, None),
        ("mean", Band(8.7, 9.3, 0.3), 9.0, None),
    ],
)
def test_an_effect_is_what_the_paper_claims_beyond_none(
    kind: str, band: Band, paper: float, effect: float | None
) -> None:
    assert replace(claim("x"), kind=kind, band=band, paper=paper).effect == effect


def test_the_runs_that_would_tell_an_effect_are_named(tmp_path: Path) -> None:
    gain = replace(claim("x"), kind="best", paper=6.0, band=Band(0.042, 0.078, 0.018))
    wide = Results({"x": Outcome(2.0, -10.0, 14.0, 10, CANNOT_TELL)})
    one = Paper("x", "X", {}, [gain], [Statement("s", "4.3", "More.")], wide, tmp_path / "x.claims.toml")
    # Twice as wide as the effect: four times the runs, and as many again to choose by.
    assert "| x | 6.000 % | ± 12.00 | 10 | 80 |" in page.details(one)
    wide.claims["x"] = Outcome(2.0, -3.0, 7.0, 10, CANNOT_TELL)
    assert "cannot tell the claimed effect" not in page.details(one)
