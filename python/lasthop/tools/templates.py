"""`lasthop new --law` and `--agent`: a scheme that works, under a name of your own.

In a checkout the sources are those of the guide's first schemes (`docs/first-scheme`), under another name,
with their lines in the registry, their tests and a scenario. Outside of one, a crate builds a law as a class
of Python in Rust, or a program that runs scenarios with an agent.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lasthop.base.errors import StudyError, UsageError
from lasthop.base.files import put

from .crates import AGENT_CRATE, CRATE

ROOT = Path(__file__).resolve().parents[3]
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# Words of Rust, which no module can have as its name, the crates that each program sees, and `none`, the kind
# of no agent.
_RESERVED = re.compile(
    r"abstract|alloc|as|async|await|become|box|break|const|continue|core|crate|do|dyn|else|enum|"
    r"extern|false|final|fn|for|gen|if|impl|in|let|loop|macro|match|mod|move|mut|none|override|priv|"
    r"proc-macro|pub|ref|return|self|static|std|struct|super|test|trait|true|try|type|typeof|unsafe|"
    r"unsized|use|virtual|where|while|yield"
)


@dataclass(frozen=True)
class Model:
    """A patch of the guide, the names in it, and the files of the registry that it edits."""

    patch: str
    names: tuple[str, ...]
    registry: str
    rooms: str


LAW = Model(
    "law.patch",
    ("aimd", "aimd", "Aimd", "AIMD"),
    "crates/stack/src/registry/laws.rs",
    "crates/stack/src/transport/congestion/mod.rs",
)
AGENT = Model(
    "agent.patch",
    ("ack-thinner", "ack_thinner", "AckThinner", "ACK thinning"),
    "crates/stack/src/registry/agents.rs",
    "crates/stack/src/schemes/mod.rs",
)


def scheme(name: str, model: Model) -> list[Path]:
    """Write the source of a scheme into this checkout, register it, and write a scenario with it."""
    _check(name)
    folder = ROOT / "docs" / "first-scheme"
    if not (folder / model.patch).is_file():
        raise UsageError(
            f"new: {name}: lasthop does not run from a checkout; expected ./lasthop new inside one, or "
            "--crate (a law in Python needs neither: --law FILE:CLASS, `python -m pydoc lasthop.laws`)"
        )
    new, edits = _parts((folder / model.patch).read_text("utf-8"))
    texts = {_renamed(target, name, model): _renamed(text, name, model) for target, text in new.items()}
    for target in texts:
        if (ROOT / target).exists():
            raise UsageError(f"new: {target}: already exists; expected a new name")
    registry = (ROOT / model.registry).read_text("utf-8")
    words = _words(name)
    texts[model.registry] = _registered(registry, edits[model.registry], name, model)
    texts[model.rooms] = _listed((ROOT / model.rooms).read_text("utf-8"), words, model)
    written = []
    for target, text in texts.items():
        _write(ROOT / target, text)
        written.append(ROOT / target)
    # The places of long lines depend on the name.
    with suppress(FileNotFoundError):
        subprocess.run(["cargo", "fmt", "-p", "lasthop-stack"], cwd=ROOT, capture_output=True, check=False)
    return written


def _check(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(
            f'new: "{name}"; expected a name of lower-case letters, digits and hyphens such as my-law'
        )
    if _RESERVED.fullmatch(name):
        raise UsageError(
            f"new: {name}: a word of Rust or of scenarios; expected another name such as my-{name}"
        )
    words = name.replace("-", "_")
    if any((ROOT / room / f"{words}.rs").exists() for room in _rooms()):
        raise UsageError(f"new: {name}: a scheme has this name; expected a new one")


def _rooms() -> list[str]:
    return [str(Path(model.rooms).parent) for model in (LAW, AGENT)]


def _parts(patch: str) -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    """Of each new file its text, of each other one what is added and the line before it."""
    new: dict[str, str] = {}
    edits: dict[str, list[tuple[str, str]]] = {}
    for piece in re.split(r"^diff --git .*\n", patch, flags=re.MULTILINE)[1:]:
        target = re.findall(r"^\+\+\+ b/(\S+)$", piece, re.MULTILINE)[0]
        hunks = re.split(r"^@@ .*\n", piece, flags=re.MULTILINE)
        added = [
            "".join(f"{line[1:]}\n" for line in hunk.splitlines() if line.startswith("+"))
            for hunk in hunks[1:]
        ]
        if "\nnew file" in f"\n{hunks[0]}":
            new[target] = added[0]
        else:
            edits[target] = [
                (text, hunk.splitlines()[0][1:]) for text, hunk in zip(added, hunks[1:], strict=True)
            ]
    return new, edits


def _words(name: str) -> tuple[str, ...]:
    title = " ".join(name.split("-"))
    return name, name.replace("-", "_"), "".join(part.capitalize() for part in name.split("-")), title


def _renamed(text: str, name: str, model: Model) -> str:
    words = _words(name)
    # Where the name of the module is that of scenarios, what follows it tells them apart.
    text = re.sub(rf"\b{model.names[1]}(?=\.rs|::)", words[1], text)
    for old, new in zip(model.names, words, strict=True):
        text = re.sub(rf"(?<![A-Za-z]){re.escape(old)}(?![a-z])", new, text)
    return text


def _registered(text: str, edits: list[tuple[str, str]], name: str, model: Model) -> str:
    """The registry with a scheme more, in each list before that of other crates."""
    for added, before in edits:
        if text.count(f"{before}\n") != 1:
            raise UsageError(f"new: {model.registry}: has no single line {before.strip()!r}; expected one")
        custom = re.compile(r"^ +(\w+::)?Custom\(", re.MULTILINE).search(text, text.index(f"{before}\n"))
        if custom is None:
            raise UsageError(f"new: {model.registry}: has no Custom after {before.strip()!r}; expected one")
        text = text[: custom.start()] + _renamed(added, name, model) + text[custom.start() :]
    return text


def _listed(text: str, words: tuple[str, ...], model: Model) -> str:
    """The list of modules with one more, at its place in the alphabet."""
    _, module, title, _ = words
    kind, exported = ("mod", f"{{{title}, {title}Config}}") if model is LAW else ("pub mod", title)
    for line, start in ((f"{kind} {module};", f"{kind} "), (f"pub use {module}::{exported};", "pub use ")):
        lines = text.split("\n")
        same = [number for number, other in enumerate(lines) if other.startswith(start)]
        after = [number for number in same if lines[number] > line]
        lines.insert(after[0] if after else same[-1] + 1, line)
        text = "\n".join(lines)
    return text


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise StudyError(f"{path}: {e.strerror}; expected a writable directory") from e
    put(path, text)


def crate(name: str, *, has_agent: bool = False) -> Path:
    """Write a crate, in a new directory NAME: a law for an installed lasthop, or a program with an agent."""
    _check(name)
    folder = Path(name)
    if folder.exists():
        raise UsageError(f"new: {folder}: already exists; expected a new name")
    _, module, title, _ = _words(name)
    for target, text in (AGENT_CRATE if has_agent else CRATE).items():
        filled = text.replace("SOURCE", _source()).replace("NAME", name)
        filled = filled.replace("MODULE", module).replace("TITLE", title)
        _write(folder / target.replace("MODULE", module).replace("NAME", name), filled)
    return folder


def _source() -> str:
    """Where cargo finds the sources of lasthop: here in a checkout, and else where they are published."""
    if (ROOT / "crates" / "sim" / "Cargo.toml").is_file():
        return f'path = "{ROOT / "crates"}/'
    return 'git = "https://github.com/lasthop/lasthop", package = "lasthop-'
