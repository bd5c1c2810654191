"""Ctrl-C and SIGTERM as one exception in the main thread, and runs that can be stopped by it."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from lasthop._core import Cancel

T = TypeVar("T")


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, also where a shell had SIGINT ignored."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def attended(work: Callable[[Cancel], T]) -> T:
    """Call `work` on a thread, so that the main thread receives Ctrl-C and can cancel it."""
    from lasthop._core import Cancel

    cancel = Cancel()
    with interruptible(), ThreadPoolExecutor(1, "lasthop") as pool:
        future = pool.submit(work, cancel)
        try:
            return future.result()
        except KeyboardInterrupt:
            cancel.set()
            raise


def ignore() -> None:
    """Leave Ctrl-C to the parent process, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
