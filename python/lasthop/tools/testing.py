"""`lasthop test`: every check of a checkout, in one order, with a summary.

Lints run while the extension, the module for pages (where there is a compiler for it) and the Rust tests are
compiled. Then pytest runs the tests that hold something against the wall clock (the marker `alone`), one
after another. They mostly wait, so the Rust tests run meanwhile, on the time that they leave. At the end
pytest runs all other tests on all cores. Its closing line is the last line printed. Arguments for pytest
choose the tests; then it runs once, on one core. Only a failed build ends the rest, so one call shows
everything that is wrong.

All tests run with the profile `checked`, whose libraries the Rust tests and an extension for the Python tests
share. There an overflow or a broken assumption ends a run. The extension is kept below `target/checked`; that
of the checkout, which a user calls, stays as it is. With `--release` the Python tests run on that.

With `--changed` only those tests run that the change since a commit can reach (`changed`), on an
extension of the profile `quick`, of which only what changed is compiled anew.

With `--faults` mistakes are planted in a clone, to see whether the tests detect them (`faults`).

With `--lowest` they run in an environment of their own, `target/lowest`, which has the lowest version of
each package that an installed lasthop may have.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lasthop.tools import changed, extension, faults, lowest, web

ROOT = Path(__file__).resolve().parents[3]

# The two runs of pytest where no argument chooses the tests.
ALONE, OTHERS = ["-m", "alone"], ["-m", "not alone", *extension.ON_ALL_CORES]
# What starts a program that runs only where no other wants the core.
BEHIND = ["chrt", "--idle", "0"] if shutil.which("chrt") else ["nice", "-n", "19"]

# What --soak runs of the Python tests.
SEARCHES = [f"tests/python/test_{name}.py" for name in ("search", "scripts", "live_search")]

OPTIONAL_TOOLS = {
    "tshark": "decodes captures; without it those tests are skipped",
    "ns": "ns-2, used in comparisons; without it those tests are skipped",
}


@dataclass(frozen=True)
class Step:
    """One program that succeeds or fails."""

    name: str
    command: Sequence[str]


@dataclass(frozen=True)
class Outcome:
    """How a step ended: its exit status, the seconds it took, and its output."""

    step: Step
    status: int
    duration_s: float
    output: str

    def __str__(self) -> str:
        verdict = "ok" if self.status == 0 else f"FAILED (status {self.status})"
        return f"{self.step.name:<16} {self.duration_s:7.1f} s  {verdict}"


def lints() -> list[Step]:
    """The quick ones first."""
    python = (sys.executable, "-m")
    clippy = ("cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-Dwarnings")
    return [
        Step("ruff check", [*python, "ruff", "check"]),
        Step("ruff format", [*python, "ruff", "format", "--check"]),
        Step("mypy", [*python, "mypy"]),
        Step("cargo fmt", ["cargo", "fmt", "--all", "--check"]),
        Step("cargo clippy", clippy),
        Step("cargo doc", ["cargo", "doc", "--workspace", "--no-deps", "--locked"]),
    ]


def rust_tests(name: str, *words: str) -> Step:
    """The Rust tests, whose libraries are those of the checked extension."""
    command = ("cargo", "test", "--profile", "checked", "--workspace", "--locked", "--no-fail-fast")
    return Step(name, [*command, *words])


def build_of(profile: str) -> Step:
    """The step that builds an extension for the tests; the release is that of the checkout."""
    command = [str(ROOT / "lasthop"), "--version"] if profile == "release" else extension.build(ROOT, profile)
    return Step(f"{profile} build", command)


def builds_of_tests() -> list[Step]:
    """The steps that build what the tests use; the wheel of the extension carries the module for pages."""
    builds = [build_of("checked"), rust_tests("cargo test build", "--no-run")]
    if web.tool_chain() is None:
        print(f"WebAssembly: no compiler: tests of pages that simulate are skipped; expected {web.WANTED}")
        return builds
    return [Step("wasm build", [sys.executable, "-m", web.__name__]), *builds]


def run(step: Step) -> Outcome:
    """Runs one step and prints its outcome."""
    return shown(outcome_of(step))


def outcome_of(step: Step) -> Outcome:
    """Runs one step."""
    begun = time.monotonic()
    try:
        with started(step.command) as process:
            output, _ = process.communicate()
        status = process.returncode
    except FileNotFoundError:
        status, output = 127, f"{step.command[0]}: not found on the path; install Rust with rustup\n"
    return Outcome(step, status, time.monotonic() - begun, output)


def behind(step: Step, waiting: Callable[[], None]) -> Outcome:
    """Runs a step on the time that something leaves which mostly waits; anew where that was too little."""
    begun = time.monotonic()
    with ThreadPoolExecutor(1) as pool, started([*BEHIND, *step.command], group=0) as process:
        output = pool.submit(process.communicate)
        try:
            waiting()
        finally:
            is_late = process.poll() is None
            if is_late:
                os.killpg(process.pid, signal.SIGKILL)
    if is_late:
        return outcome_of(step)
    return Outcome(step, process.returncode, time.monotonic() - begun, output.result()[0])


def started(command: Sequence[str], group: int | None = None) -> subprocess.Popen[str]:
    """A program of a step; with the group 0 in a group of processes of its own."""
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=extension.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=group,
    )


def shown(outcome: Outcome) -> Outcome:
    """Prints an outcome, after the output of a step that failed."""
    if outcome.status:
        step = outcome.step
        print(f"\n--- {step.name}: {' '.join(step.command)}\n{outcome.output}---", flush=True)
    print(outcome, flush=True)
    return outcome


def parse(args: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Splits the arguments into ours and pytest's: those after `--`, and any that are not ours.

    >>> ours, rest = parse(["--fast", "--", "-k", "sweep"])
    >>> ours.fast, ours.changed, rest
    (True, None, ['-k', 'sweep'])
    """
    parser = argparse.ArgumentParser(
        prog="lasthop test",
        description="Run all checks of this checkout. Other arguments, and all after --, go to pytest.",
        epilog="examples: lasthop test --fast    lasthop test -- -k sweep -x    lasthop test --faults snoop",
        allow_abbrev=False,
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--fast", action="store_true", help="tests only, no lints")
    only.add_argument("--lint", action="store_true", help="lints only, no tests")
    only.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="COMMIT",
        help="only the tests that the change since COMMIT can reach; default: what is not committed",
    )
    only.add_argument(
        "--faults",
        nargs="*",
        metavar="NAME",
        help="plant the mistakes of tests/faults.toml, of which name or file has a NAME, in a clone of HEAD; "
        "exit 3 when the tests miss one",
    )
    only.add_argument(
        "--soak",
        action="store_true",
        help="only the long searches: 10 000 random scenarios, 20 000 corrupted files, 216 live runs",
    )
    only.add_argument(
        "--lowest",
        action="store_true",
        help="the Python tests only, with the lowest versions of packages that are allowed",
    )
    only.add_argument(
        "--release",
        action="store_true",
        help="the Python tests only, on the extension that a user of this checkout calls",
    )
    only.add_argument(
        "--learning",
        action="store_true",
        help="only the policy that learns to beat NewReno, some minutes on one core",
    )
    only.add_argument(
        "--case", type=int, metavar="N", help="print random scenario N, run it and report violated invariants"
    )
    ours, rest = parser.parse_known_args(args)
    return ours, [arg for arg in rest if arg != "--"]


def main(args: Sequence[str] = ()) -> int:
    """Runs the checks and returns 0 when all passed, 1 when one failed, 2 where there is no checkout."""
    options, for_pytest = parse(args)
    if not (ROOT / "Cargo.toml").is_file():
        print(
            "error: test: lasthop does not run from a checkout; expected ./lasthop test inside one",
            file=sys.stderr,
        )
        return 2
    if (options.lowest or options.learning or options.release) and run(build_of("release")).status:
        return 1
    if options.release:
        runs = [for_pytest] if for_pytest else [ALONE, OTHERS]
        return max(pytest(words, extension.environment()) for words in runs)
    if options.lowest:
        return lowest.run(ROOT, for_pytest, extension.environment())
    if options.learning:
        from lasthop.tools import learning

        return learning.main()
    if options.case is not None:
        return show_case(options.case)
    if options.faults is not None:
        return faults.run(ROOT, options.faults)
    if options.changed is not None:
        return run_changed(options.changed, for_pytest)
    for tool, use in OPTIONAL_TOOLS.items():
        if not shutil.which(tool):
            print(f"{tool}: not installed: {use}")

    if options.soak:
        os.environ["LASTHOP_SOAK"] = "1"
        for_pytest += [*extension.ON_ALL_CORES, "-v", *SEARCHES]
    builds = [] if options.lint else builds_of_tests()
    with ThreadPoolExecutor(1) as pool:
        # What is compiled leaves a core idle at times; the lints use it.
        built = pool.map(run, builds)
        outcomes = [] if options.fast or options.soak else [run(step) for step in lints()]
        outcomes += built
    if options.lint or any(outcome.status for outcome in outcomes[-len(builds) :]):
        return 1 if summary(outcomes) else 0
    extension.take_out(ROOT, "checked")
    env = extension.environment() | extension.environment_of(ROOT, "checked")
    statuses = []
    rust = rust_tests("cargo test")
    if for_pytest:
        outcomes.append(run(rust))
    else:
        outcomes.append(shown(behind(rust, lambda: statuses.append(pytest(ALONE, env)))))
    failed = summary(outcomes)
    statuses.append(pytest(for_pytest or OTHERS, env))
    return 1 if failed or any(statuses) else 0


def summary(outcomes: list[Outcome]) -> bool:
    """Prints how many steps passed, and the outcome of each if not all have; returns whether one failed."""
    failed = sum(outcome.status != 0 for outcome in outcomes)
    if failed:
        print("\nsummary", *outcomes, sep="\n")
    print(f"{len(outcomes) - failed} of {len(outcomes)} steps passed", flush=True)
    return failed > 0


def pytest(words: Sequence[str], env: dict[str, str]) -> int:
    """Runs pytest and returns its exit status."""
    return subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=env, check=False).returncode


def run_changed(since: str, for_pytest: list[str]) -> int:
    """Runs the tests that the change since a commit can reach."""
    try:
        files = changed.changed(ROOT, since)
    except subprocess.CalledProcessError:
        print(f"error: test: --changed {since}: not a commit of this checkout; expected one", file=sys.stderr)
        return 2
    found = changed.reach(ROOT, files, since)
    if found.beyond:
        print(
            f"{', '.join(found.beyond)}: can reach every test; expected ./lasthop test --fast",
            file=sys.stderr,
        )
        return 2
    test = ("cargo", "test", "--locked", "-p")
    sim = (*test, "lasthop-sim", "--features", "lasthop-sim/noq")
    wanted = []
    if found.stack:
        wanted.append(Step("stack", [*test, "lasthop-stack", "--lib", "--", *sorted(found.stack)]))
    if found.sim:
        wanted.append(Step("sim", [*sim, "--test", "all", "--", *sorted(found.sim)]))
    wanted += [Step(name, [*sim, "--test", name]) for name in sorted(found.programs)]
    if run(build_of("quick")).status:
        return 1
    extension.take_out(ROOT, "quick")
    env = extension.environment() | extension.environment_of(ROOT, "quick")
    status = 0
    # What is compiled and what measures its memory leave a core to the others.
    with ThreadPoolExecutor(1) as pool:
        outcomes = pool.submit(lambda: [run(step) for step in wanted])
        if found.python:
            words = [
                "-m",
                "not alone and not slow",
                *extension.ON_ALL_CORES,
                *for_pytest,
                *sorted(found.python),
            ]
            status = pytest(words, env)
    # Nothing collected is not a failure: all that was chosen may be slow.
    return 1 if status not in (0, 5) or any(outcome.status for outcome in outcomes.result()) else 0


def show_case(number: int) -> int:
    """Shows a random scenario and what it breaks, on the checked extension."""
    if run(build_of("checked")).status:
        return 1
    extension.take_out(ROOT, "checked")
    env = extension.environment() | extension.environment_of(ROOT, "checked")
    command = [sys.executable, "-m", "search", str(number)]
    return subprocess.run(command, cwd=ROOT / "tests" / "python", env=env, check=False).returncode
