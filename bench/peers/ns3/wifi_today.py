"""Run cells of 802.11n, ac and ax in ns-3, one after the other, and write `wifi-today.toml` beside this file.

Usage: python wifi_today.py FOLDER [SECONDS]; FOLDER takes the program, and SECONDS is the measured time of a
cell, by default 5, with TCP twice that. A cell that the file has already with the same settings, measured for
as long, is not run again.
"""

from __future__ import annotations

import sys
import tomllib
from itertools import product

import build

OUT = build.HERE / "wifi-today.toml"

HEAD = """\
# Goodput in cells of 802.11n, ac and ax by ns-{release}: written by
# `python bench/peers/ns3/wifi_today.py FOLDER {seconds:g}`; `duration` is the measured time of a cell,
# `cpu_s` the CPU time of ns-3 for all of the cell, where known.
#
# One or more stations 0.5 m from an access point, so that all frames arrive with the same power; saturated
# flows between it and each of them; UDP payload 1472 B; TCP payload 1448 B with timestamps and SACK, an ACK
# for every second segment, least RTO 1 s; MAC queues of {queue} packets and 500 ms without queue discipline
# (the access point has one of {queue} for all stations); best effort with AIFSN 3, CW 15 to 1023, no TXOP
# limit; control frames at 24 Mbit/s, responses to MCS 0 at 6 Mbit/s; 7 attempts of each MPDU; block-ack
# window 64, from 65 MPDUs on 256. `mpdus` limits the packets in an A-MPDU; the limits of PPDU time and A-MPDU
# bytes come on top. `errors` is the probability that an MPDU with a packet is in error. `bar`: a BlockAckReq
# follows a lost BlockAck.
#
# `ofdma`: the access point serves several stations at once (RrMultiUserScheduler), and how they acknowledge
# it. These cells are on a spectrum channel; those of UDP down have queues long enough for all stations.
# `uplink`: the access point triggers them, too, and they contend beside it (`contend`), with parameters of
# MU EDCA that have AIFSN 8 and CW 511 to 1023 (`mu`), or not at all (`silent`). `reports`: a request for
# reports (BSRP) precedes each trigger for data; `txop` is the limit of a TXOP in us, without which ns-3 3.44
# sends such requests alone where the access point has no packets. Triggers go at 24 Mbit/s, and data frames
# have the size of the queue.
#
# Constants of ns-3 that are not those of the standard: preamble of VHT 36 us (40: VHT-SIG-B is left out), of
# HE 44 us (43.2 with 2x LTF and guard interval 0.8 us); a PPDU with short guard interval does not end on a
# boundary of 4 us.

ns3 = "{release}"
"""

KEYS = (
    "standard width mcs gi streams mpdus stations transport direction rts bar errors retries queue ofdma"
    " uplink reports txop warmup duration seed"
)

N20 = {"standard": "n", "width": 20, "mcs": 7}
N40 = {"standard": "n", "width": 40, "mcs": 7}
AC80 = {"standard": "ac", "width": 80, "mcs": 9, "gi": 400}
AX80 = {"standard": "ax", "width": 80, "mcs": 11}
DEFAULTS = {
    "gi": 800,
    "streams": 1,
    "mpdus": 64,
    "stations": 1,
    "transport": "udp",
    "direction": "down",
    "rts": False,
    "bar": True,
    "errors": 0.0,
    "retries": 7,
    "queue": 500,
    "ofdma": "none",
    "uplink": "none",
    "reports": False,
    "txop": 0,
    "seed": 1,
}
# PPDUs to several stations: acknowledgements, and stations in a channel with one MCS.
SHARED = ("requests", "trigger", "aggregated-trigger")
SHARING = ({"width": 20, "mcs": 7}, {"width": 80, "mcs": 11})
# Triggered PPDUs of several stations: channels, and numbers of stations in them.
TRIGGERING = (
    ({"width": 20, "mcs": 7}, (1, 2, 4, 8, 16, 30)),
    ({"width": 40, "mcs": 7}, (1, 2, 4, 8, 16)),
    ({"width": 80, "mcs": 11}, (1, 2, 4, 8, 16)),
    ({"width": 160, "mcs": 11}, (2, 4)),
)
# The seconds after which this number of stations has its block-ack agreements.
SETTLED = {1: 0.8, 2: 0.8, 4: 0.8, 8: 0.8, 16: 1.3, 30: 2.4}
# Without requests for reports and with them.
REPORTING = ({"reports": False, "txop": 0}, {"reports": True, "txop": 4096})
# A timeout of TCP takes a second: the measured time for TCP is longer. It begins when slow start is over, in
# which ns-3 sometimes loses half a second to a timeout.
TCP_SHARE = 2.0
TCP_WARMUP = 5.0
# Collisions differ from run to run: the cells in which stations contend have several.
SEEDS = (1, 2, 3, 4, 5, 6)
STATIONS = (1, 2, 5, 10, 20)
CONTENDING = ((AX80, True), (AX80, False), (N20, True))
WAYS = ("down", "up")


def cells() -> list[dict[str, object]]:
    """The cells in their order: one station against the closed form first, then several stations."""
    one = [{**kind, "mpdus": mpdus} for kind, mpdus in product((N20, N40, AC80, AX80), (1, 8, 32, 64))]
    one.append({**AX80, "mpdus": 256})
    slower = [(N20, 0), (N20, 3), (AC80, 0), (AC80, 4), (AX80, 0), (AX80, 5)]
    one += [{**kind, "mcs": mcs, "mpdus": mpdus} for (kind, mcs), mpdus in product(slower, (1, 8, 64))]
    many = several("udp", (0.0, 0.01, 0.1))
    many += [
        {**AX80, "stations": stations, "direction": "up", "bar": False, "errors": errors}
        for errors, stations in product((0.0, 0.1), STATIONS[1:])
    ]
    many += [{**cell, "rts": True} for cell in several("udp", (0.0,))]
    many += [{**cell, **N20} for cell in several("udp", (0.0,))]
    many += several("newreno", (0.0, 0.1, 0.01))
    many += [{**cell, **N20} for cell in several("newreno", (0.0,))]
    many += [
        {**AX80, "stations": stations, "transport": law, "direction": way}
        for law, way, stations in product(("cubic", "bbr"), WAYS, (1, 5, 20))
    ]
    many += [{**cell, "rts": True} for cell in several("newreno", (0.0,))]
    many += [
        {**kind, "stations": stations, "direction": "up", "bar": bar, "seed": seed}
        for (kind, bar), stations, seed in product(CONTENDING, (5, 10, 20), SEEDS[1:])
    ]
    many += [
        {**AX80, **channel, "stations": stations, "queue": 3000, "ofdma": ofdma, "duration": 1.0}
        for channel, stations, ofdma in product(SHARING, (2, 4, 8, 16), SHARED)
    ]
    many += triggered()
    return list({identity(whole(cell, 0.0)): cell for cell in one + many}.values())


def several(transport: str, errors: tuple[float, ...]) -> list[dict[str, object]]:
    """Cells of 802.11ax with one to twenty stations, in both directions."""
    return [
        {**AX80, "stations": stations, "transport": transport, "direction": way, "errors": share}
        for share, way, stations in product(errors, WAYS, STATIONS)
    ]


def triggered() -> list[dict[str, object]]:
    """Cells of UDP up and of TCP down with PPDUs from several stations."""
    shared = {**AX80, "ofdma": "trigger", "duration": 1.0}
    up = [
        {**channel, **reports, "stations": stations, "uplink": "silent", "warmup": SETTLED[stations]}
        for channel, counts in TRIGGERING
        for reports, stations in product(REPORTING, counts)
    ]
    up += [
        {**channel, "stations": stations, "uplink": "mu"}
        for channel, counts in zip(SHARING, ((2, 4, 8, 16), (4, 16)), strict=True)
        for stations in counts
    ]
    up += [
        {**SHARING[0], "stations": stations, "uplink": "contend", "duration": 4.0, "seed": seed}
        for stations, seed in product((2, 4, 8, 16), SEEDS)
    ]
    tcp = {**shared, "transport": "newreno"}
    down = [
        {**tcp, **SHARING[0], **way, "stations": stations, "warmup": 5.0, "duration": 10.0}
        for way, stations in product(({}, {"uplink": "silent", **REPORTING[1]}), (1, 2, 4, 8, 16))
    ]
    down += [
        {**tcp, **SHARING[1], "stations": stations, "warmup": 3.0, "duration": 2.0} for stations in (1, 4)
    ]
    return [{**shared, **cell, "direction": "up"} for cell in up] + down


def whole(cell: dict[str, object], seconds: float) -> dict[str, object]:
    """All settings of a cell."""
    is_udp = {**DEFAULTS, **cell}["transport"] == "udp"
    times = (1.0, seconds) if is_udp else (TCP_WARMUP, TCP_SHARE * seconds)
    return {**DEFAULTS, "warmup": times[0], "duration": times[1], **cell}


def identity(cell: dict[str, object]) -> tuple[object, ...]:
    """What a cell is, however long it is measured."""
    full = {**DEFAULTS, **cell}
    return tuple(full[key] for key in KEYS.split() if key not in {"warmup", "duration"})


def line(cell: dict[str, object]) -> str:
    """A cell as an inline table: what it is, and what came out."""
    lacks = {"ofdma"} if cell.get("ofdma", "none") == "none" else set()
    lacks |= {"uplink", "reports", "txop"} if cell.get("uplink", "none") == "none" else set()
    keys = [key for key in KEYS.split() if key not in lacks]
    cpu = ("cpu_s",) if "cpu_s" in cell else ()
    return build.inline({key: cell[key] for key in (*keys, *cpu, "goodput_mbps", "stations_mbps")})


def write(done: list[dict[str, object]], release: str, seconds: float) -> None:
    """The file with the cells that are done."""
    head = HEAD.format(release=release, seconds=seconds, queue=DEFAULTS["queue"])
    OUT.write_text(
        head + "\ncells = [\n" + "".join(f"  {line(cell)},\n" for cell in done) + "]\n", encoding="utf-8"
    )


def main() -> int:
    """Run what the file lacks."""
    program, release, seconds = build.begin("cell", 5.0)
    kept = tomllib.loads(OUT.read_text(encoding="utf-8"))["cells"] if OUT.is_file() else []
    known = {identity(cell): cell for cell in kept}
    done: list[dict[str, object]] = []
    for cell in cells():
        settings = whole(cell, seconds)
        name = identity(settings)
        if name not in known or known[name]["duration"] < settings["duration"]:
            result = build.run(program, {key: settings[key] for key in KEYS.split()})
            rates = [round(rate / 1e6, 3) for rate in result["stations_bps"]]
            goodput, cpu = round(result["goodput_bps"] / 1e6, 3), round(result["cpu_s"], 2)
            known[name] = {**settings, "cpu_s": cpu, "goodput_mbps": goodput, "stations_mbps": rates}
            print(line(known[name]), flush=True)
            # What is done is kept if this is stopped.
            write(list(known.values()), release, seconds)
        done.append(known[name])
    write(done, release, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
