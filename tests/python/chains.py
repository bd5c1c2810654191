"""Scenarios whose TCP the kernel runs too: a chain of wires, and a recorded link with a managed queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lasthop as lh

if TYPE_CHECKING:
    from pathlib import Path

CHAIN = """\
title = "Two flows over a chain of two wires"

[run]
duration = "20 s"
warmup   = "2 s"

[nodes]
a = {}
m = {}
b = {}

[links.last]
kind  = "lossy"
nodes = ["b", "m"]
rate  = "2 Mbit/s"
loss  = { rate = "1 %" }

[links.first]
kind  = "wired"
nodes = ["a", "m"]
rate  = "10 Mbit/s"
delay = "5 ms"

[flows.down]
from = "a"
to   = "b"
app  = { kind = "bulk", start = "1 s" }
tcp  = { variant = "cubic", window = "100 segments" }

[flows.up]
from = "b"
to   = "a"
app  = { kind = "file", file = { size = "70 packets" } }
tcp  = { congestion = "reno" }
"""

EDGES = """\
title = "A recorded link with a managed queue"

[run]
duration = "3 s"
warmup   = "1 s"

[nodes]
s = {}
d = {}

[links.path]
kind  = "trace"
nodes = ["s", "d"]
delay = "10 ms"
queue = "100 packets"
trace = { file = "each.trace" }
aqm   = { law = "codel", codel = { ce-threshold = "20 ms" } }

[flows.main]
from = "s"
to   = "d"
app  = { kind = "cbr", start = "100 ms", stop = "2.5 s", cbr = { rate = "1 Mbit/s", packet = "500 B" } }
tcp  = { congestion = "reno", pacing = "on", nagle = false, idle-restart = false, ecn = "classic" }
"""


def chain_in(folder: Path) -> Path:
    """A file with the chain."""
    place = folder / "chain.toml"
    place.write_text(CHAIN)
    return place


def edges_in(folder: Path) -> lh.Scenario:
    """The recorded link, with its file."""
    (folder / "each.trace").write_text("1\n")
    (folder / "edges.toml").write_text(EDGES)
    return lh.load(folder / "edges.toml")
