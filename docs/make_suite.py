"""Writes the tables of the pages about suites from the published results, such as those of RFC 9743:

./lasthop suite rfc9743 --record
.venv/bin/python docs/make_suite.py
"""

import re
from pathlib import Path

from lasthop.suites.cases import suite
from lasthop.suites.measured import published
from lasthop.suites.tables import page

FOLDER = Path(__file__).parent
PAGES = {"suite.md": "rfc9743", "suite-queues.md": "rfc7928", "suite-media.md": "rfc8867"}
BEGIN, END = "<!-- written by docs/make_suite.py -->", "<!-- end -->"


def text(old: str, name: str) -> str:
    """A page with the published tables.

    Args:
        old: The page.
        name: The suite.

    Returns:
        The page with new tables.
    """
    chosen = suite(name)
    found = published(chosen)
    if found is None:
        raise SystemExit(f"no published results of {name}; expected ./lasthop suite {name} --record before")
    block = f"{BEGIN}\n\n{page(chosen, found)}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, old, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    for file, name in PAGES.items():
        (FOLDER / file).write_text(text((FOLDER / file).read_text("utf-8"), name), "utf-8")
