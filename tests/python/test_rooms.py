"""The rooms of the Rust crates, and the files inside them: which may import which, by the imports."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

CRATES = Path(__file__).resolve().parents[2] / "crates"

# Each room uses only those before it.
STACK = (
    "units",
    "packet",
    "wire",
    "state_bytes",
    "signal",
    "ranges",
    "hooks",
    "estimate",
    "transport",
    "link",
    "schemes",
    "registry",
)
SIM = (
    *("host", "engine", "medium", "traffic", "lines", "model", "outside", "probe", "quic", "net"),
    *("metrics", "scenario", "catalogue", "run", "live", "steered", "replay"),
)
# A module of a scheme, or a value that the registry has for one; `None` and `Custom` are not schemes.
NAMES_A_SCHEME = re.compile(
    r"\b(?:stack::)?schemes::\w+"
    r"|\b(?:Congestion|Recovery|Agent|Aqm|Arq|Interval|Reaction)Kind::(?!None\b|Custom\b)(?:[A-Z][a-z]|\{)"
    r"|\b(?:Law|Agent|Aqm|Arq|Interval|Reaction)Config::(?!None\b|Custom\b)(?:[A-Z][a-z]|\{)"
)
# An item for tests at the left margin; it ends with a semicolon, or with a brace at the margin.
TEST_ITEM = re.compile(r"^#\[cfg\(test\)\]\n(?:#.*\n)*(?:[^\n{]*;|.*\{\n(?:.*\n)*?\})", re.MULTILINE)
# Files that still import each other in a circle, by the first of them: how many, and why.
CIRCLES = {
    "link/dot11/access": (29, "the trait of the host names the parts of a station, and these call the host"),
    "link/dot11/mode": (2, "a mode has an RU, and the bits of an RU are those of a mode"),
    "scenario/document": (22, "a key is made of values, and a value is read by its key"),
}
# Each crate depends only on those before it, and none on a binding.
ORDER = ("peer", "stack", "sim", "testing", "py", "web")
# A file, by the path of its module.
Module = tuple[str, ...]
# Loads for benches, which belong to no room.
LOADS = {"agent_load", "law_load", "lib"}


def is_test(path: Path) -> bool:
    return "tests" in path.parts or path.stem in {"tests", "testing"}


def code(path: Path) -> str:
    """The working lines of a file: neither comments nor items that only tests have."""
    lines = ["" if line.lstrip().startswith("//") else line for line in path.read_text().splitlines()]
    return re.sub(TEST_ITEM, "", "\n".join(lines))


def arrows(crate: str) -> Iterator[tuple[str, str, str]]:
    """Each import over the border of a room: from which room, to which, and in which file."""
    source = CRATES / crate / "src"
    for path in sorted(source.rglob("*.rs")):
        inside = path.relative_to(source)
        room = inside.parts[0].removesuffix(".rs")
        if is_test(inside) or room in LOADS:
            continue
        for target in re.findall(r"\bcrate::(?:\{\s*)?(\w+)", code(path)):
            if target != room:
                yield room, target, str(inside)


def split(group: str) -> list[str]:
    """The parts of a group in braces."""
    parts, depth = [""], 0
    for letter in group:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def paths(tree: str) -> Iterator[list[str]]:
    """The paths that a `use` names."""
    head, brace, rest = tree.partition("{")
    if brace:
        for part in split(rest.rsplit("}", 1)[0]):
            yield from paths(head.strip() + part)
    else:
        yield re.split(r"\s+as\s+", head)[0].strip().split("::")


def files(source: Path) -> dict[Module, str]:
    """The working lines of each file of a crate, by the path of its module."""
    found = {}
    for path in sorted(source.rglob("*.rs")):
        inside = path.relative_to(source)
        if not is_test(inside) and inside.stem not in LOADS:
            parts = inside.with_suffix("").parts
            found[parts[:-1] if parts[-1] == "mod" else parts] = code(path)
    return found


def target(module: Module, path: list[str], known: Mapping[Module, str]) -> tuple[Module, list[str]] | None:
    """The file that a path in a module means, and what it names there; `None` outside the crate."""
    base: Module
    if path[0] == "crate":
        base, path = (), path[1:]
    elif path[0] in {"self", "super"} or (*module, path[0]) in known:
        base = module
    else:
        return None
    while path and path[0] in {"self", "super"}:
        base, path = base[:-1] if path[0] == "super" else base, path[1:]
    while path and (*base, path[0]) in known:
        base, path = (*base, path[0]), path[1:]
    return base, path


def imports(source: Path) -> dict[Module, set[Module]]:
    """The files that each file of a crate imports from.

    A file may use what the files above it have, of which it is a part. What such a file only hands on counts
    as an import from the file that has it.
    """
    known = files(source)
    handed = {}
    for module, text in known.items():
        for tree in re.findall(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);", text):
            for path in paths(tree):
                found = target(module, path, known)
                if found and found[1]:
                    handed[module, found[1][-1]] = found[0]
    arrows: dict[Module, set[Module]] = {module: set() for module in known}
    for module, text in known.items():
        named = [path for tree in re.findall(r"\buse\s+([^;]+);", text) for path in paths(tree)]
        inline = re.sub(r"\buse\s+[^;]+;", "", text)
        named += [path.split("::") for path in re.findall(r"\b((?:crate|super|self)(?:::\w+)+)", inline)]
        for path in named:
            if found := target(module, path, known):
                file, rest = found
                if module[: len(file)] == file and rest:
                    file = handed.get((file, rest[0]), file)
                if module[: len(file)] != file:
                    arrows[module].add(file)
    return arrows


def circles(arrows: Mapping[Module, set[Module]]) -> set[frozenset[Module]]:
    """The strongly connected components of more than one file."""
    reached: dict[Module, set[Module]] = {}
    for module in arrows:
        found: set[Module] = set()
        ahead = [module]
        while ahead:
            for file in arrows[ahead.pop()] - found:
                found.add(file)
                ahead.append(file)
        reached[module] = found
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in arrows
        if module in reached[module]
    }


def test_each_crate_depends_only_on_crates_before_it() -> None:
    assert sorted(ORDER) == sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml"))
    for place, crate in enumerate(ORDER):
        manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())
        used = {
            name.removeprefix("lasthop-") for name in manifest.get("dependencies", {}) if "lasthop-" in name
        }
        assert used <= set(ORDER[:place]) - {"py", "web"}, crate


# Rooms of the stack of which the map names each file.
WHOLE = ("estimate", "link", "schemes", "transport/acks", "transport/recovery", "transport/congestion")


@pytest.mark.parametrize(("crate", "order"), [("stack", STACK), ("sim", SIM)])
def test_the_map_lists_the_rooms_in_their_order(crate: str, order: tuple[str, ...]) -> None:
    text = (CRATES.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = text.split(f"\ncrates/{crate}/src/ ", 1)[1].split("\ncrates/", 1)[0]
    lines = re.findall(r"^[├└]── (.+?)(?:  |$)", block, re.MULTILINE)
    assert [name for line in lines for name in re.findall(r"\w+", line) if name not in LOADS] == list(order)
    source = CRATES / crate / "src"
    rooms = {path.stem for path in source.iterdir() if path.stem != "lib"}
    assert rooms == {name for line in lines for name in re.findall(r"\w+", line)}
    if crate == "stack":
        files = [path.stem for room in WHOLE for path in (source / room).iterdir() if not is_test(path)]
        assert len(files) > 60, "the files are found at all"
        assert not set(files) - {"mod", *re.findall(r"\w+", block)}


@pytest.mark.parametrize(("crate", "order"), [("stack", STACK), ("sim", SIM)])
def test_each_room_imports_only_rooms_below_it(crate: str, order: tuple[str, ...]) -> None:
    found = list(arrows(crate))
    assert len(found) > 50, "the imports are found at all"
    assert {room for room, _, _ in found} <= set(order), "each room has its place in the order"
    upward = [
        f"{file}: {room} imports {target}"
        for room, target, file in found
        if target in order and order.index(target) > order.index(room)
    ]
    assert not upward


def test_no_files_import_in_a_circle_but_those_listed() -> None:
    found = [imports(CRATES / crate / "src") for crate in ORDER]
    assert sum(len(files) for arrows in found for files in arrows.values()) > 2000, (
        "the imports are found at all"
    )
    left = {"/".join(min(circle)): len(circle) for arrows in found for circle in circles(arrows)}
    assert left == {first: size for first, (size, _) in CIRCLES.items()}


@pytest.mark.parametrize(
    "text",
    [
        "use super::high::b::X;",
        "use super::high::{Y, b::{self, X}};",
        "use crate::house::high::{X};",
        "pub(super) use crate::house::high::b;",
        "fn f() -> super::high::b::X { 0 }",
        "#[cfg(test)]\nmod testing;\n\nuse super::high::b::X;",
        "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n\nuse super::high::b::X;",
    ],
)
def test_a_circle_is_found_however_an_import_is_written(tmp_path: Path, text: str) -> None:
    house = tmp_path / "house"
    (house / "high").mkdir(parents=True)
    (house / "mod.rs").write_text("mod high;\nmod low;\n")
    (house / "high.rs").write_text("mod b;\npub(super) use b::X;\nuse super::mean::Z;\n")
    (house / "high" / "b.rs").write_text("use std::fmt;\nuse super::Y;\nuse crate::house::low::W;\n")
    harmless = (
        "use super::W;\n// use super::high::b::X;\n#[cfg(test)]\nmod tests {\n    use super::high::b::X;\n}\n"
    )
    (house / "low.rs").write_text(harmless)
    assert circles(imports(tmp_path)) == set()
    (house / "low.rs").write_text(text)
    assert [
        circle >= {("house", "low"), ("house", "high", "b")} for circle in circles(imports(tmp_path))
    ] == [True]


@pytest.mark.parametrize(("crate", "order"), [("stack", STACK), ("sim", SIM)])
def test_only_the_registry_and_what_runs_it_name_a_scheme(crate: str, order: tuple[str, ...]) -> None:
    del order
    allowed = {"registry", "schemes"} if crate == "stack" else set()
    named = {
        str(path.relative_to(CRATES))
        for path in sorted((CRATES / crate / "src").rglob("*.rs"))
        if (relative := path.relative_to(CRATES / crate / "src")).parts[0].removesuffix(".rs")
        not in allowed | LOADS
        and not is_test(relative)
        and re.search(NAMES_A_SCHEME, code(path))
    }
    assert not named


def test_what_a_scheme_holds_is_not_measured_by_what_the_compiler_lays_out() -> None:
    """`size_of` counts pointers and padding, which differ between processors; `state_bytes` does not."""
    schemes = [*(CRATES / "stack" / "src" / "schemes").rglob("*.rs")]
    assert len(schemes) > 50, "the schemes are found at all"
    assert not [str(path.relative_to(CRATES)) for path in schemes if "size_of" in path.read_text()]


def test_each_test_of_the_simulator_belongs_to_a_program() -> None:
    """`autotests` is off, so that a file which none names would pass without being run."""
    folder = CRATES / "sim" / "tests"
    programs = set(
        re.findall(r'^path = "tests/(\w+)\.rs"', (folder.parent / "Cargo.toml").read_text(), re.MULTILINE)
    )
    modules = set(re.findall(r"^mod (\w+);", (folder / "main.rs").read_text(), re.MULTILINE))
    assert {path.stem for path in folder.glob("*.rs")} == programs | (modules - {"common"})


def test_the_files_that_comments_name_exist() -> None:
    texts = {path: path.read_text() for path in [*CRATES.rglob("*.rs"), CRATES.parent / "ARCHITECTURE.md"]}
    named = [
        (path, name)
        for path, text in texts.items()
        for name in re.findall(r"\b(?:crates/)?((?:stack|sim|py)/(?:src|tests|examples)/[\w/]+\.rs)", text)
    ]
    assert len(named) > 10, "names are found at all"
    assert not [f"{path}: {name}" for path, name in named if not (CRATES / name).is_file()]
