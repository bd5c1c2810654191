"""QUIC of noq over one path and over two: what each path carries, and what happens when one fails."""

from __future__ import annotations

import functools

import pytest

import lasthop as lh

#: Rates of the two paths.
WIFI, CELL = 20e6, 10e6
#: Data in a datagram of noq in the packets of the wire: the connection has both; the rest are headers.
SHARE = 1416 / 1480


def _scenario(quic: str, *, outages: str = "", app: str = "", to: str = "wifi") -> lh.Scenario:
    text = f"""
[run]
duration = "15 s"
warmup = "{"0 s" if app else "5 s"}"
[nodes]
server = {{}}
wifi = {{}}
cell = {{}}
far = {{}}
sta = {{ count = 2 }}
[links.wlan]
kind = "wired"
nodes = ["server", "wifi"]
rate = "20 Mbit/s"
delay = "20 ms"
queue = "100 packets"
{outages}
[links.lte]
kind = "wired"
nodes = ["server", "cell"]
rate = "10 Mbit/s"
delay = "30 ms"
queue = "100 packets"
[flows.main]
from = "server"
to = "{to}"
{app}
quic = {{ {quic} }}
"""
    return lh.Scenario.from_text(text, "multipath.toml")


BOTH = 'stack = "noq", second = "cell"'
FILE = 'app = { kind = "file", file = { size = "15 MB" } }'


@functools.cache
def _bulk() -> lh.Run:
    return _scenario(BOTH).run(trace=["cwnd", "rtt"])


def _of(run: lh.Run, name: str) -> float:
    value = run.metrics[f"flows.main.{name}"]
    assert value is not None, name
    return value


def test_two_paths_carry_the_sum_of_what_each_carries() -> None:
    """But for the headers, and 1 % for what a path loses of its rate while the other one is chosen."""
    assert _of(_bulk(), "goodput_bps") == pytest.approx((WIFI + CELL) * SHARE, rel=0.01)


def test_each_path_has_the_throughput_of_its_link_and_its_own_round_trip_and_window() -> None:
    run = _bulk()
    for path, rate, least in (("wifi", WIFI, 0.040), ("cell", CELL, 0.060)):
        assert _of(run, f"paths.{path}.throughput_bps") == pytest.approx(rate, rel=0.01)
        assert _of(run, f"paths.{path}.share") == pytest.approx(rate / (WIFI + CELL), abs=0.01)
        # The queue of 100 packets is at most as long as it drains.
        assert least < _of(run, f"paths.{path}.rtt_mean_s") < least + 100 * 1500 * 8 / rate + 0.03
        # Little's law: a window in a round trip.
        # What has left by a path in 10 s carries its throughput.
        assert _of(run, f"paths.{path}.segments_sent") * 1480 * 8 / 10 == pytest.approx(rate, rel=0.02)
        window = _of(run, f"paths.{path}.cwnd_mean_segments") * 1480 * 8
        assert window / _of(run, f"paths.{path}.rtt_mean_s") == pytest.approx(rate, rel=0.1)
    for name in ("segments_sent", "packets_lost", "cwnd_mean_segments"):
        both = sum(_of(run, f"paths.{path}.{name}") for path in ("wifi", "cell"))
        assert both == pytest.approx(_of(run, name))


def test_the_traces_have_each_path_beside_the_flow() -> None:
    run = _bulk()
    trips = run.trace("rtt")
    of = {name: [i for i, flow in enumerate(trips["flow"]) if flow == name] for name in set(trips["flow"])}
    paths = ["main.paths.wifi", "main.paths.cell"]
    assert {*paths, "main"} <= set(of)
    assert sum(len(of[name]) for name in paths) == len(of["main"])
    windows = run.trace("cwnd")
    last = dict(zip(windows["flow"], windows["cwnd"], strict=True))
    assert sum(last[name] for name in paths) == pytest.approx(last["main"])


def test_results_are_equal_run_after_run_traced_or_not() -> None:
    again = _scenario(BOTH).run()
    assert again.metrics == _bulk().metrics


def test_one_path_of_noq_carries_what_quinn_does_to_within_its_longer_header() -> None:
    quinn, noq = (_of(_scenario(f'stack = "{stack}"').run(), "goodput_bps") for stack in ("quinn", "noq"))
    assert noq == pytest.approx(quinn, rel=0.004)


@pytest.mark.parametrize("length", ["2 s", "10 s"])
def test_a_transfer_completes_by_the_other_path_while_one_has_an_outage(length: str) -> None:
    outages = f'outages = {{ law = "script", script = "{length} at 2 s" }}'
    one = _scenario('stack = "noq"', outages=outages, app=FILE).run().metrics["flows.main.completion_s"]
    run = _scenario(f'{BOTH}, path-idle-timeout = "500 ms"', outages=outages, app=FILE).run()
    # A share of two thirds and one third alone would take 4 s and 12 s of a path.
    assert _of(run, "completion_s") < (one or 15.0) - 1.0
    assert _of(run, "completion_s") < 12.5
    assert _of(run, "paths.cell.share") > 0.4


def test_a_path_is_used_again_after_its_outage() -> None:
    run = _scenario(
        f'{BOTH}, path-idle-timeout = "500 ms"', outages='outages = { law = "script", script = "2 s at 1 s" }'
    ).run()
    assert _of(run, "paths.wifi.throughput_bps") == pytest.approx(WIFI, rel=0.02)


def test_sessions_of_a_user_go_by_both_paths() -> None:
    """The receiver opens connections, and paths from its second interface. None ends by a change of keys."""
    app = 'app = { kind = "ftp", ftp = { size = "1 MB", pause = "200 ms" } }'
    run = _scenario(BOTH, app=app).run()
    assert run.transfers["done"].count(True) > 10
    assert 0.1 < _of(run, "paths.cell.share") < 0.4


@pytest.mark.parametrize(
    ("quic", "to", "said"),
    [
        ('stack = "noq", second = "far"', "wifi", 'second: no path from "server" to "far"; expected links'),
        ('stack = "noq", second = "sta"', "wifi", 'second: "sta" is a group; expected one node'),
        (BOTH, "cell", 'flows.main.quic.second: "cell" is also the receiver; expected another node'),
        (
            'stack = "noq", second = "server"',
            "wifi",
            'second: "server" is also the sender; expected another node',
        ),
        ('stack = "noq", second = "cel"', "wifi", 'second: unknown node "cel"; did you mean "cell"?'),
        ('stack = "quinn", second = "cell"', "wifi", "second: .*stack"),
        ('stack = "noq", zero-rtt = true', "wifi", "quic.zero-rtt: 0-RTT over noq; expected false, or quinn"),
        (
            f'{BOTH}, window = "2 MB"',
            "wifi",
            "quic.window: 2000000 B over two paths, .*; expected at most 1486848 B",
        ),
        ('stack = "noq", law = "bbr"', "wifi", "quic.law: a law of tcp.congestion over noq; expected"),
    ],
)
def test_what_cannot_be_is_an_error_with_its_line(quic: str, to: str, said: str) -> None:
    with pytest.raises(lh.ScenarioError, match=rf"multipath.toml:\d+: .*{said}"):
        _scenario(quic, to=to).check()
