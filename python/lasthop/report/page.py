"""A report as one HTML file that contains everything, loads nothing, and is never larger than two megabytes.

A live report contains the simulator beyond that size.

A policy in the head forbids all connections, and all scripts except that of the page, which it identifies by
hash.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from lasthop.base.files import put
from lasthop.report import sections
from lasthop.report.curves import thin
from lasthop.report.ladder import ladder
from lasthop.report.numbers import embedded
from lasthop.report.points import points
from lasthop.report.sheet import LIMIT, admit, sheet
from lasthop.report.simulator import inputs, scripts
from lasthop.report.statements import statements
from lasthop.report.values import Values

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.report.document import Document

# The share of a page that figures and ladders may take.
_FIGURES, _LADDERS = 0.5, 0.2
# What figures are drawn with, and the looks of every page.
CHARTS = (
    *("uPlot.iife.min.js", "format.js", "looks.js", "chart.js", "plots.js", "xy.js", "picture.js"),
    "figure.js",
)
STYLES = ("uPlot.min.css", "report.css")
SCRIPTS = (*CHARTS, "tables.js", "theme.js", "page.js")
# What runs points again.
_LIVE = ("statistics.js", "shared.js", "pool.js", "compared.js", "again.js")


def html(document: Document, limit: int = LIMIT, *, live: bool = False) -> str:
    """The page of a report; its points take the space that the rest leaves.

    Args:
        document: What it is about.
        limit: Its most bytes.
        live: Whether it has the simulator in it, beyond this limit, and can run points again.
    """
    simulator = scripts() if live else ""
    limit += len(simulator)
    values = Values()
    for most in (500, 250, 120, 60, 30):
        if sum(len(embedded(part.charts)) for part in document.parts) < _FIGURES * limit:
            break
        for part in document.parts:
            part.charts = [thin(chart, most) for chart in part.charts]
    studies: list[dict[str, Any]] = [
        {
            "name": part.name,
            "id": part.study.scenario.id,
            "title": part.study.scenario.title or part.study.scenario.id,
            "command": part.command,
            "charts": part.charts,
            "values": values.add(part.study),
            "text": part.study.scenario.text if part.is_own else None,
            "notes": part.study.labels(),
            **({"again": inputs(part.study.scenario)} if live else {}),
        }
        for part in document.parts
    ]
    data = {
        "title": document.title,
        "name": document.paper.id if document.paper else document.parts[0].name.replace("/", "-"),
        "rows": values.rows,
        "studies": studies,
    }
    room = limit - len(_assembled(document, data, simulator).encode()) - 2_000
    _add_ladders(document, studies, round(_LADDERS * room))
    room = limit - len(_assembled(document, data, simulator).encode()) - 2_000
    order = sorted(range(len(studies)), key=lambda i: document.parts[i].study.size)
    for left, i in zip(range(len(order), 0, -1), order, strict=True):
        part = document.parts[i]
        found = points(part.study, max(0, room // left), part.metrics, part.file)
        studies[i]["points"] = found
        room -= len(embedded(found).encode())
    return _assembled(document, data, simulator)


def _add_ladders(document: Document, studies: list[dict[str, Any]], room: int) -> None:
    """Adds the ladders of the first replications while there is space."""
    for part, study in zip(document.parts, studies, strict=True):
        study["ladders"] = {}
        for planned in part.study.plan:
            drawn = ladder(part.study, planned.point, 0)
            if drawn is None or len(embedded(drawn)) > room:
                break
            room -= len(embedded(drawn))
            study["ladders"][str(planned.point)] = {"0": drawn}


def _assembled(document: Document, data: dict[str, Any], simulator: str) -> str:
    parts = {
        "title": escape(document.title),
        "data": embedded(data),
        "hero": sections.hero(document),
        "statements": statements(
            document.paper,
            {part.name for part in document.parts},
            document.said,
            is_new=document.is_new,
        )
        if document.paper
        else "",
        "statements_link": _links(document),
        "figures": sections.figures(document),
        "versions": sections.versions(document),
        "references": sections.references(document),
        "simulator": simulator,
    }
    if not simulator:
        return sheet("page.html", STYLES, SCRIPTS, parts)
    return sheet("page.html", (*STYLES, "runs.css"), (*_LIVE, *SCRIPTS), parts, simulates=True)


def _links(document: Document) -> str:
    index = f'<a href="{escape(document.index)}">All papers</a>' if document.index else ""
    return index + ('<a href="#statements">Statements</a>' if document.paper else "")


def write(document: Document, path: Path, *, live: bool = False) -> None:
    """Write the page of a report, completely or not at all."""
    admit(path)
    put(path, html(document, live=live))
