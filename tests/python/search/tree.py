"""A scenario as nested tables, and as the TOML text of a file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Tree = dict[str, Any]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def text(tree: Tree) -> str:
    """The text; links, flows and agents are tables of their own, everything below them is in one line."""
    lines = []
    for name, section in tree.items():
        if not isinstance(section, dict):
            lines.append(f"{_key(name)} = {_value(section)}")
        elif name in {"links", "flows", "agents"}:
            for entry, table in section.items():
                lines += ["", f"[{name}.{_key(entry)}]", *_lines(table)]
        else:
            lines += ["", f"[{name}]", *_lines(section)]
    return "\n".join(lines) + "\n"


def put(tree: Tree, path: tuple[str, ...], value: object) -> None:
    """Sets a value, making the tables above it. Fails where one of them is not a table."""
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise TypeError(".".join(path))
    tree[path[-1]] = value


def drop(tree: Tree, path: tuple[str, ...]) -> None:
    """Removes a value or a table, and the tables above it that become empty; nodes remain."""
    for name in path[:-1]:
        tree = tree[name]
    del tree[path[-1]]


def paths(tree: Tree, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All tables and values, a table before what is in it."""
    for name, value in tree.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from paths(value, (*above, name))


def _lines(table: Tree) -> list[str]:
    return [f"{_key(name)} = {_value(value)}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _value(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(_lines(value))
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
