"""The tables that the program writes into `papers/ID.md`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lasthop.base.errors import StudyError
from lasthop.base.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class ReportTable(NamedTuple):
    """A table, the pattern of the head by which it is found, and what stands above it where it is new."""

    head: Sequence[str]
    rows: Iterable[Sequence[str]]
    pattern: str
    title: str = ""


def put(report: Path, title: str, tables: Iterable[ReportTable]) -> None:
    """Put tables into a report with this title, each in the place of the one that is there or at its end."""
    text = report.read_text(encoding="utf-8") if report.is_file() else f"# {title}\n"
    for table in tables:
        lines = [table.head, ["---"] * len(table.head), *table.rows]
        block = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        there = re.search(rf"^{table.pattern}[^\n]*\n(?:\|[^\n]*\n)+", text, re.MULTILINE)
        if there:
            text = text[: there.start()] + block + text[there.end() :]
        else:
            text = f"{text.rstrip()}\n\n{table.title}{block}"
    try:
        with replacing(report) as draft:
            draft.write_text(text, encoding="utf-8")
    except OSError as e:
        raise StudyError(f"{report}: {e.strerror}; expected a writable file") from e
