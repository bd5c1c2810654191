"""Compile a program of this folder against the Python wheel `ns3`, which has headers and libraries of ns-3.

Usage: python build.py NAME FOLDER; writes FOLDER/NAME, unless it is newer than NAME.cc, and prints its path.
The exit code is 2 where the wheel or the compiler is missing, with the reason. `pip install --no-deps
'ns3==3.44.*'` installs the wheel into the environment of the Python that runs this.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

MODULES = (
    "antenna applications bridge config-store core internet mobility network point-to-point propagation"
    " spectrum stats traffic-control wifi"
)


def wheel() -> tuple[Path, str] | None:
    """The folder of the wheel and its version."""
    spec = importlib.util.find_spec("ns3")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = next((folder for folder in folders if (folder / "include" / "ns3").is_dir()), None)
    if found is None:
        return None
    try:
        return found, ".".join(version("ns3").split(".")[:2])
    except PackageNotFoundError:
        return None


def missing() -> str | None:
    """Why nothing can be compiled."""
    if wheel() is None:
        return "the Python wheel ns3 is not installed"
    return None if shutil.which("g++") else "g++ is not installed"


def program(name: str, folder: Path) -> Path:
    """Compile a program; it finds the libraries of the wheel by itself."""
    found = wheel()
    assert found is not None
    top, release = found
    source, built = HERE / f"{name}.cc", folder / name
    if built.is_file() and built.stat().st_mtime > source.stat().st_mtime:
        return built
    folder.mkdir(parents=True, exist_ok=True)
    libraries = top / "lib64"
    links = [f"-lns{release}-{module}" for module in MODULES.split()]
    options = ["-std=c++23", "-O2", f"-I{top / 'include'}", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    # The libraries of the wheel need others, which it has under names of its own.
    options += ["-Wl,--allow-shlib-undefined", "-Wl,--as-needed"]
    subprocess.run(["g++", str(source), "-o", str(built), *options, *links], check=True)
    return built


def begin(name: str, seconds: float) -> tuple[Path, str, float]:
    """A program in the folder that the arguments give, the release of ns-3, and the time to measure."""
    why = missing()
    if why is not None:
        print(why, file=sys.stderr)
        raise SystemExit(2)
    found = wheel()
    assert found is not None
    given = float(sys.argv[2]) if len(sys.argv) > 2 else seconds
    return program(name, Path(sys.argv[1])), found[1], given


def run(program: Path, settings: dict[str, object]) -> Any:
    """What a program prints for these settings."""
    options = [f"--{key}={json.dumps(value).strip(chr(34))}" for key, value in settings.items()]
    return json.loads(
        subprocess.run([str(program), *options], capture_output=True, text=True, check=True).stdout
    )


def inline(cell: dict[str, object]) -> str:
    """An inline table of TOML."""
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in cell.items()) + " }"


def main() -> int:
    """Compile the program that the arguments name."""
    why = missing()
    if why is not None:
        print(why, file=sys.stderr)
        return 2
    print(program(sys.argv[1], Path(sys.argv[2])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
