"""`lasthop test --changed`: the tests that a change can reach, by its room.

A leaf is a scheme, a law of a queue, or a congestion law that no profile has by default: only the registry
uses it. An edit of one reaches the tests beside it, those elsewhere that name it, and the list of keys. A
registry that only gains lines reaches its own tests, and those that go through all of its entries. A module
in Python reaches the modules that import it, directly or through others. It thus reaches the tests that
import one of these, call its command, or call a method of the public API that uses it. A scenario or a page
reaches the tests that name it. All else reaches everything, and so does the public API itself.
"""

from __future__ import annotations

import ast
import re
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

LEAVES = re.compile(r"crates/stack/src/(schemes|transport/congestion|link/managed)/(\w+)")
# The files of these folders other than leaves: those that other leaves use, and those that profiles select by
# default.
SHARED = {"mod", "tests", "testing", "waiting", "flows", "held", "deadlines"}
SHARED |= {"codel", "fq_codel", "cubic", "reno"}
PACKAGE = "python/lasthop/"
# Where a new leaf is registered.
REGISTRY = re.compile(r"crates/stack/src/(registry/\w+|(schemes|transport/congestion|link/managed)/mod)\.rs")
# What tests call by `import lasthop`.
API = {f"{PACKAGE}{name}.py" for name in ("__init__", "api")}
# Holds the parameters of schemes and laws, with their defaults, against the page that lists them.
KEYS = "tests/python/test_docs.py::test_the_list_of_keys_is_the_readers"
# What each new leaf must pass: it has a fault, the guide's patches still apply, and random scenarios draw it.
OF_ALL = {
    KEYS,
    "tests/python/test_faults.py::test_each_room_scheme_and_law_has_a_fault",
    "tests/python/test_first_scheme.py::test_both_patches_apply_to_the_sources",
    "tests/python/test_search.py::test_random_scenarios_keep_what_must_always_hold",
}


@dataclass
class Reach:
    """Tests that a change can reach.

    Attributes:
        stack: Filters of the unit tests of the crate `lasthop-stack`.
        sim: Filters of the integration tests of the crate `lasthop-sim`.
        programs: Its programs of tests beside that of all.
        python: Arguments for pytest: files, and functions in files.
        beyond: Changed files that reach everything.
    """

    stack: set[str] = field(default_factory=set)
    sim: set[str] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)
    python: set[str] = field(default_factory=set)
    beyond: list[str] = field(default_factory=list)


def changed(root: Path, since: str = "HEAD") -> list[str]:
    """The files that differ from a commit, and those that git does not know, as paths from the root."""
    commands = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    found = [
        subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
        for words in commands
    ]
    return sorted({line for text in found for line in text.splitlines()})


def registers(root: Path, file: str, since: str = "HEAD") -> bool:
    """Whether a registry has only gained lines since a commit, apart from its imports."""
    if not (REGISTRY.fullmatch(file) and (root / file).is_file()):
        return False
    shown = subprocess.run(
        ["git", "show", f"{since}:{file}"], cwd=root, capture_output=True, text=True, check=False
    )
    old, new = (
        re.sub(r"^use [^;]*;", "", text, flags=re.MULTILINE).splitlines()
        for text in (shown.stdout, (root / file).read_text("utf-8"))
    )
    rest = iter(new)
    return shown.returncode == 0 and len(new) > len(old) and all(line in rest for line in old)


def reach(root: Path, files: list[str], since: str = "HEAD") -> Reach:
    """What these files reach, as far as they differ from a commit."""
    found = Reach()
    modules: set[str] = set()
    for file in files:
        leaf = LEAVES.match(file)
        if leaf and leaf[2] not in SHARED:
            folder = leaf[1].replace("/", "::")
            found.stack.add(f"{folder}::{leaf[2]}")
            for module, is_program in naming_in_rust(root, leaf[2]):
                (found.programs if is_program else found.sim).add(module)
            found.python |= naming_in_python(root, leaf[2]) | {KEYS}
        elif file.startswith(PACKAGE) and file.endswith(".py") and file not in API:
            modules.add(
                file.removesuffix(".py").removesuffix("/__init__").replace("/", ".").removeprefix("python.")
            )
            found.python.add(file)
        elif registers(root, file, since):
            found.stack.add("registry::")
            found.python |= OF_ALL
            for kind in re.findall(r"^    (\w+Kind), ", (root / file).read_text("utf-8"), re.MULTILINE):
                for module, is_program in naming_in_rust(root, f"{kind}::ALL"):
                    (found.programs if is_program else found.sim).add(module)
        elif file == "docs/keys.md":
            found.python.add(KEYS)
        elif file == "tests/faults.toml":
            found.python.add("tests/python/test_faults.py")
        elif re.match(r"tests/python/test_\w+\.py", file):
            found.python.add(file)
        elif file.startswith(("scenarios/", "docs/", "papers/")) or re.fullmatch(r"[A-Z]+\.md", file):
            word = Path(file).name.partition(".")[0]
            found.python |= naming_in_python(root, word) | {"tests/python/test_docs.py"}
        else:
            found.beyond.append(file)
    if modules:
        found.python |= using_in_python(root, importers(root, modules))
    found.python = {one for one in found.python if (root / one.partition("::")[0]).is_file()}
    return found


def _names(word: str) -> re.Pattern[str]:
    """The word as text and scenarios write it, and as code does.

    >>> bool(_names("ack_filter").search('kind = "ack-filter"')), bool(_names("red").search("required"))
    (True, False)
    """
    either = re.escape(word).replace("_", "[-_]")
    return re.compile(rf"(?<![a-z0-9]){either}(?![a-z0-9])")


def naming_in_rust(root: Path, word: str) -> list[tuple[str, bool]]:
    """The integration tests of `lasthop-sim` in files that name a word, and whether a file is a program."""
    wanted, folder = _names(word), root / "crates/sim/tests"
    inside = set(re.findall(r"^mod (\w+);", (folder / "main.rs").read_text("utf-8"), re.MULTILINE))
    files = [file for file in sorted(folder.glob("*.rs")) if wanted.search(file.read_text("utf-8"))]
    return [
        (f"{file.stem}::", False) if file.stem in inside else (file.stem, True)
        for file in files
        if file.stem != "main"
    ]


def naming_in_python(root: Path, word: str) -> set[str]:
    """The tests in Python that name a word, or use what does in their file; the file, if its name does."""
    wanted = _names(word)
    found = set()
    for file in sorted((root / "tests/python").glob("test_*.py")):
        name = file.relative_to(root).as_posix()
        if wanted.search(file.stem.removeprefix("test_")):
            found.add(name)
            continue
        text = file.read_text("utf-8")
        if wanted.search(text):
            found |= {f"{name}::{test}" for test in _functions_naming(text, wanted)}
    return found


def _functions_naming(text: str, wanted: re.Pattern[str]) -> set[str]:
    """The test functions of a file that name a word, or a name of the file whose definition does."""
    parts = {}
    for node in ast.parse(text).body:
        start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        source = "\n".join(text.splitlines()[start - 1 : node.end_lineno])
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        parts.update(dict.fromkeys(names, source))
    reached = {name for name, source in parts.items() if wanted.search(source)}
    while True:
        using = re.compile(rf"\b({'|'.join(map(re.escape, reached))})\b") if reached else None
        more = {name for name, source in parts.items() if using and using.search(source)} - reached
        if not more:
            return {name for name in reached if name.startswith("test_")}
        reached |= more


@cache
def _imports(root: Path) -> dict[str, set[str]]:
    """The modules of lasthop that each module imports, anywhere in it, or names as the file of a program."""
    found = {}
    files = sorted((root / PACKAGE).rglob("*.py"))
    for file in files:
        named = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                named |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                named |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
            elif isinstance(node, ast.Constant) and str(node.value).endswith(".py"):
                named |= {_module(root, other) for other in files if other.name == node.value}
        found[_module(root, file)] = named
    return found


def _module(root: Path, file: Path) -> str:
    words = file.relative_to(root / "python").with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def importers(root: Path, modules: set[str]) -> set[str]:
    """These modules, and all that import one of them, directly or through others; not the package itself."""
    reached = set(modules)
    while True:
        more = {name for name, named in _imports(root).items() if named & reached} - reached - {"lasthop"}
        if not more:
            return reached
        reached |= more


def using_in_python(root: Path, modules: set[str]) -> set[str]:
    """The tests that import one of these modules, run a command or call a method that uses one."""
    commands = "|".join(
        sorted(name.rpartition(".")[2] for name in modules if name.startswith("lasthop.cli."))
    )
    methods = "|".join(sorted(methods_of_api(root, modules)))
    ways = [rf'(?:\b(?:cli|within|run)\(|"lasthop",|COMMAND,)\s*"({commands})"'] if commands else []
    ways += [rf"\.({methods})\("] if methods else []
    calls = re.compile("|".join(ways)) if ways else None
    found = set()
    for file in sorted((root / "tests/python").glob("test_*.py")):
        text = file.read_text("utf-8")
        name = file.relative_to(root).as_posix()
        if any(re.search(rf"\b{re.escape(one)}\b", text) for one in modules) or _imports_one(text, modules):
            found.add(name)
        elif calls and calls.search(text):
            found |= {f"{name}::{test}" for test in _functions_naming(text, calls)}
    return found


def methods_of_api(root: Path, modules: set[str]) -> set[str]:
    """The methods and functions of the public API that use one of these modules.

    All of them do where one of its classes derives from a class of these modules.
    """
    body = ast.parse((root / PACKAGE / "api.py").read_text("utf-8")).body
    named = {
        alias.asname or alias.name
        for node in body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if {node.module, f"{node.module}.{alias.name}"} & modules
    }

    def uses(*nodes: ast.AST) -> bool:
        inside = [one for node in nodes for one in ast.walk(node)]
        return any(isinstance(one, ast.Name) and one.id in named for one in inside)

    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    inside = [one for node in classes for one in node.body]
    methods = [one for one in (*body, *inside) if isinstance(one, ast.FunctionDef)]
    is_base = any(uses(*node.bases) for node in classes)
    return {one.name for one in methods if (is_base or uses(one)) and not one.name.startswith("_")}


def _imports_one(text: str, modules: set[str]) -> bool:
    """Whether a file has `from PACKAGE import MODULE` of one of these modules."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module)
    return any(f"{node.module}.{one.name}" in modules for node in nodes for one in node.names)
