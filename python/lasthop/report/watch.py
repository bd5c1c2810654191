"""A sweep while it runs, as the data of a page that grows: progress, the result so far, and the figures."""

from __future__ import annotations

import copy
import threading
import time
from html import escape
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import LasthopError
from lasthop.report.charts import chart
from lasthop.report.headline import counted, headline
from lasthop.report.markup import notices, unbroken
from lasthop.report.page import CHARTS, STYLES
from lasthop.report.sections import card, emphasised, gains
from lasthop.report.sheet import sheet
from lasthop.study.sweep import Listener
from lasthop.views.timeline import PANELS

if TYPE_CHECKING:
    from lasthop.study.progress import Lines
    from lasthop.study.rows import Row
    from lasthop.study.study import Study

SCRIPTS = (*CHARTS, "theme.js", "watch.js")
_FOOT = (
    "Numbers have 95 % confidence intervals by Student’s t; differences are paired by their random numbers."
)
_WORDS = {
    "gone": "The sweep does not answer: it was interrupted or has ended. The page keeps what it has; the "
    "same command continues the sweep.",
    "done": "All runs have ended, and so has the server of this page. lasthop report writes a page to keep.",
}
# Values of a line over time.
_MOST = 300
# How often a page asks: never more often than this, and so rarely that making its data takes a quarter of
# the time.
_LEAST_MS, _MOST_MS, _SHARE = 1000, 10_000, 4


class Watch(Listener):
    """A listener to a sweep that passes everything on, and has what a page shows of it.

    The sweep calls it in its thread, pages ask in theirs.
    """

    def __init__(self, study: Study, to: Lines) -> None:
        self._study = study
        self._to = to
        self._rows = dict(study.runs)
        self._plan = study.plan
        self._version = 0
        self._state = "running"
        self._changes = threading.Lock()
        self._makes = threading.Lock()
        self._made: tuple[int, dict[str, Any]] = (-1, {})
        self._took_s = 0.0

    def begin(self, total: int, reused: int) -> None:
        """The sweep begins."""
        self._to.begin(total, reused)
        self._changed()

    def grow(self, total: int) -> None:
        """More replications turned out to be needed."""
        self._to.grow(total)
        self._changed()

    def step(self, row: Row) -> None:
        """A run has ended."""
        self._to.step(row)
        with self._changes:
            self._rows[row.point_key, row.replication] = row
        self._changed()

    def tick(self) -> None:
        """Called several times a second."""
        self._to.tick()

    def end(self) -> None:
        """Nothing is left to do, or the sweep was interrupted."""
        self._to.end()

    def finish(self) -> None:
        """All runs have ended."""
        with self._changes:
            self._state = "done"
        self._changed()

    def page(self) -> str:
        """The page, which requests its data."""
        title = escape(self._study.scenario.title or self._study.scenario.id)
        slots = {
            "title": title,
            "what": "sweep",
            "first": "The figures follow the first runs.",
            "foot": _FOOT,
        }
        return sheet("watch.html", (*STYLES, "watch.css"), SCRIPTS, slots, connects="'self'")

    def data(self, known: int) -> dict[str, Any]:
        """The progress, and the result and the figures if they are newer than those of a page.

        Args:
            known: The version that the page has.
        """
        with self._changes:
            version, state = self._version, self._state
        now = self._to.state()
        done = now.reused + now.ended
        failed = f", {now.failed} failed" if now.failed else ""
        found: dict[str, Any] = {
            "version": version,
            "state": state,
            "where": "The sweep is done" if state == "done" else "The sweep runs",
            "total": now.total,
            "done": done,
            "failed": now.failed,
            "count": f"{done} of {now.total} runs{failed}",
            "words": _WORDS,
            "pace": self._to.pace() if state == "running" else self._to.summary(),
            "wait": round(min(max(_LEAST_MS, _SHARE * 1000 * self._took_s), _MOST_MS)),
        }
        return found if version == known else found | self._shown(version)

    def _changed(self) -> None:
        with self._changes:
            self._plan = self._study.plan
            self._version += 1

    def _shown(self, version: int) -> dict[str, Any]:
        with self._makes:
            if self._made[0] != version:
                begun = time.monotonic()
                self._made = version, self._make()
                self._took_s = time.monotonic() - begun
            return self._made[1]

    def _make(self) -> dict[str, Any]:
        study = copy.copy(self._study)
        with self._changes:
            study.plan = self._plan
            rows = list(self._rows.values())
        study.take(rows)
        figures = []
        for place, figure in enumerate(study.scenario.figures() if study.metrics() else ()):
            kept, note = _of_bins(figure)
            drawn = chart(study, kept, (), _MOST)
            drawn["notes"] = [*drawn.get("notes", ()), *note]
            figures.append({"card": card(0, place, drawn), "chart": drawn})
        return {"hero": _hero(study, is_done=len(rows) >= study.size), "figures": figures}


def _of_bins(figure: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A figure over time without the panels that repeat a run for its trace, and what is said of them."""
    if figure["kind"] != "time":
        return figure, []
    panels = [name for name in figure["panels"] if not PANELS[name].channel]
    if len(panels) == len(figure["panels"]):
        return figure, []
    left = [PANELS[name].words for name in figure["panels"] if name not in panels]
    return {**figure, "panels": panels}, [f"plot draws the rest, by repeating a run: {', '.join(left)}"]


def _hero(study: Study, *, is_done: bool) -> str:
    """The result so far."""
    title = escape(study.scenario.title or study.scenario.id)
    far = "" if is_done else ", so far"
    head = f'<p class="eyebrow">Study <code>{escape(study.scenario.id)}</code>{far}</p><h1>{title}</h1>'
    try:
        result = headline(study)
    except LasthopError as e:
        return f"{head}{notices([str(e)])}"
    about = f'<p class="about">{unbroken(result.about)}</p>' if result.about else ""
    failed = len(study.failures)
    said = notices([f"{counted(failed, 'run')} failed."] if failed else [])
    return f'{head}<p class="headline">{emphasised(result.text)}</p>{about}{gains(result)}{said}'
