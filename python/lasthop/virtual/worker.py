"""The program of a guest that is a live run.

It reads its arguments from its standard input, and writes the outcome or an error to a file, each as a
pickle. The programs of the run print on its own streams.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import IO, Any


def main(given: IO[bytes], answer: Path) -> None:
    """Run programs on the nodes of one network."""
    from lasthop.base.errors import LasthopError
    from lasthop.realtime import session

    asked: dict[str, Any] = pickle.load(given)  # noqa: S301
    try:
        found: object = session.run(asked.pop("scenario"), asked.pop("commands"), **asked)
    except LasthopError as error:
        found = error
    answer.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(sys.stdin.buffer, Path(sys.argv[1]))
