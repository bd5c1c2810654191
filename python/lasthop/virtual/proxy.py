"""A process that runs the jobs of a worker in guests.

It reads lists of jobs from its standard input, a line of JSON each. A worker in a new guest does those of a
list, one after the other, and answers each with a line.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import IO, Any

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
        given = json.loads(line)
        seed = mixed(given[0].get("seed", 0), given[0].get("replication", 0))
        answers.write(_answers(kernel, words, given, seed))
        answers.flush()


def _answers(kernel: Path, words: list[str], given: list[dict[str, Any]], seed: int) -> bytes:
    from lasthop.base.errors import LasthopError
    from lasthop.virtual.guest import guest

    try:
        with guest(kernel) as one:
            lines = b"".join(json.dumps(job).encode() + b"\n" for job in given)
            code = one.run(words, lines, seed=seed, limit_s=_PATIENCE_S)
            answers, said = ((one.folder / name).read_bytes() for name in ("out", "err"))
    except LasthopError as error:
        return json.dumps({"failure": error.text}).encode() + b"\n"
    sys.stderr.buffer.write(said)
    if answers.count(b"\n") < len(given):
        text = f"a worker in a guest ended with exit code {code}"
        answers += json.dumps({"failure": text}).encode() + b"\n"
    return answers


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.stdin.buffer, sys.stdout.buffer)
