"""lasthop itself against the packet scripts, and event by event against the reference model."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import lasthop._core as core
import packet_script
from conftest import SOAK
from reference_sender import Event
from reference_tcp import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPTS = packet_script.read_all()
#: What the reference model does not have.
MODERN = packet_script.read_all("modern")
RANDOM_CASES = 1_200 if SOAK else 40


def lasthop_trace(script: packet_script.Script) -> list[Event]:
    """The `tcp` trace of one run, in order."""
    scenario = core.Scenario.from_text(script.scenario(), f"{script.name}.toml")
    columns = scenario.run(point=0, seed=1, replication=0, trace=["tcp"]).trace("tcp")
    return [
        Event(float(t), str(event), int(seq), int(length), int(ack), float(cwnd), float(ssthresh))
        for t, event, seq, length, ack, cwnd, ssthresh in zip(
            *(columns[name] for name in Event._fields), strict=True
        )
    ]


def reference_trace(script: packet_script.Script) -> list[Event]:
    return simulate(script.options(), script.reference_path(), script.until_s)


def assert_same(found: Sequence[Event], expected: Sequence[Event], payload: int) -> None:
    """Event by event: order, segment, windows to 1e-6, time to 1 µs."""
    for index, (ours, reference) in enumerate(zip(found, expected, strict=False)):
        context = "\n".join(
            packet_script.show(event, payload) for event in expected[max(0, index - 12) : index]
        )
        message = (
            f"{context}\nlasthop:   {packet_script.show(ours, payload)}"
            f"\nreference: {packet_script.show(reference, payload)}"
        )
        about = "seq" if reference.event in ("send", "resend") else "ack"
        assert ours.event == reference.event, message
        assert getattr(ours, about) == getattr(reference, about), message
        assert ours.cwnd == pytest.approx(reference.cwnd, abs=1e-6), message
        assert ours.ssthresh == pytest.approx(reference.ssthresh, abs=1e-6), message
        assert ours.time_s == pytest.approx(reference.time_s, abs=1e-6), message
    assert len(found) == len(expected)


@pytest.mark.parametrize("script", SCRIPTS + MODERN, ids=lambda script: script.name)
def test_lasthop_follows_script(script: packet_script.Script) -> None:
    packet_script.check(script, lasthop_trace(script))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_lasthop_and_reference_model_agree_on_script(script: packet_script.Script) -> None:
    assert_same(lasthop_trace(script), reference_trace(script), script.payload)


def random_script(number: int) -> packet_script.Script:
    """A random case: up to eight drops anywhere, any variant and switches."""
    rng = random.Random(number)
    variant = ("tahoe", "reno", "newreno", "sack", "fack")[number % 5]
    tcp: dict[str, Any] = packet_script.DEFAULTS | {
        "packet": rng.choice(["960 B", "500 B", "1448 B"]),
        "window": f"{rng.choice([4, 8, 20, 64])} segments",
        "initial-window": f"{rng.randint(1, 12)} segments",
        "initial-ssthresh": rng.choice(["none", "4 segments", "12 segments"]),
        "min-rto": rng.choice(["200 ms", "1 s"]),
        "limited-transmit": rng.random() < 0.5,
        "timestamps": rng.random() < 0.3,
    }
    if variant == "newreno":
        tcp["newreno"] = {"retransmit-timer": rng.choice(["impatient", "slow-but-steady"])}
    if variant == "sack":
        tcp["lost-retransmission"] = rng.choice(["timer", "overtaken"])
    last = rng.choice([20, 40, 120])
    return packet_script.Script(
        name=f"random-{number}",
        title=f"random case {number}",
        variant=variant,
        drops=tuple(sorted(rng.sample(range(1, last), rng.randint(1, 8)))),
        tcp=tcp,
        path={
            "rate": f"{rng.choice([2, 8, 50])} Mbit/s",
            "delay": f"{rng.choice([5, 49, 130])} ms",
            "start": "0 s",
            "until": "8 s",
        },
        lines=(),
    )


@pytest.mark.parametrize("number", range(RANDOM_CASES))
def test_lasthop_and_reference_model_agree_on_random_losses(number: int) -> None:
    script = random_script(number)
    assert_same(lasthop_trace(script), reference_trace(script), script.payload)
