"""A run kept in a directory, as `run -o` writes it: run.json, and a table for each trace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import MOST
from lasthop.base.errors import StudyError, reason
from lasthop.base.files import make_folder, put, replacing
from lasthop.base.jsontext import dumps, loads
from lasthop.base.paths import RUN
from lasthop.scenario.trace import write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.scenario.scenario import Run


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _is_number(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_table(value: object, is_right: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(map(is_right, value.values()))


def _is_overrides(value: object) -> bool:
    # Older versions have kept a mapping.
    is_pairs = isinstance(value, list) and all(_is_texts(pair) and len(pair) == 2 for pair in value)
    return is_pairs or _is_table(value, _is_text)


def _is_airtime(value: object) -> bool:
    def is_book(book: object) -> bool:
        if not isinstance(book, dict) or not _is_text(book.get("link")) or not _is_text(book.get("observer")):
            return False
        classes = book.get("classes")
        is_timed = _is_table(classes, lambda c: isinstance(c, dict) and _is_number(c.get("time_s")))
        return is_timed and _is_number(book.get("concurrent_s"))

    return isinstance(value, list) and all(map(is_book, value))


def _is_series(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict) or not _is_number(value.get("bin_s")) or value["bin_s"] <= 0:
        return False
    return _is_table(value.get("values"), _is_numbers)


_FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("scenario", "file"), _is_text),
    **dict.fromkeys(("seed", "replication", "point_number", "events"), _is_count),
    "overrides": _is_overrides,
    "point": lambda value: _is_table(value, _is_text),
    "positions": lambda value: _is_table(value, lambda at: _is_numbers(at) and len(at) == 2),  # type: ignore[arg-type]
    "schemes": lambda value: _is_table(value, _is_text),
    "metrics": lambda value: _is_table(value, lambda v: v is None or _is_number(v)),
    "airtime": _is_airtime,
    "series": _is_series,
    "notes": _is_texts,
    "simulated_s": _is_number,
    "stopped": lambda value: value is None or _is_text(value),
}
"""What is read of a run, and whether it is what it has to be."""


def keep(run: Run, folder: Path, contents: Mapping[str, Any] | None = None) -> None:
    """Write a run and its traces; `contents` are those of run.json, if not those of the run itself."""
    try:
        for name in run.traces():
            path = folder / "traces" / f"{name}.csv"
            make_folder(path.parent)
            with replacing(path, expected="a writable directory") as draft:
                write_csv(run.trace(name), draft)
        put(
            folder / RUN,
            dumps(run.as_dict() if contents is None else dict(contents)) + "\n",
            expected="a writable directory",
        )
    except StudyError:
        # On a full disk perhaps nothing but the directory could be made.
        with suppress(OSError):
            (folder / "traces").rmdir()
        raise


def read(folder: Path) -> dict[str, Any]:
    """What `keep` wrote about a run."""
    path = folder / RUN
    try:
        found = loads(path.read_bytes())
        if not isinstance(found, dict):
            raise TypeError("not a table")
        missing = [key for key in ("scenario", "file", "seed", "point_number", "airtime") if key not in found]
        odd = [key for key, is_right in _FIELDS.items() if key in found and not is_right(found[key])]
        if odd:
            raise ValueError(f"{odd[0]}: not as lasthop writes it")
    except (OSError, ValueError, TypeError) as e:
        raise StudyError(f"{path}: {reason(e)}; expected the output of lasthop run") from e
    if missing:
        raise StudyError(
            f"{path}: no {missing[0]}; expected the output of this version of lasthop run (run it again)"
        )
    return found
