"""JSON that every reader accepts: never NaN, never two documents."""

from __future__ import annotations

import json
import math
from typing import Any


def clean(value: Any) -> Any:
    """A value that JSON can carry: what is not a number or not finite becomes null, what is not text `?`.

    >>> clean({"a": [1.5, float("nan")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str) and not value.isascii():
        # Names of files may have bytes that are not text.
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {clean(key): clean(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(inner) for inner in value]
    return value


def loads(text: str | bytes) -> Any:
    """One JSON document from a file, which anybody may have written.

    >>> loads("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deeply

    Raises:
        ValueError: It is not JSON, as every reader accepts it.
    """
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refused)


def dumps(value: Any) -> str:
    """One JSON document, valid by any reader."""
    return json.dumps(clean(value), allow_nan=False, ensure_ascii=False, indent=1)
