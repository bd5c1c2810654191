"""A process that holds the network of a live run and moves its packets.

It reads its arguments from its standard input, writes its nodes to the standard output, each as a pickle, and
runs until its input ends or its parent does. Then it writes the outcome. An error takes the place of either.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from typing import IO, Any


def _say(what: object, to: IO[bytes]) -> None:
    pickle.dump(what, to)
    to.flush()


def main(given: IO[bytes], answers: IO[bytes]) -> None:
    """Hold one network."""
    from lasthop.base.errors import LasthopError
    from lasthop.realtime import session

    ends = [given.fileno()]
    # Where a kernel lacks it, the end of the input has to do.
    with suppress(OSError, AttributeError):
        ends.append(os.pidfd_open(os.getppid()))
    try:
        asked: dict[str, Any] = pickle.load(given)  # noqa: S301
        outcome = session.run(
            asked.pop("scenario"),
            (),
            **asked,
            ends=ends,
            on_ready=lambda nodes: _say(list(nodes), answers),
        )
    except LasthopError as error:
        _say(error, answers)
    else:
        _say(outcome, answers)


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
