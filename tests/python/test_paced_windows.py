"""Windows, paces and round trips of TCP at its edges, beside what Linux 6.18 does on the same paths.

The numbers of Linux are of its own TCP over these paths in real time (Reno with `fq` for the paces).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from lasthop import _core

if TYPE_CHECKING:
    from pathlib import Path

NODES = "[nodes]\na = {}\nb = {}\n"


def _over(link: str, tcp: str, *, duration: str, app: str = "{}") -> str:
    flow = f'[flows.up]\nfrom = "a"\nto = "b"\napp = {app}\ntcp = {{ {tcp} }}\n'
    return f'[run]\nduration = "{duration}"\n{NODES}[links.wire]\nnodes = ["a", "b"]\n{link}\n{flow}'


def _wire(rate: str, delay: str, more: str = "") -> str:
    return f'kind = "lossy"\nrate = "{rate}"\ndelay = "{delay}"\nqueue = "1000 packets"\n{more}'


def _recorded(forward: str, reverse: str, more: str) -> str:
    return (
        f'kind = "trace"\ndelay = "20 ms"\nqueue = "1000 packets"\ntrace = {{ file = "{forward}" }}\n'
        f'reverse = {{ trace = {{ file = "{reverse}" }} }}\n{more}'
    )


def _run(text: str, file: Path, *traces: str) -> _core.Run:
    scenario = _core.Scenario.from_text(text, str(file))
    return scenario.run(0, scenario.seed, 0, trace=list(traces))


def _window(run: _core.Run, at_s: float) -> tuple[float, float]:
    """The window and the threshold at this time, in segments."""
    rows = run.trace("cwnd")
    place = sum(time <= at_s for time in rows["time_s"]) - 1
    return float(rows["cwnd"][place]), float(rows["ssthresh"][place])


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    opportunities = {
        "each": [1],
        "batch": [10] * 40,
        "wide": [1] * 10,
        "stall": [*range(1, 2001), *range(2600, 10_001)],
    }
    for name, times in opportunities.items():
        (tmp_path / f"{name}.trace").write_text("".join(f"{time}\n" for time in times), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("variant", ["sack", "newreno", "cubic"])
@pytest.mark.parametrize("profile", ["modern", "rfc"])
def test_paced_and_unpaced_windows_grow_alike_where_the_pace_is_not_the_limit(
    folder: Path, profile: str, variant: str
) -> None:
    """Acknowledgements come forty at a time, so that a paced window is seldom full when one does."""
    lost = 'loss = { model = "list", list = { drop = [60] } }'
    windows = {}
    for pacing in ("auto", "on"):
        tcp = f'profile = "{profile}", variant = "{variant}", pacing = "{pacing}"'
        text = _over(_recorded("each.trace", "batch.trace", lost), tcp, duration="10 s")
        run = _run(text, folder / "case.toml", "cwnd")
        windows[pacing] = [_window(run, at_s)[0] for at_s in (5.0, 9.99)]
    for paced, free in zip(windows["on"], windows["auto"], strict=True):
        assert math.isclose(paced, free, rel_tol=0.1), windows
    if (profile, variant) == ("modern", "sack"):
        # Linux, paced or not.
        assert windows["on"] == windows["auto"] == [101.0, 142.0]


def test_a_paced_window_grows_over_a_link_that_aggregates(tmp_path: Path) -> None:
    link = 'kind = "wifi"\naccess-point = "a"\nstandard = "802.11n"\nqueue = "1000 packets"'
    windows = []
    for pacing in ("auto", "on"):
        text = _over(link, f'variant = "cubic", pacing = "{pacing}"', duration="5 s")
        windows.append(_window(_run(text, tmp_path / "case.toml", "cwnd"), 4.99)[0])
    assert windows[1] > 0.8 * windows[0], windows


@pytest.mark.parametrize("size_b", [500, 1000, 1448, 2000])
def test_less_than_a_segment_that_waits_leaves_the_application_the_limit(tmp_path: Path, size_b: int) -> None:
    """Linux: `tcp_rate_check_app_limited`. Who is limited by the application does not find the path full."""
    app = f'{{ kind = "cbr", cbr = {{ rate = "1 Mbit/s", packet = "{size_b} B" }} }}'
    text = _over(_wire("100 Mbit/s", "20 ms"), 'variant = "bbr3"', duration="20 s", app=app)
    assert _run(text, tmp_path / "case.toml").metrics["flows.up.bbr3.bandwidth_probes"] == 0


SPACED = (
    'variant = "prague"',
    'variant = "sack", pacing = "on"',
    'variant = "cubic", pacing = "on", small-queue = "1 ms"',
    'profile = "rfc", pacing = "on"',
    'profile = "rfc", timestamps = false, pacing = "on"',
)
NS2 = 'profile = "ns2-2004", window = "200 segments", pacing = "on"'
"""Its least timeout of a second is another limit where segments are lost."""


@pytest.mark.parametrize(
    ("tcp", "loss"), [*((tcp, loss) for tcp in SPACED for loss in ("0 %", "0.1 %")), (NS2, "0 %")]
)
def test_a_round_trip_below_the_tick_of_the_clock_does_not_bound_the_pace(
    tmp_path: Path, tcp: str, loss: str
) -> None:
    """Linux keeps microseconds, whatever the unit of its timestamps."""
    link = _wire("1 Gbit/s", "10 us", f'loss = {{ rate = "{loss}" }}')
    metrics = _run(_over(link, tcp, duration="2 s"), tmp_path / "case.toml").metrics
    assert (metrics["flows.up.goodput_bps"] or 0) > 0.9e9


@pytest.mark.parametrize("undo", ["both", "dsack"])
def test_marks_in_a_spurious_timeout_keep_the_window_down(folder: Path, undo: str) -> None:
    """A link stands still for 0.6 s and marks what waited for 0.3 s; Linux ends with a threshold of 2."""
    codel = 'codel = { target = "5 s", interval = "10 s", ce-threshold = "300 ms" }'
    marks = f'[links.wire.aqm]\nlaw = "codel"\n{codel}'
    # With a probe instead of the timeout there would be nothing to undo.
    tcp = f'variant = "sack", ecn = "classic", undo = "{undo}", tail-loss-probe = false'
    text = _over(_recorded("stall.trace", "wide.trace", marks), tcp, duration="5 s")
    run = _run(text, folder / "case.toml", "cwnd")
    before, after = _window(run, 2.5), _window(run, 3.0)
    assert before[0] > 100
    assert after[0] <= 4
    assert after[1] == 2.0
    assert _window(run, 4.99)[0] < 0.5 * before[0]
