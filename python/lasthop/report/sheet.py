"""A page as one HTML file: styles, scripts and data in it, and a policy that keeps out everything else."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from lasthop.base import paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Bytes of a whole page.
LIMIT = 2_000_000
_SLOT = re.compile(r"<!--slot:(\w+)-->")


def sheet(
    template: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    parts: Mapping[str, str],
    connects: str = "",
    *,
    simulates: bool = False,
    framed: str = "",
) -> str:
    """A page from its template.

    Args:
        template: The file of its body, with slots.
        styles: The files that are its style.
        scripts: The files that are its script, in one scope.
        parts: The contents of its other slots.
        connects: The sources of which it may request data, such as `'self'`; nothing if empty.
        simulates: Whether workers of it may run a WebAssembly module.
        framed: The source, as `source_of` names it, of the script of a page within it.
    """
    sources = " ".join(filter(None, (source_of(scripts), framed)))
    runs = " 'wasm-unsafe-eval'; worker-src blob:" if simulates else ""
    policy = (
        f"default-src 'none'; script-src {sources}{runs}; style-src 'unsafe-inline'; img-src data: blob:"
    ) + (f"; connect-src {connects}" if connects else "")
    own = {"policy": policy, "style": "\n".join(asset(name) for name in styles)}
    own["script"] = _joined(scripts)
    slots = {**own, **parts}
    # One pass: what is put in may look like a slot.
    return _SLOT.sub(lambda found: slots[found[1]], asset("head.html") + asset(template))


def source_of(scripts: Sequence[str]) -> str:
    """The script of a page, by its hash, as a policy names it."""
    return f"'sha256-{b64encode(sha256(_joined(scripts).encode()).digest()).decode()}'"


def _joined(scripts: Sequence[str]) -> str:
    return "\n".join(asset(name) for name in scripts)


def asset(name: str) -> str:
    """A file that pages are made of."""
    return (paths.data("web") / name).read_text(encoding="utf-8")


def admit(path: Path) -> None:
    """Refuse to write a page where it would harm a study, or where there is no directory."""
    paths.protect(path)
    paths.expect_folder(path.parent)
