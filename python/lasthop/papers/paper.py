"""A paper: its claims file with the recorded results.

What a paper asks and what was found is in the head of its claims file, and nowhere else:

question  what the paper asks, in one sentence
finding   the answer in one sentence
account   what was found, in one paragraph
figure    the figure that shows it best, as STUDY/FIGURE

In these texts `{CLAIM}` stands for the recorded mean of a claim with its unit, and `{-CLAIM}` for its
negative, so that a new record changes them too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import digits
from lasthop.papers import results, statements
from lasthop.papers.claims import Claim, read
from lasthop.papers.results import Outcome, Results
from lasthop.papers.statements import Row, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SUFFIX = ".claims.toml"
_NUMBER = re.compile(r"\{(-?)([^}]+)\}")


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

    @property
    def question(self) -> str:
        """What the paper asks, in one sentence; empty if the claims file does not say."""
        return self._text("question")

    @property
    def finding(self) -> str:
        """The answer in one sentence; empty if the claims file does not say."""
        return self._text("finding")

    @property
    def account(self) -> str:
        """What was found, in one paragraph; empty if the claims file does not say."""
        return self._text("account")

    @property
    def figure(self) -> tuple[str, str]:
        """The study and the id of the figure that shows best what was found; empty if none is named."""
        study, _, ident = str(self.head.get("figure", "")).partition("/")
        return study, ident

    def _text(self, key: str) -> str:
        """A text of the head on one line, with the recorded numbers in it."""

        def number(found: re.Match[str]) -> str:
            return self.number(found[2], key, negative=bool(found[1]))

        return _NUMBER.sub(number, " ".join(str(self.head.get(key, "")).split()))

    def number(self, ident: str, where: str, *, negative: bool = False, half: bool = False) -> str:
        """The recorded mean of a claim with its unit, and with the half-width of its interval if asked for.

        `where` is the text that names the claim, `CLAIM@READING` for its number under a reading.
        """
        ident, _, reading = ident.partition("@")
        if reading and reading not in self.head.get("readings", {}):
            expected = nearest(reading, list(self.head.get("readings", {})))
            raise UsageError(f"{self.file}: {where}: {reading}: is not a reading; {expected}")
        found = self.results.readings.get(reading, {}) if reading else self.results.claims
        claim = next((claim for claim in self.claims if claim.id == ident), None)
        if claim is None:
            expected = nearest(ident, [claim.id for claim in self.claims])
            raise UsageError(f"{self.file}: {where}: {ident}: is not a claim; {expected}")
        outcome = found.get(ident)
        mean = outcome.mean if outcome else None
        mean = -mean if negative and mean is not None else mean
        shown = _between(mean, outcome) if half else digits(mean, 2)
        return f"{shown} {claim.unit}".rstrip()

    def rows(self, claims: Mapping[str, Outcome] | None = None) -> list[Row]:
        """The statements with the recorded outcomes, or with newer outcomes of some claims."""
        others = {name: it for name, it in self.results.readings.items() if name not in self._unchanged()}
        found = replace(self.results, claims={**self.results.claims, **(claims or {})}, readings=others)
        return statements.rows(self.statements, self.claims, found)

    def _unchanged(self) -> set[str]:
        """The readings that are that of the figures, with fewer runs."""
        listed = self.head.get("readings", {})
        return {name for name, given in listed.items() if not given.keys() & {"set", "per", "instead"}}


def _between(mean: float | None, outcome: Outcome | None) -> str:
    """A mean with the half-width of its interval, to the same place."""
    if mean is None or outcome is None or outcome.low is None or outcome.high in (None, outcome.low):
        return digits(mean, 3)
    wide = digits(((outcome.high or 0.0) - outcome.low) / 2, 2)
    return f"{mean:.{len(wide.partition('.')[2])}f} ± {wide}"


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
