"""Every value of a scenario with its default and the sources of both, once for all studies of a page."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from lasthop import _core

if TYPE_CHECKING:
    from lasthop.study.study import Study

# Key, value, origin of the value, source of the default, default.
Row = tuple[str, str, str, str, str]
# Maximum number of values shown of a key that varies between points.
_MOST = 12


class Values:
    """The values of several scenarios, each distinct row stored once.

    Attributes:
        rows: Key, value, origin, source and default.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._places: dict[Row, int] = {}

    def add(self, study: Study) -> list[int]:
        """Adds the rows of a study; returns their indices."""
        return [self._place(row) for row in _rows(study)]

    def _place(self, row: Row) -> int:
        if row not in self._places:
            self._places[row] = len(self.rows)
            self.rows.append(row)
        return self._places[row]


def _rows(study: Study) -> list[Row]:
    """Every key that applies at some point; if it varies, its values in the order of the points."""
    tables = [study.scenario.resolved(planned.point) for planned in study.plan]
    found: dict[str, list[dict[str, str]]] = {}
    for table in tables:
        for key, entry in table.items():
            found.setdefault(key, []).append(entry)
    rows = []
    for key, entries in found.items():
        values = list(dict.fromkeys(entry["value"] for entry in entries))
        more = f" | … ({len(values)} values)" if len(values) > _MOST else ""
        text = " | ".join(values[:_MOST]) + more
        if len(entries) < len(tables):
            text += f" (at {len(entries)} of {len(tables)} points)"
        origins = " | ".join(dict.fromkeys(entry["from"] for entry in entries))
        sources = " | ".join(dict.fromkeys(entry["source"] for entry in entries if entry.get("source")))
        rows.append((key, text, origins, sources, default(key)))
    return rows


@cache
def default(key: str) -> str:
    """The default of a key in words, for each profile or kind on which it depends.

    >>> default("run.bin"), default("flows.main.tcp.min-rto")
    ('none', '200 ms (modern); 1 s (rfc); 1 s (ns2-2004)')
    """
    try:
        return str(json.loads(_core.explain(key)).get("default") or "")
    except (ValueError, RuntimeError):
        return ""
