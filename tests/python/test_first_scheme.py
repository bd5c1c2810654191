"""The guide's first scheme, made for real: two patches of at most five files each, built and run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from lasthop.tools import templates
from test_templates import cargo, tree

ROOT = Path(__file__).resolve().parents[2]
PATCHES = ROOT / "docs" / "first-scheme"
NAMES = ("law", "agent")
__all__ = ["tree"]


def touched(patch: Path) -> list[str]:
    """The files that a patch changes or adds."""
    return re.findall(r"^\+\+\+ b/(\S+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_scheme_touches_five_files_and_nothing_outside_the_stack(name: str) -> None:
    files = touched(PATCHES / f"{name}.patch")
    # The fifth is docs/keys.md, which docs/make_keys.py writes.
    assert len(files) <= 4
    assert all(file.startswith(("crates/stack/src/", "scenarios/")) for file in files)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_what_the_patch_touches(name: str) -> None:
    page = (ROOT / "docs" / "first-scheme.md").read_text(encoding="utf-8")
    stat = subprocess.run(
        ["git", "apply", "--stat", str(PATCHES / f"{name}.patch")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    for line in stat.stdout.rstrip().split("\n"):
        assert line.strip() in page


@pytest.fixture(scope="module")
def copied(tree: Path) -> Path:
    """A copy of the sources with schemes of a reader's own, and then both schemes; not built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "ROOT", tree)
        templates.scheme("my-law", templates.LAW)
        templates.scheme("my-agent", templates.AGENT)
    # Git would treat the copy as a part of the checkout around it.
    subprocess.run(["git", "init", "-q"], check=True, cwd=tree)
    for name in NAMES:
        subprocess.run(["git", "apply", str(PATCHES / f"{name}.patch")], check=True, cwd=tree)
    return tree


def test_both_patches_apply_to_the_sources(copied: Path) -> None:
    assert all((copied / file).is_file() for name in NAMES for file in touched(PATCHES / f"{name}.patch"))


@pytest.fixture(scope="module")
def patched(copied: Path) -> Path:
    """The copy, to build and run."""
    if not os.environ.get("CI"):
        pytest.skip("builds a copy of the simulator; runs with CI=true and --soak")
    return copied


def measured(copy: Path, scenario: str) -> dict[str, str]:
    """The metrics of the first point of a scenario of the patched copy."""
    words = ("run", "-q", "--locked", "-p", "lasthop-sim", "--example", "run_scenario", "--")
    ran = cargo(copy, *words, f"scenarios/examples/{scenario}.toml")
    assert ran.returncode == 0, ran.stderr
    return dict(line.split(" = ") for line in ran.stdout.splitlines())


def test_the_law_runs_with_its_counter(patched: Path) -> None:
    metrics = measured(patched, "aimd")
    assert float(metrics["flows.gentle.aimd.decreases"]) > 5
    assert "flows.reno.aimd.decreases" not in metrics
    assert float(metrics["goodput_bps"]) > 4e6


def test_the_agent_runs_on_the_router_with_its_counter(patched: Path) -> None:
    metrics = measured(patched, "ack-thinner")
    # The first point lets every acknowledgement pass.
    assert float(metrics["agents.thinner.suppressed"]) == 0
    assert float(metrics["agents.thinner.passed"]) > 10_000
    assert float(metrics["agents.thinner.ack-thinner.overdue"]) == 0


def test_the_code_of_both_has_no_lint(patched: Path) -> None:
    words = ("clippy", "-q", "--locked", "-p", "lasthop-stack", "-p", "lasthop-sim", "--all-targets")
    ran = cargo(patched, *words, "--", "-Dwarnings")
    assert ran.returncode == 0, ran.stderr


def test_the_tests_of_both_crates_pass_with_both_schemes(patched: Path) -> None:
    ran = cargo(patched, "test", "-q", "--locked", "-p", "lasthop-stack", "-p", "lasthop-sim", "--lib")
    assert ran.returncode == 0, ran.stdout
