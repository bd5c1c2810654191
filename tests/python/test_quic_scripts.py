"""quinn's sender under the simulated clock against packet scripts of RFC 9002."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import lasthop as lh
import quic_script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("script", quic_script.read_all(), ids=lambda script: script.name)
def test_the_sender_follows_script(script: quic_script.Script, tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(script.scenario())
    lh.load(str(tmp_path / "case.toml")).run(qlog=tmp_path / "logs")
    quic_script.check(script, quic_script.events(tmp_path / "logs" / "main-sender.sqlog"))
