"""`make web`: the simulator as a WebAssembly module, which `lasthop studio` serves to pages.

It is built by rustup's target where that is installed, or by Debian's packages rustc-web, cargo-web,
rust-web-src and lld, whose standard library is compiled along.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from lasthop.base.files import put
from lasthop.tools import extension

ROOT = Path(__file__).resolve().parents[3]
TARGET = "wasm32-unknown-unknown"
MODULE = ROOT / "python" / "lasthop" / "data" / "web" / "lasthop.wasm"
WANTED = f"rustup target add {TARGET}, or Debian's packages rustc-web, cargo-web, rust-web-src and lld"
# Beside that of rustup, which may be another version.
_DEBIAN = Path("/usr/bin")


@dataclass(frozen=True)
class ToolChain:
    """What compiles the module.

    Attributes:
        cargo: The program and its options.
        variables: What it needs in its environment.
    """

    cargo: list[str]
    variables: dict[str, str] = field(default_factory=dict)


def tool_chain() -> ToolChain | None:
    """The first tool chain that has the target; `None` if neither is installed."""
    library = _sysroot("rustc") / "lib" / "rustlib"
    if (library / TARGET).is_dir():
        return ToolChain(["cargo", "build"])
    sources = _sysroot(str(_DEBIAN / "rustc")) / "lib" / "rustlib" / "src" / "rust" / "library" / "std"
    if sources.is_dir() and (_DEBIAN / "cargo").is_file() and shutil.which("wasm-ld"):
        variables = {
            "RUSTC": str(_DEBIAN / "rustc"),
            "RUSTC_BOOTSTRAP": "1",
            f"CARGO_TARGET_{TARGET.replace('-', '_').upper()}_LINKER": "wasm-ld",
        }
        return ToolChain([str(_DEBIAN / "cargo"), "build", "-Z", "build-std=std,panic_abort"], variables)
    return None


def _sysroot(rustc: str) -> Path:
    """Where the libraries of a compiler are; nowhere without it."""
    try:
        asked = subprocess.run(
            [rustc, "--print", "sysroot"],
            cwd=ROOT,
            env=extension.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return Path(os.devnull)
    return Path(asked.stdout.strip() or os.devnull)


def main() -> int:
    """Builds the module; returns 0 when it is there, 1 when its build failed, 2 without a tool chain."""
    chain = tool_chain()
    if chain is None:
        print(f"error: web: no compiler for WebAssembly; expected {WANTED}", file=sys.stderr)
        return 2
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    # Keeps the folders of the machine that builds out of the module.
    flags = f"--remap-path-prefix={ROOT}=lasthop --remap-path-prefix={home}=cargo"
    variables = {**extension.environment(), **chain.variables, "RUSTFLAGS": flags}
    options = ("--package", "lasthop-web", "--profile", "page", "--target", TARGET, "--locked")
    if subprocess.run([*chain.cargo, *options], cwd=ROOT, env=variables, check=False).returncode:
        return 1
    built = (ROOT / "target" / TARGET / "page" / "lasthop_web.wasm").read_bytes()
    if not MODULE.is_file() or MODULE.read_bytes() != built:
        put(MODULE, built)
    print(f"{MODULE.relative_to(ROOT)}: {len(built) / 1e6:.1f} MB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
