"""Files of older versions: scenarios, with their keys under the names of today, and ledgers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

# The keys of an agent that have moved under its kind.
_MOVED = {
    "lle-tcp": (
        *("mode", "acknowledge", "ack-every", "ack-delay", "on-undelivered", "hold", "max-hold"),
        *("repair", "idle", "max-flows", "max-kept"),
    ),
    "proxy-tcp": ("duplicates",),
}
_KIND = {name: kind for kind, names in _MOVED.items() for name in names}
_NAMES = "|".join(sorted(_KIND, key=len, reverse=True))
_DOTTED = re.compile(rf"\bagents\.([A-Za-z0-9_-]+)\.({_NAMES})(?![\w.-])")
_OWN = re.compile(rf"^(\s*)({_NAMES})(\s*=)")


def key(text: str) -> str:
    """A dotted key, or a text with such keys, with today's names.

    >>> key("agents.snoop.mode"), key("agents.snoop.lle-tcp.mode"), key("agents.snoop.kind")
    ('agents.snoop.lle-tcp.mode', 'agents.snoop.lle-tcp.mode', 'agents.snoop.kind')
    """
    return _DOTTED.sub(lambda found: f"agents.{found[1]}.{_KIND[found[2]]}.{found[2]}", text)


def _under_its_kind(found: re.Match[str]) -> str:
    return f"{found[1]}{_KIND[found[2]]}.{found[2]}{found[3]}"


def scenario(text: str) -> str:
    r"""The text of a scenario with today's names, line by line.

    >>> print(scenario('[agents.a]\nmode = "paper"\n[sweep]\n"agents.a.hold" = ["1 ms"]'))
    [agents.a]
    lle-tcp.mode = "paper"
    [sweep]
    "agents.a.lle-tcp.hold" = ["1 ms"]
    """
    lines, in_agent = [], False
    for line in text.split("\n"):
        head, has_end, _ = line.strip().partition("]")
        if head.startswith("[") and has_end:
            in_agent = re.fullmatch(r"agents\s*\.\s*[^.]+", head.strip("[ \t")) is not None
            lines.append(line)
            continue
        own = _OWN.sub(_under_its_kind, line) if in_agent else line
        lines.append(key(own))
    return "\n".join(lines)


TABLE = """
create table runs (
    point_key text not null, replication integer not null, seed text not null, model_version text not null,
    limits text not null, stopped text, error text, metrics text, series text, transfers text, events integer,
    simulated_s real, cpu_s real, wall_s real, primary key (point_key, replication, seed, model_version)
) without rowid;
"""
"""The runs of a ledger of format 3: it had all of a run as text."""


def runs(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of the runs of such a ledger, each ending with the version of its model."""
    columns = """point_key, replication, seed, limits, stopped, error, metrics, series, transfers, events,
        simulated_s, cpu_s, wall_s, model_version"""
    yield from db.execute(f"select {columns} from {table}")  # noqa: S608
