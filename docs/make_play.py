"""Takes the pictures of play.md and of sweeps-and-statistics.md in Chromium.

.venv/bin/python docs/make_play.py
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

import lasthop as lh
from lasthop.report.server import Server
from lasthop.report.watch import Watch
from lasthop.study.progress import Lines
from lasthop.study.sweep import Sweep

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from browser import Browser, Page  # noqa: E402

FIGURES = ROOT / "docs" / "figures"


def shoot(tab: Page, name: str) -> None:
    """Take a picture, with as many colours as it needs."""
    path = FIGURES / f"{name}.png"
    tab.shot(path)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def play(tab: Page, folder: Path) -> None:
    """LLE-TCP next to Tahoe on a desk, and at a loss on a phone."""
    file = lh.load("lle-tcp/fig08")
    one, two = (file.run(point=point, trace=["events"], max_events=20_000) for point in (0, 1))
    one.play(beside=two).save(folder / "play.html")
    tab.size(1280, 985)
    tab.prefer("light")
    tab.go(f"{(folder / 'play.html').as_uri()}#3.214")
    shoot(tab, "play-lle-tcp")
    chain = lh.load("lle-tcp/multihop").run(trace=["events"], max_events=40_000)
    chain.play().save(folder / "chain.html")
    tab.size(390, 844, ratio=2.0, mobile=True)
    tab.prefer("dark")
    tab.open(folder / "chain.html")
    tab.do("jump(next('timeout'))")
    tab.do("for (let i = 0; i < 12; i++) jump(next('loss'))")
    shoot(tab, "play-phone")


def watch(tab: Page, folder: Path) -> None:
    """A sweep of which two thirds are done."""
    chosen = lh.load("ejtcp/fig10-baselines").set({"run.duration": "100 s"})
    study = chosen.sweep(replications=6, out=folder / "study")

    class Shown(Watch):
        """Takes the picture on the way."""

        def step(self, row: Any) -> None:
            super().step(row)
            if self.data(0)["done"] == 2 * study.size // 3:
                tab.go(server.address)
                tab.until("cards.length === 2 && cards.every((card) => card.figure.drawn)")
                time.sleep(0.3)
                shoot(tab, "sweep-watch")

    shown = Shown(study, Lines(silent=True))
    tab.size(1280, 1000)
    tab.prefer("light")
    with Server(shown) as server:
        Sweep(study, listener=shown).run()


def main() -> None:
    """Take the pictures."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        browser = Browser(folder / "chromium")
        try:
            tab = browser.page()
            play(tab, folder)
            watch(tab, folder)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
