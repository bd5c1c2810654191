"""Make the profile with which `./lasthop` builds the simulator: what the benchmark's cases execute.

    .venv/bin/python bench/pgo.py

Compiles the extension module with counters, runs each case of `bench/pairs.py` once with it, and
writes the counts into `crates/profiles`, under a name that identifies the compiler. From then on
`./lasthop` builds with them; the results stay the same to the bit. Wants `./lasthop` to have run
once, Linux, and rustup's component `llvm-tools`. Make it anew after changes to what each packet or
frame passes: a function that has changed since is compiled as if there were none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pairs import CASES

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

from bootstrap import profile  # noqa: E402

FOLDER = TOP / "target" / "pgo"
FEWEST = 10_000
"""A function is left out if none of its blocks is executed so often in all cases together."""


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


def is_frequent(record: str) -> bool:
    """Whether a function's record, in the text format, has a block that is executed often."""
    _, _, counters = record.partition("# Counter Values:\n")
    counts = (line for line in counters.splitlines() if line.isdigit())
    return max(map(int, counts), default=0) >= FEWEST


def merge(counts: Path, out: Path) -> None:
    """Add up the counts of all processes, and keep the functions that are executed often."""
    text = FOLDER / "counts.txt"
    subprocess.run([merger(), "merge", "--sparse", "--text", "-o", text, counts], check=True)
    head, *records = text.read_text().split("\n\n")
    first, _, of_first = head.partition(":ir\n")
    kept = [record for record in (of_first, *records) if is_frequent(record)]
    text.write_text(f"{first}:ir\n" + "".join(f"{record}\n\n" for record in kept))
    out.parent.mkdir(exist_ok=True)
    subprocess.run([merger(), "merge", "--sparse", "-o", out, text], check=True)
    print(f"{out}: {len(kept)} of {len(records) + 1} functions, {out.stat().st_size // 1000} kB")


def main() -> int:
    if not merger().is_file():
        print("llvm-profdata is missing: rustup component add llvm-tools", file=sys.stderr)
        return 2
    counts = FOLDER / "counts"
    shutil.rmtree(counts, ignore_errors=True)
    train(build(f"-Cprofile-generate={counts}", FOLDER / "counting"))
    merge(counts, profile())
    return 0


if __name__ == "__main__":
    sys.exit(main())
