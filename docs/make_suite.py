"""Writes the tables of docs/suite.md from the published results:

./lasthop suite rfc9743 --record
.venv/bin/python docs/make_suite.py
"""

import re
from pathlib import Path

from lasthop.suites.cases import suite
from lasthop.suites.measured import published
from lasthop.suites.tables import page

PAGE = Path(__file__).parent / "suite.md"
BEGIN, END = "<!-- written by docs/make_suite.py -->", "<!-- end -->"


def text(old: str) -> str:
    """The page with the published tables.

    Args:
        old: The page.

    Returns:
        The page with new tables.
    """
    chosen = suite("rfc9743")
    found = published(chosen)
    if found is None:
        raise SystemExit(
            "no published results of this version; expected ./lasthop suite rfc9743 --record before"
        )
    block = f"{BEGIN}\n\n{page(chosen, found)}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, old, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(text(PAGE.read_text("utf-8")), "utf-8")
