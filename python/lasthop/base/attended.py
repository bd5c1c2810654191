"""Work on a thread of its own, so that the main thread receives Ctrl-C and can stop it."""

from __future__ import annotations

from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from lasthop._core import Cancel

T = TypeVar("T")


def attended(work: Callable[[Cancel], T]) -> T:
    """Call `work`, which a token can stop; Ctrl-C sets the token, and is raised when the work has ended.

    Only the main thread receives Ctrl-C: on another one the work is called as it is.
    """
    from lasthop._core import Cancel

    cancel = Cancel()
    if current_thread() is not main_thread():
        return work(cancel)
    results: list[T] = []
    errors: list[BaseException] = []
    ended = Event()

    def call() -> None:
        try:
            results.append(work(cancel))
        except BaseException as e:  # noqa: BLE001 - raised again where it is waited for
            errors.append(e)
        finally:
            ended.set()

    # Not a pool of threads: to import that takes as long as to start Python.
    thread = Thread(target=call, name="lasthop")
    interrupt: KeyboardInterrupt | None = None
    while not ended.is_set():
        try:
            if thread.ident is None:
                thread.start()
            ended.wait()
        except KeyboardInterrupt as e:
            interrupt = e
            cancel.set()
    # Only now: a join that Ctrl-C interrupts takes the thread for ended (CPython 3.11 and 3.12), and
    # Python would end while the simulator still runs.
    thread.join()
    if interrupt is not None:
        raise interrupt
    if errors:
        raise errors[0]
    return results[0]
