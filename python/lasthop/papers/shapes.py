"""The type of each part of a claims file; a wrong type is reported before anything is evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.scenario.overrides import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Shape = tuple[str, Callable[[object], bool]]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _all(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(kind(one) for one in value)


def _table(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(kind(one) for one in value.values())


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_TEXT: Shape = ("text", _is_text)
_NUMBER: Shape = ("a number", _is_number)
_SWITCH: Shape = ("true or false", lambda value: isinstance(value, bool))
_TABLES: Shape = ("tables", _table(lambda value: isinstance(value, dict)))

_CLAIM: dict[str, Shape] = {
    **dict.fromkeys(
        (
            *("id", "text", "note", "study", "kind", "metric", "key", "best", "over", "unit", "tolerance"),
            *("statement", "role"),
        ),
        _TEXT,
    ),
    **dict.fromkeys(("value", "at-least", "at-most", "ceiling"), _NUMBER),
    **dict.fromkeys(("each", "each-run", "one-run"), _SWITCH),
    "between": ("two numbers", lambda value: _all(_is_number)(value) and len(value) == 2),  # type: ignore[arg-type]
    "order": ("a list of text", _all(_is_text)),
    "reading": ("a table of text", _table(_is_text)),
}
_SPREAD: dict[str, Shape] = {
    **_CLAIM,
    **dict.fromkeys(("rows", "columns"), _TEXT),
    "at": ("a table", _table(lambda value: True)),
    "at-columns": ("a list of text", _all(_is_text)),
    "values": ("a table of lists of numbers", _table(_all(_is_number))),
    "notes": ("a table of text", _table(_is_text)),
    "choices": ("a table of sets, each a table of tables", _table(_table(_table(lambda value: True)))),
    "cells": _TABLES,
}
_ENTRIES: Shape = ("tables in double brackets", _all(lambda value: isinstance(value, dict)))
_WHOLE: dict[str, Shape] = {
    "claim": _ENTRIES,
    "table": _ENTRIES,
    "statement": _ENTRIES,
    "switches": _TABLES,
    "search": ("a table", _table(lambda value: True)),
    "studies": ("a table", _table(lambda value: True)),
    "cite": ("a table", _table(lambda value: True)),
    **dict.fromkeys(("title", "question", "finding", "account", "figure"), _TEXT),
}
_CITE: dict[str, Shape] = {
    **dict.fromkeys(("type", "key", "title", "in", "pages", "month", "doi", "url"), _TEXT),
    **dict.fromkeys(
        ("volume", "number", "year"), ("text or a number", lambda value: _is_text(value) or _is_number(value))
    ),
    "author": ("a list of names", lambda value: value != [] and _all(_is_text)(value)),
}


def check_file(path: Path, whole: Mapping[str, Any]) -> None:
    """Raise unless the parts of the file have the expected types."""
    _check(str(path), whole, _WHOLE)
    _check(f"{path}: cite", whole.get("cite", {}), _CITE)
    for table in whole.get("table", []):
        _check(f"{path}: {table.get('id', 'table')}", table, _SPREAD)


def check_claim(where: str, entry: Mapping[str, Any]) -> None:
    """Raise unless every part of a single claim has its type."""
    _check(where, entry, _CLAIM)


def _check(where: str, table: Mapping[str, Any], shapes: Mapping[str, Shape]) -> None:
    for name, (words, fits) in shapes.items():
        if name in table and not fits(table[name]):
            raise UsageError(f"{where}: {name}: {as_text(table[name])}; expected {words}")
