"""The contents of a report: the studies with their charts and, for a paper, its statements."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import LasthopError
from lasthop.base.paths import is_study
from lasthop.figures.draw import AIRTIME
from lasthop.papers import cite
from lasthop.papers.published import published
from lasthop.report.charts import Chart, chart
from lasthop.report.headline import Headline, headline
from lasthop.study.ledger import Ledger
from lasthop.study.repeat import command_of_study, portable
from lasthop.study.study import Study
from lasthop.views.airtime import links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from lasthop.papers.cite import Work
    from lasthop.papers.claims import Claim
    from lasthop.papers.paper import Paper

# Values per line over time, before any thinning for space.
MOST = 1000
# More bars of airtime than this cannot be compared.
_MOST_BARS = 40


@dataclass(slots=True)
class Part:
    """A study in a report.

    Attributes:
        name: Its name on the page: its name in a paper, or the id of its scenario.
        study: The study.
        charts: Its figures as data.
        headline: Its result in words.
        metrics: Metrics used by statements; they are included with those of the figures.
        file: The name of its scenario in commands for another machine.
    """

    name: str
    study: Study
    charts: list[Chart]
    headline: Headline
    metrics: list[str]
    file: str

    @property
    def is_own(self) -> bool:
        """Whether the scenario differs from any that lasthop ships."""
        return self.file != self.study.scenario.id

    @property
    def command(self) -> str:
        """The command that repeats the study."""
        return command_of_study(self.study, self.file)


@dataclass(slots=True)
class Document:
    """A report on one study, or on a paper with its available studies.

    Attributes:
        title: The title of the scenario or paper.
        parts: The studies.
        works: The references for lasthop and the papers.
        paper: The paper; `None` for a study.
        missing: Notices about studies that were not found or cannot be read.
        build: A hash of the simulator that produced the study; empty for a paper.
        is_new: Whether the results of the paper are those of new runs, and not the recorded ones.
        index: The page that lists all papers, relative to this one; empty if there is none.
        said: What quick runs say of each statement, by its id; empty if there are none.
    """

    title: str
    parts: list[Part]
    works: list[Work]
    paper: Paper | None = None
    missing: list[str] = field(default_factory=list)
    build: str = ""
    is_new: bool = False
    index: str = ""
    said: dict[str, str] = field(default_factory=dict)


def of_study(study: Study) -> Document:
    """The report of a study."""
    part = _part(study.scenario.id, study, _figures(study), ())
    # A study that was created and run in this process does not know it.
    with closing(Ledger(study.path, write=False, of_any_model=True)) as ledger:
        build = ledger.meta("build")
    return Document(study.scenario.title or study.scenario.id, [part], cite.of_study(study.path), build=build)


def of_paper(
    paper: Paper,
    folder: Path,
    say: Callable[[str], object] = lambda text: None,
    kinds: Sequence[str] = ("", "-quick"),
) -> Document:
    """The report of a paper.

    Args:
        paper: The paper with its recorded results.
        folder: The directory to which `reproduce` has written its studies.
        say: Called with the name of each study before it is read.
        kinds: The kinds of studies to look for, the preferred one first: full ones and quick ones.

    Returns:
        The report; `missing` lists the missing studies.
    """
    document = Document(paper.title, [], [], paper)
    absent, quick = [], []
    for name in paper.studies:
        places = [folder / kind / name for kind in (f"{paper.id}{kind}" for kind in kinds)]
        place = next((place for place in places if is_study(str(place))), None)
        if place is None:
            absent.append(name)
            continue
        say(name)
        try:
            study = Study.open(place)
            claims = [claim for claim in paper.claims if claim.study == name]
            part = _part(name, study, study.scenario.figures(), claims)
        except LasthopError as e:
            document.missing.append(f"{name}: {str(e).replace(str(place), 'its directory')}")
            continue
        document.parts.append(part)
        if place.parent.name == f"{paper.id}-quick":
            quick.append(name)
    if absent:
        which = "None" if len(absent) == len(paper.studies) else f"{len(paper.studies) - len(absent)}"
        document.missing.insert(
            0,
            f"{which} of its {len(paper.studies)} studies {'are' if which != '1' else 'is'} on this page; "
            f"`lasthop reproduce {paper.id}` runs what is missing.",
        )
    if quick:
        document.missing.append(f"Quick runs, with fewer points and replications: {', '.join(quick)}.")
    document.works = [cite.work(ident) for ident in (cite.SOFTWARE, paper.id) if ident in cite.works()]
    return document


def _part(name: str, study: Study, figures: Iterable[dict[str, Any]], claims: Iterable[Claim]) -> Part:
    own = list(claims)
    drawn = figures if study.metrics() else ()
    charts = [chart(study, figure, published(own, figure, study), MOST) for figure in drawn]
    metrics = [metric for claim in own for metric in (claim.metric, *claim.among)]
    return Part(name, study, charts, headline(study), list(dict.fromkeys(metrics)), portable(study))


def _figures(study: Study) -> list[dict[str, Any]]:
    """The figures of a study; if there are none, its airtime, provided that it has an 802.11 link."""
    figures = study.scenario.figures()
    has_airtime = bool(links(study)) and len(study.plan) <= _MOST_BARS
    return figures or ([AIRTIME] if has_airtime else [])
