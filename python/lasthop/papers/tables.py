"""Expansion of tables of claims: one claim per cell, or per combination of choices."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OURS = "ours"
_TABLE = ("rows", "columns", "at-columns", "values")


def spelt_out(path: Path, table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One claim for each cell of a table with `rows`, `columns` and `values`, or of one with `choices`.

    `id`, `text` and `statement` may name `{row}` and `{column}`; `notes` maps the id of a claim to its note.
    """
    where = f"{path}: {table.get('id', 'table')}"
    parts = ("id", "text", *(() if "choices" in table else _TABLE))
    for name in parts:
        if name not in table:
            raise UsageError(f"{where}: no {name}; expected one")
    if "choices" in table:
        yield from _chosen(where, table)
        return
    rest = {k: v for k, v in table.items() if k not in {*_TABLE, "notes"}}
    notes = table.get("notes", {})
    for row, values in table["values"].items():
        if len(values) != len(table["at-columns"]):
            raise UsageError(f"{where}: {row}: {len(values)} values; expected {len(table['at-columns'])}")
        for column, value in zip(table["at-columns"], values, strict=True):
            labels = {"row": row, "column": column.replace(" ", "")}
            ident = _filled(where, table["id"], labels)
            yield {
                **rest,
                **_statement(where, rest, labels),
                "id": ident,
                "text": _filled(where, table["text"], {"row": row, "column": column}),
                "at": {**table.get("at", {}), table["rows"]: row, table["columns"]: column},
                "value": value,
                "note": notes.get(ident, ""),
            }


def _chosen(where: str, table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One claim for each combination of one option from every set in `choices`.

    `id` and `statement` contain the name of each set in braces, which is replaced by the name of the option.
    The option adds to the claim: tables such as `at` are merged, other parts are replaced. In `text` the
    option's `words` replace the name of the set. `cells` maps the id of a claim to further parts of it.
    """
    sets, cells = table["choices"], table.get("cells", {})
    rest = {k: v for k, v in table.items() if k not in {"choices", "cells"}}
    for options in itertools.product(*(options.items() for options in sets.values())):
        entry = dict(rest)
        for _, option in options:
            for part, value in option.items():
                # A claim that one option makes an experiment of our own remains one.
                if part != "words" and (part, entry.get(part)) != ("role", OURS):
                    entry[part] = {**entry.get(part, {}), **value} if isinstance(value, dict) else value
        chosen = dict(zip(sets, options, strict=True))
        words = {name: option.get("words", label) for name, (label, option) in chosen.items()}
        labels = {name: label for name, (label, _) in chosen.items()}
        entry["id"] = _filled(where, entry["id"], labels)
        entry |= _statement(where, entry, labels)
        entry["text"] = _filled(where, entry["text"], words)
        yield {**entry, **cells.get(entry["id"], {})}


def _statement(where: str, entry: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """The statement that a claim belongs to; like the id, it may contain names in braces."""
    text = entry.get("statement")
    return {"statement": _filled(where, text, labels)} if isinstance(text, str) else {}


def _filled(where: str, text: str, words: Mapping[str, str]) -> str:
    """A text in which words replace the names in braces."""
    try:
        return text.format(**words)
    except KeyError as e:
        raise UsageError(f"{where}: {nearest(str(e.args[0]), words)}") from e
    except (ValueError, IndexError, AttributeError) as e:
        names = ", ".join(f"{{{name}}}" for name in words)
        raise UsageError(f'{where}: "{text}"; expected no braces except those of {names}') from e
