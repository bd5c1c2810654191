"""Shipped files, broken: lasthop reads what becomes of them, or says in a sentence what is wrong where."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop import _core
from lasthop.papers.claims import read as read_claims

from .draw import Draw

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]

MOST_POINTS = 5
MOST_EVENTS = 500
"""Of what a broken scenario that is read is run, at each of its first points."""

PIECES = [
    '"', "'", "[", "]", "{", "}", "=", ".", "..", ",", "\n", "#", "[[", "]]", '"""', "'''", "\\",
    "\\u0000", "\t", "0", "-", "-1", "1e400", "1e-400", "nan", "inf", "0x10", "9999999999999999999999",
    "1979-05-27", "true", "[]", "%", " step ", " log ", " at ", " s", "ns", "\u00e9", "\u0000", "\ufeff",
    "\u2028", "$", "$x^$", "[sweep]\n", "[sweep.zip]\n", "[[sweep.list]]\n", "[[figure]]\n", "[run]\n",
    "[links.a-b]\n", "[nodes]\n", "zip", "list", "unlimited", "none", "auto", "all", "never", "flat",
    "wired", "wifi", "frn", "wimax", "lle-tcp", '"1 ns"', '"0 s"', '"0 B"', '"1 TB"', '"3 Mbit/s"',
    '"0 bit/s"', '"1e300 s"', '"-3 %"', '"100 %"', '"0 dB"', '["n0"]', "count = 0\n", "count = 7, ",
    "count = 100000\n", 'around = "ap"\n', "replications = 0\n", "nodes",
]  # fmt: skip
"""What has a meaning somewhere, to be put where it may have none."""

WHERE = re.compile(r"[^\n]*?broken\.toml(:\d+)?: \S")


@cache
def originals() -> list[tuple[str, str]]:
    """The names of all shipped files with their texts, except the one that takes long to read."""
    files = [*ROOT.glob("scenarios/**/*.toml"), *ROOT.glob("papers/*.claims.toml")]
    texts = [(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")) for file in sorted(files)]
    return [(name, text) for name, text in texts if name != "scenarios/load-adaptive/large.toml"]


class Mutation:
    """A shipped file that is broken; the same number breaks it in the same way."""

    def __init__(self, number: int) -> None:
        self.number = number
        draw = Draw(f"lasthop/mutation/{number}")
        self.file, text = draw.one(originals())
        for _ in range(draw.one([1, 1, 1, 2, 3, 6])):
            text = _edited(draw, text)
        self.text = text

    @property
    def is_scenario(self) -> bool:
        return self.file.startswith("scenarios/")

    def faults(self, folder: Path) -> Iterator[str]:
        """What should not have happened when the file was read."""
        try:
            if self.is_scenario:
                _use(_core.Scenario.from_text(self.text, "broken.toml"))
            else:
                file = folder / f"broken-{self.number}" / "broken.toml"
                file.parent.mkdir(exist_ok=True)
                file.write_text(self.text, encoding="utf-8")
                read_claims(file)
        except lh.RunError as e:
            if "expected no failure" in str(e):
                yield f"a panic: {e}"
        except lh.LasthopError as e:
            for line in str(e).split("\n"):
                if not WHERE.match(line):
                    yield f"a message without file and line: {line}"
        except BaseException as e:
            # A panic of the reader is not an Exception.
            if isinstance(e, KeyboardInterrupt):
                raise
            yield f"{type(e).__name__}: {e}"


def _edited(draw: Draw, text: str) -> str:
    """One edit: a piece put in, some text taken out or doubled, a line moved, two values swapped."""
    at = draw.whole(0, max(0, len(text) - 1))
    edit = draw.one(["piece", "piece", "piece", "cut", "line", "double", "value", "value", "end"])
    if edit == "piece":
        return text[:at] + draw.one(PIECES) + text[at + draw.one([0, 0, 1, 5]) :]
    if edit == "cut":
        return text[:at] + text[at + draw.whole(1, 30) :]
    if edit == "end":
        return text[:at]
    lines = text.splitlines(keepends=True) or [""]
    place = draw.whole(0, len(lines) - 1)
    if edit == "line":
        line = lines.pop(place)
        lines.insert(draw.whole(0, len(lines)), line)
    elif edit == "double":
        lines.insert(draw.whole(0, len(lines)), lines[place])
    else:
        values = re.findall(r'"[^"\n]*"|\b[0-9.e+-]+\b|\btrue\b|\bfalse\b', text)
        found = list(re.finditer(r'"[^"\n]*"|\b[0-9.e+-]+\b|\btrue\b|\bfalse\b', text))
        if not found:
            return text
        match = draw.one(found)
        new = draw.one(values) if draw.chance(0.6) else draw.one(PIECES)
        return text[: match.start()] + new + text[match.end() :]
    return "".join(lines)


def _use(scenario: _core.Scenario) -> None:
    """All that is asked of a scenario before it is run, and the beginning of a run."""
    scenario.axes()
    scenario.figures()
    for point in range(min(len(scenario.points()), MOST_POINTS)):
        scenario.resolved(point)
        scenario.point_key(point)
        scenario.observers(point)
        scenario.estimate(point)
        scenario.run(point, scenario.seed, 0, max_events=MOST_EVENTS)
