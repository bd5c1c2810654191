"""The connections of a case, and what disturbs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..draw import Draw
    from ..tree import Tree

MOST_BYTES = 1_000_000
PORT = 5000
#: What disturbs connections: by their programs, by their hosts, or by the network (`cases`).
BY_PROGRAMS = (
    "slow reader",
    "stalled reader",
    "small buffer",
    "server first",
    "request",
    "many short",
    "half close",
    "abrupt close",
    "reset",
    "same port again",
    "both ways",
)
BY_HOSTS = ("without timestamps", "without sack", "without scaling", "ecn", "small mss", "data in syn")
#: As a server without a cookie accepts data in a SYN, or only with one (tcp_fastopen).
_WITH_COOKIE, _WITHOUT_COOKIE = 3, 0x207


def draw_plan(draw: Draw, disturbances: list[str], rate_bps: float) -> dict[str, Any]:
    """What the programs at both ends do."""
    is_short = "many short" in disturbances
    again = "same port again" in disturbances
    count, lanes = (draw.whole(8, 30), draw.whole(1, 4)) if is_short else (1, draw.one([1, 1, 1, 2, 3]))
    if again:
        count, lanes = max(count, 4), min(lanes, 2)
    budget = min(MOST_BYTES, rate_bps / 8 * 3) / (count * lanes)
    if is_short:
        budget = min(budget, 20_000)
    connections = [
        [_connection(draw, disturbances, lane, place, budget, again=again) for place in range(count)]
        for lane in range(lanes)
    ]
    plan: dict[str, Any] = {"lanes": connections, "sysctls": {}, "mss": 0, "fastopen": False}
    for name, key, value in (
        ("without timestamps", "tcp_timestamps", 0),
        ("without sack", "tcp_sack", 0),
        ("without scaling", "tcp_window_scaling", 0),
        ("ecn", "tcp_ecn", 1),
    ):
        if name in disturbances:
            plan["sysctls"][key] = value
    if "small mss" in disturbances:
        plan["mss"] = draw.whole(100, 1000)
    if "data in syn" in disturbances:
        plan["fastopen"] = True
        plan["sysctls"]["tcp_fastopen"] = draw.one([_WITH_COOKIE, _WITHOUT_COOKIE])
    return plan


def _connection(
    draw: Draw, disturbances: list[str], lane: int, place: int, budget: float, *, again: bool
) -> Tree:
    order = "both"
    if "request" in disturbances:
        order = "request"
    if "server first" in disturbances and "data in syn" not in disturbances:
        order = "greeting"
    close = draw.one(["late", "client", "server"])
    if "half close" in disturbances:
        close = "half"
    elif again:
        # The end that closes last can use its port again.
        close = "server"
    elif "abrupt close" in disturbances:
        close = draw.one(["client", "server"])
    sizes = [round(draw.log(1, max(2, budget))) for _ in range(2)]
    if "both ways" not in disturbances:
        sizes[draw.whole(0, 1)] = 1 if draw.chance(0.5) else round(draw.log(1, 2000))
    # Some transfers are as long as the budget allows.
    if draw.chance(0.6):
        larger = int(sizes[1] > sizes[0])
        sizes[larger] = round(budget * draw.uniform(0.3, 1))
    connection: Tree = {
        "name": f"{lane}.{place}",
        "port": PORT + lane,
        "from": PORT + 1000 + lane if again else 0,
        "order": order,
        "close": close,
        "is_abrupt": "abrupt close" in disturbances,
        "reset": None,
    }
    for side, size in zip(("client", "server"), sizes, strict=True):
        connection[side] = _ways(draw, disturbances) | {"size": size}
    for side, other in (("client", "server"), ("server", "client")):
        # A window of less than a segment is filled once in a round trip.
        if room := connection[side]["rcvbuf"]:
            connection[other]["size"] = min(connection[other]["size"], 20 * room)
    if "reset" in disturbances:
        side = draw.one(["client", "server"])
        other = connection["server" if side == "client" else "client"]
        connection["reset"] = {"side": side, "after": max(1, round(other["size"] * draw.uniform(0, 1)))}
    return connection


def _ways(draw: Draw, disturbances: list[str]) -> Tree:
    """How the program at one end reads and writes."""
    ways: Tree = {"rcvbuf": 0, "rate": 0, "stall_at": 0, "stall_s": 0, "chunk": round(draw.log(1000, 1e5))}
    if "slow reader" in disturbances:
        ways |= {"rate": round(draw.log(5e4, 5e5)), "rcvbuf": draw.one([0, 8192, 32768])}
    if "stalled reader" in disturbances:
        ways |= {"stall_at": round(draw.log(1, 1e5)), "stall_s": round(draw.uniform(0.5, 3), 2)}
        ways["rcvbuf"] = draw.one([0, 8192, 32768])
    if "small buffer" in disturbances:
        ways["rcvbuf"] = draw.one([2304, 4096, 8192, 16384])
    return ways


def longest_s(plan: dict[str, Any], rate_bps: float, away_s: float) -> float:
    """A time in which TCP ends all connections of a plan, by far."""
    readers = 0.0
    size = 0
    for lane in plan["lanes"]:
        lane_s = 0.0
        for one in lane:
            for side, other in (("client", "server"), ("server", "client")):
                lane_s += one[side]["stall_s"]
                if one[side]["rate"]:
                    lane_s += one[other]["size"] / one[side]["rate"]
                size += one[side]["size"]
            lane_s += 0.3
        readers = max(readers, lane_s)
    # A timer backs off to twice the time that the network was away, and again if its segment is lost.
    return min(75.0, 20.0 + readers + 6 * 8 * size / rate_bps + 4 * away_s)
