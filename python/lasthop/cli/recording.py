"""The options of a command that records traces and captures."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import StudyError, UsageError
from lasthop.base.files import STDOUT, is_stdout, is_stream
from lasthop.cli import completing
from lasthop.cli.options import Word

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario

trace_option = click.option(
    "--trace",
    type=Word(),
    metavar="NAMES",
    shell_complete=completing.channels,
    help="Record channels such as cwnd,rtt; see list channels.",
)
pcap_option = click.option(
    "--pcap",
    "pcaps",
    multiple=True,
    type=Word(),
    metavar="[LINK=]FILE",
    help="Capture a link (default: the first).",
)


def channels(trace: str | None) -> list[str]:
    """The names of a `--trace` option."""
    if trace is None:
        return []
    names = [name.strip() for name in trace.split(",")]
    if not any(names):
        raise UsageError(f'"{trace}" names no channel; expected channels such as cwnd,rtt', argument="trace")
    return [name for name in names if name]


def captures(scenario: Scenario, point: int, items: tuple[str, ...]) -> dict[str, Path]:
    """The links of `--pcap` options with their files."""
    links = scenario.links(point)
    found: dict[str, Path] = {}
    for item in items:
        link, sign, path = item.partition("=")
        if sign and link in links and not path:
            raise UsageError(
                f'"{item}": the name of the file is missing; expected a name such as "{item}{link}.pcap"',
                argument="pcap",
            )
        if sign and link in links:
            found[link] = _capture(path)
        elif not links:
            raise UsageError(f"{scenario.id} has no links; expected at least one", argument="pcap")
        elif sign and "/" not in link and "." not in link:
            from lasthop.base.errors import nearest

            raise UsageError(f"{link}: unknown link; {nearest(link, links)}", argument="pcap")
        else:
            found[links[0]] = _capture(item)
    for target in found.values():
        if not target.name or target.is_dir():
            raise UsageError(f'"{target}" is a directory; expected a file to write', argument="pcap")
    return found


def _capture(name: str) -> Path:
    return STDOUT if name == "-" else Path(name)


def expect_separate(captured: dict[str, Path], *, is_silent: bool) -> None:
    """Refuse two captures in one file, and a capture among the metrics."""
    names = [os.path.realpath(path) for path in captured.values()]
    for link, path in captured.items():
        if names.count(os.path.realpath(path)) > 1 and not (is_stream(path) and not is_stdout(path)):
            raise UsageError(f"{path}: the file of two captures; expected one for each", argument="pcap")
        if is_stdout(path) and not is_silent:
            raise UsageError(
                f"{link}={path}: the metrics go there; expected a file, or -q without --json", argument="pcap"
            )


def prepare(folder: Path | None, captured: dict[str, Path]) -> None:
    """Find out before the run whether its results can be written."""
    from lasthop.base.paths import expect_folder

    for path in captured.values():
        # Only -o requests a directory.
        if folder is None or path.parent.resolve() != folder.resolve():
            expect_folder(path.parent, "pcap")
    parents = (path.parent for path in captured.values() if not is_stream(path))
    for target in [folder, *parents]:
        try:
            if target is not None:
                target.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=target).close()
        except OSError as e:
            raise StudyError(f"{target}: {e.strerror}; expected a writable directory") from e
