"""The rooms of the Rust crates: which may import which, computed from the imports themselves."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = Path(__file__).resolve().parents[2] / "crates"

# Each room uses only those before it.
STACK = (
    "units",
    "packet",
    "state_bytes",
    "wire",
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
# Each crate depends only on those before it, and none on a binding.
ORDER = ("peer", "stack", "sim", "testing", "py", "web")
# Loads for benches, which belong to no room.
LOADS = {"agent_load", "law_load", "lib"}


def is_test(path: Path) -> bool:
    return "tests" in path.parts or path.stem in {"tests", "testing"}


def code(path: Path) -> str:
    """The working lines of a file: neither comments nor what follows its first test."""
    lines = []
    for line in path.read_text().splitlines():
        if line.strip().startswith("#[cfg(test)]") and not line.startswith(" "):
            break
        lines.append("" if line.lstrip().startswith("//") else line)
    return "\n".join(lines)


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


def test_each_crate_depends_only_on_crates_before_it() -> None:
    assert sorted(ORDER) == sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml"))
    for place, crate in enumerate(ORDER):
        manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())
        used = {
            name.removeprefix("lasthop-") for name in manifest.get("dependencies", {}) if "lasthop-" in name
        }
        assert used <= set(ORDER[:place]) - {"py", "web"}, crate


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
