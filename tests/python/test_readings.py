"""A paper's claims under other readings of what it leaves open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import lasthop
from conftest import SMALL
from lasthop.cli.main import invoke
from lasthop.papers import page, results
from lasthop.papers import readings as book
from lasthop.papers.paper import known, paper
from lasthop.papers.results import Outcome, Results
from lasthop.scenario.overrides import parse_where, select
from lasthop.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLAIMS = """
title = "A paper that does not tell the rate of its link"

[studies.main]
scenario = "paper/fig1"
replications = 9
readings = { where = ["links.path.loss.rate < 2 %"] }

[studies.other]
scenario = "paper/fig1"
readings = { skip = true }

[[claim]]
id = "paper/slow"
text = "a flow fills a link of 2 Mbit/s"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
unit = "Mbit/s"
value = 1.8
tolerance = "15 %"

[[claim]]
id = "paper/any"
text = "a flow moves something"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
at-least = 1

[[claim]]
id = "paper/skipped"
text = "a flow moves something"
study = "other"
metric = "flows.main.goodput_bps"
at-least = 1

[readings-of]
replications = 2
set = { "run.duration" = "2 s" }
shown = ["paper/slow"]

[readings.plain]
title = "as it stands"

[readings.fast]
title = "a faster link and a flow that may use it"
beside = true
set = { "links.path.rate" = "8 Mbit/s" }
per.main = { "flows.*.tcp.window" = "40 segments" }

[readings.mixed]
title = "another file"
only = ["main"]
instead.main = "paper/fig2"
"""


@pytest.fixture
def library(make_library: Callable[..., Path]) -> Path:
    return make_library(CLAIMS, fig2=SMALL.replace("2 Mbit/s", "9 Mbit/s"))


def test_a_claim_that_agrees_under_one_reading_alone_is_told(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Results(claims={"paper/slow": Outcome(1.8, 1.7, 1.9, 9, "agrees")})
    results.write(library / "papers" / "paper.results.toml", before)
    assert invoke(["reproduce", "paper", "--readings", "--record"]) == 0
    details = library / "papers" / "paper.details.md"
    text = details.read_text()
    _, _, tables = text.partition("## Each reading by itself")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables.splitlines()]
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["paper/slow"][1:] == ["1", "0", "2", "plain only"]
    assert by_name["paper/slow"][0].endswith("Mbit/s: differs")
    assert by_name["paper/any"][1:] == ["3", "0", "0", "all"]
    assert "paper/skipped" not in by_name
    assert by_name["plain"][:4] == ["as it stands", "2", "0", "0"]
    assert by_name["fast"][1:4] == ["1", "0", "1"]
    # The number is that of the reading: more than the link of the file can carry.
    assert float(by_name["fast"][4].split()[0]) > 5
    # Two replications, and the points that the claims need: two of three losses, two variants.
    (study,) = (library / "studies/reproduce/paper-readings/fast").iterdir()
    runs = list(Study.open(study).results())
    assert len(runs) == 8
    assert {result.row.simulated_s for result in runs} == {2.0}
    # What the figures' reading gave is untouched, and a statement has the least and the greatest of all.
    one = paper("paper")
    assert one.results.claims == before.claims
    slow = next(row for row in one.rows() if row.statement.id == "paper/slow")
    assert (slow.verdict, slow.agrees_under) == ("agrees", [])
    assert page.extremes(slow).startswith("1.")
    assert invoke(["reproduce", "paper", "--readings", "--record"]) == 0
    assert details.read_text() == text


def test_a_recorded_reading_that_is_no_longer_listed_judges_nothing(library: Path) -> None:
    under = {"paper/slow": Outcome(1.8, 1.7, 1.9, 9, "agrees")}
    kept = Results(readings={"gone": under, "fast": under})
    results.write(library / "papers" / "paper.results.toml", kept)
    assert list(paper("paper").results.readings) == ["fast"]
    slow = next(row for row in paper("paper").rows() if row.statement.id == "paper/slow")
    assert slow.agrees_under == ["fast"]


def test_one_reading_can_be_judged_alone(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["reproduce", "paper", "--reading", "mixed", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["readings"]
    assert (found["id"], [claim["verdict"] for claim in found["claims"]]) == ("mixed", ["differs", "agrees"])


def test_one_reading_is_recorded_alone_with_the_version_of_the_model(library: Path) -> None:
    older = {"paper/slow": Outcome(1.8, 1.7, 1.9, 9, "agrees")}
    before = Results(readings={"plain": older, "mixed": older})
    results.write(library / "papers" / "paper.results.toml", before)
    assert invoke(["reproduce", "paper", "--reading", "mixed", "--record"]) == 0
    one = paper("paper").results
    assert (one.readings["plain"], one.models) == (older, {"readings.mixed": lasthop.model_version})
    assert [outcome.verdict for outcome in one.readings["mixed"].values()] == ["differs", "agrees"]
    told = f"readings {lasthop.model_version} (mixed), not noted (plain)"
    assert told in (library / "papers" / "paper.details.md").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "as it stands"', 'titel = "x"', "readings.plain.titel: unknown key"),
        ('title = "as it stands"', "", "readings.plain: no title"),
        ('only = ["main"]', 'only = ["man"]', 'readings.mixed: man: unknown study; did you mean "main"'),
        ('shown = ["paper/slow"]', 'shown = ["paper/slo"]', 'shown: paper/slo; did you mean "paper/slow"'),
        ('"flows.*.tcp.window" = "40', '"flows.*.tcp.windw" = "40', "windw"),
    ],
)
def test_a_mistake_in_a_reading_is_named(
    library: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    assert old in CLAIMS
    (library / "papers" / "paper.claims.toml").write_text(CLAIMS.replace(old, new))
    assert invoke(["reproduce", "paper", "--readings"]) == 2
    assert message in capsys.readouterr().err


def test_readings_want_one_paper_that_has_some(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["--readings"],
        ["paper", "--readings", "--quick"],
        ["paper", "--reading", "fast", "--search"],
    ):
        assert invoke(["reproduce", *words]) == 2
        assert "expected exactly one, without --quick" in capsys.readouterr().err
    assert invoke(["reproduce", "paper", "--reading", "slow"]) == 2
    assert "slow: unknown reading" in capsys.readouterr().err
    head, _, _ = CLAIMS.partition("[readings-of]")
    (library / "papers" / "paper.claims.toml").write_text(head)
    assert invoke(["reproduce", "paper", "--readings"]) == 2
    assert "paper has no readings" in capsys.readouterr().err


def test_every_reading_of_a_shipped_paper_is_legal_and_leaves_the_points_its_claims_need() -> None:
    for ident in known():
        one = paper(ident)
        if "readings" not in one.head:
            continue
        for reading in book.readings(one):
            for name, study in one.studies.items():
                own = study.get("readings", {})
                if own.get("skip") or not reading.concerns(name):
                    continue
                scenario = book.scenario_of(reading, name, study)
                where = parse_where([*study.get("where", ()), *own.get("where", ())])
                left = [scenario.points()[i] for i in select(scenario.points(), where, scenario.numeric)]
                for claim in one.claims:
                    if claim.study != name or claim.role != "paper":
                        continue
                    for side in (claim.this, claim.that):
                        wanted = {**{key: values[0] for key, values in claim.at.items()}, **side}
                        found = [point for point in left if wanted.items() <= point.items()]
                        assert found, f"{reading.id}: {claim.id}: {wanted}"
