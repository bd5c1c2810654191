"""The extension of a profile that tests run on, and how they run."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

# One worker more than cores, because tests of live runs wait. An idle one takes tests from another.
ON_ALL_CORES = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]


def core(root: Path, profile: str) -> Path:
    """Where the extension of a profile of the tests is."""
    return root / "target" / profile / "_core.abi3.so"


def build(root: Path, profile: str) -> list[str]:
    """The command that builds an extension for the tests, as a wheel, as the one of the checkout is built."""
    wheels = str(core(root, profile).with_name("wheels"))
    wheel = ("--interpreter", sys.executable, "--compatibility", "linux", "--out", wheels)
    return [sys.executable, "-m", "maturin", "build", "--profile", profile, "--locked", *wheel]


def wheel(root: Path, profile: str) -> Path:
    """The newest wheel of a profile of the tests."""
    wheels = core(root, profile).with_name("wheels").glob("*.whl")
    return max(wheels, key=lambda wheel: wheel.stat().st_mtime)


def take_out(root: Path, profile: str) -> None:
    """Put the extension of the newest wheel where `scripts/checked` finds it."""
    with zipfile.ZipFile(wheel(root, profile)) as files:
        (name,) = (name for name in files.namelist() if name.endswith((".so", ".pyd")))
        new = core(root, profile).with_suffix(".new")
        new.write_bytes(files.read(name))
    # A process that has the old one loaded keeps it.
    new.rename(core(root, profile))


def environment() -> dict[str, str]:
    """The caller's environment, in which programs keep what they compile for each other.

    Cargo is set as maturin sets it, and Python, which the tests start a thousand times, writes bytecode.
    """
    # rustup's folder is on the path of login shells only.
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"), "bin")
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {
        "PATH": f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{cargo}",
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_PYTHON": sys.executable,
        "RUSTDOCFLAGS": "-Dwarnings",
    }


def environment_of(root: Path, profile: str) -> dict[str, str]:
    """The environment in which Python takes the extension of a profile for the package's."""
    return {"PYTHONPATH": str(root / "scripts" / "checked"), "LASTHOP_CORE": str(core(root, profile))}
