"""A headless Chromium for tests: driven by the DevTools protocol over a pipe, without a library."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# A script that lists the texts of a page with too little contrast.
CONTRASTS = Path(__file__).with_name("contrasts.js").read_text(encoding="utf-8")
_FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-extensions", "--disable-background-networking", "--disable-component-update"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb"),
)

_KEYS = {"Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowRight": 39, "l": 76, "t": 84}
_TEXTS = {"Enter": "\r", " ": " ", "l": "l", "t": "t"}


class Page:
    """A tab; it records the errors and the requests of its page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser = browser
        self.session = session
        self.problems: list[str] = []
        self.requests: list[str] = []

    def listen(self) -> None:
        """Receive the events of the page."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.send(method, self.session, **parameters)

    def size(self, width: int, height: int = 900, *, ratio: float = 1.0, mobile: bool = False) -> None:
        """Set the inner size: a window itself is never narrower than 500 pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=mobile,
        )

    def prefer(self, scheme: str, *, motion: bool = True) -> None:
        """Prefer light or dark pages, and motion or less of it."""
        moving = "no-preference" if motion else "reduce"
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": moving}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.send("Emulation.setEmulatedMedia", features=features)

    def open(self, path: Path) -> None:
        """Load a file, up to its load event."""
        self.go(path.resolve().as_uri())

    def go(self, url: str) -> None:
        """Load a page, up to its load event."""
        self.problems.clear()
        self.requests.clear()
        self.browser.loaded.discard(self.session)
        self.send("Page.navigate", url=url)
        self.browser.wait(lambda: self.session in self.browser.loaded)

    def do(self, script: str) -> Any:
        """The value of an expression; a promise is awaited."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        self.browser.wait(lambda: bool(self.do(script)))

    def mouse(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the pointer, and click."""
        kinds = ["mouseMoved", *(["mousePressed", "mouseReleased"] if click else [])]
        for kind in kinds:
            button = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def key(self, name: str) -> None:
        """Press one of `_KEYS`."""
        text = {"text": _TEXTS[name]} if name in _TEXTS else {}
        for kind, more in (("keyDown", text), ("keyUp", {})):
            self.send(
                "Input.dispatchKeyEvent",
                **{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": _KEYS[name], **more},
            )

    def shot(self, path: Path, *, full: bool = False) -> None:
        """Save a picture of what is in sight, or of the whole page."""
        clip = {}
        if full:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {
                "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1},
                "captureBeyondViewport": True,
            }
        found = self.send("Page.captureScreenshot", format="png", **clip)
        path.write_bytes(base64.b64decode(found["data"]))


class Browser:
    """A running Chromium."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        (their_in, self._out), (self._in, their_out) = os.pipe(), os.pipe()
        # Chromium reads file 3 and writes file 4, which may be ours now.
        high = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in (their_in, their_out)]
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        self._process = os.posix_spawn(
            PROGRAM,
            [PROGRAM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            {**os.environ, "HOME": str(folder)},
            file_actions=[
                *quiet,
                *((os.POSIX_SPAWN_DUP2, ours, its) for ours, its in zip(high, (3, 4), strict=True)),
            ],
            setsid=True,
        )
        for number in (their_in, their_out, *high):
            os.close(number)
        self._count = 0
        self._rest = b""
        self._answers: dict[int, dict[str, Any]] = {}
        self._pages: dict[str, Page] = {}
        self.loaded: set[str] = set()

    def page(self) -> Page:
        """A new tab."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        page.listen()
        return page

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        self.wait(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer)
        found: dict[str, Any] = answer["result"]
        return found

    def wait(self, done: Any, seconds: float = 120.0) -> None:
        """Read messages until something is so."""
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, "Chromium does not answer"
            if select.select([self._in], [], [], 0.05)[0]:
                data = os.read(self._in, 1 << 20)
                assert data, "Chromium ended"
                *messages, self._rest = (self._rest + data).split(b"\0")
                for message in messages:
                    self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        session, given = message.get("sessionId", ""), message.get("params", {})
        page = self._pages.get(session)
        match message["method"]:
            case "Page.loadEventFired":
                self.loaded.add(session)
            case "Runtime.exceptionThrown" if page:
                page.problems.append(json.dumps(given["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if page and given["type"] in ("error", "warning", "assert"):
                page.problems.append(json.dumps(given["args"]))
            case "Log.entryAdded" if page and given["entry"]["level"] in ("error", "warning"):
                page.problems.append(json.dumps(given["entry"]))
            case "Network.requestWillBeSent" if page:
                page.requests.append(given["request"]["url"])

    def close(self) -> None:
        """End it, with the processes that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._in)
        os.close(self._out)
