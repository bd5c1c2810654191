"""`lasthop cite`: lasthop and every paper, as text and for BibTeX."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from lasthop import _core
from lasthop.base.errors import UsageError
from lasthop.cli.main import invoke
from lasthop.papers import cite
from lasthop.papers.paper import known

if TYPE_CHECKING:
    from pathlib import Path

PAPERS = [ident for ident in known() if ident != "baselines"]
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


@pytest.mark.parametrize(
    ("name", "said"), [("ejtp", 'did you mean "ejtcp"'), ("baselines", "is not a paper")]
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
