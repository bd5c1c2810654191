"""The verdict rule, the kinds of claims, and the record they are compared with."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from lasthop.base.errors import UsageError
from lasthop.papers.claims import AGREES, CANNOT_TELL, DIFFERS, Band, Claim, Finding, read
from lasthop.papers.measure import judge
from lasthop.papers.page import number
from lasthop.papers.paper import Paper, paper
from lasthop.papers.reproduce import Reproduction
from lasthop.papers.results import Outcome, Results
from lasthop.papers.statements import Statement
from lasthop.stats.intervals import Interval, interval
from studies import FakeStudy

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.study.study import Study

METRIC = "flows.main.goodput_bps"


@pytest.mark.parametrize(
    ("low", "mean", "high", "verdict"),
    [
        (99.0, 100.0, 101.0, AGREES),
        (93.0, 100.0, 107.0, AGREES),
        (101.0, 107.0, 113.0, AGREES),
        (90.0, 100.0, 110.0, CANNOT_TELL),
        (107.0, 109.0, 111.0, CANNOT_TELL),
        (108.5, 109.0, 109.5, DIFFERS),
        (50.0, 60.0, 70.0, DIFFERS),
    ],
)
def test_an_interval_is_judged_against_a_tolerance(
    low: float, mean: float, high: float, verdict: str
) -> None:
    assert Band(92.0, 108.0, 8.0).judge(Interval(mean, low, high, 10)) == verdict


def test_a_bound_wants_the_whole_interval_on_its_side() -> None:
    at_least = Band(1.2, math.inf)
    assert at_least.judge(Interval(1.3, 1.21, 1.39, 5)) == AGREES
    assert at_least.judge(Interval(1.3, 1.1, 1.5, 5)) == CANNOT_TELL
    assert at_least.judge(Interval(1.0, 0.9, 1.1, 5)) == DIFFERS


def test_one_run_cannot_tell() -> None:
    assert Band(0.0, 2.0, 1.0).judge(Interval(1.0, None, None, 1)) == CANNOT_TELL


def verdict_on(one: Claim) -> Finding:
    return judge(one, cast("Study", FakeStudy(POINTS)))


def claim(kind: str, band: Band, **more: object) -> Claim:
    return Claim("x/1", "", "main", kind, METRIC, band, None, "", "", **more)  # type: ignore[arg-type]


POINTS = [
    ({"variant": v, "loss": x}, [base * scale + k for k in range(4)])
    for v, scale in (("reno", 1.0), ("sack", 2.0))
    for x, base in (("1 %", 100.0), ("2 %", 50.0))
]


SACK_OVER_RENO = {"this": {"variant": "sack"}, "that": {"variant": "reno"}}


@pytest.mark.parametrize(
    ("kind", "more", "mean"),
    [
        ("mean", {"at": {"variant": ("reno",), "loss": ("1 %",)}}, 101.5),
        ("mean", {"at": {"variant": ("reno",), "loss": ("1 %", "2 %")}}, 76.5),
        ("difference", {"at": {"loss": ("0.01",)}, **SACK_OVER_RENO}, 100.0),
        ("ratio", {"at": {"loss": ("1 %",)}, **SACK_OVER_RENO}, 201.5 / 101.5),
        ("gain", {"at": {"loss": ("1 %",)}, **SACK_OVER_RENO}, 100 / 101.5),
        ("saving", {"at": {"loss": ("1 %",)}, **SACK_OVER_RENO}, -100 / 101.5),
        ("order", {"key": "variant", "order": ("sack", "reno")}, 75.0),
        ("order", {"key": "variant", "order": ("sack", "reno"), "each": True}, 50.0),
    ],
)
def test_each_kind_of_claim_measures_what_it_says(kind: str, more: dict[str, object], mean: float) -> None:
    found = verdict_on(claim(kind, Band(-2.0, math.inf), **more))
    low, middle, high = found.ours.low, found.ours.mean, found.ours.high
    assert middle == pytest.approx(mean)
    assert low is not None
    assert high is not None
    assert low <= middle <= high
    assert found.ours.n == 4
    assert found.verdict == AGREES


# Windows that are fixed where low and high are the same. The best by their means are 5 to 9 and 9 to 9.
WINDOWS = [
    ({"low": low, "high": high}, values)
    for low, high, values in (
        ("5", "5", [10.0, 28.0]),
        ("5", "9", [26.0, 18.0]),
        ("9", "5", [90.0, 90.0]),
        ("9", "9", [21.0, 19.0]),
        ("5", "13", [12.0, 22.0]),
    )
]


def test_the_best_of_some_points_is_held_against_the_best_of_others() -> None:
    best = {"best": "low < high", "over": "low = high"}
    study = cast("Study", FakeStudy(WINDOWS))
    found = judge(claim("best", Band(0.0, math.inf), **best), study)
    # Chosen by the first run and compared by the second.
    assert found.ours.mean == pytest.approx(18 / 19 - 1)
    assert (found.ours.n, found.note) == (1, "low 5, high 9 over low 9, high 9")
    # In each run by itself: 26 over 21, and 22 over 28.
    found = judge(claim("best", Band(0.0, math.inf), each_run=True, **best), study)
    assert found.ours.mean == pytest.approx((26 / 21 + 22 / 28) / 2 - 1)
    # Where `at` leaves one window.
    found = judge(
        claim("best", Band(0.0, math.inf), at={"low": ("9",)}, best="high < low", over="high = low"), study
    )
    assert (found.ours.mean, found.note) == (pytest.approx(90 / 19 - 1), "high 5 over high 9")
    nothing = judge(claim("best", Band(0.0, math.inf), best="low > 20", over="low = high"), study)
    assert (nothing.verdict, nothing.note) == (CANNOT_TELL, "not simulated")


def test_the_best_of_many_is_not_ahead_of_the_best_of_few_by_their_number() -> None:
    """Two sets of windows that are all alike, 20 in one and 5 in the other: 200 studies of 8 runs each."""
    draw = Random(7)
    fair, tilted = [], []
    for _ in range(200):
        points = [
            ({"low": str(low), "high": str(high)}, [draw.gauss(100.0, 20.0) for _ in range(8)])
            for low, high in [*((1, high) for high in range(2, 22)), *((n, n) for n in range(1, 6))]
        ]
        study = cast("Study", FakeStudy(points))
        found = judge(claim("best", Band(-1.0, 1.0), best="low < high", over="low = high"), study)
        assert found.ours.n == 4
        fair.append(found.ours.mean)
        adaptive, fixed = (
            max(sum(values) for point, values in points if (point["low"] == point["high"]) is same)
            for same in (False, True)
        )
        tilted.append(adaptive / fixed - 1)
    it = interval(fair)
    assert it.low is not None
    assert it.high is not None
    assert it.low < 0 < it.high
    assert it.half is not None
    assert it.half < 0.03
    # Chosen and compared on the same runs, the larger set shows a gain that does not exist.
    same_runs = interval(tilted)
    assert same_runs.low is not None
    assert same_runs.low > 0.03


def test_one_run_is_held_against_the_range_of_single_runs() -> None:
    """Gains of 1 to 41 % at one point and of 3 to 43 % at the other: 2 to 42 % in the mean of a run."""
    points = [
        ({"scheme": scheme, "loss": loss}, [100.0 + (scheme == "new") * (run + more) for run in range(41)])
        for scheme in ("old", "new")
        for loss, more in (("1 %", 1), ("2 %", 3))
    ]
    study = cast("Study", FakeStudy(points))
    sides = {"this": {"scheme": "new"}, "that": {"scheme": "old"}}
    for value, verdict in ((0.05, AGREES), (0.03, DIFFERS), (0.39, AGREES), (0.41, DIFFERS)):
        found = judge(claim("gain", Band(value, value), one_run=True, **sides), study)
        assert (found.ours.mean, found.ours.low, found.ours.high) == (
            pytest.approx(0.22),
            pytest.approx(0.04),
            pytest.approx(0.40),
        )
        assert (found.ours.n, found.verdict) == (41, verdict)
        assert found.note == "median and 5 to 95 % of single runs"
    # The mean of as many runs is certain, and is not what is asked.
    assert judge(claim("gain", Band(0.39, 0.39), **sides), study).verdict == DIFFERS


def test_a_share_is_taken_run_by_run_before_anything_else() -> None:
    # The fake study has the same values of every metric: one of three has a third of their sum.
    found = verdict_on(claim("mean", Band(0.3, 0.4), at={"variant": ("reno",)}, among=("other", "third")))
    assert (found.ours.mean, found.ours.n, found.verdict) == (pytest.approx(1 / 3), 4, AGREES)


def test_an_order_the_wrong_way_round_differs() -> None:
    found = verdict_on(claim("order", Band(0.0, math.inf), key="variant", order=("reno", "sack")))
    assert found.verdict == DIFFERS


def test_an_order_of_gains_falls_from_each_value_to_the_next() -> None:
    # Replication k gains (200 + k) / (100 + k) at 1 % and (100 + k) / (50 + k) at 2 %, minus one.
    def gain(base: float, k: int) -> float:
        return (2 * base + k) / (base + k) - 1

    step = sum(gain(100.0, k) - gain(50.0, k) for k in range(4)) / 4
    order = {"key": "loss", "order": ("1 %", "2 %"), **SACK_OVER_RENO}
    found = verdict_on(claim("order", Band(0.0, math.inf), **order))
    assert found.ours.mean == pytest.approx(step)
    assert found.ours.n == 4
    # The metric of either variant alone falls by 50 and by 100.
    alone = {"key": "loss", "order": ("1 %", "2 %"), "at": {"variant": ("reno",)}}
    assert verdict_on(claim("order", Band(0.0, math.inf), **alone)).ours.mean == pytest.approx(50.0)


def test_an_order_along_a_key_takes_with_it_what_is_swept_together_with_it() -> None:
    hops = {"4": "n5", "8": "n9"}
    points = [
        ({"hops": h, "to": hops[h], "window": w}, [base * scale + k for k in range(4)])
        for h, scale in (("4", 1.0), ("8", 0.5))
        for w, base in (("5", 100.0), ("9", 200.0))
    ]
    falls = claim("order", Band(0.0, math.inf), key="hops", order=("4", "8"), at={"window": ("9",)})
    found = judge(falls, cast("Study", FakeStudy(points)))
    assert (found.ours.mean, found.verdict) == (pytest.approx(100.0), AGREES)


def test_a_number_above_its_ceiling_differs_at_once() -> None:
    within = claim("mean", Band(0.0, math.inf), ceiling=9.0)
    assert verdict_on(replace(within, paper=9.0)).verdict == AGREES
    beyond = verdict_on(replace(within, paper=9.5, note="why"))
    assert (beyond.verdict, beyond.note) == (DIFFERS, "above its ceiling of 9.0; why")


def test_a_point_that_was_not_simulated_cannot_tell() -> None:
    found = verdict_on(claim("mean", Band(0.0, 1.0), at={"variant": ("reno",), "loss": ("9 %",)}))
    assert (found.verdict, found.note) == (CANNOT_TELL, "not simulated")


def test_a_claim_about_an_unknown_key_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match='did you mean "variant"'):
        verdict_on(claim("mean", Band(0.0, 1.0), at={"varriant": ("reno",)}))


CLAIMS = """
[studies.main]
scenario = "x"

[[claim]]
id = "x/gain"
text = "more"
kind = "gain"
metric = "m"
unit = "%"
at-least = 20
this = { v = "a" }
that = { v = "b" }

[[table]]
id = "x/{row}-{column}"
text = "{row} at {column}"
metric = "m"
unit = "Mbit/s"
tolerance = "8 %"
rows = "v"
columns = "loss"
at-columns = ["0 %", "1 %"]
values = { a = [2, 1] }
notes = { "x/a-1%" = "why" }
"""


def test_a_claims_file_spells_out_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(CLAIMS)
    _, claims = read(path)
    assert [c.id for c in claims] == ["x/gain", "x/a-0%", "x/a-1%"]
    assert claims[0].band == Band(0.2, math.inf)
    assert claims[1].band == Band(1.84e6, 2.16e6, 0.16e6)
    assert claims[2].at == {"v": ("a",), "loss": ("1 %",)}
    assert [c.note for c in claims] == ["", "", "why"]


CHOICES = """
[studies.main]
scenario = "x"

[[table]]
id = "x/{loss}{mode}"
text = "more at {loss}{mode}"
kind = "gain"
metric = "m"
at-least = 0
that = { v = "a" }

[table.choices.loss]
none = { at = { loss = "0 %" } }
some = { at = { loss = "1 %" }, words = "1 %", at-least = 1 }

[table.choices.mode]
"" = { this = { v = "b" } }
"-safe" = { this = { v = "c" }, at = { w = "d" }, words = ", safe" }
"""


def test_a_claims_file_spells_out_every_choice(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(CHOICES)
    _, claims = read(path)
    assert [c.id for c in claims] == ["x/none", "x/none-safe", "x/some", "x/some-safe"]
    assert [c.text for c in claims][1::2] == ["more at none, safe", "more at 1 %, safe"]
    assert [c.band.low for c in claims] == [0, 0, 1, 1]
    assert claims[3].at == {"loss": ("1 %",), "w": ("d",)}
    assert (claims[3].this, claims[3].that) == ({"v": "c"}, {"v": "a"})
    path.write_text(CHOICES.replace('{loss}{mode}"\ntext', '{los}{mode}"\ntext'))
    with pytest.raises(UsageError, match='did you mean "loss"'):
        read(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "gain"', 'kind = "best"', "kind: best; expected best and over for the kind best"),
        ('kind = "gain"', 'kind = "gain"\nbest = "v=a"\nover = "v=b"', "kind: gain; expected best and over"),
        ('kind = "gain"', 'kind = "gian"', 'kind: did you mean "gain"'),
        ('unit = "%"', 'unit = "Mb"', "unit: "),
        ("at-least = 20", "at-lest = 20", 'at-lest: unknown key; did you mean "at-least"'),
        ("at-least = 20", "at-least = 20\nat-most = 3", "expected one of value"),
        ('tolerance = "8 %"', "", "expected a share"),
        ('id = "x/gain"', 'id = "x/a-0%"', "listed twice"),
        ("[studies.main]", "[studies.other]", "study: "),
        ("[[claim]]", "[[claim", "expected a readable claims file"),
        ("a = [2, 1]", "a = [2]", "a: 1 values; expected 2"),
        ('rows = "v"', "", "no rows; expected one"),
        ('this = { v = "a" }', "this = { v = true }", 'this: v: true; expected text such as "true"'),
        ('this = { v = "a" }', 'this = { v = ["a", "b"] }', "this: v: 2 values; expected 1"),
        ('this = { v = "a" }', "at = { v = [false] }", 'at: v: false; expected text such as "false"'),
        ('this = { v = "a" }', "at = { v = 2 }", 'at: v: 2; expected text such as "2"'),
        ('this = { v = "a" }', "at = { v.w = 2 }", "at: v: a table; expected text \\(a key with dots"),
        ('this = { v = "a" }', 'at = "v"', "at: v; expected a table of swept keys"),
        ('this = { v = "a" }', "at = 2000-01-02", "at: 2000-01-02; expected a table of swept keys"),
        ('this = { v = "a" }', "at = { v = 2000-01-02 }", 'expected text such as "2000-01-02"'),
        ("at-least = 20", 'at-least = "20"', "at-least: .20.; expected a number"),
        ("at-least = 20", "between = [1]", r"between: \[1\]; expected two numbers"),
        ('kind = "gain"', 'kind = "order"\norder = [1, 2]', r"order: \[1, 2\]; expected a list of text"),
        ('text = "more"', "text = 7", "text: 7; expected text"),
        ('tolerance = "8 %"', "tolerance = 0.08", "tolerance: 0.08; expected text"),
        ("a = [2, 1]", 'a = "2 1"', "values: .*; expected a table of lists of numbers"),
        ("[[claim]]", "[claim]", "claim: .*; expected tables in double brackets"),
        ("x/{row}-", "x/{row}}-", "expected no braces except those of {row}, {column}"),
        ("x/{row}-", "x/{rwo}-", 'did you mean "row"'),
    ],
)
def test_a_mistake_in_a_claims_file_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(CLAIMS.replace(old, new, 1))
    with pytest.raises(UsageError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("before", "now", "quick", "worse"),
    [
        (AGREES, AGREES, False, False),
        (AGREES, CANNOT_TELL, False, True),
        (AGREES, CANNOT_TELL, True, False),
        (AGREES, DIFFERS, True, True),
        (CANNOT_TELL, DIFFERS, False, True),
        (CANNOT_TELL, DIFFERS, True, False),
        (DIFFERS, DIFFERS, False, False),
        (DIFFERS, AGREES, False, False),
        (None, DIFFERS, False, False),
    ],
)
def test_a_verdict_is_worse_than_the_record_or_not(
    tmp_path: Path, before: str | None, now: str, quick: bool, worse: bool
) -> None:
    ours = {AGREES: Interval(1.0, 1.0, 1.0, 2), DIFFERS: Interval(9.0, 9.0, 9.0, 2)}
    band = Band(0.5, 1.5)
    finding = Finding(claim("mean", band), ours.get(now, Interval(1.0, None, None, 1)), now, "")
    on_record = {"x/1": Outcome(1.0, 1.0, 1.0, 2, before)} if before else {}
    one = replace(finding.claim, statement="x/1")
    paper = Paper(
        "x", "", {}, [one], [Statement("x/1", "", "")], Results(on_record), tmp_path / "x.claims.toml"
    )
    assert bool(Reproduction(paper, quick, Path(), [finding]).worse()) is worse


def test_a_recorded_value_that_does_not_vary_has_no_interval() -> None:
    claim = next(claim for claim in paper("lle-tcp").claims if claim.unit == "%")
    assert number(claim, Outcome(3.0, 3.0, 3.0, 702, "agrees")) == "3.000 %"
    assert number(claim, Outcome(3.0, 2.5, 3.5, 10, "agrees")) == "3.000 [2.500, 3.500] %"
