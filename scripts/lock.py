"""Writes requirements.lock, requirements-dev.lock and requirements-docs.lock from pyproject.toml.

Run with the oldest Python that is supported, so that every pin can be installed by all newer ones:

    python3.11 scripts/lock.py
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "# Written by scripts/lock.py from pyproject.toml; not edited by hand.\n"


def resolve(requirements: list[str], constraints: Path | None = None) -> dict[str, str]:
    """Name and version of every package that `requirements` bring with them, as pip resolves them now."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--report", str(report), *requirements]
        if constraints:
            command += ["--constraint", str(constraints)]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text())["install"]
    return {item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"] for item in found}


def write(path: Path, pins: dict[str, str], *extra: str) -> None:
    lines = [*extra, *(f"{name}=={version}" for name, version in sorted(pins.items()))]
    path.write_text(HEAD + "\n".join(lines) + "\n")
    print(f"{path.name}: {len(pins)} packages", file=sys.stderr)


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = project["project"]["dependencies"] + project["build-system"]["requires"]
    lock = ROOT / "requirements.lock"

    pins = resolve(runtime)
    write(lock, pins)
    for name, group in (("dev", "checks"), ("docs", "docs")):
        more = resolve(project["dependency-groups"][group], constraints=lock)
        added = {package: pin for package, pin in more.items() if package not in pins}
        write(ROOT / f"requirements-{name}.lock", added, "-r requirements.lock")


if __name__ == "__main__":
    main()
