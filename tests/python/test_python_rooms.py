"""The rooms of the Python package: each imports only rooms before it, and no modules import in a circle.

The imports in the source count: at the top, inside functions and under TYPE_CHECKING. So do the names of
modules that are imported by a text, such as those in the table of the package.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "lasthop"
ROOMS = (
    *(
        "_core",
        "base",
        "stats",
        "laws",
        "scenario",
        "captures",
        "realtime",
        "kernel",
        "virtual",
        "peer",
        "study",
        "views",
        "figures",
        "papers",
        "report",
        "suites",
    ),
    *("gym", "api", "tools", "cli"),
)
# What gives the package its names and its command is above all rooms.
ABOVE = {"", "__main__"}


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by name; a package in it is called by its own."""
    found = {}
    for path in sorted([*package.rglob("*.py"), *package.glob("*.pyi")]):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def named(node: ast.AST, name: str, *, is_package: bool, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a piece of the source of a module imports."""
    top = name.partition(".")[0]
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == top)
        case ast.ImportFrom():
            parts = name.split(".")
            base = ".".join(parts[: len(parts) + is_package - node.level]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            if source.partition(".")[0] == top:
                for alias in node.names:
                    whole = f"{source}.{alias.name}"
                    yield whole if whole in known else source
        case ast.Constant(value=str(text)) if text in known and text != top:
            yield text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]) if (
            text.startswith(f"{top}.") and text.count(".") > 1
        ):
            yield from (other for other in known if other.startswith(text))


def imports(package: Path) -> dict[str, set[str]]:
    """What each module of a package imports of it, with the packages that are imported on the way."""
    known = modules(package)
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        found[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in named(node, name, is_package=path.stem == "__init__", known=known):
                assert target in known, f"{name} imports {target}, which is not there"
                parts = target.split(".")
                along = {".".join(parts[:length]) for length in range(1, len(parts))}
                found[name] |= {target, *(one for one in along if not f"{name}.".startswith(f"{one}."))}
        found[name].discard(name)
    return found


def room(module: str) -> str:
    """The room of a module; empty for the package itself."""
    return [*module.split("."), ""][1]


def upward(arrows: Mapping[str, set[str]], order: tuple[str, ...]) -> list[str]:
    """The imports of a room that comes later, or of what is above all rooms."""
    place = {name: number for number, name in enumerate(order)} | dict.fromkeys(ABOVE, len(order))
    return [
        f"{source} imports {target}"
        for source, targets in arrows.items()
        for target in sorted(targets)
        if place[room(target)] > place[room(source)]
    ]


def circles(arrows: Mapping[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of more than one module."""
    reached: dict[str, set[str]] = {}
    for module in arrows:
        found, ahead = set(), [module]
        while ahead:
            for target in arrows[ahead.pop()] - found:
                found.add(target)
                ahead.append(target)
        reached[module] = found
    components = {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in arrows
        if module in reached[module]
    }
    return [set(component) for component in components]


def test_each_module_stands_in_a_room() -> None:
    assert {room(name) for name in modules(PACKAGE)} == {*ROOMS, *ABOVE}


def test_each_room_imports_only_rooms_before_it() -> None:
    arrows = imports(PACKAGE)
    assert sum(map(len, arrows.values())) > 200, "the imports are found at all"
    assert upward(arrows, ROOMS) == []


def test_no_modules_import_in_a_circle() -> None:
    assert circles(imports(PACKAGE)) == []


def in_the_map() -> str:
    """The part of the map that shows the package."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text.split("\npython/lasthop/ ", 1)[1].split("\nscenarios/", 1)[0]


def test_the_map_lists_the_rooms_in_their_order() -> None:
    assert tuple(re.findall(r"^[├└]── (\w+)", in_the_map(), re.MULTILINE)) == ROOMS


def test_the_map_names_the_modules_of_each_room_but_the_commands() -> None:
    parts = re.split(r"^[├└]── (\w+)", in_the_map(), flags=re.MULTILINE)
    named = {
        title: set(re.findall(r"\w+", text)) for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    found = [name.split(".")[1:] for name in modules(PACKAGE) if name.count(".") == 2]
    assert len(found) > 150, "the modules are found at all"
    assert not [name for title, name in found if title != "cli" and name not in named[title]]


@pytest.mark.parametrize(
    "text",
    [
        "import house.high.b",
        "from house.high.b import x",
        "from house.high import b",
        "from ..high import b",
        "def f():\n    from house.high import b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.high.b import x",
        'HOME = {"x": "house.high.b"}',
        'import_module(f"house.high.{name}")',
    ],
)
def test_an_import_is_found_however_it_is_written(tmp_path: Path, text: str) -> None:
    house = tmp_path / "house"
    for folder in (house, house / "low", house / "high"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (house / "low" / "a.py").write_text("import json\n")
    (house / "high" / "b.py").write_text("from house.low.a import x\n")
    assert upward(imports(house), ("low", "high")) == []
    assert circles(imports(house)) == []
    (house / "low" / "a.py").write_text(text)
    assert "house.low.a imports house.high.b" in upward(imports(house), ("low", "high"))
    assert circles(imports(house)) == [{"house.low.a", "house.high.b"}]
