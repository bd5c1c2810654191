"""Combinations of readings: a paper whose readings are planted, and what a search makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import lasthop
from lasthop.base.errors import UsageError
from lasthop.cli.main import invoke
from lasthop.papers import paper as book
from lasthop.papers import search
from lasthop.papers.claims import Band, Claim
from lasthop.papers.statements import BY_READING
from lasthop.papers.switches import changes, combinations, switches, without
from lasthop.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The link of 8 Mbit/s is filled only by a large window and without a long wire: three switches must be right
# together. The share of the link holds only where it is taken of 2 Mbit/s, which no run shows.
CLAIMS = """
title = "A paper that tells neither its link nor its window"

[studies.main]
scenario = "paper/fig1"
replications = 2
quick = { replications = 2, where = ["links.path.loss.rate = 0 %"] }

[studies.aside]
scenario = "paper/fig1"
search = { skip = true }

[[statement]]
id = "fills"
where = "2"
says = "A flow delivers more than 5.5 Mbit/s."

[[statement]]
id = "moves"
where = "3"
says = "Each flow delivers something."

[[statement]]
id = "share"
where = "4"
says = "A flow uses less than all."

[[statement]]
id = "skipped"
where = "5"
says = "A flow that is not searched delivers something."

[[claim]]
id = "paper/fills"
statement = "fills"
text = "a flow fills a fast link"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %", "flows.main.tcp.variant" = "reno" }
unit = "Mbit/s"
at-least = 5.5

[[claim]]
id = "paper/moves"
statement = "moves"
text = "a flow moves something"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
each = true
at-least = 1

[[claim]]
id = "paper/share"
statement = "share"
text = "a flow delivers less than 1 kbit/s"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
at-most = 1000

[[claim]]
id = "paper/share-taken-otherwise"
statement = "share"
role = "reading"
reading = { share = "of the link" }
text = "a flow uses less than all of the link"
metric = "links.path.utilisation"
at = { "links.path.loss.rate" = "0 %" }
unit = "%"
at-most = 101

[[claim]]
id = "paper/own"
role = "ours"
text = "an experiment of our own"
metric = "flows.main.goodput_bps"
at-least = 1

[[claim]]
id = "paper/skipped"
study = "aside"
statement = "skipped"
text = "a flow moves something"
metric = "flows.main.goodput_bps"
at-least = 1

[search]
seed = 3
runs = 400
replications = 2
confirmed = 3
best = 1
set = { "run.duration" = "2 s" }

[switches.rate]
title = "rate of the link"
[switches.rate.options]
"2 Mbit/s" = {}
"8 Mbit/s" = { set = { "links.path.rate" = "8 Mbit/s" } }

[switches.window]
title = "window"
[switches.window.options]
"20" = {}
"2"  = { set = { "flows.*.tcp.window" = "2 segments" } }
"40" = { set = { "flows.*.tcp.window" = "40 segments" } }

[switches.delay]
title = "delay of the wire"
[switches.delay.options]
"10 ms"  = {}
"100 ms" = { set = { "links.path.delay" = "100 ms" } }

[switches.share]
title = "of what a share is taken"
[switches.share.options]
"by itself"   = {}
"of the link" = {}
"""


@pytest.fixture
def library(make_library: Callable[..., Path]) -> Path:
    return make_library(CLAIMS)


def test_a_search_finds_the_readings_that_were_planted(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce", "paper", "--search", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    # All 24 combinations fit into half of the budget, and the best of them is the one that was planted.
    assert len(found["reading"]) == 24
    assert found["runs"] <= found["budget"] == 400
    best = found["reading"][0]
    assert best["switches"] | {"delay": "10 ms"} == best["switches"]
    assert (best["switches"]["rate"], best["switches"]["share"]) == ("8 Mbit/s", "of the link")
    assert best["switches"]["window"] != "2"
    assert (best["met"], best["confirmed"]) == (3, True)
    assert set(best["statements"]) == {"fills", "moves", "share"}
    assert best["statements"]["fills"]["mean"] > 5.5
    # Which switch decides what: half of the combinations share the link, and only some of 8 Mbit/s fill it.
    assert found["decides"]["share"] == "share: by itself 0 of 12, of the link 12 of 12"
    assert found["decides"]["fills"].startswith(("rate: 2 Mbit/s 0 of 12", "delay: "))
    assert "moves" not in found["decides"]
    assert captured.err.strip().splitlines()[-1].endswith("with 3 of 3 statements, confirmed.")


def test_choice_and_confirmation_have_seeds_of_their_own_and_nothing_else_is_touched(library: Path) -> None:
    assert invoke(["reproduce", "paper", "--search", "--record"]) == 0
    search = book.paper("paper").results.search
    assert book.paper("paper").results.models == {"search": lasthop.model_version}
    folder = library / "studies/reproduce/paper-search"
    scenario_seed = 1
    seeds = {
        stage: {Study.open(path).seed for path in (folder / stage).iterdir()}
        for stage in ("choice", "confirmation")
    }
    assert seeds == {"choice": {search["choice-seed"]}, "confirmation": {search["confirmation-seed"]}}
    assert len({search["choice-seed"], search["confirmation-seed"], scenario_seed}) == 3
    allowed = {"run.duration", "links.path.rate", "flows.main.tcp.window", "links.path.delay"}
    for path in (*(folder / "choice").iterdir(), *(folder / "confirmation").iterdir()):
        assert path.name.startswith("main-")
        assert {key for key, _ in Study.open(path).scenario.overrides} <= allowed
    # Twelve ways to set the runs; the switch of the share changes no run.
    assert len(list((folder / "choice").iterdir())) == 12


def test_what_a_search_found_makes_a_statement_hold_by_reading(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce", "paper", "--record"]) == 0
    one = book.paper("paper")
    assert set(one.results.models) == {f"claims.{study}" for study in one.studies}
    before = {row.statement.id: row.verdict for row in one.rows()}
    assert before == {"fills": "differs", "moves": "agrees", "share": BY_READING, "skipped": "agrees"}
    assert invoke(["reproduce", "paper", "--search", "--record"]) == 0
    one = book.paper("paper")
    rows = {row.statement.id: row for row in one.rows()}
    assert rows["fills"].verdict == BY_READING
    assert all(name.startswith("search ") for name in rows["fills"].agrees_under)
    # The figures' own combination is among those confirmed, and no other reading.
    (own,) = [entry for entry in one.results.search["reading"] if not entry["departs"]]
    assert own["confirmed"]
    assert len(rows["fills"].others) == sum(e["confirmed"] for e in one.results.search["reading"]) - 1
    text = one.report.read_text()
    assert "4 statements: 2 agree, 2 by reading, 0 cannot be told, 0 differ." in text
    assert "24 of 24 possible combinations of readings were drawn" in text
    assert "decides which statement" in one.details.read_text()
    # A quick run judges the reading of the figures, and leaves the record of the search as it is.
    record = one.data.read_text()
    capsys.readouterr()
    assert invoke(["reproduce", "paper", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "paper/share-taken-otherwise" not in {claim["id"] for claim in found["claims"]}
    assert {entry["id"]: entry["verdict"] for entry in found["statements"]}["fills"] == BY_READING
    assert one.data.read_text() == record


def test_several_combinations_are_worth_confirming_for_each_statement_that_the_figures_miss(
    library: Path,
) -> None:
    one = book.paper("paper")
    figures = {"fills": False, "moves": True, "share": True}
    met = [figures, *({**figures, "moves": False, "fills": i > 1} for i in range(6))]
    drawn = [search.Drawn({"rate": str(i)}, chosen) for i, chosen in enumerate(met)]
    result = search.Search(one, switches(one), 1, 100, drawn=drawn)
    worth = search._worth(result, best=1, each=3)
    # That of the figures, the best, and two more of those that fill the link; no other misses a statement.
    assert [int(it.switches["rate"]) for it in worth] == [0, 3, 4, 5]


def test_combinations_begin_with_the_figures_and_never_repeat(library: Path) -> None:
    every = switches(book.paper("paper"))
    drawn = list(combinations(every, 5))
    assert drawn[0] == {"rate": "2 Mbit/s", "window": "20", "delay": "10 ms", "share": "by itself"}
    assert len({tuple(one.values()) for one in drawn}) == len(drawn) == 24
    assert drawn == list(combinations(every, 5)) != list(combinations(every, 6))


def test_a_small_budget_is_kept(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["reproduce", "paper", "--search", "--runs", "18", "--seed", "9", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["seed"], found["budget"]) == (9, 18)
    assert found["runs"] <= 18
    assert 1 < len(found["reading"]) < 24
    assert "not confirmed; " in captured.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"2 Mbit/s" = {}',
            '"2 Mbit/s" = { set = { "links.path.rate" = "2 Mbit/s" } }',
            "expected the first option to be empty",
        ),
        ('"8 Mbit/s" = { set', '"8 Mbit/s" = { sett', 'sett: unknown key; did you mean "set"'),
        ('reading = { share = "of the link" }', 'reading = { shar = "of the link" }', 'did you mean "share"'),
        (
            'reading = { share = "of the link" }',
            'reading = { share = "by itself" }',
            "share: expected of the link",
        ),
        (
            '"100 ms" = { set = { "links.path.delay" = "100 ms" } }',
            "",
            "expected title and at least two options",
        ),
        ("runs = 400", "runs = 0", "search.runs: 0; expected a number above zero"),
        ("best = 1", "bets = 1", 'search.bets: unknown key; did you mean "best"'),
        (
            '"100 ms" = { set = { "links.path.delay" = "100 ms" } }',
            '"100 ms" = { set = { "links.path.dely" = "100 ms" } }',
            "dely",
        ),
        ('role = "reading"\n', "", "role: paper; expected reading for the role reading"),
        ('role = "ours"\n', 'role = "theirs"\n', "role: "),
        ('statement = "moves"', 'statement = "movs"', 'statement: did you mean "moves"'),
        ('where = "3"\n', "", "moves: no where; expected text"),
        ('id = "moves"', 'id = "fills"', "fills: listed twice"),
    ],
)
def test_a_mistake_in_statements_and_switches_is_named(
    library: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    assert old in CLAIMS
    (library / "papers" / "paper.claims.toml").write_text(CLAIMS.replace(old, new, 1))
    assert invoke(["reproduce", "paper", "--search"]) == 2
    assert message in capsys.readouterr().err


def test_a_switch_leaves_what_a_claim_compares(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = CLAIMS.replace(
        'text = "a flow moves something"\nmetric',
        'text = "x"\nkind = "gain"\nthis = { "flows.main.tcp.variant" = "newreno" }\n'
        'that = { "flows.main.tcp.variant" = "reno" }\nmetric',
        1,
    ).replace('"links.path.delay" = "100 ms"', '"flows.main.tcp.variant" = "sack"')
    (library / "papers" / "paper.claims.toml").write_text(compared)
    assert invoke(["reproduce", "paper", "--search"]) == 2
    assert "the claim compares its values" in capsys.readouterr().err


def test_a_search_wants_one_paper_that_has_switches(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--search"], ["paper", "--search", "--quick"], ["paper", "--search", "--readings"]):
        assert invoke(["reproduce", *words]) == 2
        assert "expected exactly one, without --quick" in capsys.readouterr().err
    assert invoke(["reproduce", "paper", "--runs", "5"]) == 2
    assert "--runs: applies only to --search" in capsys.readouterr().err
    head, _, _ = CLAIMS.partition("[switches.rate]")
    (library / "papers" / "paper.claims.toml").write_text(
        head.replace('role = "reading"\nreading = { share = "of the link" }', 'role = "ours"').replace(
            'statement = "share"\nrole', "role"
        )
    )
    assert invoke(["reproduce", "paper", "--search"]) == 2
    assert "paper has no switches" in capsys.readouterr().err


def test_a_key_that_both_sides_of_a_claim_have_is_no_longer_named() -> None:
    both = Claim(
        "x",
        "",
        "main",
        "gain",
        "m",
        Band(0.0, 1.0),
        None,
        "",
        "",
        at={"loss": ("1 %",), "floor": ("1 s",)},
        this={"variant": "a", "timing": "all"},
        that={"variant": "b", "timing": "all"},
        ceiling=3.0,
    )
    left = without(both, {"floor", "timing"})
    assert (left.at, left.this, left.that) == ({"loss": ("1 %",)}, {"variant": "a"}, {"variant": "b"})
    # What bounds the number does so under the claim's own reading.
    assert left.ceiling is None
    assert without(both, set()) is both
    with pytest.raises(UsageError, match="x: variant: the claim compares its values"):
        without(both, {"variant"})


@pytest.mark.parametrize("ident", ["baselines", "dynamic-arq", "ejtcp", "lle-tcp", "load-adaptive"])
def test_every_switch_of_a_shipped_paper_is_legal_and_leaves_the_points_its_claims_need(
    ident: str, tmp_path: Path
) -> None:
    one = book.paper(ident)
    every = switches(one)
    trial = search._Trial(one, every, tmp_path, 1, search._settings(one)["set"])
    figures = {name: switch.first for name, switch in every.items()}
    seen: list[object] = []
    for name, switch in every.items():
        for option in list(switch.options)[1:]:
            chosen = {**figures, name: option}
            for study, claims in trial._claims(chosen).items():
                found = (study, changes(every, chosen, study), [claim.id for claim in claims])
                if found[1] == ({}, None) or found in seen:
                    continue
                seen.append(found)
                scenario, keys, _ = trial._scenario(study, chosen)
                where = trial._where(study, keys)
                for claim in claims:
                    needed = search._needed(scenario, [without(claim, keys)], where)
                    assert needed, f"{name}: {option}: {claim.id}"
