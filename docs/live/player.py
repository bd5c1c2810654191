"""A player of a video over Wi-Fi: chunks of a second in six qualities, by the rate of the last three."""

import sys
import time
import urllib.request
from pathlib import Path
from subprocess import DEVNULL

import lasthop as lh

CELL = lh.load(Path(__file__).with_name("cell.toml"))
CASES = {"alone": 0, "beside three downloads": 3, "beside ten downloads": 10}
RATES = [1e6, 2.5e6, 5e6, 8e6, 16e6, 25e6]
# The most video in its buffer, in seconds.
MOST_S = 4.0
# It answers a path such as /2000000 with as many bytes.
SERVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Chunks(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(bytes(int(self.path[1:])))
ThreadingHTTPServer(("", 80), Chunks).serve_forever()
"""


def play(chunks: int) -> tuple[float, float, float]:
    """The seconds until the video starts, those for which it stops later, and its mean rate."""
    came, played = [], []
    start_s = stopped_s = empty = 0.0
    begun = time.monotonic()
    for _ in range(chunks):
        bound = 0.8 * min(came[-3:], default=0.0)
        rate = max((rate for rate in RATES if rate < bound), default=RATES[0])
        asked = time.monotonic()
        urllib.request.urlopen(f"http://server/{int(rate / 8)}").read()
        now = time.monotonic()
        came.append(rate / (now - asked))
        if not played:
            start_s = now - begun
        elif now > empty:
            stopped_s += now - empty
        played.append(rate)
        empty = max(empty, now) + 1
        time.sleep(max(0.0, empty - now - MOST_S))
    return start_s, stopped_s, sum(played) / chunks


def main(chunks: int = 30) -> None:
    print("| a video | starts after | stops for | mean rate | packets late (99 %) |")
    print("| --- | --- | --- | --- | --- |")
    for name, busy in CASES.items():
        with lh.live(CELL.set({"nodes.busy.count": busy}), ["client", "server"]) as net:
            net.node("server").start([sys.executable, "-c", SERVER], port=80, stderr=DEVNULL)
            with net.node("client"):
                start_s, stopped_s, rate = play(chunks)
        late = f"{1e3 * net.outcome.late_p99_s:.2f} ms"
        print(
            f"| {name} | {start_s:.2f} s | {stopped_s:.1f} s | {rate / 1e6:.1f} Mbit/s | {late} |", flush=True
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
