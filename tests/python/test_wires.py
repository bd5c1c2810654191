"""Wires that police, reorder and duplicate packets, beside plain readings of their rules."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from pathlib import Path


class TokenBucket:
    """`tokens(t) = min(burst, tokens(t') + rate (t - t'))`, in exact fractions."""

    def __init__(self, rate_bps: int, burst: int) -> None:
        self.rate = Fraction(rate_bps, 8)
        self.burst = self.tokens = Fraction(burst)
        self.since = Fraction(0)

    def passes(self, size: int, now: Fraction) -> bool:
        self.tokens = min(self.burst, self.tokens + self.rate * (now - self.since))
        self.since = now
        if size > self.tokens:
            return False
        self.tokens -= size
        return True


def scenario(folder: Path, link: str, app: str, duration: str = "3 s") -> lh.Scenario:
    file = folder / "x.toml"
    file.write_text(
        f"""
[run]
duration = "{duration}"
[nodes]
a = {{}}
b = {{}}
[links.wire]
kind  = "wired"
nodes = ["a", "b"]
rate  = "1 Gbit/s"
delay = "20 ms"
queue = "unlimited"
{link}
[flows.main]
from = "a"
to   = "b"
app  = {app}
udp  = {{}}
""",
        encoding="utf-8",
    )
    return lh.load(file)


def rows(sc: lh.Scenario) -> list[dict[str, object]]:
    columns = sc.run(trace=["events"]).trace("events").columns
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("number", range(20))
def test_a_policer_passes_what_finds_its_bytes_in_the_bucket(tmp_path: Path, number: int) -> None:
    draw = random.Random(number)
    rate = draw.choice([64_000, 999_999, 2_000_000, 7_654_321])
    size = draw.choice([60, 500, 1500])
    burst = draw.choice([size, size + 1, 3000, 50_000])
    link = f'policer = {{ rate = "{rate} bit/s", burst = "{burst} B" }}'
    app = f'{{ kind = "poisson", poisson = {{ rate = "2 Mbit/s", packet = "{size - 28} B" }} }}'
    found = rows(scenario(tmp_path, link, app))
    bucket = TokenBucket(rate, burst)
    sent = {row["packet"]: row["time_s"] for row in found if (row["layer"], row["event"]) == ("udp", "send")}
    # The clock counts nanoseconds.
    times = {packet: Fraction(round(float(str(at)) * 1e9), 10**9) for packet, at in sent.items()}
    expected = {packet for packet, at in times.items() if bucket.passes(size, at)}
    taken = {row["packet"] for row in found if (row["layer"], row["event"]) == ("link", "queue")}
    dropped = {row["packet"] for row in found if row["why"] == "policer"}
    assert len(sent) > 100
    assert taken == expected
    assert dropped == set(sent) - expected


def test_each_gap_th_packet_is_sent_ahead_and_overtakes_what_is_in_transit(tmp_path: Path) -> None:
    link = 'reorder = { rate = "100 %", gap = 5, by = "7 ms" }'
    app = '{ kind = "cbr", cbr = { rate = "8 Mbit/s", packet = "1000 B" } }'
    found = rows(scenario(tmp_path, link, app, "1 s"))
    sent = [row["packet"] for row in found if (row["layer"], row["event"]) == ("udp", "send")]
    came = [row["packet"] for row in found if (row["layer"], row["event"]) == ("udp", "receive")]
    arrivals = {}
    for place, packet in enumerate(sent):
        # A packet a millisecond, and each fifth one takes 13 ms instead of 20.
        arrivals[packet] = place + (13 if place % 5 == 4 else 20)
    ties = {packet: place for place, packet in enumerate(sent)}
    expected = sorted(sent, key=lambda packet: (arrivals[packet], ties[packet]))
    assert came == expected[: len(came)]
    assert len(came) > 900


def test_a_copy_is_a_packet_of_its_own_in_events_and_accounts(tmp_path: Path) -> None:
    app = '{ kind = "cbr", cbr = { rate = "800 kbit/s", packet = "1000 B" } }'
    sc = scenario(tmp_path, 'duplicate.rate = "20 %"', app)
    found = rows(sc)
    copies = [row["packet"] for row in found if row["event"] == "copy"]
    received = [row["packet"] for row in found if (row["layer"], row["event"]) == ("udp", "receive")]
    assert 30 < len(copies) < 90
    assert len(set(received)) == len(received)
    assert set(copies[:-2]) < set(received)
    run = sc.run()
    assert run.metrics["links.wire.duplicated"] == len(copies)
    assert run.metrics["flows.main.packets_received"] == len(received) - len(set(copies) & set(received))


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (
            'policer.rate = "1 Mbit/s"',
            "links.wire.policer.burst: missing; expected a size in B, kB, MB or GB",
        ),
        ('reorder.rate = "1 %"\nreverse.delay = "0 s"', "links.wire.reverse.reorder.rate: no packet is in"),
        ('jitter.correlation = "10 %"', "links.wire.jitter.correlation: "),
        ('duplicate.rate = "101 %"', "links.wire.duplicate.rate: "),
        ('reorder = { rate = "1 %", gap = 0 }', "links.wire.reorder.gap: "),
    ],
)
def test_what_a_wire_cannot_do_is_refused_by_its_key(tmp_path: Path, link: str, message: str) -> None:
    with pytest.raises(lh.ScenarioError) as error:
        scenario(tmp_path, link, '{ kind = "cbr", cbr.rate = "1 Mbit/s" }')
    assert message in str(error.value)


def test_other_kinds_of_links_refuse_the_keys(tmp_path: Path) -> None:
    text = """
[run]
duration = "1 s"
[nodes]
a = {}
b = {}
[links.air]
kind  = "wifi"
nodes = ["a", "b"]
duplicate.rate = "1 %"
[flows.main]
from = "a"
to   = "b"
"""
    file = tmp_path / "x.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(lh.ScenarioError) as error:
        lh.load(file)
    assert "links.air.duplicate.rate: no point uses it; expected" in str(error.value)
    assert 'links.air.kind = "wired" or "lossy" or "trace"' in str(error.value)
