"""What `lasthop test --changed` takes a change to reach."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lasthop.tools import changed, development

ROOT = Path(__file__).resolve().parents[2]
HERE = f"tests/python/{Path(__file__).name}"
LAWS = "crates/stack/src/registry/laws.rs"
MODULES = "crates/stack/src/transport/congestion/mod.rs"


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def test_a_scheme_reaches_its_own_tests_and_those_that_name_it() -> None:
    found = changed.reach(ROOT, ["crates/stack/src/schemes/snoop/cached.rs"])
    assert found.stack == {"schemes::snoop"}
    assert {"stations::", "agents::", "limits::"} & found.sim == {"stations::"}
    assert found.programs == {"hosted", "limits"}
    assert "tests/python/test_ns2_snoop.py" in found.python
    assert changed.KEYS in found.python
    file, _, test = changed.KEYS.partition("::")
    assert f"def {test}()" in (ROOT / file).read_text("utf-8")
    assert "tests/python/test_ladder.py::test_text_fits_a_terminal_and_names_losses" in found.python
    assert not [one for one in found.python if one.startswith("tests/python/test_reading_search.py")]
    assert found.beyond == []


@pytest.mark.parametrize(
    "file",
    [
        *("crates/stack/src/schemes/flows.rs", "crates/stack/src/transport/congestion/cubic.rs"),
        *("crates/stack/src/link/managed/codel/tests.rs", "crates/sim/src/lib.rs", "Cargo.toml"),
        "python/lasthop/api.py",
    ],
)
def test_what_others_use_reaches_everything(file: str) -> None:
    assert changed.reach(ROOT, [file]).beyond == [file]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the registries and the tests that go through their entries."""
    for name in (LAWS, MODULES, "docs/keys.md", "tests/faults.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    for folder in ("crates/sim/tests", "tests/python"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    return tmp_path


def test_a_new_entry_reaches_the_registry_and_the_tests_of_all_its_entries(checkout: Path) -> None:
    assert changed.reach(checkout, [LAWS]).beyond == [LAWS]
    laws, modules = checkout / LAWS, checkout / MODULES
    text = laws.read_text("utf-8").replace("    Custom(Box<", "    Mine(Mine), () = 1;\n    Custom(Box<")
    laws.write_text(text.replace("    Reno, Vegas,", "    Mine, Reno, Vegas,"), "utf-8")
    modules.write_text(modules.read_text("utf-8").replace("mod reno;", "mod mine;\nmod reno;"), "utf-8")
    found = changed.reach(checkout, [LAWS, MODULES, "docs/keys.md", "tests/faults.toml"])
    assert (found.beyond, found.stack, found.programs) == ([], {"registry::"}, set())
    assert found.sim == {"wifi_today::"}
    assert found.python == {*changed.OF_ALL, "tests/python/test_faults.py"}
    for one in changed.OF_ALL:
        file, _, test = one.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8")
    laws.write_text(text.replace('"reno" as', '"renno" as'), "utf-8")
    assert changed.reach(checkout, [LAWS]).beyond == [LAWS]


def test_a_module_reaches_the_tests_of_what_imports_it() -> None:
    found = changed.reach(ROOT, ["python/lasthop/study/archive.py"]).python
    assert {"python/lasthop/study/archive.py", "tests/python/test_archive.py"} <= found
    assert "tests/python/test_ladder.py" not in found
    drawn = changed.reach(ROOT, ["python/lasthop/figures/draw.py"]).python
    assert any("test_plot.py" in one for one in drawn)
    assert "draw" not in changed.methods_of_api(ROOT, {"lasthop.views.steady"})
    assert changed.methods_of_api(ROOT, {"lasthop.views.steady"}) == {"steady"}
    assert {"plot", "steady", "load"} <= changed.methods_of_api(ROOT, {"lasthop.scenario.scenario"})
    through_others = changed.reach(ROOT, ["python/lasthop/tools/changed.py"]).python
    assert {HERE, "tests/python/test_faults.py"} <= through_others


def test_a_program_that_is_run_by_its_file_reaches_the_tests_of_what_runs_it() -> None:
    assert "tests/python/test_live_api.py" in changed.reach(ROOT, ["python/lasthop/realtime/enter.py"]).python
    assert "tests/python/test_linux.py" in changed.reach(ROOT, ["python/lasthop/virtual/proxy.py"]).python
    of_a_command = changed.reach(ROOT, ["python/lasthop/scenario/link.py"]).python
    assert any(one.startswith("tests/python/test_link.py") for one in of_a_command)


def test_a_scenario_reaches_the_tests_that_name_it_and_a_test_itself() -> None:
    found = changed.reach(ROOT, ["scenarios/validation/linux-tail.toml", HERE]).python
    assert {HERE, "tests/python/test_docs.py"} <= found
    assert any("test_linux.py::" in one for one in found)


def test_a_file_that_is_gone_is_not_run() -> None:
    assert changed.reach(ROOT, ["tests/python/test_gone.py", "python/lasthop/gone.py"]).python == set()


def test_files_of_a_change_are_those_of_git_and_those_that_it_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("1")
    (tmp_path / ".gitignore").write_text("d\n")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    for name in "acd":
        (tmp_path / name).write_text("2")
    assert changed.changed(tmp_path) == ["a", "c"]
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "two")
    assert changed.changed(tmp_path) == []
    assert changed.changed(tmp_path, "HEAD~1") == ["a", "c"]


@pytest.mark.parametrize("status", [0, 1])
def test_a_development_build_runs_the_command_if_it_can_be_compiled(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    began: list[tuple[list[str], str]] = []

    def begin(_: str, words: list[str], env: dict[str, str]) -> None:
        began.append((words[-2:], env["LASTHOP_CORE"]))

    monkeypatch.setattr(development.subprocess, "call", lambda *_, **__: status)
    monkeypatch.setattr(development.extension, "take_out", lambda *_: None)
    monkeypatch.setattr(development.os, "execve", begin)
    assert development.main("run", "x.toml") == (2 if status else None)
    core = f"{development.ROOT}/target/quick/_core.abi3.so"
    assert began == ([] if status else [(["run", "x.toml"], core)])
