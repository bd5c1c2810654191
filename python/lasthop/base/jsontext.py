"""JSON that every reader accepts: never NaN, never two documents."""

from __future__ import annotations

import json
import math
from typing import Any


def clean(value: Any) -> Any:
    """A value that JSON can carry: what is not a number or not finite becomes null.

    >>> clean({"a": [1.5, float("nan")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: clean(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(inner) for inner in value]
    return value


def dumps(value: Any) -> str:
    """One JSON document, valid by any reader."""
    return json.dumps(clean(value), allow_nan=False, ensure_ascii=False, indent=1)
