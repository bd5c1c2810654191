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
_WEAKEST = "-110 dBm"
_CATEGORIES = {0: "best-effort", 3: "best-effort", 1: "background", 2: "background", 4: "video", 5: "video"}


def scenario_text(title: str, network: Network, measured: Measured, traffic: Traffic) -> str:
    """A scenario like the capture; it is not yet checked."""
    has_server = any(SERVER in (flow.source, flow.target) for flow in traffic.flows)
    others = _others(network)
    parts = [
        _head(title, network, traffic),
        _nodes(network, measured, has_server=has_server, has_others=others is not None),
        *([_wire(traffic)] if has_server else []),
        _air(network, measured, has_others=others is not None),
        _flows(network, measured, traffic),
        *([_others_flow(others)] if others else []),
    ]
    return "\n".join("\n".join(part) + "\n" for part in parts)


def _aligned(head: str, values: dict[str, str]) -> list[str]:
    """A section with the keys of one width; a value may have a comment."""
    width = max(map(len, values))
    return [head, *(f"{key:{width}} = {value}" for key, value in values.items())]


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


def _nodes(network: Network, measured: Measured, *, has_server: bool, has_others: bool) -> list[str]:
    usual, link = _usual_modes(network), _link_mode(network)
    values = {}
    for address, name in network.names.items():
        own = usual.get(address, link)
        mode = "{}" if measured.varies or own == link else _of_station(network, own)
        values[name] = f"{mode}  # {address.hex(':')}"
    values |= {SERVER: "{}"} if has_server else {}
    values |= {"other1": "{}", "other2": "{}"} if has_others else {}
    return _aligned("[nodes]", values)


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
    delay = f'"{(traffic.beyond_s or 0) / 2 * 1e3:.3f} ms"'
    of = f"  # half the least echo of {traffic.echoes} timestamps of TCP" if traffic.beyond_s else ""
    ends = f'["{SERVER}", "ap"]'
    values = {"kind": '"wired"', "nodes": ends, "rate": '"1 Gbit/s"', "delay": f"{delay}{of}"}
    return _aligned("[links.wire]", values)


def _air(network: Network, measured: Measured, *, has_others: bool) -> list[str]:
    names = list(network.names.values()) + (["other1", "other2"] if has_others else [])
    values = {"kind": '"wifi"', "nodes": f"[{', '.join(map(_quoted, names))}]"}
    if network.access_point is not None:
        values["access-point"] = '"ap"'
    values["standard"] = f'"{network.standard}"  # by the rates of {len(network.data)} transmissions'
    values |= _modern(network, measured) if network.has_aggregates else _legacy(network, measured)
    values |= _protection(network)
    if measured.ratio is not None or measured.varying is not None:
        return _aligned("[links.air]", values | _signal(measured))
    of = ', of = "packets"' if _spares_answers(measured) else ""
    rate = digits((measured.loss.mean or 0) * 100)
    values["loss"] = f'{{ model = "packet", rate = "{rate} %"{of} }}  # {_interval(measured.loss, "%")}'
    return _aligned("[links.air]", values)


def _signal(measured: Measured) -> dict[str, str]:
    """Frames that are lost by the ratio of signal to noise, also those below the usual sensitivity."""
    moves = measured.varying
    ratio = moves.mean if moves is not None else measured.ratio
    values = {
        "radio": '"ns3"',
        "reception": f'{{ receive-threshold = "{_WEAKEST}", carrier-sense-threshold = "{_WEAKEST}" }}',
        "propagation.model": '"flat"',
    }
    if ratio is not None and ratio.mean is not None:
        of = f"{_interval(ratio, 'dB')}, above the noise of {NOISE_DBM:.2f} dBm"
        values["propagation.flat-power"] = f'"{NOISE_DBM + ratio.mean:.2f} dBm"  # {of}'
    if moves is not None:
        values["propagation.shadowing.model"] = '"log-normal"'
        deviation, time = digits(moves.deviation.mean, 3), digits((moves.time.mean or 0) * 1e3, 3)
        of = _bounds(moves.deviation, "dB")
        values["propagation.shadowing.deviation"] = f'"{deviation} dB"  # {of}'
        values["propagation.shadowing.redraw"] = f'"{time} ms"  # {_bounds(moves.time, "s")}'
    return values


def _spares_answers(measured: Measured) -> bool:
    """Whether answers are lost less often than data."""
    lost, low = measured.answers_lost.high, measured.loss.low
    return lost is not None and low is not None and lost < low


def _modern(network: Network, measured: Measured) -> dict[str, str]:
    mode = _link_mode(network)
    if measured.varies:
        modes = {ppdu.first.mode for ppdu in network.data if not ppdu.first.mode.is_legacy}
        values = {"mcs": f"{max(it.mcs for it in modes)}  # the highest of {len(modes)} modes"}
    else:
        share = measured.modes.get(mode)
        values = {"mcs": f"{mode.mcs}" + (f"  # {_of_attempts(share[0])}" if share else "")}
    values |= {"width": f'"{mode.width} MHz"', "streams": f"{mode.streams}"}
    values["guard-interval"] = f'"{mode.guard:g} us"'
    if measured.varies:
        values["rate-control"] = '{ kind = "minstrel-ht" }'
    if measured.limit is not None:
        count, times = measured.limit
        values["aggregate"] = f"{{ count = {count} }}  # {times} transmissions have as many, none more"
    if measured.window is not None:
        window, low, high, n = measured.window
        category = _CATEGORIES.get(max(ppdu.first.tid for ppdu in network.data), "voice")
        of = f"{low} to {high} slots, from {n} backoffs"
        values["edca"] = f"{{ {category} = {{ cw-min = {window} }} }}  # {of}"
    return values


def _legacy(network: Network, measured: Measured) -> dict[str, str]:
    mode = _link_mode(network)
    share = measured.modes.get(mode)
    values = {"rate": f'"{mode.rate:g} Mbit/s"' + (f"  # {_of_attempts(share[0])}" if share else "")}
    if measured.window is not None:
        window, low, high, n = measured.window
        values["cw-min"] = f"{window}  # {low} to {high} slots, from {n} backoffs"
    return values


def _protection(network: Network) -> dict[str, str]:
    """RTS or CTS-to-self, if most frames of data from some size on have it."""
    kinds: Counter[str] = Counter()
    protected: list[int] = []
    bare: list[int] = []
    last = ""
    for ppdu in network.ppdus:
        first = ppdu.first
        if first.kind == "data" and first.sender in network.names:
            (protected if last else bare).append(sum(frame.size for frame in ppdu.frames))
            kinds[last] += 1
            last = ""
        elif first.kind == "rts" and first.sender in network.names:
            last = "rts-cts"
        elif first.kind == "cts" and not last and first.receiver in network.names:
            last = "cts-to-self"
    least = min(protected, default=0)
    if not protected or sum(size >= least for size in bare) > len(protected):
        return {}
    kind = max(("rts-cts", "cts-to-self"), key=kinds.__getitem__)
    of = f"{len(protected)} transmissions have it, of {least} bytes and more"
    return {"protection": _quoted(kind), "rts-threshold": f'"{least - 1} B"  # {of}'}


def _flows(network: Network, measured: Measured, traffic: Traffic) -> list[str]:
    values = {}
    for number, flow in enumerate(traffic.flows, 1):
        ends = f'from = "{flow.source}", to = "{flow.target}"'
        of = f"  # {flow.packets} packets in {network.span_s:.2f} s"
        values[f"f{number}"] = f"{{ {ends}, {_source(flow, network, measured)} }}{of}"
    return _aligned("[flows]", values) if values else ["[flows]"]


def _source(flow: Flow, network: Network, measured: Measured) -> str:
    is_backlogged = flow.sender in measured.backlogged
    rate = flow.payload * 8 / network.span_s / 1e3 * (_MORE if is_backlogged else 1)
    kind = "cbr" if is_backlogged or flow.is_even else "poisson"
    paced = f'rate = "{digits(rate)} kbit/s"'
    if flow.transport == "udp":
        app = f'app = {{ kind = "{kind}", {kind} = {{ {paced}, packet = "{flow.usual} B" }} }}'
        return f"{app}, udp = {{}}"
    segment = f'tcp = {{ variant = "cubic", packet = "{max(flow.sizes)} B" }}'
    if is_backlogged:
        return segment
    return f'app = {{ kind = "cbr", cbr = {{ {paced}, packet = "{max(flow.sizes)} B" }} }}, {segment}'


def _others(network: Network) -> tuple[Mode, float, float, float] | None:
    """What else is on the channel: a mode, transmissions a second, their mean length in us, and the share."""
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
    head = f"[flows.others]  # the airtime of others and of management, {share:.1%}"
    app = f'{{ kind = "poisson", poisson = {{ {paced} }} }}'
    return _aligned(head, {"from": '"other1"', "to": '"other2"', "app": app, "udp": "{}"})


def _quoted(text: str) -> str:
    return f'"{text}"'


def _interval(found: Interval, unit: str) -> str:
    return f"{_bounds(found, unit)}, from {found.n} attempts"


def _bounds(found: Interval, unit: str) -> str:
    low, high = ((it or 0) * (100 if unit == "%" else 1) for it in (found.low, found.high))
    return f"{digits(low, 3)} to {digits(high, 3)} {unit}"


def _of_attempts(share: Interval) -> str:
    return f"{digits((share.mean or 0) * 100, 3)} % of {share.n} attempts"
