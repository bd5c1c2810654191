"""Checking scenarios: every point is valid, fits the memory allowed, and follows theory.

With theory, each point is run a few times, and the rate at which Reno sends is compared with the full PFTK
model. The model gets the run's own round-trip time, first timeout and loss indications. The model describes a
flow that random loss alone limits. Flows that a link or the window limits are therefore shown and not judged,
and so are the other variants, which the model does not describe.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import digits
from lasthop.base.table import grid
from lasthop.scenario.budget import admit, largest
from lasthop.stats.intervals import Interval, interval
from lasthop.stats.theory import mathis, pftk
from lasthop.stats.wifi_today import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lasthop.scenario.scenario import Run, Scenario

# Up to 1 % loss indications the model is good to 10 %, up to 3 % to 15 %.
_TOLERANCES = ((0.0008, 0.012, 0.10), (0.012, 0.035, 0.15))


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The closed form of an 802.11n, ac, ax or be link at the first point.

    With the delays of a station that has one radio for several links, that of what goes to it on this one.
    """

    link: str
    mpdus: int
    udp_bps: float
    tcp_bps: float | None
    delays_us: tuple[float, float] | None = None

    def text(self) -> str:
        """One line."""
        if self.tcp_bps is None:
            delays = zip(("padding", "transition"), self.delays_us or (), strict=True)
            each = ", ".join(f"{name} delay {delay:g} us" for name, delay in delays)
            return (
                f"{self.link}: a saturated station with one radio for several links ({each}) has "
                f"{self.udp_bps / 1e6:.4g} Mbit/s of UDP payload in A-MPDUs of {self.mpdus} "
                "while the access point sends to it on this link (closed form, first point)"
            )
        return (
            f"{self.link}: one saturated station has {self.udp_bps / 1e6:.4g} Mbit/s of UDP payload in "
            f"A-MPDUs of {self.mpdus}, TCP over this link alone {self.tcp_bps / 1e6:.4g} Mbit/s "
            "(closed form, first point)"
        )


@dataclass(frozen=True, slots=True)
class Validity:
    """What checking a scenario found."""

    scenario: str
    points: int
    replications: int
    events: float
    memory_bytes: float
    warnings: tuple[str, ...]
    ceilings: tuple[Ceiling, ...]

    def text(self) -> str:
        """One line, and one for each link with a closed form."""
        ok = (
            f"ok: {self.scenario}: {self.points} points x {self.replications} replications; a run "
            f"has at most {self.events:.3g} events and {self.memory_bytes / 1e6:.3g} MB"
        )
        return "\n".join([ok, *(ceiling.text() for ceiling in self.ceilings)])

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def validate(scenario: Scenario) -> Validity:
    """Bound the cost of every point; raises at the first that is not valid."""
    every = range(len(scenario.points()))
    admit(scenario, every)
    bound = largest(scenario, every)
    return Validity(
        scenario.id,
        len(every),
        scenario.replications,
        bound.events,
        bound.memory_bytes,
        tuple(scenario.warnings),
        ceilings(scenario),
    )


def ceilings(scenario: Scenario) -> tuple[Ceiling, ...]:
    """The closed forms of the links with EDCA; of none whose constants are not those of the form."""
    values = {key: entry["value"] for key, entry in scenario.resolved().items()}
    found = []
    for key in values:
        if not key.startswith("links.") or not key.endswith(".mcs"):
            continue
        link = key.removesuffix(".mcs")

        def number(name: str, link: str = link) -> float:
            return scenario.numeric(f"{link}.{name}", values[f"{link}.{name}"]) or 0.0

        # Numbers without their noise: 0.8 us is 0.7999... times a millionth.
        times = {name: round(1e6 * number(name), 3) for name in ("slot", "sifs", "edca.best-effort.txop")}
        ways = (values.get(f"{link}.ofdma.{way}", "none") for way in ("scheduler", "uplink"))
        is_shared = any(way != "none" for way in ways)
        if list(times.values()) != [9.0, 16.0, 0.0] or is_shared:
            continue
        cell = Cell(
            values[f"{link}.standard"],
            int(number("mcs")),
            round(number("width") / 1e6),
            round(1e6 * number("guard-interval"), 3),
            int(number("streams")),
            count=int(min(number("aggregate.count"), number("block-ack.window"))),
            aifsn=int(number("edca.best-effort.aifsn")),
            cw_min=int(number("edca.best-effort.cw-min")),
            window=int(number("block-ack.window")),
            most_bytes=number("aggregate.bytes"),
            longest=1e6 * number("aggregate.time"),
        )
        stations = [
            delays
            for node in json.loads(values[f"{link}.nodes"])
            if node != values.get(f"{link}.access-point")
            for delays in _single_radios(scenario, values, f"nodes.{node}.wifi")
        ]
        if None in stations:
            found.append(Ceiling(link, cell.mpdus, cell.goodput_bps, cell.tcp_goodput_bps))
        found.extend(
            Ceiling(link, cell.mpdus, cell.single_radio_bps(*delays), None, delays)
            for delays in sorted({delays for delays in stations if delays is not None})
        )
    return tuple(found)


def _single_radios(
    scenario: Scenario, values: Mapping[str, str], own: str
) -> list[tuple[float, float] | None]:
    """Padding and transition delay in us of each station of a table, or none with a radio for each link."""

    def members(name: str) -> list[str]:
        text = values.get(f"{own}.{name}", "str")
        return json.loads(text) if text.startswith("[") else [text]

    names = ("multi-link", "emlsr.padding-delay", "emlsr.transition-delay")
    columns = [members(name) for name in names]
    found: list[tuple[float, float] | None] = []
    for place in range(max(map(len, columns))):
        kind, *delays = (column[place % len(column)] for column in columns)
        if kind != "emlsr":
            found.append(None)
            continue
        times = (
            scenario.numeric(f"{own}.{name}", delay) for name, delay in zip(names[1:], delays, strict=True)
        )
        padding, transition = (round(1e6 * (time or 0.0), 3) for time in times)
        found.append((padding, transition))
    return found


@dataclass(frozen=True, slots=True)
class Theory:
    """One flow at one point and the closed forms; rates in packets per second."""

    point: dict[str, str]
    flow: str
    variant: str
    p: float
    rtt_s: float
    t0_s: float
    sent: Interval
    goodput: float
    pftk: float
    mathis: float
    tolerance: float | None
    remark: str

    @property
    def off(self) -> float:
        """How far the measured rate is from the model, as a share of the model."""
        return (self.sent.mean or 0.0) / self.pftk - 1

    @property
    def missed(self) -> bool:
        """Whether a judged rate is out of its tolerance."""
        return self.tolerance is not None and abs(self.off) > self.tolerance

    @property
    def verdict(self) -> str:
        """`agrees` or `differs` where the model applies, else why it does not."""
        if self.tolerance is None:
            return self.remark
        return f"{'differs' if self.missed else 'agrees'} (tolerance {self.tolerance:.0%})"

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {**asdict(self), "off": self.off, "missed": self.missed}


def theory(
    scenario: Scenario, where: Sequence[str], replications: int, tolerance: float | None = None
) -> list[Theory]:
    """Run the chosen points and compare every bulk TCP flow with the closed forms."""
    found = []
    for point in scenario.select(where):
        runs = [scenario.run(replication=r, point=point) for r in range(replications)]
        for flow, table in scenario.flows(point).items():
            line = _compare(scenario, point, flow, table, runs, tolerance)
            if line is not None:
                found.append(line)
    return found


def _compare(
    scenario: Scenario, point: int, flow: str, table: str, runs: list[Run], tolerance: float | None
) -> Theory | None:
    values = {key: entry["value"] for key, entry in scenario.resolved(point).items()}
    of, keys = f"flows.{flow}", f"flows.{table}"

    def setting(name: str) -> float | None:
        return scenario.numeric(f"{keys}.{name}", values[f"{keys}.{name}"])

    def mean(name: str) -> float | None:
        return interval([run.metrics.get(f"{of}.{name}") for run in runs]).mean

    if values.get(f"{keys}.app.kind") != "bulk" or f"{keys}.tcp.packet" not in values:
        return None
    packet, window = setting("tcp.packet") or 0.0, setting("tcp.window") or 0.0
    indications, segments = mean("loss_indications"), mean("segments_sent")
    rtt, t0 = mean("rtt_mean_s"), mean("timeout_first_mean_s")
    if not indications or not segments or not rtt:
        return None
    warmup = scenario.numeric("run.warmup", values["run.warmup"]) or 0.0
    sent = interval([(r.metrics[f"{of}.segments_sent"] or 0.0) / (r.simulated_s - warmup) for r in runs])
    counted = values.get(f"{keys}.tcp.acks") == "delayed"
    p, b = indications / segments, (setting("tcp.ack-every") or 1.0) if counted else 1.0
    recovery = values.get(f"{keys}.tcp.recovery", "")
    remark = _inapplicable(runs, of, window, recovery, values.get(f"{keys}.tcp.congestion", ""), p)
    if not counted:
        remark = "not judged: the model assumes a fixed number of segments per acknowledgement"
    judged = next((t for low, high, t in _TOLERANCES if low <= p <= high), None)
    # Without a timeout in any run its length does not matter; the floor replaces it.
    t0 = t0 or setting("tcp.min-rto") or 1.0
    return Theory(
        scenario.points()[point],
        flow,
        values.get(f"{keys}.tcp.variant") or recovery,
        p,
        rtt,
        t0,
        sent,
        (mean("goodput_bps") or 0.0) / 8 / packet,
        pftk(p, rtt, t0, b, window),
        mathis(p, rtt, b),
        (tolerance or judged) if not remark else None,
        remark or "",
    )


def _inapplicable(runs: list[Run], of: str, window: float, recovery: str, congestion: str, p: float) -> str:
    """Why the model does not describe a flow; empty if it does."""
    if recovery != "reno" or congestion != "reno":
        return "not judged: the model is for Reno"
    busiest = max(
        value or 0.0
        for run in runs
        for name, value in run.metrics.items()
        if name.startswith("links.") and name.endswith(".utilisation")
    )
    if busiest > 0.7:
        return f"not judged: a link is {busiest:.0%} busy"
    largest_mean = max(run.metrics.get(f"{of}.cwnd_mean_segments") or 0.0 for run in runs)
    if largest_mean > window / 3:
        return "not judged: limited by the window"
    if not _TOLERANCES[0][0] <= p <= _TOLERANCES[-1][1]:
        return f"not judged: loss {p:.2%} is outside 0.1 % to 3 %"
    return ""


def theory_text(lines: list[Theory]) -> str:
    """A table of flows and the closed forms."""
    rows = []
    for line in lines:
        place = ", ".join(line.point.values())
        half = digits(line.sent.half, 2)
        rows.append(
            [
                place,
                line.flow,
                line.variant,
                f"{line.p:.3%}",
                digits(line.rtt_s * 1e3),
                digits(line.t0_s * 1e3),
                f"{digits(line.sent.mean)} ± {half}",
                digits(line.goodput),
                digits(line.pftk),
                digits(line.mathis),
                f"{line.off:+.1%}",
                line.verdict,
            ]
        )
    head = "point|flow|tcp|p|RTT ms|T0 ms|sent/s|delivered/s|PFTK/s|Mathis/s|difference|verdict"
    return grid(head.split("|"), rows)
