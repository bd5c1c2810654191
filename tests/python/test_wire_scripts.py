"""Every packet of a connection with data both ways, as the RFCs demand it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

import lasthop._core as core
import wire_script
from packet_script import ScriptError

if TYPE_CHECKING:
    from pathlib import Path

SCRIPTS = wire_script.read_all()


def captured(script: wire_script.Script, folder: Path) -> list[wire_script.Seen]:
    """The packets of one run."""
    file = folder / "path.pcap"
    scenario = core.Scenario.from_text(script.scenario, f"{script.name}.toml")
    scenario.run(point=0, seed=1, replication=0, pcap={"path": str(file)})
    return wire_script.packets(file.read_bytes())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_the_packets_are_those_of_the_script(script: wire_script.Script, tmp_path: Path) -> None:
    wire_script.check(script, captured(script, tmp_path))


def test_a_packet_missing_added_late_or_different_is_told(tmp_path: Path) -> None:
    script = next(script for script in SCRIPTS if script.name == "window-on-data")
    seen = captured(script, tmp_path)
    wrong = [
        seen[:-1],
        [*seen, seen[-1]],
        [dataclasses.replace(seen[0], time_s=seen[0].time_s + 1e-5), *seen[1:]],
        [*seen[:-1], dataclasses.replace(seen[-1], window=seen[-1].window + 1)],
        [*seen[:-1], dataclasses.replace(seen[-1], what="ack 2881")],
        [*seen[:-1], dataclasses.replace(seen[-1], side=">")],
    ]
    for packets in wrong:
        with pytest.raises(ScriptError, match="window-on-data"):
            wire_script.check(script, packets)
