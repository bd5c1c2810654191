"""A process that serves the charts of a live run.

It reads a title with the links of 802.11, and then samples, from its standard input, each as a pickle. It
writes the address of its page to the standard output, and runs until its input ends.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from typing import IO


def main(given: IO[bytes], answers: IO[bytes]) -> None:
    """Serve the charts of one network."""
    from lasthop.report.realtime import Charts
    from lasthop.report.server import Server, show

    charts = Charts(*pickle.load(given))  # noqa: S301
    with Server(charts) as server:
        answers.write(f"{server.address}\n".encode())
        answers.flush()
        show(server.address)
        with suppress(EOFError):
            while True:
                charts.take(*pickle.load(given))  # noqa: S301


if __name__ == "__main__":
    import signal

    # Ctrl-C is for the run, whose end ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(sys.stdin.buffer, sys.stdout.buffer)
