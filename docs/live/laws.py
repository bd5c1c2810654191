"""BBR beside CUBIC over Wi-Fi: the kernel's own laws, in two connections to one station of a cell."""

import socket
import sys
import threading
import time
from pathlib import Path
from subprocess import DEVNULL

import lasthop as lh

CELL = lh.load(Path(__file__).with_name("cell.toml"))
LAWS = ("cubic", "bbr")
CASES = {"alone": 0, "beside three downloads": 3}
# It sends to each connection without end, by the law that the connection asks for.
SERVER = """
import socket, threading
def serve(connection):
    law = connection.recv(16)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law)
    while True:
        connection.sendall(bytes(1 << 16))
listener = socket.create_server(("", 80))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],)).start()
"""


def fetch(law: str, seconds: float, rates: dict[str, float]) -> None:
    """Measure the rate of a connection after its first second."""
    with socket.create_connection(("server", 80)) as connection:
        connection.sendall(law.encode())
        begun, counted = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds + 1:
            got = len(connection.recv(1 << 16))
            counted += got if passed > 1 else 0
    rates[law] = 8 * counted / seconds


def main(seconds: float = 20) -> None:
    print(f"| two connections | {' | '.join(LAWS)} | packets late (99 %) |\n| --- | --- | --- | --- |")
    for name, busy in CASES.items():
        rates: dict[str, float] = {}
        with lh.live(CELL.set({"nodes.busy.count": busy}), ["client", "server"]) as net:
            net.node("server").start([sys.executable, "-c", SERVER], port=80, stderr=DEVNULL)
            with net.node("client"):
                readers = [threading.Thread(target=fetch, args=(law, seconds, rates)) for law in LAWS]
                for reader in readers:
                    reader.start()
                for reader in readers:
                    reader.join()
        late = f"{1e3 * net.outcome.late_p99_s:.2f} ms"
        print(
            f"| {name} | {' | '.join(f'{rates[law] / 1e6:.1f} Mbit/s' for law in LAWS)} | {late} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
