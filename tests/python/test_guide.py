"""The guide: it is built without a warning, each page is what its file says, and fits a window."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import zlib
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from browser import PROGRAM, Page
from lasthop.base import paths

if not os.environ.get("CI"):
    # There nothing may keep the guide from being built.
    for module in ("sphinx", "furo", "myst_nb"):
        pytest.importorskip(module, reason="the guide needs the packages of requirements-docs.lock")

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((DOCS / "tutorials").glob("*.*"))]


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide with the playground, without the outputs of its notebooks, which are tested elsewhere."""
    out = tmp_path_factory.mktemp("guide")
    options = ("--quiet", "--fail-on-warning", "--keep-going", "-D", "nb_execution_mode=off")
    options += ("-D", "playground=studio")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out


def title(file: Path) -> str:
    """The first heading of a page."""
    text = file.read_text("utf-8")
    if file.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert found is not None, file
    return plain(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1]))


def plain(text: str) -> str:
    """The words of a text, whatever signs and quotes it has."""
    return " ".join(re.findall(r"\w+", text))


def test_each_page_is_what_its_file_says(guide: Path) -> None:
    assert len(PAGES) > 20
    for file in PAGES:
        page = guide / file.relative_to(DOCS).with_suffix(".html")
        found = re.search(r"<h1>(.*?)<a class=\"headerlink\"", page.read_text("utf-8"), re.DOTALL)
        assert found is not None, f"{page.name} is not made of {file.name}"
        assert plain(html.unescape(re.sub(r"<[^>]+>", "", found[1]))) == title(file)


def test_no_link_of_the_guide_leads_nowhere(guide: Path) -> None:
    for page in guide.rglob("*.html"):
        for link in re.findall(r'href="([^"#?]+)', page.read_text("utf-8")):
            if not re.match(r"[a-z]+:", link):
                assert (page.parent / html.unescape(link)).exists(), f"{page.name}: {link}"


FRAME = re.compile(r'<iframe src="((?:\.\./)?studio/index\.html)#s=([\w-]+)"')


def held(guide: Path, page: str) -> list[dict[str, Any]]:
    """What the playgrounds in a page open."""
    found = FRAME.findall((guide / page).read_text("utf-8"))
    assert all(place.startswith("../") == ("/" in page) for place, _ in found)
    packed = (urlsafe_b64decode(text + "=" * (-len(text) % 4)) for _, text in found)
    return [json.loads(zlib.decompress(data, -zlib.MAX_WBITS)) for data in packed]


def test_each_scenario_shown_opens_in_the_playground_or_the_page_says_why_not(guide: Path) -> None:
    without, folder = [], paths.shipped()["examples/trace"].parent
    for page in sorted(guide.glob("*.html")):
        for block in page.read_text("utf-8").split('<div class="highlight-toml notranslate">')[1:]:
            below = block.partition("</div>\n</div>\n")[2]
            without += [] if below.startswith(('<details class="try">', '<p class="try">')) else [page.stem]
        for it in held(guide, page.name):
            assert lh.Scenario.from_text(it["text"], str(folder / "shown.toml")).points(), page
    # What has been opened above it, and a file of Cargo.
    assert without == ["my-wifi", "test-your-transport"]


def test_scenarios_and_tutorials_open_in_the_playground(guide: Path) -> None:
    assert [it["name"] for it in held(guide, "radio.html")] == ["radio.toml", *["radio-whole.toml"] * 5]
    assert [it["name"] for it in held(guide, "my-wifi.html")] == ["examples/my-wifi"]
    assert held(guide, "quic.html") == []
    laws, agent = (
        held(guide, f"tutorials/{name}.html")[0] for name in ("five-laws-over-wifi", "lle-tcp-explained")
    )
    assert laws["knobs"] == {
        "run.duration": 15,
        **dict.fromkeys(("links.wire.delay", "links.air.rate", "links.air.queue")),
    }
    assert agent["text"] == paths.shipped()["lle-tcp/fig08"].read_text("utf-8")
    for it in (laws, agent):
        assert it["knobs"].keys() <= lh.Scenario.from_text(it["text"], "t.toml").resolved().keys()


@pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")
def test_no_page_of_the_guide_is_wider_than_the_window(guide: Path, tab: Page) -> None:
    wide = []
    for page in sorted([*guide.glob("*.html"), *(guide / "tutorials").glob("*.html")]):
        tab.open(page)
        for width in (390, 1280):
            tab.size(width, mobile=width < 600)
            assert tab.do("innerWidth") == width
            if tab.do("document.scrollingElement.scrollWidth") > width:
                wide.append((page.stem, width))
    assert wide == []
