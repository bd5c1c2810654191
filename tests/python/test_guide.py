"""The guide as its readers see it: on a screen and on a phone no page is wider than the window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from browser import PROGRAM, Page

for module in ("sphinx", "furo", "myst_nb"):
    pytest.importorskip(module)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide without the outputs of its notebooks, which are tested elsewhere."""
    out = tmp_path_factory.mktemp("guide")
    command = [sys.executable, "-m", "sphinx", "--quiet", "-D", "nb_execution_mode=off", str(DOCS), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_of_the_guide_is_wider_than_the_window(guide: Path, tab: Page, width: int) -> None:
    tab.size(width, mobile=width < 600)
    wide = {}
    for page in sorted([*guide.glob("*.html"), *(guide / "tutorials").glob("*.html")]):
        tab.open(page)
        assert tab.do("innerWidth") == width
        found = tab.do("document.scrollingElement.scrollWidth")
        if found > width:
            wide[page.stem] = found
    assert wide == {}
