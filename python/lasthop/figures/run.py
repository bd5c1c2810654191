"""The figures of one stored run: its traces over time, and the airtime of its 802.11 links."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import StudyError, UsageError, nearest, reason
from lasthop.figures.airtime import draw_run
from lasthop.figures.page import Page, add_to_caption
from lasthop.figures.time import draw_panels
from lasthop.scenario import airtime
from lasthop.scenario.kept import read
from lasthop.views.timeline import PANELS, Columns, Line, binned, flows_of, held, traced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

# The panels drawn for a run; smoothed round trip, threshold and packets require a [[figure]].
_SHOWN = ("rtt", "rto", "cwnd", "jitter", "goodput", "received")


def draw(folder: Path, names: Iterable[str] = (), page: Page | None = None) -> dict[str, Figure]:
    """Draw the figures of a run, `time` and `airtime`, or only those named."""
    run = read(folder)
    title = f"{run['scenario']}: seed {run['seed']}, replication {run['replication']}"
    try:
        panels = _panels(folder, run)
    except (ValueError, LookupError, TypeError) as e:
        raise StudyError(f"{folder}: {reason(e)}; expected what lasthop run has written") from e
    books = [airtime.from_dict(book) for book in run["airtime"]]
    known = [*(["time"] if panels else []), *(["airtime"] if books else [])]
    for name in names:
        if name not in known:
            raise UsageError(f"{folder}: {name}: no such figure; {nearest(name, known)}")
    if not known:
        raise UsageError(f"{folder}: nothing to draw; expected traces (run --trace) or an 802.11 link")
    wanted = list(names) or known
    found: dict[str, Figure] = {}
    if "time" in wanted:
        found["time"] = draw_panels(panels, title, "one run", None, page=page)
    if "airtime" in wanted:
        found["airtime"] = draw_run(books, title, page)
    for figure in found.values():
        for text in run.get("notes", []):
            add_to_caption(figure, text)
    return found


def _panels(folder: Path, run: Mapping[str, Any]) -> dict[str, list[Line]]:
    tables = {
        channel: _table(folder / "traces" / f"{channel}.csv")
        for channel in ("rtt", "cwnd", "jitter")
        if (folder / "traces" / f"{channel}.csv").is_file()
    }
    flows = flows_of(run["metrics"])
    series = run.get("series") or {"values": {}}
    found: dict[str, list[Line]] = {}
    for name in _SHOWN:
        for flow in flows:
            label = flow if len(flows) > 1 else ""
            if PANELS[name].channel:
                every = traced(tables, name, flow, label)
            elif f"flows.{flow}.goodput_bps" in series["values"]:
                values = [series["values"][f"flows.{flow}.goodput_bps"]]
                every = [binned(values, series["bin_s"], run["simulated_s"], name, label)]
            else:
                every = []
            if every:
                found.setdefault(name, []).extend(every)
    return held(found, run["simulated_s"])


def _table(path: Path) -> Columns:
    """The columns of a trace."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        if any(len(row) != len(head) for row in rows):
            raise ValueError("rows of different length")
    except (OSError, ValueError, csv.Error) as e:
        raise StudyError(f"{path}: {reason(e)}; expected a trace written by lasthop run") from e
    return {name: [row[i] for row in rows] for i, name in enumerate(head)}
