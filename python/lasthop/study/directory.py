"""The directory of a study: which may be one, and its files besides the ledger."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.arguments import MOST_SEED
from lasthop.base.errors import ScenarioError, StudyError, reason
from lasthop.base.files import is_draft, put, replacing
from lasthop.base.jsontext import loads
from lasthop.base.paths import FILES, LEDGER, STUDY_FILES, TEXT, build
from lasthop.laws.registered import used
from lasthop.study import older
from lasthop.study.ledger import Ledger, Planned, foreign, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lasthop.scenario.scenario import Scenario


def entries(scenario: Scenario, seed: int, where: Sequence[str]) -> dict[str, str]:
    """What the ledger of a study says of the study itself."""
    return {
        "scenario": scenario.id,
        "text": scenario.text,
        "overrides": json.dumps(scenario.overrides),
        "seed": str(seed),
        "where": json.dumps(list(where)),
        "version": _core.__version__,
        "model_version": _core.model_version,
        "build": build(),
        "laws": " ".join(map(str, used(scenario.text, tuple(scenario.overrides)))),
    }


def remembered(ledger: Ledger, scenario_class: type[Scenario]) -> Scenario:
    """The scenario of a study, from its ledger."""
    overrides = [(older.key(key), text) for key, text in overrides_of(ledger)]
    text, name = older.scenario(ledger.meta("text")), str(ledger.path.parent / TEXT)
    try:
        return scenario_class.from_text(text, name, overrides, ident=ledger.meta("scenario"))
    except ScenarioError as error:
        if laws := ledger.meta("laws", ""):
            raise ScenarioError(f"{error} (the runs of {ledger.path.parent} have {laws})") from None
        raise


def overrides_of(ledger: Ledger) -> list[tuple[str, str]]:
    """The settings of a study, from its ledger."""
    given = _checked(ledger, "overrides", _is_pairs, "pairs of key and value")
    return [(key, text) for key, text in given]


def seed(ledger: Ledger) -> int:
    """The seed of a study, from its ledger."""
    text = ledger.meta("seed")
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_SEED))):
        raise _damaged(ledger, "seed", f"a number from 0 to {MOST_SEED}")
    return int(text)


def conditions(ledger: Ledger) -> tuple[str, ...]:
    """The conditions that select the points of a study, from its ledger."""
    return tuple(_checked(ledger, "where", _is_words, "a list of conditions"))


def _checked(ledger: Ledger, name: str, is_right: Callable[[Any], bool], expected: str) -> Any:
    try:
        found = loads(ledger.meta(name))
    except ValueError:
        found = None
    if not is_right(found):
        raise _damaged(ledger, name, expected)
    return found


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _is_pairs(value: object) -> bool:
    return isinstance(value, list) and all(_is_words(pair) and len(pair) == 2 for pair in value)


def _damaged(ledger: Ledger, name: str, expected: str) -> StudyError:
    return StudyError(f'{ledger.path}: damaged (its entry "{name}"); expected {expected}')


def admit(folder: Path, *, fresh: bool) -> None:
    """Refuse a directory that holds something else; with `fresh`, empty a study."""
    try:
        names = {entry.name for entry in folder.iterdir()} if folder.exists() else set()
        if LEDGER in names and fresh and not foreign(folder / LEDGER):
            with locked(folder):
                for name in STUDY_FILES:
                    (folder / name).unlink(missing_ok=True)
    except OSError as e:
        raise StudyError(f"{folder}: {e.strerror}; expected a directory for the study") from e
    if LEDGER not in names and any(not is_draft(name) for name in names):
        raise StudyError(
            f"{folder}: contains other files but no {LEDGER}; expected a study, or a new or empty directory"
        )


def _write(path: Path, text: str) -> None:
    put(path, text, is_own=True, expected="a writable directory")


def fill(path: Path, scenario: Scenario, plan: Sequence[Planned], seed: int) -> None:
    """Write the scenario, the files that it names and its values into the directory of a study."""
    _write(path / TEXT, scenario.text)
    _copy_files(path, scenario)
    _write(path / "resolved.json", json.dumps(resolved(scenario, plan, seed), indent=1) + "\n")


def _copy_files(path: Path, scenario: Scenario) -> None:
    """The files that the scenario names by relative paths, in a directory of their own.

    In the directory of the study one could be called like its ledger.
    """
    for name in (name for name in scenario.files if not Path(name).is_absolute()):
        source, target = named_file(scenario, name), path / FILES / name
        if source.resolve() == target.resolve():
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise StudyError(f"{target.parent}: {reason(e)}; expected a writable directory") from e
        with replacing(target, is_own=True, expected="a writable directory") as draft:
            shutil.copyfile(source, draft)


def named_file(scenario: Scenario, name: str) -> Path:
    """Where a file that a scenario names is: among the copies of a study, or near the scenario."""
    copy = Path(scenario.name).with_suffix(Path(FILES).suffix) / name
    return copy if copy.is_file() else Path(scenario.name).parent / name


def resolved(scenario: Scenario, plan: Sequence[Planned], seed: int) -> dict[str, Any]:
    """The values that all points share, and for each point the others."""
    tables = {planned.point: scenario.resolved(planned.point) for planned in plan}
    first = next(iter(tables.values()))
    shared = {
        key: entry
        for key, entry in first.items()
        if all(table.get(key) == entry for table in tables.values())
    }
    return {
        "scenario": scenario.id,
        "version": _core.__version__,
        "model_version": _core.model_version,
        "seed": seed,
        "overrides": [list(pair) for pair in scenario.overrides],
        "values": shared,
        "points": [
            {
                "point": planned.point,
                "key": planned.point_key,
                "values": {k: v for k, v in tables[planned.point].items() if k not in shared},
            }
            for planned in plan
        ],
    }
