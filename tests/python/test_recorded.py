"""Links with recorded delivery opportunities, beside a direct reading of Mahimahi's rules."""

from __future__ import annotations

import random
from collections import deque
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from collections.abc import Iterator

OPPORTUNITY = 1504
TUN_HEADER = 4


class LinkQueue:
    """`mm-link` as its source has it: a clock in milliseconds, a schedule, and the packet in transit."""

    def __init__(self, schedule: list[int], limit: int, once: bool = False) -> None:
        self.schedule = schedule
        self.repeat, self.finished = not once, False
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
        while not self.finished and self.next_delivery() <= now:
            at, room = self.next_delivery(), OPPORTUNITY
            self.next = (self.next + 1) % len(self.schedule)
            if self.next == 0 and self.repeat:
                self.base += self.schedule[-1]
            elif self.next == 0:
                self.finished = True
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


def scenario(
    folder: Path, schedule: list[int], size: int, limit: int, aqm: str, more: str = ""
) -> lh.Scenario:
    """Datagrams each 7 ms or so over the link, from a source that is a little faster than the link."""
    return over(folder, "".join(f"{ms}\n" for ms in schedule), size, limit, aqm, more)


def over(folder: Path, record: str, size: int, limit: int, aqm: str, more: str) -> lh.Scenario:
    """The same over a link with this record."""
    (folder / "down").write_text(record, encoding="utf-8")
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
{more}
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


@pytest.mark.parametrize("number", range(20))
def test_a_record_that_is_played_once_ends_as_with_once(tmp_path: Path, number: int) -> None:
    draw = random.Random(f"once {number}")
    schedule = sorted(draw.choices(range(1, draw.choice([20, 1500, 2900])), k=draw.choice([3, 30, 300])))
    size, limit = draw.choice([60, 748, 1500]), draw.choice([1, 3, 50, 10_000])
    sc = scenario(tmp_path, schedule, size, limit, "", "trace.once = true")
    link = LinkQueue(schedule, limit, once=True)
    came = rows(sc, "udp", "send")
    taken = {packet for packet, at in came.items() if link.read_packet(packet, size, int(at))}
    link.rationalize(3000)
    assert link.finished
    assert taken == set(rows(sc, "link", "queue"))
    assert {packet: round(at, 6) for packet, at in rows(sc, "link", "receive").items()} == link.departures
    # A queue in front of the link ends with it, too.
    if limit > 1:
        managed = scenario(tmp_path, schedule, size, limit, "drop-head", "trace.once = true")
        left = rows(managed, "link", "receive")
        assert left
        assert max(left.values()) <= schedule[-1]


def spans_of(steps: list[tuple[str, str]], once: bool) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """From when to when each rate of a record holds, in seconds and bits per second."""
    begin = pass_ = Fraction(0)
    while True:
        for time, rate in steps:
            end = pass_ + Fraction(time)
            yield begin, end, Fraction(rate) * 10**6
            begin = end
        if once:
            return
        pass_ = begin


def rate_departures(
    steps: list[tuple[str, str]], packets: list[tuple[int, Fraction]], once: bool
) -> list[Fraction]:
    """When the last bit of each packet has gone, by the rate at every instant: first come, first served."""
    departures: list[Fraction] = []
    spans = spans_of(steps, once)
    span = next(spans)
    free = Fraction(0)
    for bits, came in packets:
        at, left = max(free, came), Fraction(bits)
        while True:
            begin, end, rate = span
            at = max(at, begin)
            if end > at and rate * (end - at) >= left:
                break
            left -= rate * max(Fraction(0), end - at)
            following = next(spans, None)
            if following is None:
                return departures
            span = following
        free = at + left / rate
        departures.append(free)
    return departures


@pytest.mark.parametrize("number", range(20))
def test_packets_leave_when_the_rates_of_a_record_have_carried_them(tmp_path: Path, number: int) -> None:
    draw = random.Random(f"rates {number}")
    times = sorted(draw.choices(range(1, draw.choice([20, 900])), k=draw.choice([1, 4, 20])))
    rates = [draw.choice(["0", "0.3", "1.25", "8", "40"]) for _ in times]
    rates[-1] = "2.5"
    steps = [(f"{ms / 1000:.3f}", rate) for ms, rate in zip(times, rates, strict=True)]
    size, once = draw.choice([60, 748, 1500]), draw.random() < 0.3
    more = f'trace.format = "rates"\ntrace.once = {str(once).lower()}'
    record = "".join(f"{time}\t{rate}\n" for time, rate in steps)
    sc = over(tmp_path, record, size, 100_000, "", more)
    came = rows(sc, "udp", "send")
    packets = [(8 * size, Fraction(round(at * 1e6), 10**9)) for at in came.values()]
    expected = rate_departures(steps, packets, once)
    left = list(rows(sc, "link", "receive").values())
    # A departure is in whole nanoseconds, rounded up.
    for place, at in enumerate(left):
        assert abs(at - float(expected[place] * 1000)) < 2e-6, place
    ended = sum(at < 2.999 for at in expected)
    assert len(left) >= ended
    assert len(came) > 100


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


def delayed(at_ms: Fraction, delays: list[str], step: int, is_linear: bool) -> Fraction:
    """The delay at a time: that of its line (LeoReplayer), or between it and the next one (CellReplay)."""
    place, part = divmod(at_ms, step)
    here, there = (Fraction(delays[int(place + ahead) % len(delays)]) for ahead in (0, 1))
    return here + (there - here) * part / step if is_linear else here


@pytest.mark.parametrize("number", range(6))
def test_packets_take_the_delay_that_was_recorded(tmp_path: Path, number: int) -> None:
    draw = random.Random(f"delays {number}")
    delays = [draw.choice(["0", "5", "24.5", "60", "61.25"]) for _ in range(draw.choice([1, 3, 40]))]
    step, is_linear, keeps_order = draw.choice([10, 100, 250]), number % 2 == 1, number % 3 == 1
    (tmp_path / "delays").write_text("".join(f"{ms}\n" for ms in delays), encoding="utf-8")
    keys = [
        'trace.delay.file = "delays"',
        f'trace.delay.step = "{step} ms"',
        f'trace.delay.between = "{"linear" if is_linear else "steps"}"',
        f"trace.delay.keeps-order = {str(keeps_order).lower()}",
        'delay = "7 ms"',
    ]
    sc = scenario(tmp_path, list(range(1, 400)), 1000, 1000, "", "\n".join(keys))
    left, came = rows(sc, "frame", "send"), rows(sc, "link", "receive")
    latest, overtaken = Fraction(0), 0
    for packet, at in left.items():
        departure = Fraction(round(at * 1e6), 10**6)
        arrival = departure + 7 + delayed(departure, delays, step, is_linear)
        arrival = max(arrival, latest) if keeps_order else arrival
        overtaken += arrival < latest
        latest = max(arrival, latest)
        if arrival < 2999:
            assert abs(came[packet] - float(arrival)) < 3e-6
    assert len(came) > 100
    # What had left by the end and had not arrived may have been overtaken, too.
    assert sc.run().metrics["links.cell.reordered"] in range(overtaken - len(left) + len(came), overtaken + 1)


class CellularQueue:
    """CellReplay's queue as its source has it, with exact times in milliseconds, above a `LinkQueue`."""

    def __init__(self, trains: list[list[int]], heavy: list[int], size: int, pause: int) -> None:
        self.trains, self.pause, self.size = trains, pause, size + TUN_HEADER
        self.heavy = LinkQueue(heavy, 10_000)
        self.base: Fraction | None = None
        self.began = self.last = self.end = Fraction(0)
        self.train = self.next = self.room = 0
        self.released: list[tuple[int, Fraction, bool]] = []

    def release(self, at: Fraction) -> tuple[Fraction, bool]:
        if self.base is None or at + self.base > self.last + self.pause:
            within = at % self.trains[-1][0]
            here = max(place for place, train in enumerate(self.trains[:-1]) if train[0] <= within)
            first, second = self.trains[here], self.trains[here + 1]
            part = (within - first[0]) / Fraction(second[0] - first[0])
            self.base = first[1] + (second[1] - first[1]) * part
            self.began, self.train, self.next, self.room = at, here, 0, OPPORTUNITY - self.size
            return at + self.base, True
        offsets = self.trains[self.train][2:]
        since = at - self.began
        while self.next < len(offsets) and since > offsets[self.next]:
            self.next, self.room = self.next + 1, OPPORTUNITY
        if self.room < self.size:
            self.next, self.room = self.next + 1, OPPORTUNITY
        self.room -= self.size
        if self.next >= len(offsets):
            return max(at + self.base, at + offsets[-1]), False
        return at + self.base + offsets[self.next] - since, True

    def read_packet(self, number: int, at: Fraction) -> None:
        self.last, is_light = self.release(at)
        release = max(self.last, self.end)
        self.released.append((number, release, is_light and release == self.last))
        self.end = release

    def departures(self) -> dict[int, Fraction]:
        """When each packet leaves: on release, or at an opportunity of the heavy link."""
        found = {}
        for number, release, bypasses in self.released:
            whole = -(-release.numerator // release.denominator) - (release.denominator > 1)
            self.heavy.rationalize(whole)
            is_empty = not self.heavy.queue and not self.heavy.left
            if bypasses and is_empty:
                found[number] = release
            else:
                self.heavy.queue.append((number, self.size))
        self.heavy.rationalize(10_000)
        return found | {number: Fraction(at) for number, at in self.heavy.departures.items()}


@pytest.mark.parametrize("number", range(8))
def test_packets_of_two_loads_leave_when_cellreplay_lets_them(tmp_path: Path, number: int) -> None:
    draw = random.Random(f"loads {number}")
    times = [0, *sorted(draw.sample(range(50, 2000), k=draw.choice([2, 20])))]
    trains = [
        [at, draw.randrange(60), *sorted(draw.choices(range(30), k=draw.choice([1, 5])))] for at in times
    ]
    heavy = sorted(draw.choices(range(1, 1500), k=draw.choice([100, 600])))
    size, pause = draw.choice([60, 748, 1500]), draw.choice([0, 0, 20])
    (tmp_path / "trains").write_text("".join(" ".join(map(str, train)) + "\n" for train in trains))
    keys = f'trace.light = {{ file = "trains", pause = "{pause} ms" }}'
    sc = scenario(tmp_path, heavy, size, 100_000, "", keys)
    queue = CellularQueue(trains, heavy, size, pause)
    for packet, at in rows(sc, "udp", "send").items():
        queue.read_packet(packet, Fraction(round(at * 1e6), 10**6))
    expected = queue.departures()
    left = rows(sc, "frame", "send")
    assert len(left) > 100
    for packet, at in left.items():
        assert abs(at - float(expected[packet])) < 3e-6, packet


@pytest.mark.parametrize(
    ("trains", "aqm", "said"),
    [
        ("0 20 0\n5 20\n", "", 'trains:2: "5 20"; expected milliseconds such as 120 35 0 2 4'),
        ("5 20 0\n5 20 0\n", "", 'trains:2: "5 20 0"; expected ascending times'),
        ("0 20 0\n", "", "trains:1: fewer than two lines; expected a train on each"),
        (
            "0 20 0\n9 20 0\n",
            "codel",
            "codel with trace.light, which delays packets first; expected no such queue",
        ),
    ],
)
def test_a_light_load_that_cannot_be_used_is_refused(
    tmp_path: Path, trains: str, aqm: str, said: str
) -> None:
    (tmp_path / "trains").write_text(trains, encoding="utf-8")
    with pytest.raises(lh.ScenarioError) as error:
        scenario(tmp_path, [1, 2], 1000, 10, aqm, 'trace.light.file = "trains"')
    assert said in str(error.value)
