"""A suite: cases that a law must meet, from `suites/<id>.toml`.

A case is a claim (see `lasthop.papers.claims`) about the law under test: kinds other than `mean` compare it
with the standard law. Its scenario sweeps the keys that end with the `subject` of the suite: by default the
congestion law of the flows under test. `section` is the part of the document that asks for the case.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError, nearest, reason
from lasthop.papers.claims import AGREES, CANNOT_TELL, DIFFERS, Claim, as_claim
from lasthop.scenario.scenario import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lasthop.scenario.scenario import Scenario

PASSES, FAILS = "passes", "fails"
WORDS = {AGREES: PASSES, CANNOT_TELL: CANNOT_TELL, DIFFERS: FAILS}
"""The verdict of a case for the verdict of its claim."""

_CONGESTION = "tcp.congestion"
_OWN = ("section", "says", "scenario")
_HEAD = {"title", "version", "subject", "standard", "left-out", "case"}


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        id: Its name in the suite.
        section: The section of the document that asks for it.
        says: What it demands, in one sentence.
        scenario: The id of its scenario.
        subject: How the keys end that set the law under test.
        parts: The parts of its claim.
        file: The file of the suite, for messages.
    """

    id: str
    section: str
    says: str
    scenario: str
    subject: str
    parts: Mapping[str, Any]
    file: Path

    def claim(self, law: str, standard: str) -> Claim:
        """What a law must meet.

        Args:
            law: The law under test.
            standard: The law that it is compared with.
        """
        key = swept(self.scenario, self.subject)[0]
        sides = {"at": {**self.parts.get("at", {}), key: law}}
        if self.parts.get("kind", "mean") != "mean":
            sides = {"this": {key: law}, "that": {key: standard}}
        entry = {**self.parts, **sides, "id": self.id, "text": self.says, "study": self.scenario}
        return as_claim(self.file, entry)


@dataclass(frozen=True, slots=True)
class Suite:
    """A fixed set of cases.

    Attributes:
        id: Its name.
        title: What it is about.
        version: Its version: a change of a case or scenario makes a new one.
        subject: How the keys end that set the law under test.
        standard: The law that others are compared with.
        left_out: What the document asks for and the suite does not have.
        cases: The cases, in the order of the document.
    """

    id: str
    title: str
    version: int
    subject: str
    standard: str
    left_out: tuple[str, ...]
    cases: tuple[Case, ...]

    @property
    def scenarios(self) -> list[str]:
        """The ids of the scenarios, in the order of the cases."""
        return list(dict.fromkeys(case.scenario for case in self.cases))

    @property
    def is_of_congestion(self) -> bool:
        """Whether the laws are congestion laws, which may also be in Python."""
        return self.subject == _CONGESTION

    @property
    def laws(self) -> list[str]:
        """The laws that the scenarios compare."""
        key, points = swept(self.scenarios[0], self.subject)[0], _scenario(self.scenarios[0]).points()
        return list(dict.fromkeys(point[key] for point in points))


@cache
def _scenario(ident: str) -> Scenario:
    return load(paths.shipped_file(ident))


def swept(ident: str, subject: str) -> list[str]:
    """The keys that a scenario sweeps to change the law under test."""
    return [key for key in _scenario(ident).points()[0] if key.endswith(f".{subject}")]


def among(ident: str, subject: str, laws: Sequence[str]) -> Scenario:
    """A scenario of a suite with these laws under test."""
    axes: dict[str, object] = {key: list(laws) for key in swept(ident, subject)}
    return _scenario(ident).vary(axes if len(axes) == 1 else {"zip": axes})


def known() -> dict[str, Path]:
    """The ids of the suites and their files."""
    return {file.stem: file for file in sorted(paths.data("suites").glob("*.toml"))}


def suite(ident: str) -> Suite:
    """A suite by its id.

    Raises:
        UsageError: There is no such suite, or its file is wrong.
    """
    files = known()
    if ident not in files:
        raise UsageError(f"suite: {ident}: unknown id; {nearest(ident, files)}")
    return read(files[ident])


def read(file: Path) -> Suite:
    """A suite from its file.

    Raises:
        UsageError: It cannot be read, or a part is missing or wrong.
    """
    try:
        whole = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as e:
        raise UsageError(f"{file}: {reason(e)}; expected a readable suite") from e
    for name in whole:
        if name not in _HEAD:
            raise UsageError(f"{file}: {name}: unknown key; {nearest(name, sorted(_HEAD))}")
    subject = whole.get("subject", _CONGESTION)
    try:
        cases = tuple(_case(file, subject, dict(entry)) for entry in whole["case"])
        head = whole["title"], whole["version"], subject, whole["standard"], tuple(whole.get("left-out", ()))
    except KeyError as e:
        raise UsageError(f"{file}: no {e.args[0]}; expected one") from e
    found = Suite(file.stem, *head, cases)
    names = [case.id for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{file}: {name}: listed twice; expected unique ids")
    for case in cases:
        case.claim(found.standard, found.standard)
    return found


def _case(file: Path, subject: str, entry: dict[str, Any]) -> Case:
    where = f"{file}: {entry.get('id', 'case')}"
    for name in ("id", *_OWN):
        if not isinstance(entry.get(name), str):
            raise UsageError(f"{where}: {name}; expected text")
    section, says, scenario = (entry.pop(name) for name in _OWN)
    return Case(entry.pop("id"), section, says, scenario, subject, entry, file)
