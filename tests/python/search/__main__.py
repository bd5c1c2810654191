"""Shows random cases by their numbers, and what they break: `python -m search NUMBER ...`."""

from __future__ import annotations

import sys

from .cases import case
from .minimise import minimise
from .tree import text
from .trial import judge


def main(numbers: list[str]) -> int:
    status = 0
    for number in map(int, numbers):
        draft = case(number)
        print(draft.text)
        found = judge(draft.tree)
        print(*(f"# {one}" for one in found), sep="\n")
        if found:
            status = 1
            print(f"# the same, made smaller:\n{text(minimise(draft.tree, found[0].rule))}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
