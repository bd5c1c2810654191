"""The playground: scenarios that are written and run in a page, and the server that it comes from.

The page has the simulator as a WebAssembly module. The server gives it its files and the shipped scenarios,
and writes the scenarios that it was started for; it reads and writes nothing else.
"""

from __future__ import annotations

import json
import math
import secrets
import tomllib
import zlib
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import LasthopError, UsageError, reason
from lasthop.base.files import make_folder, put
from lasthop.figures import airtime, ladder
from lasthop.figures.style import COLOURS, DASHES, MARKERS, Look
from lasthop.report import play
from lasthop.report.numbers import embedded, look
from lasthop.report.page import CHARTS, STYLES
from lasthop.report.server import Handler, Loopback
from lasthop.report.sheet import asset, sheet, source_of
from lasthop.report.simulator import MODULE, has_quic, module
from lasthop.scenario.airtime import CLASSES
from lasthop.views.names import PARTS, registered
from lasthop.views.timeline import PANELS

if TYPE_CHECKING:
    from pathlib import Path
    from urllib.parse import SplitResult

SCRIPTS = (
    *("codemirror.min.js", *CHARTS, "theme.js", "statistics.js", "scan.js", "shared.js"),
    *("editor.js", "pool.js", "drawn.js", "swept.js", "timed.js", "events.js", "sentences.js", "filmed.js"),
    *("laddered.js", "shapes.js", "ladders.js", "compared.js", "panels.js", "studio.js"),
)
_SHEETS = (*STYLES, "watch.css", "runs.css", "studio.css")
# The scenario of the tour, and its point with packets of 1 KB and no agent.
TOUR = ("lle-tcp/airtime", 4)
# What the page opens without a scenario.
FIRST = "lle-tcp/airtime"
_MOST_BYTES = 4_000_000
# Nodes of a group that a picture shows, and the width and height of its middle.
_MOST_NODES, _WIDE, _HIGH = 12, 190.0, 50.0


class Studio:
    """The scenarios of a page, and those that it may write.

    Attributes:
        name: The scenario that the page opens.
        own: The files that it may write, by their names.
    """

    def __init__(self, scenario: str | None) -> None:
        self.own: dict[str, Path] = {}
        if scenario is None:
            self.name = FIRST
            return
        found = paths.find(scenario)
        shipped = paths.scenario_id(found)
        if shipped in paths.shipped() and paths.shipped()[shipped].samefile(found):
            self.name = shipped
        else:
            self.name = found.name
            self.own = {found.name: found}
            # A file that is not text is an error before the page opens.
            _about(found.name, found)

    def page(self, connects: str = "'self'") -> str:
        """The page, which requests the module and the scenarios."""
        scenario = next(it for it in self.scenarios if it["name"] == self.name)
        setup = {
            "name": self.name,
            "text": scenario["text"],
            "savable": scenario["savable"],
            "program": paths.program(),
            "looks": [look(_look(place)) for place in range(len(COLOURS) * 2)],
            "styles": {
                name: look(_look(*entry["style"])) for name, entry in registered("tcp.variant").items()
            },
            "classes": [
                {"id": name, "name": words, "light": airtime.COLOURS[name], "dark": airtime.DARK[name]}
                for name, words in CLASSES.items()
            ],
            "parts": PARTS,
            "titles": {
                part: {name: entry["title"] for name, entry in registered(key).items()}
                for key, part in {**PARTS, "agents.agent.kind": "agents"}.items()
            },
            "quantities": {name: asdict(panel) for name, panel in PANELS.items()},
            "tour": {"name": TOUR[0], "point": TOUR[1]},
            "ladder": {
                "kinds": [[kind, *style] for kind, style in ladder.KINDS.items()],
                "agent": ladder.AGENT_COLOUR,
            },
            "play": {"page": play.blank(), "looks": play.looks()},
        }
        slots = {"title": "lasthop studio", "setup": embedded(setup), "worker": asset("worker.js")}
        framed = source_of(play.SCRIPTS)
        return sheet("studio.html", _SHEETS, SCRIPTS, slots, connects, simulates=True, framed=framed)

    @cached_property
    def scenarios(self) -> list[dict[str, Any]]:
        """The scenarios that the page can open: name, title, text and picture of each."""
        # The examples are first.
        order = sorted(paths.shipped().items(), key=lambda it: not it[0].startswith("examples/"))
        shipped = [_about(name, file) for name, file in order]
        own = [_about(name, file) | {"savable": True} for name, file in self.own.items()]
        return own + [it for it in shipped if it["name"] == self.name or not has_quic(it["text"])]

    def listing(self) -> str:
        """The scenarios, and the files of recorded links that they name, as JSON."""
        known = [*paths.shipped().values(), *self.own.values()]
        folders = dict.fromkeys(file.parent for file in known)
        files = {
            file.relative_to(folder).as_posix(): text
            for folder in folders
            for file in sorted(folder.glob("traces/*"))
            if file.is_file() and file.stat().st_size <= _MOST_BYTES and (text := _text(file)) is not None
        }
        return json.dumps({"scenarios": self.scenarios, "files": files})

    def write(self, folder: Path) -> Path:
        """Write the page and what it loads as files that any host can serve, and return the page."""
        simulator = module()
        make_folder(folder)
        put(folder / MODULE, simulator)
        put(folder / "scenarios.json", self.listing())
        put(folder / "index.html", self.page())
        return folder / "index.html"

    def keep(self, name: str, text: str) -> None:
        """Write a scenario that the page may write.

        Raises:
            UsageError: It may not write this one.
        """
        if name not in self.own:
            raise UsageError(f"{name}: not a scenario that this page was started for")
        put(self.own[name], text)


def _look(colour: int, marker: int | None = None, dashes: int | None = None) -> Look:
    marker, dashes = (colour if it is None else it for it in (marker, dashes))
    return Look(COLOURS[colour % len(COLOURS)], MARKERS[marker % len(MARKERS)], DASHES[dashes % len(DASHES)])


def _text(file: Path) -> str | None:
    """The text of a file; `None` if it cannot be read or is not text."""
    with suppress(OSError, UnicodeDecodeError):
        return file.read_text(encoding="utf-8")
    return None


def _about(name: str, file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {reason(error)}; expected a scenario in UTF-8") from error
    try:
        parsed = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        # The page shows its errors.
        parsed = {}
    title = parsed.get("title")
    title = title if isinstance(title, str) else name
    return {"name": name, "title": title, "text": text, "savable": False, "picture": picture(parsed)}


def picture(parsed: dict[str, Any]) -> dict[str, Any]:
    """The nodes and links of a scenario in a small picture; a group is shown by some of its nodes.

    >>> picture({"nodes": {"a": {}, "b": {}}, "links": {"l": {"kind": "wifi", "nodes": ["a", "b"]}}})
    {'nodes': [[20, 42], [210, 42]], 'links': [[0, 1, 'air']]}
    """
    tables = {name: table for name, table in _table(parsed, "nodes").items() if isinstance(table, dict)}
    members = {name: _members(table) for name, table in tables.items()}
    order = [name for name, count in members.items() for _ in range(count)]
    numbers = {name: [i for i, one in enumerate(order) if one == name] for name in members}
    links = []
    for link in _table(parsed, "links").values():
        named = link.get("nodes") if isinstance(link, dict) else None
        if not isinstance(named, list):
            continue
        ends = [numbers[name] for name in named if isinstance(name, str) and name in numbers] or [[]]
        kind = "air" if link.get("kind") in ("wifi", "wimax", "frn") else "wire"
        links += [[i, j, kind] for i in ends[0][:1] for other in [ends[0][1:], *ends[1:]] for j in other]
    count = len(order)
    return {"nodes": [_place(i, count) for i in range(count)], "links": links}


def _table(parsed: dict[str, Any], name: str) -> dict[str, Any]:
    found = parsed.get(name)
    return found if isinstance(found, dict) else {}


def _members(table: dict[str, Any]) -> int:
    count = table.get("count", 1)
    return min(count, _MOST_NODES) if isinstance(count, int) and count > 0 else 1


def _place(number: int, count: int) -> list[int]:
    """Up to four nodes are in a row, more on an ellipse."""
    if count <= 4:
        return [round(20 + _WIDE * (number / max(1, count - 1))), 42]
    turn = math.tau * number / count
    return [round(115 - _WIDE / 2 * math.cos(turn)), round(42 - _HIGH / 2 * math.sin(turn))]


class StudioServer(Loopback):
    """Serves the playground below an address that nobody can guess.

    Attributes:
        address: Where the page is.
    """

    def __init__(self, studio: Studio) -> None:
        self.module = module()
        super().__init__(_Handler)
        self.studio = studio
        self.below = f"/{secrets.token_urlsafe(16)}/"
        self.address += self.below[1:]


def fragment(name: str, text: str, knobs: dict[str, float | None] | None = None) -> str:
    """A scenario as the end of an address of the page, as shared.js packs it.

    Args:
        name: What the page calls it.
        text: The scenario.
        knobs: The keys that readers turn, with the numbers to begin with; then the page shows little else.

    >>> fragment("one.toml", "")[:3]
    '#s='
    """
    packs = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    held = {"name": name, "text": text, **({"knobs": knobs} if knobs else {})}
    packed = packs.compress(json.dumps(held).encode()) + packs.flush()
    return f"#s={urlsafe_b64encode(packed).decode().rstrip('=')}"


class _Handler(Handler):
    """Answers with the page, the module and the scenarios, and writes scenarios."""

    server: StudioServer

    def give(self, asked: SplitResult) -> None:
        """The page, or what it loads."""
        server = self.server
        match asked.path.removeprefix(server.below) if asked.path.startswith(server.below) else None:
            case "":
                self.answer(HTTPStatus.OK, "text/html", server.studio.page())
            case "lasthop.wasm":
                self.answer(HTTPStatus.OK, "application/wasm", server.module)
            case "scenarios.json":
                self.answer(HTTPStatus.OK, "application/json", server.studio.listing())
            case _:
                self.answer(HTTPStatus.NOT_FOUND, "text/plain", "there is no such page\n")

    def take(self, path: str) -> None:
        """Writes a scenario."""
        if path != f"{self.server.below}save":
            self.answer(HTTPStatus.NOT_FOUND, "text/plain", "there is no such page\n")
            return
        try:
            self.server.studio.keep(*self._sent())
        except LasthopError as error:
            self.answer(HTTPStatus.FORBIDDEN, "text/plain", f"{error}\n")
        else:
            self.answer(HTTPStatus.OK, "text/plain", "saved\n")

    def _sent(self) -> tuple[str, str]:
        """The name and the text of the scenario that the page sends."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and int(length[:12]) <= _MOST_BYTES):
            raise UsageError(f"the scenario is too long; expected at most {_MOST_BYTES} bytes")
        try:
            sent = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise UsageError("what was sent is not JSON") from error
        if not (isinstance(sent, dict) and all(isinstance(sent.get(it), str) for it in ("name", "text"))):
            raise UsageError("what was sent is not a scenario; expected its name and text")
        return sent["name"], sent["text"]
