"""The recorded results of a paper's claims as data: `papers/<id>.results.toml`.

`lasthop reproduce --record` writes this file and generates the tables of the pages from it. Numbers are in
the unit of their claim.

model       version of the model: of the claims by study (`claims.STUDY`), of the readings by name
            (`readings.NAME`), of `quick` and of `search`; what is not listed is older than this table
claims      by id: `mean`, the 95 % interval from `low` to `high`, the number of runs `n`, `verdict`, `note`
readings    by name of a reading, the same for the claims judged under it
search      results of combinations of readings: see `search`
quick       by id, what quick runs of several seeds gave: `mean`, standard deviation `spread`, number `n`
cost        by study, CPU time per simulated second, in seconds
drawing     by study, time for its figures and verdicts, in seconds
"""

from __future__ import annotations

import json
import math
import statistics
import tomllib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, reason
from lasthop.base.files import put
from lasthop.papers.claims import VERDICTS
from lasthop.scenario.overrides import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lasthop.papers.claims import Finding


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measured value of a claim in the unit of the claim, and the verdict."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    verdict: str
    note: str = ""

    @classmethod
    def of(cls, finding: Finding) -> Outcome:
        """The outcome of a finding, whose numbers are in SI units.

        They are rounded here, so that a page of what was just measured equals one of what the file holds.
        """
        scale = finding.claim.scale
        mean, low, high = (
            None if value is None else _rounded(value / scale)
            for value in (finding.ours.mean, finding.ours.low, finding.ours.high)
        )
        return cls(mean, low, high, finding.ours.n, finding.verdict, finding.note)

    def as_dict(self) -> dict[str, Any]:
        """The known parts, as in the file."""
        numbers = {"mean": self.mean, "low": self.low, "high": self.high}
        known = {k: v for k, v in numbers.items() if v is not None}
        note = {"note": self.note} if self.note else {}
        return {**known, "n": self.n, "verdict": self.verdict, **note}


def _rounded(value: float) -> float:
    """Seven significant digits, which is finer than any interval here."""
    return float(f"{value:.7g}")


@dataclass(frozen=True, slots=True)
class Repeated:
    """What quick runs of several seeds gave for a claim, in the unit of the claim."""

    mean: float
    spread: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Repeated:
        """From the value of each."""
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return cls(_rounded(statistics.fmean(values)), _rounded(spread), len(values))


@dataclass(slots=True)
class Results:
    """The file of results of one paper."""

    claims: dict[str, Outcome] = field(default_factory=dict)
    readings: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    quick: dict[str, Repeated] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    drawing: dict[str, float] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, str]:
        """The recorded verdict of each claim."""
        return {ident: outcome.verdict for ident, outcome in self.claims.items()}

    def noted(self, parts: Iterable[str]) -> None:
        """Note that parts of the record are of this version of the model."""
        from lasthop._core import model_version

        self.models |= dict.fromkeys(parts, model_version)
        self.models = dict(sorted(self.models.items()))


def read(path: Path) -> Results:
    """The recorded results; empty if the file does not exist."""
    if not path.is_file():
        return Results()
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as e:
        raise UsageError(f"{path}: {reason(e)}; expected a file written by --record") from e
    readings = whole.get("readings", {})
    return Results(
        _outcomes(path, whole.get("claims", {})),
        {name: _outcomes(path, found) for name, found in readings.items()},
        whole.get("search", {}),
        _repeated(path, whole.get("quick", {})),
        whole.get("cost", {}),
        whole.get("drawing", {}),
        whole.get("model", {}),
    )


def _outcomes(path: Path, found: Mapping[str, Any]) -> dict[str, Outcome]:
    try:
        every = {ident: outcome(entry) for ident, entry in found.items()}
    except (KeyError, AttributeError, TypeError) as e:
        raise UsageError(f"{path}: {reason(e)}; expected n and verdict for every claim") from e
    for ident, one in every.items():
        if one.verdict not in VERDICTS:
            raise UsageError(f"{path}: {ident}: {one.verdict}; expected one of {', '.join(VERDICTS)}")
    return every


def _repeated(path: Path, found: Mapping[str, Any]) -> dict[str, Repeated]:
    try:
        return {ident: Repeated(entry["mean"], entry["spread"], entry["n"]) for ident, entry in found.items()}
    except (KeyError, AttributeError, TypeError) as e:
        raise UsageError(f"{path}: {reason(e)}; expected mean, spread and n for every claim of quick") from e


def outcome(entry: Mapping[str, Any]) -> Outcome:
    """An outcome from its entry in the file."""
    mean, low, high = (entry.get(name) for name in ("mean", "low", "high"))
    return Outcome(mean, low, high, entry["n"], entry["verdict"], entry.get("note", ""))


def write(path: Path, results: Results) -> None:
    """Write the file."""
    lines = [f"# Written by lasthop reproduce {path.name.partition('.')[0]} --record."]
    lines += _section("model", results.models)
    lines += _section("claims", {k: v.as_dict() for k, v in results.claims.items()})
    for name, found in results.readings.items():
        lines += _section(f"readings.{_key(name)}", {k: v.as_dict() for k, v in found.items()})
    search = dict(results.search)
    entries = {name: search.pop(name) for name in list(search) if _is_tables(search[name])}
    lines += _section("search", search)
    for name, tables in entries.items():
        for table in tables:
            lines += ["", f"[[search.{name}]]", *_pairs(table)]
    lines += _section("quick", {k: asdict(v) for k, v in results.quick.items()})
    lines += _section("cost", {k: float(f"{v:.3g}") for k, v in results.cost.items()})
    lines += _section("drawing", {k: float(f"{v:.2g}") for k, v in results.drawing.items()})
    put(path, "\n".join(lines) + "\n")


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _section(name: str, pairs: Mapping[str, Any]) -> list[str]:
    return ["", f"[{name}]", *_pairs(pairs)] if pairs else []


def _pairs(pairs: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key(key)} = {_value(value)}" for key, value in pairs.items())


def _key(name: str) -> str:
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    """A value in TOML, tables on one line.

    >>> _value({"mean": 0.5, "n": 3, "verdict": "cannot tell", "of-x": [1, 2]})
    '{ mean = 0.5, n = 3, verdict = "cannot tell", of-x = [1, 2] }'
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(_pairs(value))} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(value)
    return as_text(value)
