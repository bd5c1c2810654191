"""Links with recorded delivery opportunities, beside a direct reading of Mahimahi's rules."""

from __future__ import annotations

import random
from collections import deque
from pathlib import Path

import pytest

import lasthop as lh

OPPORTUNITY = 1504
TUN_HEADER = 4


class LinkQueue:
    """`mm-link` as its source has it: a clock in milliseconds, a schedule, and the packet in transit."""

    def __init__(self, schedule: list[int], limit: int) -> None:
        self.schedule = schedule
        self.limit = limit
        self.next = self.base = 0
        self.queue: deque[tuple[int, int]] = deque()
        self.transit: tuple[int, int] | None = None
        self.left = 0
        self.departures: dict[int, int] = {}

    def next_delivery(self) -> int:
        return self.base + self.schedule[self.next]

    def rationalize(self, now: int) -> None:
        """Everything that was due up to now."""
        while self.next_delivery() <= now:
            at, room = self.next_delivery(), OPPORTUNITY
            self.next = (self.next + 1) % len(self.schedule)
            if self.next == 0:
                self.base += self.schedule[-1]
            while room > 0:
                if self.left == 0:
                    if not self.queue:
                        break
                    self.transit = self.queue.popleft()
                    self.left = self.transit[1]
                part = min(room, self.left)
                self.left -= part
                room -= part
                if self.left == 0:
                    assert self.transit is not None
                    self.departures[self.transit[0]] = at

    def read_packet(self, number: int, size: int, now: int) -> bool:
        """A packet arrives; whether the queue took it. What is in transit counts, unlike in Mahimahi."""
        self.rationalize(now)
        if len(self.queue) + (self.left > 0) >= self.limit:
            return False
        self.queue.append((number, size + TUN_HEADER))
        return True


def scenario(folder: Path, schedule: list[int], size: int, limit: int, aqm: str) -> lh.Scenario:
    """Datagrams each 7 ms or so over the link, from a source that is a little faster than the link."""
    (folder / "down").write_text("".join(f"{ms}\n" for ms in schedule), encoding="utf-8")
    file = folder / "x.toml"
    law = f'aqm.law = "{aqm}"' if aqm else ""
    file.write_text(
        f"""
[run]
duration = "3 s"
[nodes]
a = {{}}
b = {{}}
[links.cell]
kind  = "trace"
nodes = ["a", "b"]
queue = "{limit} packets"
trace.file = "down"
{law}
[flows.main]
from = "a"
to   = "b"
app  = {{ kind = "poisson", poisson = {{ rate = "2 Mbit/s", packet = "{size - 28} B" }} }}
udp  = {{}}
""",
        encoding="utf-8",
    )
    return lh.load(file)


def rows(sc: lh.Scenario, layer: str, event: str) -> dict[int, float]:
    """When each packet met an event, in milliseconds."""
    found = sc.run(trace=["events"]).trace("events").columns
    kinds = zip(found["layer"], found["event"], found["packet"], found["time_s"], strict=True)
    return {int(packet): time * 1e3 for *kind, packet, time in kinds if kind == [layer, event]}


@pytest.mark.parametrize("number", range(40))
def test_packets_leave_when_mahimahi_lets_them(tmp_path: Path, number: int) -> None:
    draw = random.Random(number)
    schedule = sorted(draw.choices(range(draw.choice([20, 200, 1500])), k=draw.choice([3, 30, 300])))
    schedule.append(schedule[-1] + draw.randrange(3) + (schedule[-1] == 0))
    size, limit = draw.choice([60, 400, 748, 1000, 1496, 1500]), draw.choice([1, 3, 50, 10_000])
    sc = scenario(tmp_path, schedule, size, limit, "")
    link = LinkQueue(schedule, limit)
    came = rows(sc, "udp", "send")
    taken = {packet for packet, at in came.items() if link.read_packet(packet, size, int(at))}
    link.rationalize(3000)
    assert len(came) > 100
    assert taken == set(rows(sc, "link", "queue"))
    left = rows(sc, "frame", "send")
    assert {packet: round(at, 6) for packet, at in left.items()} == link.departures


@pytest.mark.parametrize("number", range(10))
def test_a_managed_queue_under_its_target_changes_no_departure(tmp_path: Path, number: int) -> None:
    draw = random.Random(f"managed {number}")
    # Less than 5 ms from one opportunity to the next, and more of them than packets of any size.
    schedule = sorted(set(draw.choices(range(200), k=190)) | {199})
    size = draw.choice([400, 1000, 1500])
    [plain, managed] = [
        rows(scenario(tmp_path, schedule, size, 10_000, law), "frame", "send") for law in ("", "codel")
    ]
    assert len(plain) > 100
    assert managed == plain


def test_a_study_has_the_files_that_its_scenario_names(tmp_path: Path) -> None:
    sc = scenario(tmp_path, [3, 5, 9], 1500, 10, "")
    lh.sweep(sc, out=tmp_path / "study")
    (tmp_path / "down").unlink()
    again = lh.Study.open(tmp_path / "study")
    assert again.scenario.point_key(0) == sc.point_key(0)
    assert again.scenario.run().metrics == sc.run().metrics
