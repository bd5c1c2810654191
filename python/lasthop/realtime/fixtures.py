"""A fixture of pytest, for tests of programs over the network of a scenario.

pytest loads it where lasthop is installed.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from lasthop.realtime.network import Live


@pytest.fixture
def lasthop_live() -> Callable[..., AbstractContextManager[Live]]:
    """`lasthop.live`, where a test is skipped with the reason if the system does not allow it."""
    return _live


@contextmanager
def _live(*given: Any, **options: Any) -> Iterator[Live]:
    from lasthop.base.errors import UnavailableError
    from lasthop.realtime.network import live

    try:
        with live(*given, **options) as net:
            yield net
    except UnavailableError as error:
        pytest.skip(str(error))
