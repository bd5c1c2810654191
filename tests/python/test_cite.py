"""`lasthop cite`: lasthop and every paper, as text and for BibTeX."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import HOP
from lasthop import _core
from lasthop.base.errors import UsageError
from lasthop.cli.main import invoke
from lasthop.papers import cite
from lasthop.papers.paper import known

if TYPE_CHECKING:
    from pathlib import Path

PAPERS = [ident for ident in known() if ident not in {"baselines", "today"}]
ENTRY = re.compile(r"@\w+\{[\w-]+,\n(?:  \w+ = \{.+\},\n)+\}")


def test_every_paper_can_be_cited_and_lasthop() -> None:
    assert cite.works() == ["lasthop", *PAPERS]


@pytest.mark.parametrize("ident", ["lasthop", *PAPERS])
def test_an_entry_is_bibtex_and_a_line_names_what_it_names(ident: str) -> None:
    work = cite.work(ident)
    entry = work.bibtex()
    assert ENTRY.fullmatch(entry)
    assert entry.count("{") == entry.count("}")
    assert "\n" not in work.text()
    for word in (*work.author, work.title):
        assert word in entry
        assert word in work.text()
    assert ident == "lasthop" or work.fields["year"] in work.text()


def test_lasthop_is_cited_with_the_version_and_model_that_run() -> None:
    text = cite.work("lasthop").text()
    assert f"Version {_core.__version__}, model {_core.model_version}, https://" in text


def test_a_manuscript_has_its_date_once() -> None:
    assert cite.work("load-adaptive").text().count("2004") == 1


def test_cite_prints_what_is_named_and_without_a_name_lasthop(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cite"]) == 0
    out, err = capsys.readouterr()
    assert "@software{lasthop," in out
    assert err == f"papers: {', '.join(PAPERS)}; lasthop cite ID\n"
    assert invoke(["cite", "ejtcp", "lle-tcp", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [work["id"] for work in json.loads(out)] == ["ejtcp", "lle-tcp"]
    assert not err


def test_a_study_is_cited_by_its_version_and_the_papers_of_its_scenario(tmp_path: Path) -> None:
    hop = lh.Scenario.from_text(f'paper = "load-adaptive/fig05"\n{HOP}', "hop.toml")
    study = hop.sweep(out=tmp_path / "s")
    with closing(sqlite3.connect(study.path / "study.sqlite")) as ledger, ledger:
        ledger.execute("update meta set value = '0.0.7' where key = 'version'")
        ledger.execute("update meta set value = '1' where key = 'model_version'")
    found = cite.named(str(study.path))
    assert [work.id for work in found] == ["lasthop", "load-adaptive", "lle-tcp"]
    assert "Version 0.0.7, model 1, https://" in found[0].text()
    plain = hop.set({"agents.snoop.kind": "none"}).sweep(out=tmp_path / "t")
    assert [work.id for work in cite.named(str(plain.path))] == ["lasthop", "load-adaptive"]
    swept = plain.scenario.vary({"zip": {"flows.main.tcp.variant": ["reno", "ejtcp"]}})
    other = swept.sweep(out=tmp_path / "u")
    assert [work.id for work in cite.named(str(other.path))] == ["lasthop", "load-adaptive", "ejtcp"]


def test_what_is_not_a_study_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cite", str(tmp_path)]) == 2
    expected = f"cite: {tmp_path}: is not a study; expected the directory of a study, or one of lasthop, "
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere/at-all", "is not an id, nor the directory of a study"),
        ("ejtp", 'did you mean "ejtcp"'),
        ("baselines", "is not a paper"),
    ],
)
def test_what_cannot_be_cited_is_an_error(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cite", name]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('type = "article"', 'type = "article', "expected a readable claims file"),
        ('type = "article"', 'type = "artcle"', 'did you mean "article"'),
        ('type = "article"', "", "no type"),
        ('author = ["Ann Li"]', "author = []", "expected a list of names"),
        ("year = 2007", "yaer = 2007", 'did you mean "year"'),
        ("year = 2007", "year = [2007]", "expected text or a number"),
    ],
)
def test_a_slip_in_a_paper_is_named(
    old: str, new: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """\
[cite]
type = "article"
key = "li07"
author = ["Ann Li"]
title = "On TCP"
in = "Nets"
year = 2007
"""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "x.claims.toml").write_text(text)
    monkeypatch.setattr("lasthop.base.paths.DATA", tmp_path)
    assert cite.work("x").text() == 'Ann Li: "On TCP". Nets, 2007.'
    (tmp_path / "papers" / "x.claims.toml").write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=re.escape(said)):
        cite.work("x")
