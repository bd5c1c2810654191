"""Flows over QUIC beside flows over TCP, and what does not change their results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop import _core

if TYPE_CHECKING:
    from pathlib import Path

#: Bytes of application data in a full packet, and of that packet on the wire: 1448 of 1500 over TCP; over
#: QUIC what a datagram of 1452 has without short header, tag and the head of a stream frame, of 1480.
SHARE = {"tcp": 1448 / 1500, "quic": 1419 / 1480}
#: Rate, delay of one direction and queue in packets.
CLEAN = [
    ("10 Mbit/s", "15 ms", 25),
    ("20 Mbit/s", "20 ms", 100),
    ("50 Mbit/s", "10 ms", 200),
    ("5 Mbit/s", "50 ms", 50),
]
LAWS = {"cubic": "cubic", "newreno": "reno"}
#: Our laws that QUIC gives what they need.
OURS = ["reno", "vegas", "veno", "westwood", "westwood-plus", "cubic", "bbr", "bbr3"]


def _path(rate: str, delay: str, queue: int, flows: str, *, loss: str = "0 %", duration: str = "40 s") -> str:
    return f"""
[run]
duration = "{duration}"
warmup = "5 s"
[nodes]
a = {{}}
b = {{}}
[links.wire]
kind = "lossy"
nodes = ["a", "b"]
rate = "{rate}"
delay = "{delay}"
queue = "{queue} packets"
loss = {{ model = "packet", rate = "{loss}", direction = "forward" }}
{flows}
"""


def _flow(transport: str, law: str, name: str = "main") -> str:
    keys = {
        "tcp": f'variant = "sack", congestion = "{LAWS[law]}"',
        "quic": f'congestion = "{law}"',
    }
    return f'[flows.{name}]\nfrom = "a"\nto = "b"\n{transport} = {{ {keys[transport]} }}\n'


def _run(text: str, replication: int = 0, *trace: str, pcap: Path | None = None) -> _core.Run:
    scenario = _core.Scenario.from_text(text, "quic.toml")
    captures = {"wire": str(pcap)} if pcap else {}
    return scenario.run(0, 1, replication, trace=list(trace), pcap=captures)


def _goodput(text: str, replications: int = 1) -> float:
    runs = [_run(text, number).metrics["flows.main.goodput_bps"] for number in range(replications)]
    return sum(value or 0.0 for value in runs) / replications


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("rate", "delay", "queue"), CLEAN)
def test_without_random_loss_quic_and_tcp_differ_by_their_headers(
    law: str, rate: str, delay: str, queue: int
) -> None:
    tcp, quic = (_goodput(_path(rate, delay, queue, _flow(kind, law))) for kind in ("tcp", "quic"))
    assert quic / tcp == pytest.approx(SHARE["quic"] / SHARE["tcp"], abs=0.004)


@pytest.mark.parametrize("loss", ["0.1 %", "1 %"])
@pytest.mark.parametrize("law", LAWS)
def test_under_random_loss_their_laws_give_goodputs_of_one_size(law: str, loss: str) -> None:
    """quinn's CUBIC is up to a packet ahead of its estimate of a Reno window, of about 12 packets at 1 %."""
    tcp, quic = (
        _goodput(_path("20 Mbit/s", "20 ms", 100, _flow(kind, law), loss=loss), 3) for kind in ("tcp", "quic")
    )
    assert 0.92 < quic / tcp < (1.25 if law == "cubic" else 1.06)


def _flow_of_ours(transport: str, law: str) -> str:
    keys = {"tcp": f'profile = "rfc", congestion = "{law}"', "quic": f'law = "{law}"'}
    return f'[flows.main]\nfrom = "a"\nto = "b"\n{transport} = {{ {keys[transport]} }}\n'


@pytest.mark.parametrize("law", OURS)
def test_a_law_of_ours_gives_quic_the_goodput_of_tcp_but_for_the_headers(law: str) -> None:
    tcp, quic = (
        _goodput(_path("20 Mbit/s", "20 ms", 100, _flow_of_ours(kind, law), duration="25 s"))
        for kind in ("tcp", "quic")
    )
    assert quic / tcp == pytest.approx(SHARE["quic"] / SHARE["tcp"], abs=0.004)


@pytest.mark.parametrize("law", ["reno", "cubic", "veno"])
def test_under_random_loss_it_is_as_near_to_tcp_of_the_rfcs(law: str) -> None:
    tcp, quic = (
        _goodput(_path("20 Mbit/s", "20 ms", 100, _flow_of_ours(kind, law), loss="1 %"), 3)
        for kind in ("tcp", "quic")
    )
    assert quic / tcp == pytest.approx(SHARE["quic"] / SHARE["tcp"], abs=0.08)


@pytest.mark.parametrize("law", ["jtcp", "ejtcp", "jersey", "dctcp", "prague"])
def test_a_law_that_needs_what_quic_does_not_carry_is_an_error(law: str) -> None:
    with pytest.raises(ValueError, match=rf"flows.main.quic.law: {law} needs .*; expected reno, vegas, "):
        _run(_path("20 Mbit/s", "20 ms", 100, _flow_of_ours("quic", law)))


def test_the_goodput_of_the_interop_runner_is_that_of_published_stacks() -> None:
    """10 MB over 10 Mbit/s with a round trip of 30 ms and a queue of 25 packets: 9.1 to 9.4 Mbit/s."""
    flow = (
        '[flows.main]\nfrom = "a"\nto = "b"\napp = { kind = "file", file = { size = "10 MB" } }\nquic = {}\n'
    )
    text = _path("10 Mbit/s", "15 ms", 25, flow).replace('warmup = "5 s"', "")
    metrics = _run(text).metrics
    assert 9.1e6 < (metrics["flows.main.transfer_bps"] or 0) < 9.6e6
    handshake = metrics["flows.main.handshake_s"] or 0
    assert 0.030 < handshake < 0.034, "one round trip and the time of its datagrams on the wire"
    assert (metrics["flows.main.acknowledged_s"] or 0) > (metrics["flows.main.completion_s"] or 0)


def test_beside_tcp_of_the_same_law_neither_starves() -> None:
    flows = _flow("tcp", "cubic", "cross") + _flow("quic", "cubic")
    metrics = _run(_path("10 Mbit/s", "15 ms", 25, flows, duration="60 s")).metrics
    shares = [metrics[f"flows.{name}.goodput_bps"] or 0 for name in ("main", "cross")]
    assert sum(shares) > 8.8e6
    assert min(shares) > 1.5e6


def test_results_are_equal_to_the_byte_in_each_run_and_whatever_is_traced(tmp_path: Path) -> None:
    text = _path("20 Mbit/s", "20 ms", 50, _flow("quic", "cubic") * 1, loss="1 %", duration="8 s")
    bare = _run(text)
    captures = [tmp_path / name for name in ("one.pcap", "other.pcap")]
    for capture, traces in zip(captures, [(), ("events", "cwnd", "rtt")], strict=True):
        assert _run(text, 0, *traces, pcap=capture).metrics == bare.metrics
    assert captures[0].read_bytes() == captures[1].read_bytes()
    plain = text.replace('warmup = "5 s"', 'warmup = "5 s"\nplain = true')
    assert _run(plain).metrics == bare.metrics
    assert _run(text, 1).metrics != bare.metrics


@pytest.mark.parametrize("kind", ["ftp", "web", "mail"])
def test_users_request_and_receive_over_quic_what_they_do_over_tcp(kind: str) -> None:
    def metrics(transport: str) -> dict[str, float | None]:
        flow = f'[flows.main]\nfrom = "a"\nto = "b"\napp = {{ kind = "{kind}" }}\n{transport}\n'
        return _run(_path("20 Mbit/s", "20 ms", 100, flow, duration="300 s")).metrics

    tcp, quic = metrics('tcp = { congestion = "cubic" }'), metrics("quic = {}")
    name = f"flows.main.class.{kind}.transfers_done"
    assert (quic[name] or 0) > 2
    assert quic[name] == pytest.approx(tcp[name], rel=0.1, abs=2)
    goodput = f"flows.main.class.{kind}.goodput_bps"
    assert quic[goodput] == pytest.approx(quic["flows.main.goodput_bps"])
    assert (quic["flows.main.segments_sent"] or 0) > 0


def test_a_user_has_the_handshake_of_its_first_connection_and_no_completion() -> None:
    app = 'app = { kind = "web", web = { reading = "1 s" } }'
    flow = f'[flows.main]\nfrom = "a"\nto = "b"\nquic = {{}}\n{app}\n'
    metrics = _run(_path("10 Mbit/s", "10 ms", 50, flow)).metrics
    assert (metrics["flows.main.class.web.transfers_done"] or 0.0) > 3
    assert (metrics["flows.main.handshake_s"] or 0.0) == pytest.approx(0.033, abs=0.002)
    # As over TCP.
    assert metrics["flows.main.completion_s"] is None
    assert metrics["flows.main.acknowledged_s"] is None


def test_a_queue_without_room_for_a_handshake_is_an_error() -> None:
    flow = '[flows.main]\nfrom = "a"\nto = "b"\nquic = {}\n'
    text = _path("10 Mbit/s", "10 ms", 50, flow)
    with pytest.raises(ValueError, match=r"1227 B cannot hold a packet of flows\.main"):
        _core.Scenario.from_text(text.replace("50 packets", "1227 B"), "quic.toml")
    metrics = _run(text.replace("50 packets", "1228 B")).metrics
    assert metrics["flows.main.handshake_s"] is not None


def test_what_waits_for_a_lost_frame_and_is_delivered_with_it_keeps_its_bytes() -> None:
    text = """
[run]
duration = "3 s"
[nodes]
s = {}
ap = {}
c = {}
[links.wire]
kind = "wired"
nodes = ["s", "ap"]
rate = "1 Gbit/s"
delay = "5 ms"
[links.air]
kind = "wifi"
nodes = ["ap", "c"]
access-point = "ap"
standard = "802.11ax"
loss = { model = "packet", rate = "5 %" }
[agents.lle]
kind = "lle-tcp"
flows = "all"
[flows.tcp]
from = "s"
to = "c"
[flows.main]
from = "s"
to = "c"
quic = { streams = 3 }
[flows.back]
from = "c"
to = "s"
app = { kind = "cbr", cbr = { rate = "1 Mbit/s" } }
quic = { datagrams = true }
"""
    metrics = _run(text).metrics
    assert (metrics["flows.main.goodput_bps"] or 0) > 10e6
    assert 0.9e6 < (metrics["flows.back.goodput_bps"] or 0) < 1.01e6


@pytest.mark.parametrize(
    "agent",
    [
        *("lle-tcp", "arq-proxy", "proxy-tcp", "snoop", "wtcp", "i-tcp", "m-tcp"),  # LLE-TCP's Table I
        *("ack-filter", "hack"),
    ],
)
def test_agents_see_datagrams_and_do_nothing(agent: str) -> None:
    def metrics(kind: str) -> dict[str, float | None]:
        text = f"""
[run]
duration = "4 s"
[nodes]
s = {{}}
ap = {{}}
c = {{}}
[links.wire]
kind = "wired"
nodes = ["s", "ap"]
rate = "100 Mbit/s"
delay = "5 ms"
[links.air]
kind = "wifi"
nodes = ["ap", "c"]
access-point = "ap"
standard = "802.11g"
loss = {{ model = "packet", rate = "1 %" }}
[agents.it]
kind = "{kind}"
[flows.main]
from = "s"
to = "c"
quic = {{}}
"""
        return _run(text).metrics

    with_agent, without = metrics(agent), metrics("none")
    flows = [name for name in without if not name.startswith("agents.")]
    assert {name: with_agent[name] for name in flows} == {name: without[name] for name in flows}


def _under(name: str, transport: str, settings: dict[str, str]) -> float:
    """The goodput over TCP or QUIC in a shipped scenario that has flows of both, of which one begins."""
    starts = {f"flows.{it}.app.start": "0 s" if it == transport else "9000 s" for it in ("tcp", "quic")}
    return lh.load(f"table1/{name}").set({**settings, **starts}).run().metrics["goodput_bps"] or 0.0


def test_aggregation_and_retransmissions_of_the_frn_serve_quic_as_they_serve_tcp() -> None:
    for name, durations, key, values in [
        ("quic-aggregation", ("1 s", "500 ms"), "links.air.aggregate.count", ("1", "64")),
        ("quic-frn", ("200 s", "20 s"), "links.frn.frn.max-retransmissions", ("0", "4")),
    ]:
        times = dict(zip(("run.duration", "run.warmup"), durations, strict=True))
        for transport in ("tcp", "quic"):
            without, with_it = (_under(name, transport, {**times, key: value}) for value in values)
            assert with_it > 6 * without > 0, (name, transport)


def test_dynamic_arq_orders_by_timers_that_quic_does_not_show() -> None:
    for transport in ("tcp", "quic"):
        fixed, dynamic = (
            _under("quic-arq", transport, {"run.duration": "30 s", "links.cell.arq.kind": kind})
            for kind in ("fixed", "dynamic")
        )
        assert dynamic == fixed if transport == "quic" else dynamic > 2 * fixed


def test_a_sender_that_asks_for_fewer_acknowledgements_gets_them() -> None:
    def per_packet(keys: str) -> float:
        flow = f'[flows.main]\nfrom = "a"\nto = "b"\nquic = {{ {keys} }}\n'
        return _run(_path("20 Mbit/s", "20 ms", 100, flow)).metrics["flows.main.acks_per_segment"] or 0.0

    assert per_packet("") == pytest.approx(1 / 2, abs=0.02)
    assert per_packet("ack-tolerance = 10") == pytest.approx(1 / 10, abs=0.02)
    assert per_packet("ack-tolerance = 32") == pytest.approx(1 / 32, abs=0.02)
    # 20 Mbit/s are 1.7 packets in a millisecond.
    assert per_packet('ack-tolerance = 32, ack-max-delay = "5 ms"') == pytest.approx(1 / 8.5, abs=0.03)


def test_the_largest_packets_without_discovery_leave() -> None:
    flow = '[flows.main]\nfrom = "a"\nto = "b"\nquic = { packet = "10799 B", mtu-discovery = false }\n'
    metrics = _run(_path("10 Mbit/s", "10 ms", 50, flow)).metrics
    assert (metrics["flows.main.goodput_bps"] or 0.0) > 9.5e6


def test_laws_of_ours_have_room_for_the_largest_datagrams_of_ip() -> None:
    keys = 'law = "reno", packet = "65507 B", mtu-discovery = false, datagrams = true'
    app = 'app = { kind = "cbr", cbr = { rate = "8 Mbit/s", packet = "65000 B" } }'
    flow = f'[flows.main]\nfrom = "a"\nto = "b"\nquic = {{ {keys} }}\n{app}\n'
    metrics = _run(_path("10 Mbit/s", "10 ms", 50, flow)).metrics
    assert metrics["flows.main.goodput_bps"] == pytest.approx(8e6, rel=0.01)


def test_a_large_window_of_a_stream_fills_a_long_path() -> None:
    keys = 'window = "200 MB", packet = "9000 B", mtu-discovery = false'
    app = 'app = { kind = "file", file = { size = "100 MB" } }'
    flow = f'[flows.main]\nfrom = "a"\nto = "b"\nquic = {{ {keys} }}\n{app}\n'
    metrics = _run(_path("10 Gbit/s", "500 ms", 100_000, flow)).metrics
    # The window doubles in each round trip: 100 MB take 14 of them.
    assert (metrics["flows.main.completion_s"] or 0.0) < 16


@pytest.mark.parametrize(
    ("flow", "error"),
    [
        ("quic = {}\ntcp = {}", "both tcp and quic; expected one of them"),
        ("quic = { timestamps = true }", "unknown key"),
        (
            'quic = { congestion = "bbr" }',
            'unknown law of the stack "bbr"; expected one of cubic, newreno, '
            "or instead of this key law, a law of tcp.congestion",
        ),
        ('quic = {}\nsink = { buffer = "1 MB" }', "a flow over tcp"),
        ('quic = {}\napp = { kind = "ping" }', "ping over quic; expected a source of kind bulk, file, cbr"),
        (
            'quic = { law = "reno", congestion = "cubic" }',
            "expected a flow over quic and a table without flows.main.quic.law",
        ),
        ("quic = { zero-rtt = true }", "a flow of one session resumes none"),
        ("quic = { datagrams = true }", "bulk data, a file or sessions over datagrams of quic"),
        (
            "quic = { datagrams = true }\n"
            'app = { kind = "cbr", cbr = { rate = "1 Mbit/s", packet = "1300 B" } }',
            "1300 B do not fit into a datagram with its headers; expected at most 1152 B",
        ),
        (
            'quic = { packet = "10800 B", mtu-discovery = false }',
            "10800 B do not fit into the first window, 12000 B; expected fewer than 10800 B",
        ),
        ('quic = { idle-timeout = "999 us" }', "expected at least 1 ms"),
    ],
)
def test_what_quic_lacks_is_an_error(flow: str, error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)):
        _core.Scenario.from_text(
            _path("10 Mbit/s", "10 ms", 50, f'[flows.main]\nfrom = "a"\nto = "b"\n{flow}\n'), "quic.toml"
        )
