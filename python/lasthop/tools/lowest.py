"""`lasthop test --lowest`: the Python tests with the lowest versions of packages that the metadata allows.

The environment is `target/lowest`, made by the oldest Python that is allowed. The packages that lasthop
needs, and those of its extras that the tests use, have the version that `pyproject.toml` names after `>=`.
The tools of the tests are the newest that are compatible with them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# What matplotlib 3.7 calls of it is deprecated since, and a warning is an error in the tests.
BESIDE = ("pyparsing<3.3",)


def pinned(requirement: str) -> str:
    """A requirement at the lowest version that it allows.

    >>> pinned("numpy>=1.23.5"), pinned("maturin>=1.16,<2")
    ('numpy==1.23.5', 'maturin==1.16')
    """
    name, version = re.fullmatch(r"([\w.-]+)>=([\w.]+).*", requirement).groups()  # type: ignore[union-attr]
    return f"{name}=={version}"


def requirements(root: Path) -> tuple[str, list[str]]:
    """The oldest Python, such as `3.11`, and what is installed with it."""
    whole = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project = whole["project"]
    extras = [one for name in ("parquet", "gym") for one in project["optional-dependencies"][name]]
    lowest = [pinned(one) for one in (*project["dependencies"], *extras)]
    names = {one.partition("==")[0] for one in lowest}
    tools = [one for one in whole["dependency-groups"]["checks"] if one.partition(">=")[0] not in names]
    return project["requires-python"].removeprefix(">="), [*lowest, *tools, *BESIDE]


def prepare(root: Path) -> Path:
    """The Python of the environment, which is made if it is not there or has other packages."""
    version, wanted = requirements(root)
    folder = root / "target" / "lowest"
    python, mark = folder / "bin" / "python", folder / "installed"
    text = "\n".join([str(folder), *wanted])
    if mark.is_file() and mark.read_text(encoding="utf-8") == text:
        return python
    name = shutil.which(f"python{version}") or f"python{version}"
    shutil.rmtree(folder, ignore_errors=True)
    print(f"making {folder} with {', '.join(wanted)}", flush=True)
    subprocess.run([name, "-m", "venv", folder], check=True)
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, *pip, *wanted], check=True)
    # The package itself is that of the checkout.
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "lasthop.pth").write_text(f"{root / 'python'}\n", encoding="utf-8")
    mark.write_text(text, encoding="utf-8")
    return python


def run(root: Path, arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """Run pytest there; returns 0 when all passed, 1 when one failed, 2 without an environment."""
    try:
        python = prepare(root)
    except (OSError, subprocess.CalledProcessError) as e:
        print(f"error: --lowest: {e}; expected the oldest Python and packages for it", file=sys.stderr)
        return 2
    pytest = [str(python), "-P", "-m", "pytest", *arguments]
    return 1 if subprocess.run(pytest, cwd=root, env=env, check=False).returncode else 0
