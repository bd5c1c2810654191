"""Writes the tables of docs/virtual.md: what a virtual second costs, and the laws of the guest beside ours.

    python docs/make_virtual.py [speed|laws]

Wants the kernel that `lasthop virtual --build-kernel` makes; the laws take a quarter of an hour on two cores.
"""

from __future__ import annotations

import re
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lasthop as lh

PAGE = Path(__file__).with_name("virtual.md")
RATES = (1, 10, 50, 100)
LENGTH_S, BEGIN_S = 30, 5
PATH = """
[run]
duration = "30 s"
warmup = "5 s"

[nodes]
s = {}
d = {}

[links.path]
kind = "lossy"
nodes = ["s", "d"]
rate = "20 Mbit/s"
delay = "20 ms"
queue = "64 packets"
loss = { rate = "0 %" }

[flows.main]
from = "s"
to = "d"
app = { kind = "bulk" }
tcp = { profile = "modern", packet = "1448 B", extra-header = "0 B" }
"""
LOSSES = ("0 %", "0.1 %", "1 %")
# Each law of the kernel, and the name of ours.
LAWS = {
    **{"reno": "reno", "cubic": "cubic", "bbr": "bbr", "vegas": "vegas", "veno": "veno"},
    **{"westwood": "westwood-plus", "bic": None, "htcp": None, "illinois": None, "yeah": None, "dctcp": None},
    **{"cdg": None, "scalable": None, "highspeed": None, "hybla": None, "lp": None, "nv": None},
}
SENDER = """
import socket, sys, time
while True:
    end = socket.socket()
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
    try:
        end.connect(("d", 80))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
while True:
    end.send(bytes(65536))
"""
# Bits a second of what comes in the measured time.
RECEIVER = """
import socket, sys, time
end, _ = socket.create_server(("", 80)).accept()
begun, begin, until = time.monotonic(), *map(float, sys.argv[1:])
got = before = 0
while (passed := time.monotonic() - begun) < until:
    got += len(end.recv(1 << 18))
    before = got if passed < begin else before
print(8 * (got - before) / (until - begin), file=open(sys.argv[0] + "x", "w") if 0 else sys.stdout)
"""
