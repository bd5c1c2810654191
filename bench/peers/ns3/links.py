"""Run cells of 802.11be with one and two links in ns-3, and write `links.toml` beside this file.

Usage: python links.py FOLDER [SECONDS]; FOLDER takes the program, and SECONDS is the measured time of a
cell, by default 0.5.
"""

from __future__ import annotations

import sys
from itertools import product

import build

OUT = build.HERE / "links.toml"

HEAD = """\
# Goodput in cells of 802.11be by ns-{release}: written by
# `python bench/peers/ns3/links.py FOLDER {seconds:g}`.
#
# Stations 0.5 m from an access point; saturated UDP of 1472 B between it and each; one link of 80 MHz at
# 5 GHz, or another at 6 GHz too; MCS 13, one stream, guard interval 0.8 us; block-ack window 1024; `mpdus`
# limits the packets in an A-MPDU; MAC queues of 4000 packets and 500 ms; beacons each 102.4 ms on each link.
# With `emlsr` stations have one radio for both links (AdvancedEmlsrManager), with `padding` and `transition`
# in us; that changes links in no time, and others of 80 MHz listen to the links meanwhile.
#
# ns-3 gives EHT-SIG the size of HE-SIG-B, and lets it go at MCS 5: 4 us, as the one symbol at MCS 3 lasts
# here; its EHT-LTF has 8 us (7.2 with 2x LTF and guard interval 0.8 us).

ns3 = "{release}"

cells = [
"""
KEYS = "links mpdus stations direction seed"
DELAYS = [(0, 0), (0, 64), (32, 64), (256, 256)]
CELLS = [
    *({"links": links, "mpdus": mpdus} for links, mpdus in product((1, 2), (64, 256, 1024))),
    *({"links": links, "mpdus": 256, "direction": "up"} for links in (1, 2)),
    *(
        {"links": links, "mpdus": 256, "stations": 5, "direction": way, "seed": seed}
        for links, way, seed in product((1, 2), ("down", "up"), (1, 2, 3))
    ),
    *(
        {"links": 2, "mpdus": 256, "emlsr": True, "padding": padding, "transition": transition}
        for padding, transition in DELAYS
    ),
    {"links": 2, "mpdus": 256, "direction": "up", "emlsr": True, "padding": 0, "transition": 64},
    {"links": 2, "mpdus": 256, "stations": 5, "emlsr": True, "padding": 0, "transition": 64},
]
DEFAULTS = {"stations": 1, "direction": "down", "seed": 1}


def main() -> int:
    """Run all cells."""
    program, release, seconds = build.begin("links", 0.5)
    text = HEAD.format(release=release, seconds=seconds)
    for cell in CELLS:
        full = {**DEFAULTS, **cell}
        settings = {
            key: full[key] for key in [*KEYS.split(), "emlsr", "padding", "transition"] if key in full
        }
        result = build.run(program, {**settings, "duration": seconds})
        shown = settings | {"goodput_mbps": result["goodput_mbps"]}
        text += f"  {build.inline(shown)},\n"
        OUT.write_text(text + "]\n", encoding="utf-8")
        print(shown, f"{result['cpu_s']:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
