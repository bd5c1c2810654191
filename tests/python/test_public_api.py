"""The public API is whole: what a signature names can be imported, and each name says what it is for."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lasthop as lh
import public_names
from public_names import Function, attributes, classes, functions, lineage, raises, sections, types_named

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [pytest.param(one, id=one.name) for one in functions()]
CLASSES = [pytest.param(one, id=one.__name__) for one in classes()]
# Errors that the source has on the way and that cannot come up there, with the reason.
CANNOT = {
    ("Fit.predict", "Interrupted"): "nobody has a token of its runs",
    ("Run.airtime", "UsageError"): "its point is one of its scenario's",
    ("Run.as_dict", "UsageError"): "its point is one of its scenario's",
    ("Run.notes", "UsageError"): "its point is one of its scenario's",
    ("Study.exceptions", "UsageError"): "its points are those of its scenario",
    ("Study.labels", "UsageError"): "its points are those of its scenario",
    ("Study.plot", "Interrupted"): "nobody has a token of the run that it repeats",
    ("Study.report", "Interrupted"): "nobody has a token of the run of a ladder",
    ("Study.report", "RunError"): "the ladder of a run that fails is left out",
    ("Study.to_csv", "LasthopError"): "only Parquet needs pyarrow",
    ("Study.to_json", "LasthopError"): "only Parquet needs pyarrow",
}
# What the end of a name says of the unit, and what the words must then say.
UNITS = {"_s": "second", "_bytes": "byte", "_bps": "bit/s"}


def holes(names: list[tuple[str, str]]) -> list[str]:
    """The classes of the package among these that cannot be imported from it."""
    found = []
    for module, name in names:
        if not module.startswith("lasthop"):
            continue
        exported = getattr(lh, name, None) if name in lh.__all__ else None
        meant = getattr(__import__(module, fromlist=[name]), name)
        if not (inspect.isclass(exported) and issubclass(exported, meant)):
            found.append(f"{module}.{name}")
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_whatever_a_signature_names_can_be_imported(function: Function) -> None:
    module = function.code.__module__
    for annotation in function.code.__annotations__.values():
        assert holes(list(types_named(annotation, module))) == []


@pytest.mark.parametrize("owner", CLASSES)
def test_whatever_an_attribute_holds_can_be_imported(owner: type) -> None:
    for module, annotation in attributes(owner).values():
        if annotation is not None:
            assert holes(list(types_named(annotation, module))) == []


def test_a_hole_is_found() -> None:
    assert holes(list(types_named("dict[str, Ledger]", "lasthop.study.study"))) == [
        "lasthop.study.ledger.Ledger"
    ]
    assert holes(list(types_named("Callable[[Study], object] | Pairs", "lasthop.api"))) == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_says_what_it_takes_gives_and_raises(function: Function) -> None:
    said = function.sections
    assert said[""][""].endswith("."), "a summary"
    assert list(said.get("Args", {})) == function.parameters
    gives = function.result not in ("None", "")
    assert gives == ("Returns" in said or "Yields" in said)
    documented = tuple(exception(name) for name in said.get("Raises", {}))
    raised = {
        one.__name__
        for one in raises(function.code, function.owner)
        if not issubclass(one, documented) and (function.name, one.__name__) not in CANNOT
    }
    assert raised == set()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_says_the_units_of_what_its_names_measure(function: Function) -> None:
    said = function.sections
    words = {**said.get("Args", {}), function.code.__name__: said.get("Returns", {}).get("", "")}
    for name, text in words.items():
        for end, unit in UNITS.items():
            assert not name.endswith(end) or unit in text.lower(), name


@pytest.mark.parametrize("owner", CLASSES)
def test_a_class_says_what_its_attributes_are(owner: type) -> None:
    said = sections(owner.__doc__ or "")
    assert said[""][""].split("\n")[0].endswith("."), "a summary"
    there = {}
    for base in reversed(lineage(owner)):
        there |= sections(base.__doc__ or "").get("Attributes", {})
    assert set(there) == set(attributes(owner))
    for name, text in there.items():
        for end, unit in UNITS.items():
            assert not name.endswith(end) or unit in text.lower(), name


def test_the_guide_names_all_that_is_public() -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    missing = [name for name in lh.__all__ if f"lasthop.{name}" not in text]
    assert missing == []


def exception(name: str) -> type[BaseException]:
    found = getattr(lh, name, None) or getattr(__import__("builtins"), name)
    assert isinstance(found, type)
    assert issubclass(found, BaseException)
    return found


def test_what_is_raised_deep_below_is_found() -> None:
    found = {function.name: raises(function.code, function.owner) for function in functions()}
    assert found["load"] == {lh.UsageError, lh.ScenarioError}
    assert {lh.UsageError, lh.RunError, lh.Interrupted} <= found["Scenario.run"]
    assert lh.StudyError in found["Study.to_csv"]
    assert found["Table.column"] == {lh.UsageError}
    assert found["Interval.less"] == set()
    assert public_names.sections("A.\n\nArgs:\n    a: b\n        c\n    d: e\n")["Args"].keys() == {"a", "d"}


# mypy keeps here what it has found, and reads again only what has changed.
CACHE = ROOT / "target" / "mypy"


def test_a_script_that_uses_the_whole_api_runs_and_is_typed_strictly(tmp_path: Path) -> None:
    script = ROOT / "tests" / "python" / "user_script.py"
    run = [sys.executable, "-W", "error", str(script), str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    # Not the configuration of this checkout: that of a user who requests strictness and nothing else.
    types = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={CACHE}"]
    read = subprocess.run([*types, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (read.returncode, read.stdout) == (0, "Success: no issues found in 1 source file\n")


def test_the_script_uses_all_that_is_public() -> None:
    text = (ROOT / "tests" / "python" / "user_script.py").read_text()
    unused = {name for name in lh.__all__ if f"lh.{name}" not in text}
    assert unused == {"Interrupted", "Interval", "LasthopError", "RunError", "__version__"}
