"""Shows that two versions of lasthop give the same results, to the bit.

    collect CHECKOUT FOLDER    every shipped scenario, one run of each point, as CSV
    compare BEFORE AFTER       exit code 1 where a common column differs

A run stops after 400,000 events, so that all of them take some minutes; a difference shows long before.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from lasthop.study import older

EVENTS = 400_000


def renamed(column: str) -> str:
    """The name that the newer version has for this column of an older table."""
    name = column.removesuffix("_si")
    return older.key(name) + column[len(name) :]


def collect(checkout: Path, folder: Path) -> None:
    """Runs every shipped scenario with the version in `checkout`."""
    lasthop = [str(checkout / ".venv/bin/python"), "-P", "-m", "lasthop"]
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in sorted((checkout / "scenarios").glob("*/*.toml")):
        name = f"{scenario.parent.name}-{scenario.stem}"
        with tempfile.TemporaryDirectory() as work:
            study, table = f"{work}/study", str((folder / f"{name}.csv").resolve())
            sweep = ["sweep", str(scenario), "-r", "1", "--max-events", str(EVENTS), "-q", "-o", study]
            swept = subprocess.run([*lasthop, *sweep], check=False, capture_output=True, cwd=checkout)
            # Exit code 2 says that a figure has no finished run to show, as none may have finished.
            if swept.returncode not in (0, 2):
                raise SystemExit(f"{scenario}: the sweep ended with exit code {swept.returncode}")
            export = [*lasthop, "export", study, "-q", "-o", table]
            subprocess.run(export, check=True, stdout=subprocess.DEVNULL, cwd=checkout)
        print(name, flush=True)


def columns(path: Path) -> dict[str, list[str]]:
    """Each column of a table as text, under the name that the newer version has for it."""
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    return {renamed(name): [row[at] for row in rows] for at, name in enumerate(head)}


def compare(before: Path, after: Path) -> bool:
    """Prints what differs; true when nothing does."""
    same, values = True, 0
    names = {path.name for folder in (before, after) for path in folder.glob("*.csv")}
    for name in sorted(names):
        if not ((before / name).exists() and (after / name).exists()):
            print(f"{name}: only one version has it")
            continue
        old, new = columns(before / name), columns(after / name)
        common = [column for column in old if column in new]
        differing = [column for column in common if old[column] != new[column]]
        values += sum(len(old[column]) for column in common)
        for word, found in (
            ("gone", [column for column in old if column not in new]),
            ("added", [column for column in new if column not in old]),
            ("DIFFERS", differing),
        ):
            if found:
                print(f"{name}: {word}: {', '.join(found[:8])}{' …' if len(found) > 8 else ''}")
        same &= not differing
    print(f"{len(names)} tables, {values} common values: {'equal' if same else 'they differ'}")
    return same


def main() -> int:
    """The command line."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, first, second in (("collect", "CHECKOUT", "FOLDER"), ("compare", "BEFORE", "AFTER")):
        line = commands.add_parser(command)
        line.add_argument("first", type=Path, metavar=first)
        line.add_argument("second", type=Path, metavar=second)
    given = parser.parse_args()
    if given.command == "collect":
        collect(given.first.resolve(), given.second)
        return 0
    return 0 if compare(given.first, given.second) else 1


if __name__ == "__main__":
    sys.exit(main())
