"""Ctrl-C and SIGTERM as one exception in the main thread, and runs that can be stopped by it."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import Thread
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
    results: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(work(cancel))
        except BaseException as e:  # noqa: BLE001 - raised again where it is waited for
            errors.append(e)

    # Not a pool of threads: to import that takes as long as to start Python.
    thread = Thread(target=call, name="lasthop")
    with interruptible():
        thread.start()
        try:
            thread.join()
        except KeyboardInterrupt:
            cancel.set()
            thread.join()
            raise
    if errors:
        raise errors[0]
    return results[0]


def ignore() -> None:
    """Leave Ctrl-C to the parent process, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
