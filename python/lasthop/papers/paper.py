"""A paper: its claims file with the recorded results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError, nearest
from lasthop.papers import results, statements
from lasthop.papers.claims import Claim, read
from lasthop.papers.results import Outcome, Results
from lasthop.papers.statements import Row, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SUFFIX = ".claims.toml"


@dataclass(slots=True)
class Paper:
    """A claims file with the recorded results."""

    id: str
    title: str
    studies: dict[str, Any]
    claims: list[Claim]
    statements: list[Statement]
    results: Results
    file: Path
    head: dict[str, Any] = field(default_factory=dict)

    @property
    def report(self) -> Path:
        """The page."""
        return self.file.with_name(f"{self.id}.md")

    @property
    def details(self) -> Path:
        """The page with every number."""
        return self.file.with_name(f"{self.id}.details.md")

    @property
    def data(self) -> Path:
        """The file of recorded results."""
        return self.file.with_name(f"{self.id}.results.toml")

    def rows(self, claims: Mapping[str, Outcome] | None = None) -> list[Row]:
        """The statements with the recorded outcomes, or with newer outcomes of some claims."""
        found = replace(self.results, claims={**self.results.claims, **(claims or {})})
        return statements.rows(self.statements, self.claims, found)


def known() -> dict[str, Path]:
    """The ids of the papers and their claims files."""
    base = paths.data("papers")
    files = {f.name.removesuffix(_SUFFIX): f for f in sorted(base.glob(f"*{_SUFFIX}"))}
    if not files:
        raise UsageError(f"{base}: no papers; expected a complete installation of lasthop (install it again)")
    return files


def paper(ident: str) -> Paper:
    """A paper by its id."""
    files = known()
    if ident not in files:
        raise UsageError(f"reproduce: {ident}: unknown id; {nearest(ident, files)}")
    head, claims = read(files[ident])
    if "studies" not in head:
        raise UsageError(f"{files[ident]}: no studies; expected the names of its scenarios")
    stated = statements.read(files[ident], head.pop("statement", ()), claims)
    found = Paper(
        ident, head.get("title", ident), head["studies"], claims, stated, Results(), files[ident], head
    )
    found.results = results.read(found.data)
    # A reading that the claims file no longer lists says nothing about the paper.
    listed = found.head.get("readings", {})
    found.results.readings = {name: it for name, it in found.results.readings.items() if name in listed}
    return found
