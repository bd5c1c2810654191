"""The guide's own law: each step of the page, in order, in one folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test_templates import BUILT, TARGET, cargo, tree

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "own-law.md"
PYTHON, REST = PAGE.read_text("utf-8").partition("\n## In Rust\n")[::2]
RUST, CRATE = REST.partition("\n## In a crate of your own\n")[::2]
__all__ = ["tree"]


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of a part of the page: language and text."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    variables = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=variables)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the law of the page, which is its first block."""
    made = tmp_path_factory.mktemp("own-law")
    (language, text), *_ = blocks(PYTHON)
    assert (language, "class Gentle" in text) == ("python", True)
    (made / "laws.py").write_text(text)
    return made


def test_each_step_in_python_runs_in_the_order_of_the_page(folder: Path) -> None:
    steps = blocks(PYTHON)[1:]
    assert [language for language, _ in steps] == ["sh", "python", "python", "python", "sh"]
    before = said = ""
    for language, text in steps:
        if language == "sh":
            for line in text.splitlines():
                program, *words = shlex.split(line)
                assert program == "lasthop"
                done = run(folder, [sys.executable, "-m", "lasthop", *words])
                assert done.returncode == 0, done.stderr
            continue
        before += text
        done = run(folder, [sys.executable, "-c", before])
        assert done.returncode == 0, done.stderr
        said += done.stdout
    assert "on_loss at" in said
    assert "us for each ACK" in said
    assert (folder / "studies" / "gentle").is_dir()


def test_what_the_page_says_of_a_changed_law_holds(folder: Path) -> None:
    line = next(text for _, text in blocks(PYTHON) if text.startswith("lasthop sweep"))
    words = [sys.executable, "-m", "lasthop", *shlex.split(line)[1:]]
    run(folder, words)
    law = folder / "laws.py"
    text = law.read_text()
    law.write_text(text.replace("0.875", "0.9"))
    again = run(folder, words)
    law.write_text(text)
    assert again.returncode == 0, again.stderr
    # Those of NewReno.
    assert "8 of 16 runs are stored already" in again.stderr


def test_the_commands_of_the_crate_are_those_that_the_tests_of_templates_follow() -> None:
    (_, text), *_ = blocks(CRATE)
    assert text.splitlines()[0] == "lasthop new own-law --crate"
    assert '"own-law", own_law.OwnLaw' in CRATE


def test_the_law_in_rust_decides_as_the_law_in_python(
    folder: Path,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not os.environ.get("CI"):
        pytest.skip("builds a copy of the simulator; runs with CI=true and --soak")
    new, test, compare = (text for _, text in blocks(RUST))
    assert new.strip() == "./lasthop new gentle --law"
    from lasthop.tools import templates

    monkeypatch.setattr(templates, "ROOT", tree)
    templates.scheme("gentle", templates.LAW)
    tested = cargo(tree, *shlex.split(test)[1:])
    assert tested.returncode == 0, tested.stderr
    monkeypatch.setenv("PYO3_BUILD_EXTENSION_MODULE", "1")
    monkeypatch.setenv("PYO3_PYTHON", sys.executable)
    built = cargo(tree, "build", "-p", "lasthop-py")
    assert built.returncode == 0, built.stderr
    core = BUILT / "_core.abi3.so"
    shutil.copy2(next((TARGET / "debug").glob("lib_core.*o")), core)
    checked = str(ROOT / "scripts" / "checked")
    path = os.pathsep.join([checked, str(folder), str(ROOT / "python")])
    done = subprocess.run(
        [sys.executable, "-c", compare],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "LASTHOP_CORE": str(core)},
    )
    assert done.returncode == 0, done.stderr
    assert "the same decisions at" in done.stdout
