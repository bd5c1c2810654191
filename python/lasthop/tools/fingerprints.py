"""The fingerprints of a release: `python -m lasthop.tools.fingerprints` writes what this build gives."""

from __future__ import annotations

import csv
import io

from lasthop.base.files import put
from lasthop.base.paths import DATA
from lasthop.scenario.fingerprints import FILE, Fingerprint, now, recorded


def main() -> None:
    """Write the fingerprints of the same points anew."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(Fingerprint._fields)
    table.writerows(now(one.scenario, one.point) for one in recorded())
    put(DATA / FILE, text.getvalue())


if __name__ == "__main__":
    main()
