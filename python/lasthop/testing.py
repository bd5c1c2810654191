"""`lasthop test`: every check of a checkout, in one order, with a summary.

Lints come first because they are quick, then the Rust tests, then pytest, whose closing line is the
last line printed. Nothing stops at a failure, so one call shows everything that is wrong.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

OPTIONAL_TOOLS = {
    "tshark": "decodes captures; without it those tests are skipped",
    "ns": "ns-2, the peer in comparisons; without it those tests are skipped",
}


@dataclass(frozen=True)
class Step:
    """One program that succeeds or fails."""

    name: str
    command: Sequence[str]
    is_lint: bool = True


@dataclass(frozen=True)
class Outcome:
    """How a step ended: its exit status and the seconds it took."""

    step: Step
    status: int
    duration_s: float

    def __str__(self) -> str:
        verdict = "ok" if self.status == 0 else f"FAILED (status {self.status})"
        return f"{self.step.name:<14} {self.duration_s:7.1f} s  {verdict}"


def steps() -> list[Step]:
    """Everything before pytest, the quick ones first."""
    python = (sys.executable, "-m")
    clippy = ("cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-Dwarnings")
    return [
        Step("ruff check", [*python, "ruff", "check"]),
        Step("ruff format", [*python, "ruff", "format", "--check"]),
        Step("mypy", [*python, "mypy"]),
        Step("cargo fmt", ["cargo", "fmt", "--all", "--check"]),
        Step("cargo clippy", clippy),
        Step("cargo doc", ["cargo", "doc", "--workspace", "--no-deps", "--locked"]),
        Step("cargo test", ["cargo", "test", "--workspace", "--locked"], is_lint=False),
    ]


def environment() -> dict[str, str]:
    """The caller's environment, with cargo set as maturin sets it, so that neither rebuilds for the other."""
    # rustup's folder is on the path of login shells only.
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"), "bin")
    return os.environ | {
        "PATH": f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{cargo}",
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_PYTHON": sys.executable,
        "RUSTDOCFLAGS": "-Dwarnings",
    }


def run(step: Step) -> Outcome:
    """Runs one step and prints its outcome; what it said is shown only when it failed."""
    begun = time.monotonic()
    try:
        ended = subprocess.run(
            step.command,
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        status, output = ended.returncode, ended.stdout
    except FileNotFoundError:
        status, output = 127, f"{step.command[0]}: not found on the path; install Rust with rustup\n"
    outcome = Outcome(step, status, time.monotonic() - begun)
    if status:
        print(f"\n--- {step.name}: {' '.join(step.command)}\n{output}---", flush=True)
    print(outcome, flush=True)
    return outcome


def parse(args: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Splits the arguments into ours and pytest's: those after `--`, and any that are not ours.

    >>> parse(["--fast", "--", "-k", "sweep"])
    (Namespace(fast=True, lint=False), ['-k', 'sweep'])
    """
    parser = argparse.ArgumentParser(
        prog="lasthop test",
        description="Run every check of this checkout. Other arguments, and all after --, go to pytest.",
        epilog="examples: lasthop test --fast    lasthop test -- -k sweep -x",
        allow_abbrev=False,
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--fast", action="store_true", help="tests only, no lints")
    only.add_argument("--lint", action="store_true", help="lints only, no tests")
    ours, rest = parser.parse_known_args(args)
    return ours, [arg for arg in rest if arg != "--"]


def main(args: Sequence[str] = ()) -> int:
    """Runs the checks and returns 0 when all passed, 1 when one failed, 2 where there is no checkout."""
    options, for_pytest = parse(args)
    if not (ROOT / "Cargo.toml").is_file():
        print(f"error: {ROOT}: found no checkout; expected ./lasthop test inside one", file=sys.stderr)
        return 2
    for tool, use in OPTIONAL_TOOLS.items():
        if not shutil.which(tool):
            print(f"{tool}: not installed: {use}")

    unwanted = {options.fast: True, options.lint: False}.get(True)
    outcomes = [run(step) for step in steps() if step.is_lint is not unwanted]
    failed = [outcome for outcome in outcomes if outcome.status]
    if failed:
        print("\nsummary", *outcomes, sep="\n")
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} steps passed", flush=True)
    if options.lint:
        return 1 if failed else 0

    pytest = [sys.executable, "-m", "pytest", *for_pytest]
    status = subprocess.run(pytest, cwd=ROOT, env=environment(), check=False).returncode
    return 1 if failed or status else 0
