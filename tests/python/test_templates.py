"""`lasthop new --law`, `--agent` and `--crate`: what they write compiles, passes its tests, and runs."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.laws.registered import LawUse
from lasthop.tools import templates

ROOT = Path(__file__).resolve().parents[2]
Cli = Callable[..., subprocess.CompletedProcess[str]]
BUILT = ROOT / "target" / "templates"
# What all of them build, with as little work as it takes.
TARGET = BUILT / "build"
CHEAP = {"CARGO_INCREMENTAL": "1"} | {
    f"CARGO_PROFILE_{name}": "0" for name in ("DEV_OPT_LEVEL", "TEST_OPT_LEVEL", "DEV_DEBUG", "TEST_DEBUG")
}


def cargo(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **CHEAP, "CARGO_TARGET_DIR": str(TARGET), "CARGO_NET_OFFLINE": "true"}
    return subprocess.run(["cargo", *words], capture_output=True, text=True, check=False, cwd=folder, env=env)


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """A copy of the sources, always at the same place, so that cargo builds only what has changed."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on the path")
    copy = BUILT / "tree"
    BUILT.mkdir(parents=True, exist_ok=True)
    # The tests of another module, in another process, may use it.
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for name in ("crates", "scenarios", "docs/first-scheme"):
            shutil.copytree(ROOT / name, copy / name)
        # A Rust test reads a page.
        for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml", "clippy.toml", "docs/radio.md"):
            shutil.copy2(ROOT / name, copy / name)
        yield copy


def test_two_laws_and_an_agent_of_ones_own_compile_and_pass_their_tests(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templates, "ROOT", tree)
    written = templates.scheme("my-law", templates.LAW)
    assert {path.name for path in written} == {"my_law.rs", "laws.rs", "mod.rs", "my-law.toml"}
    templates.scheme("zeta", templates.LAW)
    templates.scheme("my-agent", templates.AGENT)
    for name in ("my-law", "my-agent"):
        with pytest.raises(lh.UsageError, match="a scheme has this name"):
            templates.scheme(name, templates.LAW)
    formatted = cargo(tree, "fmt", "-p", "lasthop-stack", "--check")
    assert (formatted.returncode, formatted.stdout) == (0, "")
    words = (
        "test",
        "--offline",
        "-p",
        "lasthop-stack",
        "--lib",
        "--",
        "my_law",
        "zeta",
        "my_agent",
        "registry",
    )
    tested = cargo(tree, *words)
    assert tested.returncode == 0, tested.stderr
    for name in ("congestion::my_law", "congestion::zeta", "schemes::my_agent"):
        assert f"{name}::tests::" in tested.stdout


def test_a_crate_of_ones_own_is_a_law_of_an_installed_lasthop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on the path")
    monkeypatch.chdir(tmp_path)
    folder = templates.crate("own-law")
    # The versions of this checkout, which are on the machine.
    shutil.copy2(ROOT / "Cargo.lock", folder / "Cargo.lock")
    monkeypatch.setenv("PYO3_BUILD_EXTENSION_MODULE", "1")
    monkeypatch.setenv("PYO3_PYTHON", sys.executable)
    built = cargo(folder, "build", "--offline")
    assert built.returncode == 0, built.stderr
    (library,) = (TARGET / "debug").glob("libown_law.*o")
    shutil.copy2(library, folder / "own_law.abi3.so")
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    path = [str(folder), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    tested = subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder, env=env)
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout


def test_a_crate_of_ones_own_runs_scenarios_with_its_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on the path")
    monkeypatch.chdir(tmp_path)
    folder = templates.crate("own-agent", has_agent=True)
    shutil.copy2(ROOT / "Cargo.lock", folder / "Cargo.lock")
    tested = cargo(folder, "test", "--offline")
    assert tested.returncode == 0, tested.stderr
    assert "fewer_acknowledgements_carry_more_data ... ok" in tested.stdout
    ran = cargo(folder, "run", "--offline", "--", "own-agent.toml")
    assert ran.returncode == 0, ran.stderr
    metrics = dict(line.split()[1:] for line in ran.stdout.splitlines())
    assert float(metrics["agents.thinner.suppressed"]) > 100
    without = ("run", "--offline", "--", "own-agent.toml", "-s", "agents.thinner.kind=none")
    assert "goodput_bps" in cargo(folder, *without).stdout
    wrong = cargo(folder, *without[:-1], "agents.thinner.kind=own-agen")
    assert wrong.returncode == 2
    assert 'did you mean "own-agent"?' in wrong.stderr


def test_new_writes_what_its_options_say(within: Cli, tmp_path: Path) -> None:
    assert within("new", "a-law", "--crate").returncode == 0
    assert within("new", "b-law", "--law", "--crate").returncode == 0
    assert within("new", "c-agent", "--agent", "--crate").returncode == 0
    texts = [(tmp_path / name / "src" / "lib.rs").read_text() for name in ("a-law", "b-law", "c-agent")]
    assert [("on_ack" in text, "impl Agent for CAgent" in text) for text in texts] == [
        *((True, False), (True, False), (False, True))
    ]
    for words in (("--law", "--agent"), ("--law", "--agent", "--crate"), ("--from", "x", "--crate"), ()):
        done = within("new", "x", *words)
        assert done.returncode == 2
        assert "expected one of" in done.stderr


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("My", '"My"; expected a name'),
        ("reno", "has this name"),
        ("fn", "a word of Rust"),
        ("std", "a word of Rust"),
        ("none", "my-none"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(name: str, found: str) -> None:
    for model in (templates.LAW, templates.AGENT):
        with pytest.raises(lh.UsageError, match=found):
            templates.scheme(name, model)
        with pytest.raises(lh.UsageError, match=found):
            templates.crate(name, has_agent=model is templates.AGENT)


def test_the_cost_of_no_acknowledgement_is_nothing() -> None:
    assert LawUse(0, 1, 0.5).us_per_ack == 0.0
    assert LawUse(4, 9, 8e-6).us_per_ack == pytest.approx(2.0)
