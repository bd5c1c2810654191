"""Writes keys.md, the list of all scenario keys, from the table that the scenario reader uses.

    .venv/bin/python docs/make_keys.py

`tests/python/test_docs.py` fails while the page is not what this writes.
"""

import json
from itertools import groupby
from pathlib import Path

from lasthop import _core

PAGE = Path(__file__).with_name("keys.md")

HEAD = """# All scenario keys

<!-- Written by make_keys.py; not edited by hand. -->

The same from the command line: `lasthop list keys`, and `lasthop explain KEY` for one of them, which also
gives the unit and where a default is published. `lasthop schema` prints a JSON Schema for editors.
A quantity is text with a unit. `NAME` is the name you give a node, link, flow or agent.
"""

TITLES = {
    "": "Head of the file",
    "run": "`[run]`",
    "nodes": "`[nodes]`",
    "links": "`[links.NAME]`",
    "flows": "`[flows.NAME]`",
    "flows tcp": "`[flows.NAME.tcp]`",
    "flows udp": "`[flows.NAME.udp]`",
    "agents": "`[agents.NAME]`",
    "figure": "`[[figure]]`",
}

# Conditions that the title of the section states already.
IMPLIED = {"", "a flow over tcp", "a flow over udp"}


def section(key: str) -> str:
    """The title under which a key is listed."""
    parts = key.split(".")
    if len(parts) == 1:
        return ""
    transport = parts[0] == "flows" and parts[2] in {"tcp", "udp"}
    return f"flows {parts[2]}" if transport else parts[0]


def row(entry: dict[str, str | list[str] | None]) -> str:
    """One line of a table."""
    words = ", ".join(f"`{word}`" for word in entry["values"] or ())
    kind = (
        entry["kind"] if not words else words if entry["kind"] == "word" else f"{entry['kind']}, or {words}"
    )
    if entry["kind"] == "list of words":
        kind = f"list of {words}"
    default = entry["default"] or ""
    shown = default if default.startswith(("required", "as ")) else f"`{default}`" if default else "–"
    meaning = entry["meaning"]
    if entry["only_for"] not in IMPLIED:
        meaning = f"{meaning} (only for {entry['only_for']})"
    return f"| `{entry['key']}` | {kind} | {shown} | {meaning} |"


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for name, entries in groupby(json.loads(_core.keys()), key=lambda entry: section(entry["key"])):
        lines += [f"## {TITLES[name]}\n", "| key | value | default | meaning |", "| --- | --- | --- | --- |"]
        lines += [*map(row, entries), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
