"""Writes requirements.lock, and those for checks, docs and releases, from pyproject.toml.

    python3 scripts/lock.py           # the newest versions of everything
    python3 scripts/lock.py --keep    # the versions that are locked now, for the packages still needed

Each pin serves the oldest Python that is supported and all newer ones, on every platform. It has the hashes
of all files of its version, so that pip accepts no other. The resolver is uv; where it is not installed it
goes into an environment of its own for this one call.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = {"-dev": "checks", "-docs": "docs", "-release": "release"}
HEAD = "# Written by scripts/lock.py from pyproject.toml; not edited by hand.\n"
FIXED = ["--universal", "--generate-hashes", "--fork-strategy=fewest"]
BARE = ["--quiet", "--no-annotate", "--no-header", "--no-config"]


def uv(scratch: Path) -> str:
    """The program, from the path or installed into `scratch`."""
    found = shutil.which("uv")
    if found:
        return found
    venv.create(scratch / "uv", with_pip=True)
    subprocess.run([str(scratch / "uv" / "bin" / "pip"), "install", "--quiet", "uv"], check=True)
    return str(scratch / "uv" / "bin" / "uv")


def resolve(program: str, scratch: Path, oldest: str, wanted: list[str], fixed: list[str]) -> dict[str, str]:
    """Each package that `wanted` brings, with its line and hashes; pins among `fixed` are kept."""
    asked, kept = scratch / "asked.txt", scratch / "kept.txt"
    asked.write_text("\n".join(wanted) + "\n")
    kept.write_text("\n".join(fixed) + "\n")
    command = [program, "pip", "compile", *FIXED, *BARE, "--python-version", oldest]
    command += ["--constraint", str(kept), str(asked)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    entries = re.findall(r"^\S.*(?:\n +.*)*", done.stdout, re.MULTILINE)
    return {entry.partition("==")[0]: entry for entry in entries}


def pins(entries: dict[str, str]) -> list[str]:
    """What fixes the versions of these packages, without their hashes."""
    return [entry.partition(" ")[0] for entry in entries.values()]


def locked(name: str) -> list[str]:
    """What fixes the versions of a lock that is there."""
    path = ROOT / f"requirements{name}.lock"
    return re.findall(r"^[\w.-]+==[^\s;]+", path.read_text(), re.MULTILINE) if path.exists() else []


def write(name: str, entries: dict[str, str], *extra: str) -> None:
    path = ROOT / f"requirements{name}.lock"
    path.write_text(HEAD + "\n".join([*extra, *(entry for _, entry in sorted(entries.items()))]) + "\n")
    print(f"{path.name}: {len(entries)} packages", file=sys.stderr)


def main(*arguments: str) -> None:
    if set(arguments) - {"--keep"}:
        sys.exit(f"lock.py: {' '.join(arguments)}; expected --keep or nothing")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    oldest = project["project"]["requires-python"].removeprefix(">=")
    runtime = project["project"]["dependencies"] + project["build-system"]["requires"]
    kept = {name: locked(name) if arguments else [] for name in ("", *GROUPS)}

    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        program = uv(scratch)
        run = resolve(program, scratch, oldest, runtime, kept[""])
        write("", run)
        for name, group in GROUPS.items():
            wanted = project["dependency-groups"][group]
            more = resolve(program, scratch, oldest, wanted, [*pins(run), *kept[name]])
            added = {package: entry for package, entry in more.items() if package not in run}
            write(name, added, "-r requirements.lock")


if __name__ == "__main__":
    main(*sys.argv[1:])
