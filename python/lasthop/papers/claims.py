"""Claims of papers and peers as data, and the rule that judges them.

A file `papers/<id>.claims.toml` lists studies, claims and tables of claims. A claim has a *kind* (what is
measured), points, and an expected value:

mean        a metric, averaged over the points that `at` selects
difference  the mean at `this` minus the mean at `that`
ratio       the mean at `this` divided by the mean at `that`
gain        ratio minus one
saving      one minus ratio
order       the metric decreases along the values of `key` in the listed order; with `this` and `that`,
            the gain decreases
best        the gain of the best point where `best` holds over the best point where `over` holds, both
            `--where` expressions. The best points are selected by their means over the first half of the
            replications and compared over the second half. Selection and comparison on the same runs would
            favour the side with more candidates. With `each-run = true`, they are selected in each run

With `among`, a list of further metrics, the value is the share of `metric` in the sum of all, per run.

A metric such as `flows.main.holes.1.duplicates` is not a metric of the study. It is computed from a trace of
the flow, here for the first packet that duplicate ACKs caused to be retransmitted. `lasthop run --trace tcp`
prints these values.

`at` selects points: a value or a list of values for each swept key in it. `this` and `that` set further
keys. With `each = true` the claim must hold at every point instead of on average, and the worst point is
reported.

With `one-run = true` a published gain is taken for the result of one run of each point. Ours is the median of
the gains of single runs and the range of 5 to 95 % of them. The gain of a run is the mean of its gains at the
points. It agrees if the range meets what is expected, differs if it does not, and fewer than 20 runs cannot
tell.

The expected value is one of `value` with a `tolerance` (a share of it), `at-least`, `at-most`, or
`between = [low, high]`; numbers are in `unit`. `ceiling` is an analytical upper bound of the metric under
the claim's reading: an expected number above it differs without a measurement.

Verdicts, for our 95 % interval and the accepted band [low, high]:

agrees       the whole interval lies in the band; or the mean does, the band comes from a tolerance, and the
             half-width of the interval is at most that tolerance
differs      the whole interval lies outside the band
cannot tell  otherwise, and always with fewer than two replications

`role` is the origin of the claim. `paper` is a number or sentence of the paper under the reading of the
figures. `reading` is the same under the reading in `reading = { SWITCH = "OPTION" }`. `ours` is an experiment
of our own, which does not count for any statement. `statement` is the id of the published statement that a
claim of the paper or of a reading belongs to: see `statements`.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest, reason
from lasthop.base.quantity import share
from lasthop.papers.shapes import check_claim, check_file
from lasthop.papers.tables import spelt_out
from lasthop.scenario.overrides import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lasthop.stats.intervals import Interval

AGREES, CANNOT_TELL, DIFFERS = "agrees", "cannot tell", "differs"
VERDICTS = (AGREES, CANNOT_TELL, DIFFERS)
PAPER, READING, OURS = "paper", "reading", "ours"
ROLES = (PAPER, READING, OURS)
KINDS = ("mean", "difference", "ratio", "gain", "saving", "order", "best")

# Of fewer runs the range of 5 to 95 % is that of the least and the greatest.
FEWEST_SINGLE_RUNS = 20

_UNITS = {
    "": 1.0,
    "%": 0.01,
    "bit/s": 1.0,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "s": 1.0,
    "ms": 1e-3,
    "packets": 1.0,
    "segments": 1.0,
}
_NAMES = {"id", "text", "note", "study", "kind", "metric", "at", "this", "that", "key", "order", "each"} | {
    "best",
    "over",
    "each-run",
}
_PARTS = _NAMES | {"among", "value", "tolerance", "at-least", "at-most", "between", "unit", "ceiling"}
_PARTS |= {"statement", "role", "reading", "one-run"}


@dataclass(frozen=True, slots=True)
class Band:
    """The accepted range in SI units; `tolerance` is the largest half-width that is precise enough."""

    low: float
    high: float
    tolerance: float | None = None

    def judge(self, ours: Interval) -> str:
        """The verdict on an interval.

        >>> from lasthop.stats.intervals import Interval
        >>> band = Band(92.0, 108.0, 8.0)
        >>> band.judge(Interval(100.0, 99.0, 101.0, 10))
        'agrees'
        >>> band.judge(Interval(107.0, 103.0, 111.0, 10))
        'agrees'
        >>> band.judge(Interval(111.0, 107.0, 115.0, 10))
        'cannot tell'
        >>> band.judge(Interval(111.0, 109.0, 113.0, 10))
        'differs'
        >>> Band(1.2, math.inf).judge(Interval(1.3, 1.1, 1.5, 10))
        'cannot tell'
        """
        if ours.mean is None or ours.low is None or ours.high is None or ours.half is None:
            return CANNOT_TELL
        if ours.high < self.low or ours.low > self.high:
            return DIFFERS
        if self.low <= ours.low and ours.high <= self.high:
            return AGREES
        precise = self.tolerance is not None and ours.half <= self.tolerance
        return AGREES if self.holds(ours.mean) and precise else CANNOT_TELL

    def judge_runs(self, ours: Interval) -> str:
        """The verdict on the range of single runs.

        >>> from lasthop.stats.intervals import Interval
        >>> Band(28.0, 28.0).judge_runs(Interval(25.0, 20.0, 34.0, 100))
        'agrees'
        >>> Band(28.0, 28.0).judge_runs(Interval(22.0, 20.0, 27.0, 100))
        'differs'
        >>> Band(28.0, 28.0).judge_runs(Interval(25.0, 20.0, 34.0, 19))
        'cannot tell'
        """
        if ours.low is None or ours.high is None or ours.n < FEWEST_SINGLE_RUNS:
            return CANNOT_TELL
        return AGREES if ours.low <= self.high and self.low <= ours.high else DIFFERS

    def holds(self, mean: float) -> bool:
        """Whether a mean lies in the band, regardless of its interval."""
        return self.low <= mean <= self.high

    def shortfall(self, mean: float | None) -> float:
        """The distance of a mean from the middle of the accepted range; infinite without a measurement."""
        if mean is None:
            return math.inf
        if math.isinf(self.high):
            return self.low - mean
        if math.isinf(self.low):
            return mean - self.high
        return abs(mean - (self.low + self.high) / 2)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim; numbers are in SI units except in `text`, `paper` and `note`."""

    id: str
    text: str
    study: str
    kind: str
    metric: str
    band: Band
    paper: float | None
    expected: str
    unit: str
    at: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    this: Mapping[str, str] = field(default_factory=dict)
    that: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    order: tuple[str, ...] = ()
    each: bool = False
    best: str = ""
    over: str = ""
    each_run: bool = False
    one_run: bool = False
    note: str = ""
    ceiling: float | None = None
    among: tuple[str, ...] = ()
    statement: str = ""
    role: str = PAPER
    reading: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_out_of_reach(self) -> bool:
        """Whether the paper's number is above the analytical bound of its reading."""
        return None not in (self.paper, self.ceiling) and (self.paper or 0.0) > (self.ceiling or 0.0)

    @property
    def halves(self) -> bool:
        """Whether one half of the runs selects the points and only the other half is measured."""
        return self.kind == "best" and not self.each_run

    @property
    def effect(self) -> float | None:
        """The size of the claimed effect in the claim's unit; `None` if no effect would satisfy the claim."""
        nothing = 1.0 if self.kind == "ratio" else 0.0
        if self.paper is None or self.kind not in {"difference", "ratio", "gain", "saving", "best"}:
            return None
        if self.band.holds(nothing) or abs(self.paper - nothing) < (0.01 if self.kind == "ratio" else 1):
            return None
        return abs(self.paper - nothing)

    @property
    def scale(self) -> float:
        """SI units in one of `unit`."""
        return _UNITS[self.unit]


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with the measured value, the verdict, and the values of single runs where these are few."""

    claim: Claim
    ours: Interval
    verdict: str
    note: str
    each: tuple[float, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The finding as `reproduce --json` prints it, in the claim's unit."""
        scale = self.claim.scale
        ours = {"mean": self.ours.mean, "ci_low": self.ours.low, "ci_high": self.ours.high}
        return {
            "id": self.claim.id,
            "claim": self.claim.text,
            "paper": self.claim.paper,
            "ours": {
                **{k: None if v is None else v / scale for k, v in ours.items()},
                "n": self.ours.n,
                "unit": self.claim.unit,
            },
            "verdict": self.verdict,
            "note": self.note,
        }


def read(path: Path) -> tuple[dict[str, Any], list[Claim]]:
    """A claims file: its head (title and studies), and its claims with tables expanded."""
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as e:
        raise UsageError(f"{path}: {reason(e)}; expected a readable claims file") from e
    check_file(path, whole)
    claims = [as_claim(path, entry) for entry in whole.pop("claim", [])]
    for table in whole.pop("table", []):
        claims += [as_claim(path, entry) for entry in spelt_out(path, table)]
    names = [claim.id for claim in claims]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{path}: {name}: listed twice; expected unique ids")
    for claim in claims:
        if claim.study not in whole.get("studies", {}):
            raise UsageError(f"{path}: {claim.id}: study: {nearest(claim.study, whole.get('studies', {}))}")
    return whole, claims


def as_claim(path: Path, entry: Mapping[str, Any]) -> Claim:
    """A claim from its parts; `path` is the file that messages name."""
    where = f"{path}: {entry.get('id', 'claim')}"
    for name in entry:
        if name not in _PARTS:
            raise UsageError(f"{where}: {name}: unknown key; {nearest(name, sorted(_PARTS))}")
    for name in ("id", "text", "metric"):
        if name not in entry:
            raise UsageError(f"{where}: no {name}; expected one")
    check_claim(where, entry)
    kind, unit = entry.get("kind", "mean"), entry.get("unit", "")
    if kind not in KINDS:
        raise UsageError(f"{where}: kind: {nearest(kind, KINDS)}")
    if (kind == "best") != ("best" in entry and "over" in entry):
        raise UsageError(
            f"{where}: kind: {kind}; expected best and over for the kind best, and for no other kind"
        )
    if unit not in _UNITS:
        raise UsageError(f"{where}: unit: {nearest(unit, _UNITS)}")
    role, reading = entry.get("role", PAPER), entry.get("reading", {})
    if role not in ROLES:
        raise UsageError(f"{where}: role: {nearest(role, ROLES)}")
    if role != OURS and (role == READING) != bool(reading):
        raise UsageError(
            f"{where}: role: {role}; expected reading for the role reading, and for no other role"
        )
    if role == READING and "statement" not in entry:
        raise UsageError(
            f"{where}: no statement; expected the id of the statement that this reading is about"
        )
    among = entry.get("among", [])
    if not isinstance(among, list) or not all(isinstance(name, str) for name in among):
        raise UsageError(f"{where}: among: {_told(among)}; expected a list of metrics")
    at = _points(where, "at", entry.get("at", {}))
    this, that = (
        {k: v for k, (v,) in _points(where, part, entry.get(part, {}), most=1).items()}
        for part in ("this", "that")
    )
    return Claim(
        id=entry["id"],
        text=entry["text"],
        study=entry.get("study", "main"),
        kind=kind,
        metric=entry["metric"],
        band=_band(where, entry, kind, _UNITS[unit]),
        paper=entry.get("value", entry.get("at-least", entry.get("at-most"))),
        expected=_expected(entry, kind),
        unit=unit,
        at=at,
        this=this,
        that=that,
        key=entry.get("key", ""),
        order=tuple(entry.get("order", ())),
        each=bool(entry.get("each", False)),
        best=entry.get("best", ""),
        over=entry.get("over", ""),
        each_run=bool(entry.get("each-run", False)),
        one_run=_is_one_run(where, entry, kind),
        note=entry.get("note", ""),
        ceiling=entry.get("ceiling"),
        among=tuple(among),
        statement=entry.get("statement", entry["id"]) if role != OURS else "",
        role=role,
        reading=reading,
    )


def _is_one_run(where: str, entry: Mapping[str, Any], kind: str) -> bool:
    """Whether single runs are judged, which applies to gains only."""
    if entry.get("one-run") and kind != "gain":
        raise UsageError(f"{where}: one-run: with the kind {kind}; expected the kind gain")
    return bool(entry.get("one-run", False))


def _points(where: str, part: str, chosen: object, most: int | None = None) -> dict[str, tuple[str, ...]]:
    """The values of swept keys in `at`, `this` or `that`, as text."""
    if not isinstance(chosen, dict):
        raise UsageError(f"{where}: {part}: {_told(chosen)}; expected a table of swept keys")
    found = {k: tuple(v) if isinstance(v, list) else (v,) for k, v in chosen.items()}
    for key, values in found.items():
        if most is not None and len(values) != most:
            raise UsageError(f"{where}: {part}: {key}: {len(values)} values; expected {most}")
        for value in values:
            if isinstance(value, dict):
                raise UsageError(
                    f"{where}: {part}: {key}: a table; expected text (a key with dots must be quoted)"
                )
            if not isinstance(value, str):
                told = _told(value)
                raise UsageError(f'{where}: {part}: {key}: {told}; expected text such as "{told}"')
    return found


def _told(value: object) -> str:
    """A value of a claims file in a message; TOML also has dates and times, which no scenario has.

    >>> import datetime
    >>> _told(5), _told(datetime.date(2000, 1, 2)), _told([datetime.time(3)])
    ('5', '2000-01-02', '[datetime.time(3, 0)]')
    """
    try:
        return as_text(value)
    except UsageError:
        return str(value)


def _expected(entry: Mapping[str, Any], kind: str) -> str:
    """The expected value in the claim's unit, for a table."""
    if kind == "order":
        return " > ".join(entry.get("order", ()))
    if "between" in entry:
        return "{} to {}".format(*entry["between"])
    if "at-least" in entry:
        return f"≥ {entry['at-least']}"
    if "at-most" in entry:
        return f"≤ {entry['at-most']}"
    if entry.get("one-run"):
        return f"{entry.get('value')} in some run"
    return f"{entry.get('value')} ± {entry.get('tolerance')}"


def _band(where: str, entry: Mapping[str, Any], kind: str, scale: float) -> Band:
    if kind == "order":
        return Band(0.0, math.inf)
    given = [name for name in ("value", "at-least", "at-most", "between") if name in entry]
    if len(given) != 1:
        raise UsageError(f"{where}: {given}; expected one of value, at-least, at-most, between")
    expected = entry[given[0]]
    if given[0] == "between":
        return Band(expected[0] * scale, expected[1] * scale)
    if given[0] == "at-least":
        return Band(expected * scale, math.inf)
    if given[0] == "at-most":
        return Band(-math.inf, expected * scale)
    if entry.get("one-run"):
        return Band(expected * scale, expected * scale)
    part = share(str(entry.get("tolerance", "")))
    if part is None:
        raise UsageError(f'{where}: tolerance; expected a share such as "8 %"')
    slack = abs(expected * scale) * part
    return Band(expected * scale - slack, expected * scale + slack, slack)
