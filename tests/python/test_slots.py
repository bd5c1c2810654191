"""The slot table of a slotted network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.base.errors import UsageError
from lasthop.views.slots import slots_text, span

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

CHAIN = """
[run]
duration = "100 s"
warmup   = "10 s"
[nodes]
n = { count = 4, place = { kind = "line", line = { step = ["200 m", "0 m"] } } }
[links.mesh]
kind  = "frn"
nodes = ["n"]
[flows.one]
from = "n1"
to   = "n4"
app  = { kind = "cbr", stop = "15 ms", cbr = { rate = "800 bit/s", packet = "100 B" } }
udp  = {}
"""


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN)
    return path


def test_a_packet_is_followed_from_slot_to_slot(chain: Path) -> None:
    lines = [" ".join(line.split()) for line in slots_text(lh.load(chain), 0, 3).splitlines()]
    assert lines == [
        "slot node other packet retransmissions",
        "0 n1 sends to n2 n1#0 0",
        "0 n2 receives from n1 n1#0 0",
        "1 n2 sends to n3 n1#0 0",
        "1 n1 overhears n2 n1#0 0",
        "1 n1 completes: a neighbour has it n1#0",
        "1 n3 receives from n2 n1#0 0",
        "2 n3 sends to n4 n1#0 0",
        "2 n2 overhears n3 n1#0 0",
        "2 n2 completes: a neighbour has it n1#0",
        "2 n4 receives from n3 n1#0 0",
        "3 n4 sends an FRN ACK to n3 n1#0 0",
        "3 n3 receives from n4 n1#0 0",
        "3 n3 completes: a neighbour has it n1#0",
    ]


def test_slots_in_the_middle_are_those_of_the_whole_run(chain: Path) -> None:
    whole = slots_text(lh.load(chain), 0, 9).splitlines()
    part = slots_text(lh.load(chain), 2, 3).splitlines()
    assert [line.split() for line in part[1:]] == [
        line.split() for line in whole if line.split()[0] in ("2", "3")
    ]


def test_the_command_prints_it_and_refuses_what_has_no_slots(
    chain: Path, cli: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    assert "n4    sends an FRN ACK to" in cli("slots", chain, "0..3").stdout
    wrong = cli("slots", chain, "3..0")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "expected two slots such as 0..40" in wrong.stderr
    wired = cli("slots", "examples/slow-reader", "0..3")
    assert wired.returncode == 2
    assert "has no slotted network; expected a link of kind frn" in wired.stderr


@pytest.mark.parametrize("text", ["7", "a..b", "-1..3", "3..", "9..3"])
def test_a_span_that_is_none_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="expected two slots"):
        span(text)
