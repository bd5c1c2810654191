"""Workers that run jobs side by side, as many as the relays' timers allow.

A job whose packets were late is run again with fewer others beside it. Alone it counts however late it is,
and reports its lateness.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import RunError, UnavailableError
from lasthop.base.paths import for_children

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

#: A run counts as in time if 99 % of its packets are delivered this exactly.
IN_TIME_S = 1e-3
# A job is run this often with others beside it before it is run alone.
_TRIES = 3
_TICK_S = 1.0
# Replications of a point that follow each other in one guest: it takes longer to start than a short run. They
# are the same whichever are asked for, so that each repeats.
_IN_A_GUEST = 5
_WORKER = Path(__file__).parent / "worker.py"
_PROXY = Path(__file__).parents[1] / "virtual" / "proxy.py"


class _Worker:
    """One process and the job it has."""

    def __init__(self, kernel: Path | None) -> None:
        self.is_guest = kernel is not None
        own = (str(_WORKER), str(os.getpid()))
        # It dies with the thread that starts it, which is the one that waits for it.
        self.process = subprocess.Popen(
            [sys.executable, "-P", *(own if kernel is None else (str(_PROXY), str(kernel), str(_WORKER)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": for_children(), "OPENBLAS_NUM_THREADS": "1"},
        )
        #: The numbers of the jobs that it has.
        self.numbers: Sequence[int] = ()

    def give(self, jobs: Mapping[int, Mapping[str, Any]]) -> None:
        assert self.process.stdin is not None
        self.numbers = tuple(jobs)
        given = [*jobs.values()]
        self.process.stdin.write(json.dumps(given if self.is_guest else given[0]).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the next answer; raises if the process has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            raise RunError(f"peer linux: a worker ended with exit code {code}; expected an answer")
        found: dict[str, Any] = json.loads(line)
        if "unavailable" in found:
            raise UnavailableError(f"peer linux: {found['unavailable']}")
        if "failure" in found:
            raise RunError(f"peer linux: {found['failure']}; expected no failure")
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


class Crew:
    """Some workers, in guests with a kernel if one is given; as a context it ends them."""

    def __init__(self, most: int, kernel: Path | None = None) -> None:
        self._kernel = kernel
        self.most = most
        #: How many may run at once; it follows what the timers allow.
        self.at_once = most
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()

    def probe(self, laws: Sequence[str]) -> dict[str, Any]:
        """The laws that the kernel has, these among them if it can load them, and its release.

        Raises:
            UnavailableError: The kernel's TCP cannot be run here.
        """
        worker = self._idle()
        worker.give({0: {"laws": list(laws)}})
        worker.numbers = ()
        return worker.answer()

    def run(
        self,
        jobs: Sequence[Mapping[str, Any]],
        done: Callable[[int, dict[str, Any]], None],
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        """Run all jobs; `done` gets the number and the result of each, in the order in which they end.

        `tick` is called at least once a second.
        """
        ahead = deque(self._parts(jobs))
        tries = [0] * len(jobs)
        with selectors.DefaultSelector() as waiting:
            busy = 0
            while ahead or busy:
                while ahead and busy < self.at_once:
                    worker = self._idle()
                    part = ahead.popleft()
                    for number in part:
                        tries[number] += 1
                    worker.give({number: jobs[number] for number in part})
                    waiting.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
                    busy += 1
                tick()
                for key, _ in waiting.select(_TICK_S):
                    worker = key.data
                    waiting.unregister(key.fileobj)
                    for number in worker.numbers:
                        result = worker.answer()
                        if self._counts(result, tries[number], beside=busy - 1):
                            done(number, {**result, "beside": busy - 1, "tries": tries[number]})
                        else:
                            ahead.append([number])
                    worker.numbers = ()
                    busy -= 1

    def _parts(self, jobs: Sequence[Mapping[str, Any]]) -> list[list[int]]:
        """The numbers of jobs that a worker has at once."""
        if self._kernel is None:
            return [[number] for number in range(len(jobs))]
        parts: dict[tuple[int, int], list[int]] = {}
        for number, job in enumerate(jobs):
            parts.setdefault((job["point"], job["replication"] // _IN_A_GUEST), []).append(number)
        return list(parts.values())

    def _counts(self, result: Mapping[str, Any], tries: int, *, beside: int) -> bool:
        """Whether a result counts; how many run at once follows from how late it was."""
        late = result["late_p99_s"]
        if late is None or late < IN_TIME_S:
            self.at_once = min(self.most, self.at_once + 1)
            return True
        self.at_once = max(1, self.at_once // 2)
        return beside == 0 or tries >= _TRIES

    def _idle(self) -> _Worker:
        for worker in self._workers:
            if not worker.numbers:
                return worker
        self._workers.append(_Worker(self._kernel))
        return self._workers[-1]
