"""A small server on the loopback address for the page of what runs; it ends with the run."""

from __future__ import annotations

import os
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, urlsplit

from lasthop.report.numbers import embedded

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self
    from urllib.parse import SplitResult


_LOOPBACK = "127.0.0.1"
# How long the end waits for a page that is open, so that it shows the last runs.
_GRACE_S = 3.0
# A page without a request for so long counts as closed.
_OPEN_S = 15.0


class Watched(Protocol):
    """What has a page, and data that it asks for."""

    def page(self) -> str:
        """The page."""

    def data(self, known: int) -> dict[str, Any]:
        """What is newer than the version that a page has."""

    def finish(self) -> None:
        """Nothing new follows."""


class Server:
    """Serves the page of what runs on a free port.

    Attributes:
        address: Where the page is.
    """

    def __init__(self, watch: Watched) -> None:
        self._watch = watch
        self._server = _Http(watch)
        self.address = self._server.address
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="lasthop-watch", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._watch.finish()
                self._await_pages()
        finally:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def _await_pages(self) -> None:
        asked_s = self._server.asked_s
        if asked_s is None or time.monotonic() - asked_s > _OPEN_S:
            return
        self._server.has_ended.wait(_GRACE_S)


def show(address: str, wait_s: float = 0.0) -> None:
    """Open a page in the browser of the desktop, if there is one.

    Args:
        address: Where the page is.
        wait_s: How long to wait for the browser to start, by a program that ends afterwards.
    """
    has_desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if has_desktop:
        opens = threading.Thread(target=_open, args=(address,), name="lasthop-browser", daemon=True)
        opens.start()
        opens.join(wait_s)


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


class Loopback(ThreadingHTTPServer):
    """A server on a free port, for browsers of this computer."""

    daemon_threads = True

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__((_LOOPBACK, 0), handler)
        # What a browser of this computer calls it.
        self.hosts = [[f"{name}:{self.server_port}"] for name in (_LOOPBACK, "localhost")]
        self.address = f"http://{_LOOPBACK}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that went away is not an error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers the pages of this computer only."""

    server: Loopback
    timeout = 10

    def do_GET(self) -> None:
        """A page, or data of it."""
        asked = self._asked()
        if asked is not None:
            self.give(asked)

    def do_POST(self) -> None:
        """Something that a page sends."""
        asked = self._asked()
        if asked is not None:
            self.take(asked.path)

    def give(self, asked: SplitResult) -> None:
        """Answer a request of a page or its data."""
        raise NotImplementedError

    def take(self, path: str) -> None:
        """Answer what a page sends."""
        self.answer(HTTPStatus.NOT_IMPLEMENTED, "text/plain", f"{path}: this page sends nothing\n")

    def _asked(self) -> SplitResult | None:
        """What is requested; `None` if the request was refused."""
        # A site on the network whose name leads here must not read or write.
        if self.headers.get_all("Host", []) not in self.server.hosts:
            self.answer(HTTPStatus.FORBIDDEN, "text/plain", "the page is only for this computer\n")
            return None
        try:
            return urlsplit(self.path)
        except ValueError:
            self.answer(HTTPStatus.BAD_REQUEST, "text/plain", "this is not an address\n")
            return None

    def answer(self, status: HTTPStatus, kind: str, content: str | bytes) -> None:
        """Send a text or bytes."""
        body = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("Content-Type", kind if isinstance(content, bytes) else f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Requests are not listed."""


class _Http(Loopback):
    """The server of what runs: what it shows, and when a page asked last."""

    def __init__(self, watch: Watched) -> None:
        super().__init__(_Handler)
        self.watch = watch
        self.asked_s: float | None = None
        self.has_ended = threading.Event()


def known_of(query: str) -> int:
    """The version that a page has, by what it asks; none where that is not a version.

    >>> known_of("known=12"), known_of("known=-3"), known_of("known=" + "9" * 5000), known_of("known=٣")
    (12, -1, -1, -1)
    """
    try:
        text = parse_qs(query, max_num_fields=8).get("known", [""])[0]
    except ValueError:
        return -1
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else -1


class _Handler(Handler):
    """Answers with the page and its data."""

    server: _Http

    def give(self, asked: SplitResult) -> None:
        """The page, or its data."""
        if asked.path == "/":
            self.answer(HTTPStatus.OK, "text/html", self.server.watch.page())
        elif asked.path == "/data.json":
            self._data(known_of(asked.query))
        else:
            self.answer(HTTPStatus.NOT_FOUND, "text/plain", "there is no such page\n")

    def _data(self, known: int) -> None:
        self.server.asked_s = time.monotonic()
        found = self.server.watch.data(known)
        self.answer(HTTPStatus.OK, "application/json", embedded(found))
        if found["state"] == "done":
            self.server.has_ended.set()
