"""`lasthop new --law` and `--agent`: a scheme that works, under a name of your own.

In a checkout the sources are those of the guide's first schemes (`docs/first-scheme`), under another name,
with their lines in the registry, their tests and a scenario. Outside of one, a crate builds a class of Python
in Rust.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lasthop.base.errors import StudyError, UsageError
from lasthop.base.files import put

ROOT = Path(__file__).resolve().parents[3]
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Model:
    """A patch of the guide, the names in it, and the files of the registry that it edits."""

    patch: str
    names: tuple[str, ...]
    registry: str
    rooms: str
    path: str


LAW = Model(
    "law.patch",
    ("aimd", "aimd", "Aimd", "AIMD"),
    "crates/stack/src/registry/laws.rs",
    "crates/stack/src/transport/congestion/mod.rs",
    "crate::transport::congestion",
)
AGENT = Model(
    "agent.patch",
    ("ack-thinner", "ack_thinner", "AckThinner", "ACK thinning"),
    "crates/stack/src/registry/agents.rs",
    "crates/stack/src/schemes/mod.rs",
    "crate::schemes",
)


def scheme(name: str, model: Model) -> list[Path]:
    """Write the source of a scheme into this checkout, register it, and write a scenario with it."""
    _check(name)
    folder = ROOT / "docs" / "first-scheme"
    if not (folder / model.patch).is_file():
        raise UsageError(
            f"new: {name}: lasthop does not run from a checkout; expected ./lasthop new inside one, "
            "or --crate"
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
    words = name.replace("-", "_")
    if any((ROOT / room / f"{words}.rs").exists() for room in _rooms()):
        raise UsageError(f"new: {name}: a scheme has this name; expected a new one")


def _rooms() -> list[str]:
    return [str(Path(model.rooms).parent) for model in (LAW, AGENT)]


def _parts(patch: str) -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    """Of each new file its text, of each other one what is added and the line after it."""
    new: dict[str, str] = {}
    edits: dict[str, list[tuple[str, str]]] = {}
    for piece in re.split(r"^diff --git .*\n", patch, flags=re.MULTILINE)[1:]:
        target = re.findall(r"^\+\+\+ b/(\S+)$", piece, re.MULTILINE)[0]
        hunks = re.split(r"^@@ .*\n", piece, flags=re.MULTILINE)
        if "\nnew file" in f"\n{hunks[0]}":
            lines = hunks[1].splitlines()
            new[target] = "\n".join(line[1:] for line in lines if line.startswith("+")) + "\n"
            continue
        edits[target] = [edit for hunk in hunks[1:] if (edit := _addition(hunk)) is not None]
    return new, edits


def _addition(hunk: str) -> tuple[str, str] | None:
    """The lines that a hunk adds and the line after them; nothing where it also removes some."""
    lines = hunk.splitlines()
    added = [number for number, line in enumerate(lines) if line.startswith("+")]
    if any(line.startswith("-") for line in lines):
        return None
    return "\n".join(lines[number][1:] for number in added) + "\n", lines[added[-1] + 1][1:]


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
    """The registry with a scheme more, before that of other crates."""
    for added, after in edits:
        if text.count(f"{after}\n") != 1:
            raise UsageError(f"new: {model.registry}: has no single line {after.strip()!r}; expected one")
        text = text.replace(f"{after}\n", f"{_renamed(added, name, model)}{after}\n")
    _, words, title, _ = _words(name)
    what = f"{{{title}, {title}Config}}" if model is LAW else f"{{{title}, {words}}}"
    first = text.index("use crate::units")
    return f"{text[:first]}use {model.path}::{what};\n{text[first:]}"


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


def crate(name: str) -> Path:
    """Write a crate, in a new directory NAME, that builds a law for an installed lasthop."""
    _check(name)
    folder = Path(name)
    if folder.exists():
        raise UsageError(f"new: {folder}: already exists; expected a new name")
    _, module, title, _ = _words(name)
    for target, text in CRATE.items():
        filled = text.replace("NAME", name).replace("MODULE", module).replace("TITLE", title)
        _write(folder / target.replace("MODULE", module), filled)
    return folder


CRATE = {
    "Cargo.toml": """[package]
name = "NAME"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
name = "MODULE"
crate-type = ["cdylib"]
# The tests are in Python: what is tested is the class.
test = false
doctest = false

[dependencies]
pyo3 = { version = "0.30", features = ["abi3-py311"] }

# A workspace of its own, also inside of another one.
[workspace]
""",
    "pyproject.toml": """[build-system]
requires = ["maturin>=1.16,<2"]
build-backend = "maturin"

[project]
name = "NAME"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["lasthop"]

# `lasthop run --law NAME` finds the class here.
[project.entry-points."lasthop.laws"]
NAME = "MODULE:TITLE"
""",
    "src/lib.rs": """//! A congestion law for an installed lasthop: a class of Python.
//!
//! The window grows by `increase` segments per round trip, and a loss multiplies it by `decrease`.

use pyo3::prelude::*;

/// The window, as `lasthop.laws.Window` has it.
#[derive(Clone, Copy)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
}

impl Window {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Window> {
        let number = |name| object.getattr(name)?.extract();
        Ok(Window { cwnd: number("cwnd")?, ssthresh: number("ssthresh")? })
    }

    fn put(self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        object.setattr("cwnd", self.cwnd)?;
        object.setattr("ssthresh", self.ssthresh)
    }
}

/// The law of one connection.
#[pyclass(module = "MODULE")]
struct TITLE {
    increase: f64,
    decrease: f64,
}

#[pymethods]
impl TITLE {
    #[new]
    fn new() -> TITLE {
        TITLE { increase: 0.3125, decrease: 0.875 }
    }

    fn on_ack(&mut self, ack: &Bound<'_, PyAny>, window: &Bound<'_, PyAny>) -> PyResult<()> {
        let progress: String = ack.getattr("progress")?.extract()?;
        if progress == "open" {
            let counted: f64 = ack.getattr("counted")?.extract()?;
            let mut edited = Window::of(window)?;
            edited.cwnd += if edited.cwnd < edited.ssthresh {
                counted
            } else {
                counted * self.increase / edited.cwnd
            };
            edited.put(window)?;
        }
        Ok(())
    }

    fn on_loss(&mut self, loss: &Bound<'_, PyAny>, window: &Bound<'_, PyAny>) -> PyResult<()> {
        let base: f64 = loss.getattr("base")?.extract()?;
        let left = (self.decrease * base).max(2.0);
        Window { cwnd: left, ssthresh: left }.put(window)
    }

    fn on_timeout(&mut self, timeout: &Bound<'_, PyAny>, window: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut edited = Window::of(window)?;
        if !timeout.getattr("is_repeated")?.extract::<bool>()? {
            edited.ssthresh = (timeout.getattr("base")?.extract::<f64>()? / 2.0).max(2.0);
        }
        edited.cwnd = 1.0;
        edited.put(window)
    }
}

/// The module that Python imports.
#[pymodule]
fn MODULE(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TITLE>()
}
""",
    "tests/test_MODULE.py": '''"""The law by hand, and in a run."""

import lasthop as lh
from lasthop.laws import Ack, Loss, Timeout, Window
from MODULE import TITLE


def test_a_round_trip_adds_the_increase_and_a_loss_leaves_the_share() -> None:
    law, window = TITLE(), Window(cwnd=8.0, ssthresh=4.0, limit=100.0)
    for _ in range(8):
        law.on_ack(Ack(0.1), window)
    assert abs(window.cwnd - 8.3125) < 0.02
    law.on_loss(Loss(0.2, base=8.0), window)
    assert (window.cwnd, window.ssthresh) == (7.0, 7.0)
    law.on_timeout(Timeout(0.3, base=7.0), window)
    assert (window.cwnd, window.ssthresh) == (1.0, 3.5)


def test_it_runs_in_a_scenario() -> None:
    lh.law("NAME", TITLE, recovery="newreno")
    sc = lh.load("ejtcp/fig10-baselines").set({"run.duration": "5 s", "flows.main.tcp.variant": "NAME"})
    run = sc.run()
    assert run.laws["NAME"].acks > 100
''',
}
