"""Another sweep in the place of a scenario's own.

>>> it = varied({"sweep": {"a.x": [1], "zip": {"a.y": [1, 1], "a.z": [1, 2]}}}, {"a.z": [3], "a.w": [4]})
>>> it["sweep"]
{'a.x': [1], 'zip': {'a.y': [1]}, 'a.z': [3], 'a.w': [4]}
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import UsageError
from lasthop.scenario.made import as_toml, unlined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The two tables of a sweep that hold keys which advance together.
TOGETHER = ("zip", "list")
_UNUSED = re.compile(r"^.*?:\d+: (\S+): no point uses it;", re.MULTILINE)
_UNNAMED = re.compile(r"^.*?:\d+: figure\.names\.(.+?): unknown swept value ", re.MULTILINE)


def vary(scenario: _core.Scenario, axes: Mapping[str, object]) -> _core.Scenario:
    """A scenario with these axes in its sweep; see `Scenario.vary`."""
    data = varied(tomllib.loads(scenario.text), axes)
    named = keys_of(axes)
    name = f"{scenario.name.removesuffix(', varied')}, varied"
    pairs = [(key, value) for key, value in scenario.overrides if key not in named]

    def read(figures: list[Any]) -> _core.Scenario:
        tables = {key: value for key, value in data.items() if key != "figure"}
        whole = {**tables, "figure": figures} if figures else tables
        return _core.Scenario.from_text(as_toml(whole, "vary"), name, pairs)

    figures = list(data.get("figure", []))
    try:
        try:
            found = read(figures)
        except _core.ScenarioError:
            # Without figures it must do; each is kept that fits the new sweep.
            _drop_unused(data, named, lambda: read([]))
            figures = _drawn(figures, read)
            found = read(figures)
    except _core.ScenarioError as error:
        lines = unlined(str(error).split("\n"), name, "vary")
        raise _core.ScenarioError(
            "\n".join(re.sub(r"^vary: sweep\.", "vary: ", it) for it in lines)
        ) from None
    swept = {key for keys, _ in found.axes() for key in keys}
    for key in named:
        if key not in swept:
            raise UsageError(
                f"{key}: set() has fixed it by a table; expected it not to be set", argument="vary"
            )
    return found


def _drawn(figures: list[Any], read: Callable[[list[Any]], object]) -> list[Any]:
    """The figures that can be drawn of a sweep; a warning names the others."""
    kept = []
    for figure in figures:
        fits = _fitting(figure, read)
        if fits is None:
            text = f"vary: figure {figure.get('id')} does not fit the new sweep and is omitted"
            warnings.warn(text, UserWarning, stacklevel=4)
        else:
            kept.append(fits)
    return kept


def _fitting(figure: dict[str, Any], read: Callable[[list[Any]], object]) -> dict[str, Any] | None:
    """A figure without names for values that are no longer swept; `None` if it does not fit even so."""
    try:
        read([figure])
    except _core.ScenarioError as error:
        names = dict(figure.get("names", {}))
        unknown = names.keys() & set(_UNNAMED.findall(str(error)))
        names = {value: name for value, name in names.items() if value not in unknown}
        return _fitting({**figure, "names": names}, read) if unknown else None
    return figure


def varied(scenario: Mapping[str, Any], axes: Mapping[str, object]) -> dict[str, Any]:
    """A scenario with other axes: those that name a key of the sweep take its place, others are added."""
    if not isinstance(axes, Mapping):
        raise UsageError(
            f'{axes!r}; expected a mapping such as {{"links.a.loss.rate": ["0 %", "1 %"]}}', argument="vary"
        )
    for key in axes:
        if not isinstance(key, str):
            raise UsageError(f'{key!r} is not a key; expected one such as "run.duration"', argument="vary")
    kept = _without(_flat(scenario.get("sweep") or {}), set(keys_of(axes)))
    for group in TOGETHER:
        if group in kept and group in axes:
            there = ", ".join(keys_of({group: kept[group]}))
            raise UsageError(
                f"{group}: the scenario has one with {there}; expected these keys in vary or fixed by set()",
                argument="vary",
            )
    return {**scenario, "sweep": {**kept, **axes}}


def keys_of(axes: Mapping[str, object]) -> list[str]:
    """The swept keys that the axes of a sweep name.

    >>> keys_of({"a": [1], "zip": {"b": [1], "c": [2]}, "list": [{"d": 1}]})
    ['a', 'b', 'c', 'd']
    """
    found: list[str] = []
    for key, value in axes.items():
        if key not in TOGETHER:
            found.append(key)
        elif isinstance(value, Mapping):
            found += map(str, value)
        elif isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
            found += map(str, value[0])
    return found


def _flat(sweep: Mapping[str, Any]) -> dict[str, Any]:
    """A sweep with dotted keys, whichever way the file nests them."""
    flat: dict[str, Any] = {}
    for key, value in sweep.items():
        if key == "zip":
            flat[key] = dict(_leaves(value))
        elif key == "list":
            flat[key] = [dict(_leaves(row)) for row in value]
        elif isinstance(value, Mapping):
            flat.update((f"{key}.{below}", inner) for below, inner in _leaves(value))
        else:
            flat[key] = value
    return flat


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{below}", inner) for below, inner in _leaves(value))
        else:
            yield key, value


def _without(sweep: dict[str, Any], named: set[str]) -> dict[str, Any]:
    """A flat sweep without these keys; of keys that advance together, rows that then are alike become one."""
    kept = {key: value for key, value in sweep.items() if key not in named}
    for group in TOGETHER:
        if group not in kept or named.isdisjoint(keys_of({group: kept[group]})):
            continue
        if group == "list":
            rows = [{k: v for k, v in row.items() if k not in named} for row in kept[group]]
            kept[group] = [row for place, row in enumerate(rows) if row and row not in rows[:place]]
        else:
            columns = {k: v for k, v in kept[group].items() if k not in named}
            # A range, which is a text, has no value twice.
            if all(isinstance(column, list) for column in columns.values()):
                steps = list(zip(*columns.values(), strict=False))
                apart = [place for place, step in enumerate(steps) if step not in steps[:place]]
                columns = {k: [v[place] for place in apart] for k, v in columns.items()}
            kept[group] = columns
        if not kept[group]:
            del kept[group]
    return kept


def _drop_unused(scenario: dict[str, Any], named: Sequence[str], read: Callable[[], object]) -> None:
    """Take out the settings and axes that no point of the new sweep uses, but none that are varied."""
    while True:
        try:
            read()
        except _core.ScenarioError as error:
            # A message lists no more than some of them.
            if not _dropped(scenario, set(_UNUSED.findall(str(error))), named):
                raise
        else:
            return


def _dropped(scenario: dict[str, Any], unused: set[str], named: Sequence[str]) -> bool:
    swept = {key.removeprefix("sweep.") for key in unused if key.startswith("sweep.")}.difference(named)
    scenario["sweep"] = _without(scenario["sweep"], swept)
    found = bool(swept)
    for key in unused.difference(named):
        *tables, last = key.split(".")
        table: Any = scenario
        for name in tables:
            table = table.get(name) if isinstance(table, dict) else None
        if isinstance(table, dict) and last in table:
            del table[last]
            found = True
    return found
