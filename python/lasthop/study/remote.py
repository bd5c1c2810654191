"""Workers on other machines: a scheduler of dask, which is an optional package.

Every worker has to have this version of lasthop. Those that are there are asked before the first run; each
batch checks its own worker too, since one may join later.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from lasthop import _core
from lasthop.base.errors import LasthopError, UsageError, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
PREFIX = "dask://"
WAIT_S = 10
"""How long a scheduler may take to answer."""
TASK_S = 1e-3
"""What a batch costs the scheduler, which has one core for it (docs/clusters.md)."""


def maker() -> tuple[str, str]:
    """The versions that have to be the same wherever runs of one study are made."""
    return _core.__version__, _core.model_version


def check_maker(wanted: tuple[str, str]) -> None:
    """Raise in a process with another version of lasthop than that of the study."""
    if maker() != wanted:
        raise LasthopError(_other(_place(), maker(), wanted))


def _other(place: str, found: tuple[str, str], wanted: tuple[str, str]) -> str:
    return (
        f"{place}: has lasthop {found[0]} (model {found[1]}); expected {wanted[0]} (model {wanted[1]}), "
        "as here (finished runs are stored; the same command continues)"
    )


def _place() -> str:
    """The name of this process: the address of a worker of dask, or host and process."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return f"worker {distributed.get_worker().address}"
        except ValueError:
            pass
    return f"process {os.getpid()} on {socket.gethostname()}"


@contextmanager
def cluster(address: str, argument: str = "executor") -> Iterator[tuple[Executor, int]]:
    """An executor on the workers of a scheduler, and the number of their threads.

    An error on a worker with another version of lasthop is reported as just that.
    """
    place = address.removeprefix(PREFIX)
    try:
        from distributed import Client
    except ModuleNotFoundError as e:
        raise UsageError(
            f'{address}: distributed is not installed; expected it for dask (pip install "lasthop[dask]")',
            argument=argument,
        ) from e
    try:
        connect: Any = Client
        client = connect(f"tcp://{place}", timeout=WAIT_S, set_as_default=False)
    except (OSError, ValueError) as e:
        raise UsageError(
            f"{address}: no scheduler answers there ({reason(e)}); expected that of `dask scheduler`",
            argument=argument,
        ) from e
    with _silent(), client:
        _admit(client, address, argument)
        cores = sum(client.nthreads().values())
        try:
            yield _Sealed(client.get_executor()), cores
        except LasthopError:
            raise
        except Exception as error:
            if client.status != "running":
                raise BrokenExecutor(f"{address}: the scheduler is gone") from error
            # Another version may lack what a batch calls, and then fails on its own way.
            _admit(client, address, argument)
            raise LasthopError(
                f"{address}: {type(error).__name__}: {reason(error)}; expected no failure"
            ) from error


@contextmanager
def _silent() -> Iterator[None]:
    """Keep distributed, and the loop that it runs in, from printing what is raised as well."""
    silent = ("distributed", "tornado", "asyncio")

    def is_printed(record: logging.LogRecord) -> bool:
        return record.name.partition(".")[0] not in silent

    # Of loggers made later, too: a filter of a handler sees what any of them passes up.
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in silent]
    loggers = [logging.getLogger(), *map(logging.getLogger, names)]
    handlers = [handler for logger in loggers for handler in logger.handlers]
    handlers += [logging.lastResort] if logging.lastResort else []
    for handler in handlers:
        handler.addFilter(is_printed)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(is_printed)


class _Sealed(Executor):
    """An executor of dask whose workers open a call only with the right version.

    A worker reads a call together with other messages: one that lacks its modules would end without a word.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Hand a call over as bytes."""
        return self._pool.submit(_opener(), pickle.dumps((fn, args, kwargs)), maker())


def _opener() -> Callable[..., Any]:
    """A function that travels by its code, so that any version can say that it is another one."""

    def opened(sealed: bytes, wanted: tuple[str, str]) -> Any:
        import pickle
        from importlib import import_module

        found = import_module("lasthop")
        if (found.__version__, found.model_version) != tuple(wanted):
            raise RuntimeError(f"lasthop {found.__version__}; expected {wanted[0]}")
        call, args, kwargs = pickle.loads(sealed)  # noqa: S301
        return call(*args, **kwargs)

    return opened


def _admit(client: Any, address: str, argument: str) -> None:
    try:
        found = client.run(_identity(), on_error="return")
    except OSError as e:
        raise UsageError(f"{address}: {reason(e)}; expected a scheduler", argument=argument) from e
    for worker, answer in sorted(found.items()):
        if isinstance(answer, Exception):
            said = f"worker {worker}: lasthop cannot be imported ({reason(answer)}); expected {maker()[0]}"
            raise UsageError(said, argument=argument)
        if tuple(answer) != maker():
            raise UsageError(_other(f"worker {worker}", answer, maker()), argument=argument)


def _identity() -> Callable[[], tuple[str, str]]:
    """A function that travels by its code, so that a version without this module has it too."""

    def identity() -> tuple[str, str]:
        from importlib import import_module

        found = import_module("lasthop")
        return str(found.__version__), str(found.model_version)

    return identity
