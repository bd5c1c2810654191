"""Build the simulator with a profile of the benchmark's cases.

    .venv/bin/python bench/pgo.py
    .venv/bin/python bench/pgo.py --wheel dist maturin build --locked --target x86_64-unknown-linux-gnu

On Linux, compiles the extension module with counters, runs each case of `bench/pairs.py` once with
it, and compiles again with what was counted: twice the time of a build. The results stay the same to
the bit. The module takes the place of the built one, and `./lasthop` keeps it until a source changes;
with `--out FILE` it is written there instead. With `--wheel FOLDER COMMAND…` the command of maturin
compiles the second time, as `make dist PGO=1` has it, and the folder gets its wheel; the first build
has the same target and profile, but not zig, which cannot link the counters. Wants `./lasthop` to
have run once, and rustup's component `llvm-tools`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pairs import CASES

TOP = Path(__file__).resolve().parent.parent
FOLDER = TOP / "target" / "pgo"
MODULE = TOP / "python" / "lasthop" / "_core.abi3.so"


def merger() -> Path:
    """The compiler's own llvm-profdata: another version cannot read its counts."""
    libraries = subprocess.check_output(["rustc", "--print", "target-libdir"], cwd=TOP, text=True)
    return Path(libraries.strip()).parent / "bin" / "llvm-profdata"


def host() -> str:
    """The target that the compiler itself runs on."""
    about = subprocess.check_output(["rustc", "-vV"], cwd=TOP, text=True)
    return next(line.split()[1] for line in about.splitlines() if line.startswith("host:"))


def build(flags: str, folder: Path, target: str | None = None) -> Path:
    """Compile the extension as `./lasthop` does, or for this target as for a wheel; the module."""
    ours = {"RUSTFLAGS": flags, "PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    profile = "dist" if target else "release"
    command = ["cargo", "build", "--profile", profile, "--locked", "--package", "lasthop-py"]
    command += ["--target-dir", str(folder), *(["--target", target] if target else [])]
    subprocess.run(command, cwd=TOP, env=os.environ | ours, check=True)
    return folder / (target or "") / profile / "lib_core.so"


def pack(command: list[str], flags: str, out: Path) -> Path:
    """Build a wheel by this command of maturin with these flags besides; the wheel."""
    flags = f"{os.environ.get('RUSTFLAGS', '')} {flags}".strip()
    ours = {"RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(FOLDER / "final")}
    with tempfile.TemporaryDirectory(dir=FOLDER) as fresh:
        subprocess.run([*command, "--out", fresh], cwd=TOP, env=os.environ | ours, check=True)
        (wheel,) = Path(fresh).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, out))


def train(module: Path) -> None:
    """Run each case once; the counts of all processes are added up in one folder."""
    for name in CASES:
        print(f"counting {name}", flush=True)
        command = [sys.executable, "-P", str(TOP / "bench" / "pairs.py"), "--worker", str(module), name]
        subprocess.run(command, input=b"\n", capture_output=True, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=MODULE, help="where the module goes")
    parser.add_argument("--wheel", type=Path, metavar="FOLDER", help="where a wheel goes, in place of it")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command that builds the wheel")
    wanted = parser.parse_args()
    if bool(wanted.command) != bool(wanted.wheel):
        parser.error("--wheel FOLDER and the command that builds the wheel go together")
    if not merger().is_file():
        print("llvm-profdata is missing: rustup component add llvm-tools", file=sys.stderr)
        return 2
    counts, profile = FOLDER / "counts", FOLDER / "lasthop.profdata"
    counting, using = f"-Cprofile-generate={counts}", f"-Cprofile-use={profile}"
    shutil.rmtree(counts, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    train(build(counting, FOLDER / "counting", host() if wanted.wheel else None))
    subprocess.run([merger(), "merge", "-o", profile, counts], check=True)
    if wanted.wheel:
        made = pack(wanted.command, using, wanted.wheel.resolve())
    else:
        made = wanted.out
        # Replaced as a whole: a process that runs with the old module keeps it.
        new = made.with_suffix(".new")
        shutil.copy(build(using, FOLDER / "final"), new)
        new.replace(made)
    print(f"{made}: built with a profile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
