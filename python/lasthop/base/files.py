"""Files that appear whole or not at all."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft next to a file, which replaces it when the block ends and is removed when the block fails.

    >>> import tempfile; from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "x.txt"
    >>> with replacing(path) as draft:
    ...     _ = draft.write_text("whole")
    >>> path.read_text(), draft.exists()
    ('whole', False)
    """
    draft = path.with_name(path.name + ".new")
    try:
        yield draft
        draft.replace(path)
    finally:
        # A full disk must not hide the error by a second one.
        with suppress(OSError):
            draft.unlink(missing_ok=True)
