"""Every key of a point of a scenario with its value, where that comes from, and its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base.jsontext import dumps
from lasthop.base.table import grid

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario


def scenario_text(scenario: Scenario, point: int) -> str:
    """Every key of a point, section by section: value, origin, source."""
    entries = scenario.resolved(point)
    place = ", ".join(f"{k} = {v}" for k, v in scenario.points()[point].items())
    lines = [f"{scenario.id}: point {point} of {len(scenario.points())}" + (f" ({place})" if place else "")]
    sections: dict[str, list[list[str]]] = {}
    for key, entry in entries.items():
        parts = key.split(".")
        section = ".".join(parts[: 2 if parts[0] in ("links", "flows", "nodes", "agents") else 1])
        rest = key[len(section) + 1 :]
        row = [f"  {rest}" if rest else f"  {key}", entry["value"], entry["from"], entry.get("source") or ""]
        sections.setdefault(section, []).append(row)
    width = [max((len(r[i]) for rows in sections.values() for r in rows), default=0) for i in range(3)]
    for section, rows in sections.items():
        lines += ["", f"[{section}]"]
        padded = [[t.ljust(w) for t, w in zip(r, [*width, 0], strict=True)] for r in rows]
        lines.append(grid([""] * 4, padded))
    return "\n".join(lines)


def scenario_json(scenario: Scenario, point: int) -> str:
    """Every key of a point as JSON."""
    return dumps(
        {
            "scenario": scenario.id,
            "version": _core.__version__,
            "model_version": _core.model_version,
            "point": point,
            "points": len(scenario.points()),
            "swept": scenario.points()[point],
            "key": scenario.point_key(point),
            "values": scenario.resolved(point),
        }
    )
