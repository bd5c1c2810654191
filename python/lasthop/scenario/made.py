"""The text of a scenario that Python makes: its lines are generated.

>>> values = {"title": "x", "run": {"seed": 1}, "links": {"a": {"loss": {"rate": "1 %"}}}}
>>> print(as_toml({**values, "sweep": {"run.duration": ["1 s"]}}), end="")
title = "x"
<BLANKLINE>
[run]
seed = 1
<BLANKLINE>
[links.a]
loss = { rate = "1 %" }
<BLANKLINE>
[sweep]
"run.duration" = ["1 s"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lasthop.base.arguments import utf8
from lasthop.base.errors import ScenarioError, UsageError
from lasthop.scenario.overrides import number

if TYPE_CHECKING:
    from collections.abc import Iterator

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def as_toml(values: Mapping[str, object], argument: str = "values") -> str:
    """TOML that reads as these values.

    Args:
        values: Text, numbers, bools, and lists and mappings of these, by name.
        argument: The name in messages of the argument that gave them.

    Returns:
        The text, with a section for each table as scenario files have them.

    Raises:
        UsageError: A key is not text, or a value is not one that a scenario can hold.
    """
    plain: dict[str, object] = {}
    sections: list[tuple[str, Mapping[str, object]]] = []
    for key, value in values.items():
        name = _key(key, argument)
        if isinstance(value, Mapping):
            if value and all(isinstance(inner, Mapping) for inner in value.values()):
                sections += [(f"[{name}.{_key(k, argument)}]", inner) for k, inner in value.items()]
            else:
                sections.append((f"[{name}]", value))
        elif isinstance(value, list) and value and all(isinstance(inner, Mapping) for inner in value):
            sections += [(f"[[{name}]]", inner) for inner in value]
        else:
            plain[key] = value
    text = _lines("", plain, argument)
    for head, table in sections:
        text += f"\n{head}\n" + _lines(head.strip("[]") + ".", table, argument)
    return text


def _lines(prefix: str, table: Mapping[str, object], argument: str) -> str:
    lines = [
        f"{_key(key, argument)} = {as_value(f'{prefix}{key}', it, argument)}\n" for key, it in table.items()
    ]
    return "".join(lines)


def _key(key: object, argument: str) -> str:
    if not isinstance(key, str):
        raise UsageError(f'{key!r} is not a key; expected one such as "run"', argument=argument)
    return key if _BARE.fullmatch(key) else _text(key, argument)


def as_value(key: str, value: object, argument: str = "values") -> str:
    """A value as TOML; messages name its key.

    >>> as_value("x", ["1 %", 2, {"a": True}])
    '["1 %", 2, { a = true }]'
    """
    if isinstance(value, str):
        return _text(value, argument)
    if isinstance(value, Mapping):
        inner = [f"{_key(k, argument)} = {as_value(f'{key}.{k}', v, argument)}" for k, v in value.items()]
        return f"{{ {', '.join(inner)} }}" if inner else "{}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return f"[{', '.join(as_value(key, it, argument) for it in value)}]"
    if getattr(value, "ndim", 0) == 1:
        return as_value(key, value.tolist(), argument)  # type: ignore[attr-defined]
    text = number(value)
    if text is None:
        raise UsageError(
            f"{key}: {value!r} is not a scenario value; expected a string, number, bool, list or mapping",
            argument=argument,
        )
    return text


def _text(value: str, argument: str) -> str:
    # JSON does not escape the one control character that TOML refuses besides those below the space.
    return json.dumps(utf8(argument, value), ensure_ascii=False).replace("\x7f", "\\u007F")


def checked_name(name: object) -> str:
    """A name that messages and the folder of a study can have.

    >>> checked_name("bursts/first")
    'bursts/first'
    """
    if isinstance(name, str) and re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", name):
        return name
    raise UsageError(
        f"{name!r}; expected letters, digits, -, _ and ., in parts separated by /", argument="name"
    )


@contextmanager
def without_lines(name: str) -> Iterator[None]:
    """Remove line numbers from the errors of a generated text.

    Args:
        name: The name of the text in messages.

    Yields:
        Nothing.

    Raises:
        ScenarioError: What the block raised, without lines.
    """
    try:
        yield
    except ScenarioError as e:
        raise ScenarioError("\n".join(unlined(str(e).split("\n"), name))) from None


def unlined(messages: list[str], name: str) -> list[str]:
    """Messages without the lines of a text.

    >>> unlined(["x: y:3: run.seed: -1"], "x: y")
    ['x: y: run.seed: -1']
    """
    place = re.compile(rf"^{re.escape(name)}(:\d+)?(?=: )")
    return [place.sub(lambda _: name, message) for message in messages]
