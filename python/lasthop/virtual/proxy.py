"""A process that runs each job of a worker in a guest of its own.

It reads jobs from its standard input, a line of JSON each, and answers each with the line of the worker.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import IO

# The worker expects its parent: the first process of the guest.
_FIRST = "1"
# A job that takes longer computes without a pause.
_PATIENCE_S = 3600.0


def main(kernel: Path, worker: str, jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Answer jobs until the input ends."""
    from lasthop.realtime import system
    from lasthop.virtual.guest import mixed

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    system.end_with_parent()
    words = [sys.executable, "-P", worker, _FIRST]
    for line in jobs:
        job = json.loads(line)
        answers.write(_answer(kernel, words, line, mixed(job.get("seed", 0), job.get("replication", 0))))
        answers.flush()


def _answer(kernel: Path, words: list[str], line: bytes, seed: int) -> bytes:
    from lasthop.base.errors import LasthopError
    from lasthop.virtual.guest import guest

    try:
        with guest(kernel) as one:
            code = one.run(words, line, seed=seed, limit_s=_PATIENCE_S)
            answer, said = ((one.folder / name).read_bytes() for name in ("out", "err"))
    except LasthopError as error:
        return json.dumps({"failure": error.text}).encode() + b"\n"
    sys.stderr.buffer.write(said)
    return (
        answer or json.dumps({"failure": f"a worker in a guest ended with exit code {code}"}).encode() + b"\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.stdin.buffer, sys.stdout.buffer)
