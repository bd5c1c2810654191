"""`lasthop test --faults`: plants the mistakes of `tests/faults.toml`, and reports which test detects each.

The commit that is checked out is cloned into `target/faults`, where a fault is planted, what it can reach is
compiled and tested up to the first failure, and the file restored. The tests are those of `--changed`, or
all where a file reaches everything: Rust tests first, because they are quick. At the end, the tests that have
detected something run without a fault. Results are kept by fault and commit; an interrupted run goes on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.tools import changed, extension

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

# A fault may keep a test from ending.
LONGEST_S = 3600
# Without optimisation a fault compiles in seconds, and the tests of a room, which detect most, are as quick.
CHEAP = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_TEST_OPT_LEVEL": "0"}
SIM = ("lasthop-sim", "--features", "lasthop-sim/noq")
STACK_AND_SIM = ("-p", "lasthop-stack", "-p", *SIM, "--lib", "--tests")
# How cargo and pytest name a test that fails.
FAILED = re.compile(
    r"^test (\S+)(?: - should panic)? \.\.\. FAILED|^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE
)


@dataclass(frozen=True)
class Fault:
    """A mistake: a text that is in a file exactly once, and what replaces it."""

    name: str
    file: str
    before: str
    after: str

    def planted(self, root: Path) -> str:
        """The file with the mistake."""
        text = (root / self.file).read_text("utf-8")
        if text.count(self.before) != 1:
            found = f"{text.count(self.before)} times in {self.file}; expected it once"
            raise UsageError(f"tests/faults.toml: {self.name}: {self.before!r} is {found}")
        return text.replace(self.before, self.after)

    def key(self, commit: str) -> str:
        """What its result is kept by."""
        return json.dumps([commit, self.file, self.before, self.after])


def load(root: Path) -> list[Fault]:
    """The faults of a checkout."""
    entries = tomllib.loads((root / "tests/faults.toml").read_text("utf-8"))
    return [Fault(name, **entry) for name, entry in entries.items()]


def chosen(faults: Sequence[Fault], words: Sequence[str]) -> list[Fault]:
    """The faults with one of these words in their name or file; all without words."""
    found = [one for one in faults if not words or any(word in f"{one.name} {one.file}" for word in words)]
    if not found:
        raise UsageError(f"--faults: {' '.join(words)}: in no fault; expected part of a name or file")
    return found


def clone(root: Path) -> tuple[Path, str]:
    """A clone of what is checked out, which keeps what was compiled in it; and the commit."""
    copy = root / "target" / "faults" / "checkout"
    commit = git(root, "rev-parse", "HEAD")
    if not copy.is_dir():
        git(root, "clone", "--quiet", "--shared", "--no-checkout", ".", str(copy))
    git(copy, "checkout", "--quiet", "--force", "--detach", commit)
    git(copy, "clean", "--quiet", "--force", "-d")
    return copy, commit


def git(folder: Path, *words: str) -> str:
    """What git prints there."""
    done = subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def commands(copy: Path, file: str) -> list[list[str]]:
    """What may detect a fault in this file: the tests of its room, then the others, the quick first."""
    cargo = ["cargo", "test", "--locked", "-p"]
    if file.startswith(("crates/peer/", "crates/testing/")):
        return [[*cargo, "lasthop-testing", "--lib", "--tests"]]
    found = changed.reach(copy, [file])
    everything = bool(found.beyond)
    stack = found.stack or (everything and file.startswith("crates/stack/"))
    sim = found.sim or (everything and file.startswith(("crates/stack/", "crates/sim/")))
    steps = []
    if everything and (room := re.match(r"crates/(stack|sim)/src/((?:transport/|link/)?\w+)", file)):
        crate = SIM if room[1] == "sim" else ("lasthop-stack",)
        steps.append([*cargo, *crate, "--lib", "--", room[2].replace("/", "::")])
    if stack:
        steps.append([*cargo, "lasthop-stack", "--lib", "--", *sorted(found.stack)])
    if everything and sim:
        steps.append([*cargo, *SIM, "--lib"])
    if sim:
        steps.append([*cargo, *SIM, "--test", "*" if everything else "all", "--", *sorted(found.sim)])
    steps += [[*cargo, *SIM, "--test", name] for name in sorted(found.programs)]
    stem = file.rpartition("/")[2].partition(".")[0]
    nearest = sorted(found.python, key=lambda one: (stem not in one, one))
    if nearest or everything:
        marked = ["-m", "not alone and not slow", *extension.ON_ALL_CORES]
        steps.append([sys.executable, "-m", "pytest", "-x", *marked, *nearest])
    return steps


def failing(copy: Path, steps: Iterable[Sequence[str]]) -> str:
    """The first test that fails; empty if none does.

    Raises:
        UsageError: A step fails without a failing test.
    """
    for step in steps:
        if "pytest" in step:
            build(copy)
        status, output = finish(step, copy)
        # Nothing collected is no failure: all that was chosen may be slow.
        if status not in (0, 5):
            found = FAILED.search(output)
            if not found:
                raise UsageError(f"{' '.join(step)}: status {status}; expected a failing test\n{output}")
            return found[1] or found[2]
    return ""


def build(copy: Path) -> None:
    """Builds the extension of a clone, and puts it where Python finds it."""
    status, output = finish(extension.build(copy, "quick"), copy)
    if status:
        raise UsageError(f"{copy}: the extension does not compile; expected it to\n{output}")
    extension.take_out(copy, "quick")
    shutil.copy(extension.core(copy, "quick"), copy / "python/lasthop/_core.abi3.so")


def finish(step: Sequence[str], copy: Path) -> tuple[int, str]:
    """The status of a step and its output; what it has started ends with it."""
    env = extension.environment() | CHEAP | {"PYTHONPATH": str(copy / "python")}
    # Bytecode is known by the second and size of its file, which a fault can share.
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    process = subprocess.Popen(
        step,
        cwd=copy,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return 1, f"FAILED to end within {LONGEST_S} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, output


def plant(copy: Path, fault: Fault) -> str:
    """Plants a fault and returns the test that detects it, if one does."""
    file = copy / fault.file
    original, planted = file.read_text("utf-8"), fault.planted(copy)
    try:
        file.write_text(planted, "utf-8")
        return failing(copy, commands(copy, fault.file))
    finally:
        file.write_text(original, "utf-8")


def failing_anyway(copy: Path, tests: Iterable[str]) -> str:
    """The first of these tests that fails without a fault."""
    python = {one for one in tests if one.startswith(("tests/", "python/"))}
    rust = set(tests) - python
    steps = []
    if rust:
        steps.append(["cargo", "test", "--locked", *STACK_AND_SIM, "--", "--exact", *sorted(rust)])
    if python:
        steps.append([sys.executable, "-m", "pytest", "-x", *extension.ON_ALL_CORES, *sorted(python)])
    return failing(copy, steps)


def run(root: Path, words: Sequence[str]) -> int:
    """Plants the faults; returns 0 when all are detected, 3 when one is not."""
    try:
        faults = chosen(load(root), words)
        for fault in faults:
            fault.planted(root)
        copy, commit = clone(root)
        found = [by for fault in faults if (by := look_up(root, copy, commit, fault))]
        anyway = failing_anyway(copy, found)
    except UsageError as error:
        print(f"error: test: {error}", file=sys.stderr)
        return 2
    if anyway:
        print(f"{anyway}: fails without a fault; expected it to pass")
    print(f"{len(found)} of {len(faults)} faults detected")
    return 3 if anyway or len(found) < len(faults) else 0


def look_up(root: Path, copy: Path, commit: str, fault: Fault) -> str:
    """The test that detects a fault, now or in an earlier run; prints a row of the table."""
    ledger = root / "target/faults/ledger.jsonl"
    lines = ledger.read_text("utf-8").splitlines() if ledger.is_file() else []
    known: dict[str, tuple[str, float]] = dict(map(json.loads, lines))
    key = fault.key(commit)
    begun = time.monotonic()
    if key not in known:
        known[key] = (plant(copy, fault), time.monotonic() - begun)
        with ledger.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, known[key]]) + "\n")
    by, seconds = known[key]
    print(f"{seconds:7.1f} s  {fault.file}: {fault.name}\n{'':11}{by or 'NOT DETECTED'}", flush=True)
    return by
