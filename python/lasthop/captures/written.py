"""The text of a scenario made of a capture: each value with its interval, and from how much it was found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lasthop.base.quantity import digits
from lasthop.captures.channel import NOISE_DBM
from lasthop.captures.exchanges import duration
from lasthop.captures.radiotap import Mode
from lasthop.captures.traffic import SERVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lasthop.captures.network import Network
    from lasthop.captures.quantities import Measured
    from lasthop.captures.traffic import Flow, Traffic
    from lasthop.stats.intervals import Interval

WARMUP_S = 1.0
"""The time before a fitted scenario is measured, in which its flows begin."""

# What a sender that always has a packet is given above what it sent, so that it always has one.
_MORE = 1.25
# A share of the airtime of others that is worth stations of their own.
_OTHERS = 0.01
_LONGEST_PAYLOAD = 1472
_HEADERS = 64
_CATEGORIES = {0: "best-effort", 3: "best-effort", 1: "background", 2: "background", 4: "video", 5: "video"}


def scenario_text(title: str, network: Network, measured: Measured, traffic: Traffic) -> str:
    """A scenario like the capture; it is not yet checked."""
    has_server = any(SERVER in (flow.source, flow.target) for flow in traffic.flows)
    others = _others(network)
    parts = [
        _head(title, network, traffic),
        _nodes(network, has_server=has_server, has_others=others is not None),
        *([_wire(traffic)] if has_server else []),
        _air(network, measured, has_others=others is not None),
        _flows(network, measured, traffic),
        *([_others_flow(others)] if others else []),
    ]
    return "\n".join("\n".join(line.rstrip() for line in part) + "\n" for part in parts)


def _head(title: str, network: Network, traffic: Traffic) -> list[str]:
    left = f" Flows with {traffic.left_out:.1%} of the payload are left out." if traffic.left_out > 0 else ""
    return [
        f"# Made by lasthop fit of {network.seen.frames} frames in {network.span_s:.2f} s.{left}",
        "# A value with a comment was measured: its 95 % interval, and from how much. The others are chosen.",
        "",
        f'title = "A Wi-Fi link like that of {title}"',
        "",
        "[run]",
        'duration = "11 s"',
        f'warmup   = "{WARMUP_S:g} s"',
    ]


def _nodes(network: Network, *, has_server: bool, has_others: bool) -> list[str]:
    lines = ["[nodes]"]
    width = max(map(len, network.names.values()))
    usual = _usual_modes(network)
    for address, name in network.names.items():
        own = usual.get(address)
        of_station = "{}" if own is None or own == _link_mode(network) else _of_station(network, own)
        lines.append(f"{name:{width}} = {of_station}  # {address.hex(':')}")
    lines += [f"{SERVER} = {{}}"] if has_server else []
    lines += [f"{name} = {{}}" for name in ("other1", "other2") if has_others]
    return lines


def _of_station(network: Network, mode: Mode) -> str:
    if not network.has_aggregates:
        return f'{{ wifi.rate = "{mode.rate:g} Mbit/s" }}'
    link = _link_mode(network)
    values = [f"mcs = {mode.mcs}"]
    values += [f'width = "{mode.width} MHz"'] if mode.width < link.width else []
    values += [f"streams = {mode.streams}"] if mode.streams < link.streams else []
    return f"{{ wifi = {{ {', '.join(values)} }} }}"


def _usual_modes(network: Network) -> dict[bytes, Mode]:
    """The mode of most frames of data to and from each station."""
    found: dict[bytes, Counter[Mode]] = {}
    for ppdu in network.data:
        for address in (ppdu.first.sender, ppdu.first.receiver):
            if address is not None and address != network.access_point:
                found.setdefault(address, Counter())[ppdu.first.mode] += len(ppdu.frames)
    return {address: modes.most_common(1)[0][0] for address, modes in found.items()}


def _link_mode(network: Network) -> Mode:
    """The fastest of the stations' modes, as values of the link."""
    usual = list(_usual_modes(network).values())
    if not network.has_aggregates:
        return max(usual, key=lambda mode: mode.rate)
    modern = [mode for mode in usual if not mode.is_legacy] or [Mode(network.standard)]
    best = max(modern, key=lambda mode: (mode.mcs, mode.width, mode.streams))
    width, streams = max(m.width for m in modern), max(m.streams for m in modern)
    return best._replace(width=width, streams=streams)


def _wire(traffic: Traffic) -> list[str]:
    delay = f'delay = "{(traffic.beyond_s or 0) / 2 * 1e3:.3f} ms"'
    of = f"  # half the least echo of {traffic.echoes} timestamps of TCP" if traffic.beyond_s else ""
    ends = f'nodes = ["{SERVER}", "ap"]'
    return ["[links.wire]", 'kind  = "wired"', ends, 'rate  = "1 Gbit/s"', f"{delay}{of}"]


def _air(network: Network, measured: Measured, *, has_others: bool) -> list[str]:
    names = list(network.names.values()) + (["other1", "other2"] if has_others else [])
    point = "none" if network.access_point is None else "ap"
    lines = [
        "[links.air]",
        'kind         = "wifi"',
        f"nodes        = [{', '.join(map(_quoted, names))}]",
        f'access-point = "{point}"',
        f'standard     = "{network.standard}"  # by the rates of {len(network.data)} transmissions',
    ]
    lines += _modern(network, measured) if network.has_aggregates else _legacy(network, measured)
    lines += _protection(network)
    if measured.ratio is not None and measured.ratio.mean is not None:
        found = measured.ratio
        power = f'flat-power = "{NOISE_DBM + (found.mean or 0):.2f} dBm"'
        lines.append('radio        = "ns3"')
        lines.append(f'propagation  = {{ model = "flat", {power} }}  # {_interval(found, "dB")} above the noise')
        return lines
    loss = measured.loss
    of = ', of = "packets"' if _spares_answers(measured) else ""
    rate = digits((loss.mean or 0) * 100)
    lines.append(f'loss         = {{ model = "packet", rate = "{rate} %"{of} }}  # {_interval(loss, "%")}')
    return lines


def _spares_answers(measured: Measured) -> bool:
    """Whether answers are lost less often than data."""
    lost, low = measured.answers_lost.high, measured.loss.low
    return lost is not None and low is not None and lost < low


def _modern(network: Network, measured: Measured) -> list[str]:
    mode, mcs = _link_mode(network), ""
    used = [it for it in measured.modes if not it.is_legacy]
    top = max((it.mcs for ppdu in network.data for it in (ppdu.first.mode,) if not it.is_legacy), default=0)
    if measured.varies:
        mcs = f"mcs          = {top}  # the highest of {len(used)} modes"
    else:
        share = measured.modes.get(mode)
        mcs = f"mcs          = {mode.mcs}" + (f"  # {_of_attempts(share[0])}" if share else "")
    lines = [mcs, f'width        = "{mode.width} MHz"', f"streams      = {mode.streams}"]
    lines.append(f'guard-interval = "{mode.guard:g} us"')
    lines += ['rate-control = { kind = "minstrel-ht" }'] if measured.varies else []
    if measured.limits:
        count, times = measured.largest
        lines.append(f"aggregate    = {{ count = {count} }}  # a limit: {times} transmissions have as many")
    if measured.window is not None:
        window, low, high, n = measured.window
        category = _CATEGORIES.get(max(ppdu.first.tid for ppdu in network.data), "voice")
        lines.append(
            f"edca         = {{ {category} = {{ cw-min = {window} }} }}  # {low} to {high}, from {n} backoffs"
        )
    return lines


def _legacy(network: Network, measured: Measured) -> list[str]:
    mode = _link_mode(network)
    share = measured.modes.get(mode)
    of = f"  # {_of_attempts(share[0])}" if share else ""
    lines = [f'rate         = "{mode.rate:g} Mbit/s"{of}']
    if measured.window is not None:
        window, low, high, n = measured.window
        lines.append(f"cw-min       = {window}  # {low} to {high}, from {n} backoffs")
    return lines


def _protection(network: Network) -> list[str]:
    """RTS or CTS-to-self, if most frames of data from some size on have it."""
    kinds: Counter[str] = Counter()
    sizes: list[int] = []
    bare: list[int] = []
    last = None
    for ppdu in network.ppdus:
        first = ppdu.first
        if first.kind == "data" and first.sender in network.names:
            size = sum(frame.size for frame in ppdu.frames)
            (bare if last is None else sizes).append(size)
            kinds[last or ""] += 1
            last = None
        elif first.kind == "rts" and first.sender in network.names:
            last = "rts-cts"
        elif first.kind == "cts" and last is None and first.receiver in network.names:
            last = "cts-to-self"
    least = min(sizes, default=0)
    if not sizes or sum(size >= least for size in bare) > len(sizes):
        return []
    kind = kinds.most_common(1)[0][0] or "rts-cts"
    text = f"protection   = {_quoted(kind)}" if kind == "cts-to-self" else ""
    line = f'rts-threshold = "{least - 1} B"  # {len(sizes)} transmissions have it, from {least} bytes on'
    return [*([text] if text else []), line]


def _flows(network: Network, measured: Measured, traffic: Traffic) -> list[str]:
    lines = ["[flows]"]
    for number, flow in enumerate(traffic.flows, 1):
        ends = f'from = "{flow.source}", to = "{flow.target}"'
        lines.append(f"f{number} = {{ {ends}, {_source(flow, network, measured)} }}")
        lines[-1] += f"  # {flow.packets} packets"
    return lines


def _source(flow: Flow, network: Network, measured: Measured) -> str:
    is_backlogged = flow.sender in measured.backlogged
    rate = flow.payload * 8 / network.span_s / 1e3 * (_MORE if is_backlogged else 1)
    kind = "cbr" if is_backlogged else "poisson"
    paced = f'rate = "{digits(rate)} kbit/s"'
    if flow.transport == "udp":
        app = f'app = {{ kind = "{kind}", {kind} = {{ {paced}, packet = "{flow.usual} B" }} }}'
        return f"{app}, udp = {{}}"
    segment = f'tcp = {{ variant = "cubic", packet = "{max(flow.sizes)} B" }}'
    if is_backlogged:
        return segment
    return f'app = {{ kind = "cbr", cbr = {{ {paced}, packet = "{max(flow.sizes)} B" }} }}, {segment}'


def _others(network: Network) -> tuple[Mode, float, float, float] | None:
    """What else is on the channel: a mode, transmissions a second, the time of each in microseconds, and the share."""
    found = [ppdu for ppdu in network.ppdus if not network.is_own(ppdu)]
    starts = [ppdu for ppdu in found if ppdu.first.kind not in ("ack", "ba", "cts")]
    share = sum(ppdu.end - ppdu.start for ppdu in found) / (network.span_s * 1e6)
    if share < _OTHERS or not starts:
        return None
    each = share * network.span_s * 1e6 / len(starts)
    mode = _link_mode(network)
    return mode, len(starts) / network.span_s, each, share


def _others_flow(others: tuple[Mode, float, float, float]) -> list[str]:
    """A flow with the airtime of others, in the mode of the link."""
    mode, rate, each, share = others
    payload = _LONGEST_PAYLOAD
    while payload > 1 and duration(mode, payload + _HEADERS, False) > each:
        payload -= 1
    count = rate * each / duration(mode, payload + _HEADERS, False)
    paced = f'rate = "{digits(count * payload * 8 / 1e3)} kbit/s", packet = "{payload} B"'
    return [
        f"[flows.others]  # the airtime of others and of management, {share:.1%}",
        'from = "other1"',
        'to   = "other2"',
        f'app  = {{ kind = "poisson", poisson = {{ {paced} }} }}',
        "udp  = {}",
    ]


def _quoted(text: str) -> str:
    return f'"{text}"'


def _interval(found: Interval, unit: str) -> str:
    factor = 100 if unit == "%" else 1
    if found.low is None or found.high is None:
        return f"from {found.n} attempts"
    return f"{digits(found.low * factor, 3)} to {digits(found.high * factor, 3)} {unit}, from {found.n} attempts"


def _of_attempts(share: Interval) -> str:
    return f"{digits((share.mean or 0) * 100, 3)} % of {share.n} attempts"
