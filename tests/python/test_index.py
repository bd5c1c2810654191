"""The pages that reproduce writes: what each paper asks, what was found, and the index of all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import PROGRAM, Page
from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.cli.main import invoke
from lasthop.papers import results
from lasthop.papers.paper import known, paper
from lasthop.papers.results import Outcome, Results
from lasthop.report import index
from lasthop.scenario.scenario import load

if TYPE_CHECKING:
    from collections.abc import Callable

CLAIMS = """
title = "A paper about <nothing>"
question = "How much does a flow carry?"
finding = "It carries {near}, a loss of {-near}."
account = "Nothing else\\nwas found."
figure = "main/goodput"

[studies.main]
scenario = "paper/fig1"
quick = { replications = 2, where = ["links.path.loss.rate=0 %"] }

[[claim]]
id = "near"
text = "A flow fills a clean link."
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
unit = "Mbit/s"
value = 1.8
tolerance = "15 %"
"""
OUT = Path("studies/reproduce")


@pytest.fixture
def library(make_library: Callable[..., Path]) -> Path:
    folder = make_library(CLAIMS)
    recorded = Results(claims={"near": Outcome(1.75, 1.7, 1.8, 10, "agrees")})
    results.write(folder / "papers" / "paper.results.toml", recorded)
    return folder


def test_every_paper_says_what_it_asks_and_what_was_found_and_names_a_figure() -> None:
    for name in known():
        one = paper(name)
        assert one.question.endswith("?"), name
        assert 40 < len(one.finding) < 240, name
        assert one.finding.endswith("."), name
        assert 200 < len(one.account) < 900, name
        # Each number of the record is there.
        assert "–" not in one.question + one.finding + one.account, name
        study, ident = one.figure
        scenario = load(paths.shipped_file(one.studies[study]["scenario"]), [])
        assert ident in [figure["id"] for figure in scenario.figures()], name


def test_the_numbers_of_a_finding_are_those_on_record(library: Path) -> None:
    assert paper("paper").finding == "It carries 1.8 Mbit/s, a loss of -1.8 Mbit/s."
    claims = library / "papers" / "paper.claims.toml"
    claims.write_text(CLAIMS.replace("{near}", "{nera}"))
    with pytest.raises(UsageError, match=r'finding: nera: is not a claim; did you mean "near"'):
        _ = paper("paper").finding


def test_reproduce_writes_an_index_and_a_page_that_link_each_other(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "studies/reproduce/index.html"
    top, page = ((OUT / name).read_text(encoding="utf-8") for name in ("index.html", "paper.html"))
    assert '<a href="paper.html">' in top
    assert '<a href="index.html">All papers</a>' in page
    for text in (top, page):
        assert "How much does a flow carry?" in text
        assert "It carries 1." in text
        assert 'aria-label="1 statement: 1 agrees"' in text
        assert "default-src 'none'" in text
        assert re.findall(r"""(?:src|href)="(?!#|data:|index\.html|paper\.html)[^"]""", text) == []
    assert "A paper about &lt;nothing&gt;" in top
    assert 'src="data:image/svg+xml;base64,' in top
    assert "Nothing else was found." in page


def test_a_quick_run_shows_the_record_and_a_full_run_what_it_measured(library: Path) -> None:
    assert invoke(["reproduce", "--quick"]) == 0
    page = (OUT / "paper.html").read_text(encoding="utf-8")
    assert '<td class="ours">1.750 [1.700, 1.800] Mbit/s</td>' in page
    assert "Quick runs, with fewer points and replications: main." in page
    assert invoke(["reproduce"]) == 0
    page = (OUT / "paper.html").read_text(encoding="utf-8")
    assert "As measured by these runs" in page
    assert "1.750 [1.700" not in page
    assert "Quick runs" not in page


def test_a_paper_that_was_run_before_keeps_its_figure_on_the_index(library: Path) -> None:
    from lasthop.report.papers import pages

    assert invoke(["reproduce"]) == 0
    text = pages([], OUT).read_text(encoding="utf-8")
    assert '<a href="paper.html">' in text
    assert 'src="data:image/svg+xml;base64,' in text


def test_without_pages_none_is_written(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["reproduce", "--no-pages"]) == 0
    assert not list(OUT.glob("*.html"))
    assert "index.html" not in capsys.readouterr().err


def test_a_paper_that_was_not_run_is_on_the_index_without_a_link(library: Path) -> None:
    text = index.html([index.Entry(paper("paper"), has_page=False)])
    assert "Not run here: <code>lasthop reproduce paper</code>" in text
    assert 'href="paper.html"' not in text


@pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
def test_the_index_has_no_error_and_fits_a_small_screen(library: Path, tab: Page) -> None:
    assert invoke(["reproduce"]) == 0
    for name in ("index.html", "paper.html"):
        for width in (1280, 390):
            tab.size(width)
            tab.open((OUT / name).resolve())
            assert tab.problems == []
            assert tab.do("document.documentElement.scrollWidth <= innerWidth")
