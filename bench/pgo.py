"""Build the simulator with a profile of the benchmark's cases, and put it in place of the built one.

    .venv/bin/python bench/pgo.py

On Linux, compiles the extension module with counters, runs each case of `bench/pairs.py` once with
it, and compiles again with what was counted: twice the time of a build. The results stay the same to
the bit; `./lasthop` keeps the module until a source changes. Wants `./lasthop` to have run once, and
rustup's component `llvm-tools`. With `--out FILE` the module is written there instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pairs import CASES

TOP = Path(__file__).resolve().parent.parent
FOLDER = TOP / "target" / "pgo"
MODULE = TOP / "python" / "lasthop" / "_core.abi3.so"


def merger() -> Path:
    """The compiler's own llvm-profdata: another version cannot read its counts."""
    libraries = subprocess.check_output(["rustc", "--print", "target-libdir"], cwd=TOP, text=True)
    return Path(libraries.strip()).parent / "bin" / "llvm-profdata"


def build(flags: str, folder: Path) -> Path:
    """Compile the extension with these flags as `./lasthop` does; the module."""
    ours = {"RUSTFLAGS": flags, "PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    command = ["cargo", "build", "--release", "--locked", "--package", "lasthop-py"]
    subprocess.run([*command, "--target-dir", str(folder)], cwd=TOP, env=os.environ | ours, check=True)
    return folder / "release" / "lib_core.so"


def train(module: Path) -> None:
    """Run each case once; the counts of all processes are added up in one folder."""
    for name in CASES:
        print(f"counting {name}", flush=True)
        command = [sys.executable, "-P", str(TOP / "bench" / "pairs.py"), "--worker", str(module), name]
        subprocess.run(command, input=b"\n", capture_output=True, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=MODULE, help="where the module goes")
    wanted = parser.parse_args()
    if not merger().is_file():
        print("llvm-profdata is missing: rustup component add llvm-tools", file=sys.stderr)
        return 2
    counts, profile = FOLDER / "counts", FOLDER / "lasthop.profdata"
    shutil.rmtree(counts, ignore_errors=True)
    train(build(f"-Cprofile-generate={counts}", FOLDER / "counting"))
    subprocess.run([merger(), "merge", "-o", profile, counts], check=True)
    # Replaced as a whole: a process that runs with the old module keeps it.
    new = wanted.out.with_suffix(".new")
    shutil.copy(build(f"-Cprofile-use={profile}", FOLDER / "final"), new)
    new.replace(wanted.out)
    print(f"{wanted.out}: built with a profile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
