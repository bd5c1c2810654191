"""Work on a thread of its own, so that the main thread receives Ctrl-C and can stop it."""

from __future__ import annotations

from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from lasthop._core import Cancel

T = TypeVar("T")


LOOK_EVERY_S = 0.2


def attended(
    work: Callable[[Cancel], T],
    cancel: Cancel | None = None,
    heard: Callable[[float], object] | None = None,
) -> T:
    """Call `work`, which a token can stop; Ctrl-C sets the token, and is raised when the work has ended.

    Only the main thread receives Ctrl-C: on another one the work is called as it is.

    Args:
        work: What to do; it gets the token.
        cancel: The token; default: a new one.
        heard: Called several times a second with the simulated time that the work has reached, in
            seconds. An exception in it ends the work as Ctrl-C does.

    Returns:
        What `work` returned.
    """
    from lasthop._core import Cancel

    token = cancel or Cancel()
    if heard is None and current_thread() is not main_thread():
        return work(token)
    results: list[T] = []
    errors: list[BaseException] = []
    ended = Event()

    def call() -> None:
        try:
            results.append(work(token))
        except BaseException as e:  # noqa: BLE001 - raised again where it is waited for
            errors.append(e)
        finally:
            ended.set()

    # Not a pool of threads: to import that takes as long as to start Python.
    thread = Thread(target=call, name="lasthop")
    interrupt: BaseException | None = None
    while not ended.is_set():
        try:
            if thread.ident is None:
                thread.start()
            if heard is None or interrupt is not None:
                ended.wait()
            elif not ended.wait(LOOK_EVERY_S):
                heard(token.reached_s)
        except BaseException as e:  # noqa: BLE001 - raised again when the work has ended
            interrupt = interrupt or e
            token.set()
    # Only now: a join that Ctrl-C interrupts takes the thread for ended (CPython 3.11 and 3.12), and
    # Python would end while the simulator still runs.
    thread.join()
    if interrupt is not None:
        raise interrupt
    if errors:
        raise errors[0]
    return results[0]
