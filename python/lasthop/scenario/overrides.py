"""`KEY=VALUE` settings and `--where` conditions: text in, checked pairs out."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lasthop.base.arguments import utf8
from lasthop.base.errors import UsageError, listing, nearest

Pairs = list[tuple[str, str]]
Numeric = Callable[[str, str], float | None]
# Why a text is not a value of a key; None if it is one.
Refused = Callable[[str, str], str | None]

_PAIRS = 'pairs such as ("run.duration", "50 s")'
_CONDITION = re.compile(r"\s*([A-Za-z0-9_.\-\"]+)\s*(<=|>=|!=|==|=|<|>)\s*(.+?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def parse_set(items: Iterable[str], argument: str = "set") -> Pairs:
    """The pairs of `-s KEY=VALUE` options, or of another option of this form.

    >>> parse_set(["run.duration=5 s"])
    [('run.duration', '5 s')]
    """
    pairs: Pairs = []
    for item in items:
        key, sign, value = item.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise UsageError(f'"{item}"; expected KEY=VALUE such as "run.duration=50 s"', argument=argument)
        pairs.append((key.strip(), value.strip()))
    return pairs


def parses(text: str) -> bool:
    """Whether a text is a complete TOML value."""
    import tomllib

    try:
        return list(tomllib.loads(f"x = {text}")) == ["x"]
    except tomllib.TOMLDecodeError:
        return False


def checked_pairs(overrides: object) -> Pairs:
    """Overrides as pairs of text.

    >>> checked_pairs([("run.duration", 5)])
    Traceback (most recent call last):
    lasthop.base.errors.UsageError: overrides: ('run.duration', 5); expected pairs such as \
("run.duration", "50 s")
    """
    given = [] if overrides is None else overrides
    if not isinstance(given, (list, tuple)):
        raise UsageError(f"{given!r}; expected a list of {_PAIRS}", argument="overrides")
    for pair in given:
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(isinstance(part, str) for part in pair):
            raise UsageError(f"{pair!r}; expected {_PAIRS}", argument="overrides")
    return [(utf8("overrides", key), utf8("overrides", value)) for key, value in given]


def as_text(value: object, key: str = "") -> str:
    """A Python value as the text of an override; `key` is what messages say it is for.

    >>> as_text("50 s"), as_text("7"), as_text(True), as_text(["a", 1])
    ('50 s', '"7"', 'true', '["a", 1]')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if parses(value) else value
    plain = number(value)
    if plain is not None:
        return plain
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_inner(v, key) for v in value)}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(k)} = {_inner(v, key)}" for k, v in value.items()) + "}"
    where = f"{key}: " if key else ""
    raise UsageError(
        f"{where}{value!r} is not a scenario value; expected a string, number, bool, list or mapping",
        argument="set",
    )


def number(value: object) -> str | None:
    """A bool or a number as TOML, also one of numpy; `None` of anything else.

    >>> import numpy as np
    >>> number(True), number(1e-6), number(np.float64(0.5)), number(np.int32(7)), number(np.bool_(False))
    ('true', '1e-06', '0.5', '7', 'false')
    >>> number("7")
    """
    item = getattr(value, "item", None)
    if callable(item) and not isinstance(value, (bool, int)) and getattr(value, "ndim", 1) == 0:
        value = item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else None


def _inner(value: object, key: str) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else as_text(value, key)


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a `--where` expression, with values or with the value of another swept key."""

    key: str
    sign: str
    values: tuple[str, ...]

    def holds(self, point: Mapping[str, str], numeric: Numeric) -> bool:
        """Whether a point of the sweep meets the condition."""
        found = point[self.key]
        values = [point.get(value, value) for value in self.values]
        if self.sign in _COMPARE:
            a, b = numeric(self.key, found), numeric(self.key, values[0])
            if a is None or b is None:
                text = f'{self.key}: "{found}" and "{values[0]}" have no order; expected = or !='
                raise UsageError(text, argument="where")
            return _COMPARE[self.sign](a, b)
        equal = any(same(self.key, found, v, numeric) for v in values)
        return equal != (self.sign == "!=")


def same(key: str, a: str, b: str, numeric: Numeric) -> bool:
    """Whether two texts mean the same value of a key: "0.1 %" is "1e-3".

    >>> [same("loss", "1e-13", text, lambda _, text: float(text)) for text in ("0.1e-12", "2e-13")]
    [True, False]
    """
    if a == b:
        return True
    x, y = numeric(key, a), numeric(key, b)
    return x is not None and y is not None and abs(x - y) <= 1e-12 * max(abs(x), abs(y))


def parse_where(items: Iterable[str]) -> list[Condition]:
    """The conditions of `--where`, all of which must hold; `|` separates alternatives.

    >>> parse_where(["a.b=x|y and c<=2 %"])
    [Condition(key='a.b', sign='=', values=('x', 'y')), Condition(key='c', sign='<=', values=('2 %',))]
    """
    found = []
    for item in items:
        for part in re.split(r"\s+and\s+", item):
            match = _CONDITION.match(part)
            if not match:
                raise UsageError(
                    f'"{part}"; expected conditions KEY=VALUE, KEY=A|B or KEY<VALUE, joined by " and "',
                    argument="where",
                )
            values = tuple(v.strip() for v in match[3].split("|"))
            sign = "=" if match[2] == "==" else match[2]
            found.append(Condition(match[1].replace('"', ""), sign, values))
    return found


def _takes(key: str, text: str) -> str | None:
    return None


def select(
    points: list[dict[str, str]],
    conditions: Iterable[Condition],
    numeric: Numeric,
    refused: Refused = _takes,
) -> list[int]:
    """The indices of the points that meet all conditions, of which there is at least one."""
    chosen = list(range(len(points)))
    for c in conditions:
        if c.key not in points[0]:
            text = nearest(c.key, points[0], none="this scenario has no sweep")
            raise UsageError(f"{c.key} is not swept; {text}", argument="where")
        there = dict.fromkeys(point[c.key] for point in points)
        for value in c.values:
            if value in points[0] or any(same(c.key, value, t, numeric) for t in there):
                continue
            why = refused(c.key, value)
            if why is None and c.sign not in _COMPARE:
                why = f'"{value}" is not a swept value; {nearest(value, there)}'
            if why is not None:
                raise UsageError(f"{c.key}: {why}", argument="where")
        chosen = [i for i in chosen if c.holds(points[i], numeric)]
        if not chosen:
            values = f"{c.key}{c.sign}{'|'.join(c.values)}"
            raise UsageError(
                f"no point satisfies {values}; its values are {listing(there)}", argument="where"
            )
    return chosen
