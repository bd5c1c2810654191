"""A game over Wi-Fi: round trips of 30 UDP packets a second, alone, beside downloads, behind fair queues."""

import socket
import sys
import threading
import time
from pathlib import Path

import lasthop as lh

CELL = lh.load(Path(__file__).with_name("cell.toml"))
CASES = {
    "alone": {"nodes.busy.count": 0},
    "beside three downloads": {},
    "and the queues of mac80211": {"links.air.aqm.law": "mac80211"},
}
ECHO = """
import socket
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.bind(("", 3074))
while True:
    end.sendto(*end.recvfrom(1500))
"""


def send(end: socket.socket, count: int) -> None:
    for _ in range(count):
        end.send(f"{time.monotonic():<100}".encode())
        time.sleep(1 / 30)


def round_trips(settings: dict[str, object], count: int) -> tuple[list[float], float]:
    """The round trips in ms, sorted, and how late packets were."""
    found = []
    with lh.live(CELL.set(settings), ["client", "server"]) as net:
        net.node("server").start([sys.executable, "-c", ECHO], port=3074)
        with net.node("client"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.connect(("server", 3074))
            end.settimeout(1)
            sender = threading.Thread(target=send, args=(end, count))
            sender.start()
            for _ in range(count):
                try:
                    sent = float(end.recv(1500))
                except TimeoutError:
                    break
                found.append(1e3 * (time.monotonic() - sent))
            sender.join()
    return sorted(found), 1e3 * net.outcome.late_p99_s


def main(count: int = 300) -> None:
    print("| round trips of a game | median | 95 % | 99 % | lost | packets late (99 %) |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, settings in CASES.items():
        found, late = round_trips(settings, count)
        median, most, worst = (found[int(share * len(found))] for share in (0.5, 0.95, 0.99))
        lost = 1 - len(found) / count
        times = " | ".join(f"{time_ms:.1f} ms" for time_ms in (median, most, worst))
        print(f"| {name} | {times} | {lost:.1%} | {late:.2f} ms |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
