"""Takes the picture of studio.md in Chromium; needs the module of `make web`.

.venv/bin/python docs/make_studio.py
"""

import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from lasthop.report.studio import Studio, StudioServer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from browser import Browser, Page  # noqa: E402


def shoot(tab: Page, address: str) -> None:
    """The airtime of the tour's scenario."""
    path = ROOT / "docs" / "figures" / "studio.png"
    tab.size(1280, 900)
    tab.prefer("light")
    tab.go(address)
    tab.until("!$('#run').disabled")
    tab.do("run()")
    tab.do("editor.view.scrollDOM.scrollTo(0, 300)")
    tab.shot(path)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def main() -> None:
    """Take it."""
    with TemporaryDirectory() as folder, StudioServer(Studio(None)) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        browser = Browser(Path(folder))
        try:
            shoot(browser.page(), server.address)
        finally:
            browser.close()
            server.shutdown()


if __name__ == "__main__":
    main()
