"""Rebuilding the figures of papers and comparing them with what the papers and peers report.

An id such as `baselines` is a file `papers/<id>.claims.toml`; the verdicts on record are the
table in `papers/<id>.md` whose head names `claim` and `verdict`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import StudyError, UsageError, nearest
from lasthop.base.quantity import digits
from lasthop.base.table import grid
from lasthop.papers.claims import CANNOT_TELL, VERDICTS, Claim, Finding, read
from lasthop.papers.measure import judge
from lasthop.papers.report import ReportTable, put
from lasthop.scenario.overrides import as_text
from lasthop.scenario.scenario import load
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SUFFIX = ".claims.toml"


@dataclass(slots=True)
class Paper:
    """A claims file with what is on record about it."""

    id: str
    title: str
    studies: dict[str, Any]
    claims: list[Claim]
    recorded: dict[str, str]
    report: Path
    head: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Reproduction:
    """The findings on one paper and where the study and its figures are."""

    paper: Paper
    quick: bool
    findings: list[Finding] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    exceptions: dict[str, list[str]] = field(default_factory=dict)

    def worse(self) -> list[Finding]:
        """The findings whose verdict is worse than the one on record.

        A quick run has fewer replications: that it cannot tell is no news, nor is what it tells where
        many could not.
        """
        return [f for f in self.findings if self._is_worse(f)]

    def _is_worse(self, finding: Finding) -> bool:
        before = self.paper.recorded.get(finding.claim.id)
        if before is None or (self.quick and CANNOT_TELL in (before, finding.verdict)):
            return False
        return VERDICTS.index(finding.verdict) > VERDICTS.index(before)

    def as_dict(self) -> dict[str, Any]:
        """The document for `--json`."""
        claims = [f.as_dict() for f in self.findings]
        return {"paper": self.paper.id, "claims": claims, "notes": self.notes()}

    def text(self, paint: Callable[[str, str], str] = lambda text, _: text) -> str:
        """One line for each claim."""
        worse = {f.claim.id for f in self.worse()}
        rows = []
        for finding in self.findings:
            row = list(_row(finding).values())
            if finding.claim.id in worse:
                row[-1] = f"worse than recorded: {self.paper.recorded[finding.claim.id]}" + (
                    f"; {row[-1]}" if row[-1] else ""
                )
            rows.append(row)
        lines = grid(["claim", "expected", "ours (95 % CI)", "n", "verdict", "note"], rows).split("\n")
        colours = dict(zip(VERDICTS, ("green", "yellow", "red"), strict=True))
        for i, finding in enumerate(self.findings, 1):
            lines[i] = lines[i].replace(
                f"  {finding.verdict}", f"  {paint(finding.verdict, colours[finding.verdict])}", 1
            )
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes())])

    def notes(self) -> list[str]:
        """Which studies were made with what no protocol could have."""
        return [f"{label}: {', '.join(studies)}" for label, studies in self.exceptions.items()]


def _row(finding: Finding) -> dict[str, str]:
    claim, ours = finding.claim, finding.ours
    scale = claim.scale
    shown = "–"
    if ours.mean is not None:
        shown = digits(ours.mean / scale)
        if ours.low is not None and ours.high is not None:
            shown += f" [{digits(ours.low / scale)}, {digits(ours.high / scale)}]"
    return {
        "claim": claim.id,
        "expected": claim.expected if claim.kind == "order" else f"{claim.expected} {claim.unit}".rstrip(),
        "ours": f"{shown} {claim.unit}".rstrip(),
        "n": str(ours.n),
        "verdict": finding.verdict,
        "note": finding.note,
    }


def known() -> dict[str, Path]:
    """The ids that can be reproduced and their claims files."""
    base = paths.data("papers")
    files = {f.name.removesuffix(_SUFFIX): f for f in sorted(base.glob(f"*{_SUFFIX}"))}
    if not files:
        raise UsageError(f"{base}: no papers; expected those that lasthop brings: install it again")
    return files


def paper(ident: str) -> Paper:
    """A paper by its id."""
    files = known()
    if ident not in files:
        raise UsageError(f"reproduce: {ident}: unknown id; {nearest(ident, files)}")
    head, claims = read(files[ident])
    report = files[ident].with_name(f"{ident}.md")
    return Paper(ident, head.get("title", ident), head["studies"], claims, recorded(report), report, head)


def recorded(report: Path) -> dict[str, str]:
    """The verdicts on record: claim id to verdict."""
    if not report.is_file():
        return {}
    found: dict[str, str] = {}
    head: list[str] = []
    for line in report.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if not head:
            head = cells
        elif "claim" in head and "verdict" in head and not set(line) <= set("|-: "):
            row = dict(zip(head, cells, strict=False))
            if row.get("verdict") in VERDICTS:
                found[row["claim"]] = row["verdict"]
    return found


def reproduce(
    one: Paper,
    out: Path,
    *,
    quick: bool,
    jobs: int | None,
    progress: Callable[[], Listener],
) -> Reproduction:
    """Run the paper's studies, draw their figures and judge its claims."""
    from lasthop.figures.draw import draw
    from lasthop.figures.style import save

    result = Reproduction(one, quick)
    for name, settings in one.studies.items():
        own = settings.get("quick", {}) if quick else {}
        changes = {**settings.get("set", {}), **own.get("set", {})}
        scenario = load(
            paths.shipped_file(settings["scenario"]), [(k, as_text(v)) for k, v in changes.items()]
        )
        folder = out / (one.id + ("-quick" if quick else "")) / name
        study = Study.create(
            scenario,
            folder,
            replications=own.get("replications", settings.get("replications")),
            where=[*settings.get("where", ()), *own.get("where", ())],
            fresh=is_stale(folder),
        )
        Sweep(study, jobs=jobs, listener=progress()).run()
        if not study.metrics():
            raise UsageError(f"{folder}: every run failed; expected some to finish")
        for figure in scenario.figures():
            save(draw(study, figure), folder / "figures" / f"{figure['id']}.svg")
        result.findings += [judge(c, study) for c in one.claims if c.study == name]
        result.folders.append(folder)
        for label in scenario.notes():
            result.exceptions.setdefault(label, []).append(name)
    order = [c.id for c in one.claims]
    result.findings.sort(key=lambda f: order.index(f.claim.id))
    return result


def is_stale(folder: Path) -> bool:
    """Whether a study cannot be read or is of another build: what is verified must be what runs now."""
    if not paths.is_study(str(folder)):
        return False
    try:
        return Study.open(folder).build != paths.build()
    except StudyError:
        return True


def record(result: Reproduction) -> None:
    """Put the verdicts on record: replace the table of claims in the report, or append one."""
    rows = [_row(finding) for finding in result.findings]
    found_by = r"\| claim \|[^\n]*\bverdict\b"
    values = [list(row.values()) for row in rows]
    table = ReportTable(list(rows[0]), values, found_by, "## How close we come\n\n")
    put(result.paper.report, result.paper.title, [table])
