"""iperf3 on four of eight stations of an 802.11ax cell; it needs iperf3."""

import json
import sys
from pathlib import Path

import lasthop as lh

CELL = lh.load(Path(__file__).with_name("stations.toml"))
BUSY = [f"station{number}" for number in (1, 2, 3, 4)]
PORTS = ["5201", "5202", "5203", "5204"]
CASES = {
    "20 MHz, downloads": ("20 MHz", 1, "-R"),
    "20 MHz, uploads": ("20 MHz", 1, ""),
    "80 MHz, downloads": ("80 MHz", 1, "-R"),
    "80 MHz, 2 streams, downloads": ("80 MHz", 2, "-R"),
}
HEAD = "| four of eight stations | rate | packets a second | air busy | late: median | 99 % | 99.9 % |"


def main(length: int = 15) -> None:
    print(HEAD, "| --- " * 7 + "|", sep="\n")
    for name, (width, streams, direction) in CASES.items():
        cell = CELL.set({"links.air.width": width, "links.air.streams": streams})
        with lh.live(cell, [*BUSY, "server"]) as net:
            for port in PORTS:
                net.node("server").start(["iperf3", "-s", "-p", port], port=int(port), stdout=-3)
            words = f"iperf3 -c server -t {length} --json {direction} -p".split()
            running = [
                net.node(station).start([*words, port], stdout=-1, text=True)
                for station, port in zip(BUSY, PORTS, strict=True)
            ]
            ends = [json.loads(one.communicate()[0])["end"] for one in running]
        rate = sum(end["sum_received"]["bits_per_second"] for end in ends)
        out = net.outcome
        late = [f"{1e3 * value:.2f} ms" for value in (out.late_p50_s, out.late_p99_s, out.late_p999_s)]
        kinds = {key: value for key, value in out.metrics.items() if key.startswith("links.air.airtime_")}
        # Frames at the same time as another one are in no other class.
        del kinds["links.air.airtime_concurrent_s"]
        assert abs(sum(kinds.values()) - out.length_s) < 1e-6
        busy = 1 - kinds["links.air.airtime_idle_s"] / out.length_s
        cells = [
            name,
            f"{rate / 1e6:.0f} Mbit/s",
            f"{out.delivered / out.length_s:.0f}",
            f"{busy:.1%}",
            *late,
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
