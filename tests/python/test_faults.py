"""The faults that are planted to see whether the tests detect them, and what plants them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from lasthop.tools import extension, faults
from test_python_rooms import ROOMS
from test_rooms import SIM, STACK

ROOT = Path(__file__).resolve().parents[2]
LISTED = faults.load(ROOT)
# What has no code of its own, is not in Python, or is what schemes have in common.
WITHOUT = {"stack/signal", "lasthop/_core"} | {f"stack/schemes/{one}" for one in ("deadlines", "flows")}


def test_each_fault_still_applies_and_is_one_line() -> None:
    for fault in LISTED:
        assert fault.planted(ROOT) != (ROOT / fault.file).read_text("utf-8"), fault.name
        assert "\n" not in fault.before + fault.after, fault.name


def test_each_room_scheme_and_law_has_a_fault() -> None:
    places = [re.sub(r"^(crates|python)/|(?<=/)src/|\.rs$|\.py$", "", fault.file) for fault in LISTED]
    assert len(places) >= 60
    wanted = {f"stack/{room}" for room in STACK} | {f"sim/{room}" for room in SIM}
    wanted |= {f"lasthop/{room}" for room in ROOMS} | {"peer", "testing", "py"}
    for folder in ("schemes", "transport/congestion"):
        text = (ROOT / "crates/stack/src" / folder / "mod.rs").read_text("utf-8")
        wanted |= {
            f"stack/{folder}/{name}" for name in re.findall(r"^(?:pub.* )?mod (\w+);", text, re.MULTILINE)
        }
    missing = {one for one in wanted if not any(f"{place}/".startswith(f"{one}/") for place in places)}
    assert not missing - WITHOUT, f"without a mistake in tests/faults.toml: {sorted(missing - WITHOUT)}"
    assert missing == WITHOUT


def commit(root: Path) -> None:
    faults.git(root, "add", ".")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    faults.git(root, *who, "commit", "--quiet", "-m", "all")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two faults, of which its test detects one."""
    root = tmp_path / "made"
    for name, text in {
        ".gitignore": "target\n",
        "python/doubled.py": "def doubled(x):\n    return 2 * x\n\n\nUNUSED = 1\n",
        "tests/test_it.py": "from doubled import doubled\n\n\ndef test_it():\n    assert doubled(2) == 4\n",
        "tests/faults.toml": """\
["three times as much"]
file = "python/doubled.py"
before = "2 * x"
after = "3 * x"

["nothing"]
file = "python/doubled.py"
before = "= 1"
after = "= 2"
""",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    faults.git(root, "init", "--quiet")
    commit(root)
    monkeypatch.setattr(extension, "ON_ALL_CORES", ["-p", "no:cacheprovider"])
    tests = [sys.executable, "-m", "pytest", *extension.ON_ALL_CORES, "tests/test_it.py"]
    monkeypatch.setattr(faults, "commands", lambda copy, file: [tests])
    monkeypatch.setattr(faults, "build", lambda copy: None)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return root


def test_a_fault_is_planted_in_a_clone_and_what_detects_it_is_found_once(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert faults.run(checkout, ["three", "nothing"]) == 3
    shown = capsys.readouterr().out
    assert "python/doubled.py: three times as much\n           tests/test_it.py::test_it\n" in shown
    assert "python/doubled.py: nothing\n           NOT DETECTED\n1 of 2 faults detected\n" in shown
    assert faults.git(checkout, "status", "--porcelain") == ""
    assert faults.git(checkout / "target/faults/checkout", "status", "--porcelain") == ""
    monkeypatch.setattr(faults, "plant", None)
    monkeypatch.setattr(faults, "failing_anyway", lambda copy, tests: "")
    assert faults.run(checkout, ["three"]) == 0
    assert "1 of 1 faults detected" in capsys.readouterr().out


def test_a_test_that_fails_anyway_detects_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "tests/test_it.py").write_text("def test_it():\n    assert False\n", "utf-8")
    commit(checkout)
    assert faults.run(checkout, ["nothing"]) == 3
    assert "tests/test_it.py::test_it: fails without a fault" in capsys.readouterr().out


def test_a_fault_that_no_longer_applies_is_named(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "python/doubled.py").write_text("2 * x, 2 * x = 1")
    assert faults.run(checkout, ["three"]) == 2
    assert "three times as much: '2 * x' is 2 times in python/doubled.py" in capsys.readouterr().err
    assert faults.run(checkout, ["four"]) == 2
    assert "--faults: four: in no fault" in capsys.readouterr().err


def test_what_may_detect_a_fault_is_what_its_file_reaches_the_nearest_first() -> None:
    stack, sim, python = faults.commands(ROOT, "crates/stack/src/schemes/snoop/cached.rs")[:3]
    assert "schemes::snoop" in stack
    assert {"lasthop-sim", "stations::"} <= set(sim)
    assert "lasthop-sim" in python, "a program of tests"
    every = faults.commands(ROOT, "crates/sim/src/engine/queue.rs")
    assert [one[-1] for one in every[:2]] == ["engine", "--lib"]
    assert every[2][-3:] == ["--test", "*", "--"]
    assert not [word for word in every[3] if "test_" in word]
    assert faults.commands(ROOT, "crates/peer/src/c.rs")[0][-3:] == ["lasthop-testing", "--lib", "--tests"]
    (tests,) = faults.commands(ROOT, "python/lasthop/study/ledger.py")
    named = [word for word in tests if word.endswith(".py")]
    assert named[:2] == ["python/lasthop/study/ledger.py", "tests/python/test_ledger.py"]
