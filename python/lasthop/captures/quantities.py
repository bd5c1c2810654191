"""What a capture says of its network: each quantity with an interval, and from how much it was found."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lasthop.base.table import Table
from lasthop.captures.backoff import access, is_backlogged, waits
from lasthop.captures.channel import ratio
from lasthop.captures.exchanges import Fate, has_room
from lasthop.captures.varying import Varying, varying
from lasthop.stats.intervals import Interval
from lasthop.stats.shares import mean, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lasthop.captures.backoff import Access
    from lasthop.captures.exchanges import Ppdu
    from lasthop.captures.network import Network
    from lasthop.captures.radiotap import Mode

# A mode with a smaller share of the attempts is left out of tables.
_RARE = 0.002
# A station that sends in another mode than its usual one so often has rate control.
_VARIES = 0.02
# A limit of aggregates shows as this share of the largest ones.
_PILE = 0.05


@dataclass(frozen=True)
class Quantity:
    """One quantity of a capture.

    Attributes:
        name: What it is.
        value: Its estimate and 95 % interval, and the number of observations.
        unit: Its unit; `%` stands for a share.
        of: What was counted.
    """

    name: str
    value: Interval
    unit: str
    of: str


@dataclass(frozen=True)
class Measured:
    """The quantities of a capture that a scenario is made of.

    Attributes:
        loss: Share of attempts of a frame of data that were lost without a collision.
        answers_lost: Share of Acks and BlockAcks that their receivers missed.
        modes: For each mode its share of the attempts, and the share that was lost.
        varies: Whether stations choose among modes.
        limit: The largest number of MPDUs in a PPDU, if it is a limit, and how many PPDUs have it.
        window: CWmin, if a station always had a packet.
        backlogged: The senders that always had a packet, and with aggregation a full aggregate.
        ratio: The signal-to-noise ratio that gives the losses of the modes, if it is constant.
        varying: How it varies, if it does.
        rows: All quantities, for a table.
    """

    loss: Interval
    answers_lost: Interval
    modes: dict[Mode, tuple[Interval, Interval]]
    varies: bool
    limit: tuple[int, int] | None
    window: Access | None
    backlogged: frozenset[bytes]
    ratio: Interval | None
    varying: Varying | None
    rows: tuple[Quantity, ...]

    def table(self) -> Table:
        """The quantities as a table."""
        rows = [
            {
                "quantity": row.name,
                "estimate": _scaled(row.value.mean, row.unit),
                "low": _scaled(row.value.low, row.unit),
                "high": _scaled(row.value.high, row.unit),
                "unit": row.unit,
                "from": f"{row.value.n} {row.of}",
            }
            for row in self.rows
        ]
        return Table(["quantity", "estimate", "low", "high", "unit", "from"], rows)


def _scaled(value: float | None, unit: str) -> float | None:
    return value * 100 if unit == "%" and value is not None else value


def measured(network: Network) -> Measured:
    """Estimate everything."""
    data = network.data
    alone = [ppdu for ppdu in data if not ppdu.has_collided]
    loss = _share_of(alone, lambda ppdu: ppdu.fates.count(Fate.LOST), _tries)
    answered = [ppdu for ppdu in alone if ppdu.answer is not None and not ppdu.answer.has_collided]
    answers_lost = _share_of(answered, lambda ppdu: ppdu.is_missed, lambda _: 1)
    modes = _modes(data, alone)
    limit = _limit(data)
    window, backlogged = _access(network)
    varies = network.has_aggregates and _varies(data)
    signal = ratio(alone) if varies else None
    moves = varying(alone, signal.mean) if signal is not None and signal.mean is not None else None
    found = [
        Quantity("frames of data lost per attempt", loss, "%", "attempts without a collision"),
        Quantity("answers that were missed", answers_lost, "%", "answers"),
        *_mode_rows(modes),
        Quantity("attempts that repeat one", _retries(data), "%", "attempts"),
        Quantity("transmissions of data that collided", _collided(data), "%", "transmissions"),
        Quantity("frames in a transmission of data", _sizes(data), "", "transmissions"),
        Quantity("time to an answer", _delay(data), "us", "answers"),
        Quantity("airtime of the network", _airtime(network, own=True), "%", "transmissions"),
        Quantity("airtime of others, and of management", _airtime(network, own=False), "%", "transmissions"),
    ]
    if limit is not None:
        most = Interval(limit[0], limit[0], limit[0], limit[1])
        found.append(Quantity("most frames in a transmission", most, "", "transmissions"))
    if window is not None:
        chosen = Interval(window.window, window.low, window.high, window.n)
        found.append(Quantity("CWmin", chosen, "slots", "backoffs of stations with packets waiting"))
    found += _ratio_rows(signal, moves)
    found += _signals(network)
    found.append(Quantity("stations that send data", _exact(len(_senders(data))), "", "transmissions"))
    return Measured(
        loss,
        answers_lost,
        modes,
        varies,
        limit,
        window,
        frozenset(
            sender for sender in backlogged if not network.has_aggregates or _fills(data, sender, limit)
        ),
        signal if moves is None else None,
        moves,
        tuple(row for row in found if row.value.n),
    )


def _share_of(ppdus: Sequence[Ppdu], events: Callable[[Ppdu], int], of: Callable[[Ppdu], int]) -> Interval:
    return share([events(ppdu) for ppdu in ppdus], [of(ppdu) for ppdu in ppdus])


def _tries(ppdu: Ppdu) -> int:
    """The attempts of which the capture shows whether they arrived."""
    return len(ppdu.fates) - ppdu.fates.count(Fate.REPEATED)


def _retries(data: Sequence[Ppdu]) -> Interval:
    return _share_of(data, lambda ppdu: sum(f.is_retry for f in ppdu.frames), lambda ppdu: len(ppdu.frames))


def _collided(data: Sequence[Ppdu]) -> Interval:
    return _share_of(data, lambda ppdu: ppdu.has_collided, lambda _: 1)


def _sizes(data: Sequence[Ppdu]) -> Interval:
    return mean([float(len(ppdu.frames)) for ppdu in data])


def _limit(data: Sequence[Ppdu]) -> tuple[int, int] | None:
    """The most frames in a transmission, if many have as many although size and duration allow more."""
    top = max(len(ppdu.frames) for ppdu in data)
    full = [ppdu for ppdu in data if len(ppdu.frames) == top and has_room(ppdu)]
    return (top, len(full)) if top > 1 and len(full) >= max(_PILE * len(data), 2) else None


def _fills(data: Sequence[Ppdu], sender: bytes, limit: tuple[int, int] | None) -> bool:
    """Whether most transmissions of a sender have as many frames as they can."""
    own = [ppdu for ppdu in data if ppdu.first.sender == sender]
    most = limit[0] if limit is not None else math.inf
    full = sum(len(ppdu.frames) >= most or not has_room(ppdu) for ppdu in own)
    return full >= len(own) / 2


def _exact(value: int) -> Interval:
    return Interval(value, value, value, value)


def _senders(data: Sequence[Ppdu]) -> set[bytes | None]:
    return {ppdu.first.sender for ppdu in data}


def _modes(data: Sequence[Ppdu], alone: Sequence[Ppdu]) -> dict[Mode, tuple[Interval, Interval]]:
    """The modes by their shares, the most frequent first."""
    attempts: Counter[Mode] = Counter()
    for ppdu in data:
        attempts[ppdu.first.mode] += len(ppdu.frames)
    whole = attempts.total()
    found = {}
    for mode, count in attempts.most_common():
        if count >= _RARE * whole:
            used = share(
                [len(ppdu.frames) * (ppdu.first.mode == mode) for ppdu in data],
                [len(ppdu.frames) for ppdu in data],
            )
            own = [ppdu for ppdu in alone if ppdu.first.mode == mode]
            found[mode] = used, _share_of(own, lambda ppdu: ppdu.fates.count(Fate.LOST), _tries)
    return found


def _mode_rows(modes: dict[Mode, tuple[Interval, Interval]]) -> list[Quantity]:
    rows = []
    for mode, (used, lost) in modes.items():
        rows.append(Quantity(f"attempts at {mode.named}", used, "%", "attempts"))
        if len(modes) > 1:
            rows.append(Quantity(f"lost at {mode.named}", lost, "%", "attempts without a collision"))
    return rows


def _ratio_rows(signal: Interval | None, moves: Varying | None) -> list[Quantity]:
    of = "attempts without a collision"
    if moves is not None:
        return [
            Quantity("ratio of signal to noise, mean", moves.mean, "dB", of),
            Quantity("its standard deviation", moves.deviation, "dB", of),
            Quantity("time until it changes", moves.time, "s", of),
        ]
    return [Quantity("ratio of signal to noise", signal, "dB", of)] if signal is not None else []


def _varies(data: Sequence[Ppdu]) -> bool:
    """Whether a sender chooses among modes for the same station."""
    used: dict[tuple[bytes | None, bytes], Counter[Mode]] = {}
    for ppdu in data:
        used.setdefault((ppdu.first.sender, ppdu.first.receiver), Counter())[ppdu.first.mode] += 1
    others = sum(modes.total() - max(modes.values()) for modes in used.values())
    return others > _VARIES * len(data)


def _delay(data: Sequence[Ppdu]) -> Interval:
    """The time to an answer, with the half microsecond by which times may be rounded."""
    pairs = [(ppdu, ppdu.answer) for ppdu in data if ppdu.answer is not None and ppdu.first.is_timed]
    found = mean([answer.start - ppdu.end for ppdu, answer in pairs])
    if found.low is None or found.high is None:
        return found
    return Interval(found.mean, found.low - 0.5, found.high + 0.5, found.n)


def _airtime(network: Network, *, own: bool) -> Interval:
    """The share of the time in which the network, or something else, is on the air."""
    chosen = [ppdu for ppdu in network.ppdus if network.is_own(ppdu) == own]
    parts = 30
    begin, step = network.ppdus[0].start, network.span_s * 1e6 / parts
    busy = [0.0] * parts
    last = begin
    for ppdu in chosen:
        place = min(int((ppdu.start - begin) / step), parts - 1)
        busy[place] += max(ppdu.end - max(ppdu.start, last), 0)
        last = max(last, ppdu.end)
    found = mean([time / step for time in busy])
    return Interval(found.mean, found.low, found.high, len(chosen))


def _access(network: Network) -> tuple[Access | None, frozenset[bytes]]:
    """CWmin by the stations that always had a packet, and these stations."""
    if not network.is_timed:
        return None, frozenset()
    pooled: list[float] = []
    backlogged = set()
    for (sender, _), slots in waits(network.ppdus, network.slot).items():
        found = access(slots)
        if sender in network.names and found is not None and is_backlogged(slots, found.window):
            backlogged.add(sender)
            pooled += slots
    return access(pooled), frozenset(backlogged)


def _signals(network: Network) -> list[Quantity]:
    """The power of the frames of each sender."""
    found: dict[bytes, list[float]] = {}
    for ppdu in network.data:
        first = ppdu.first
        if first.signal is not None and first.sender is not None:
            found.setdefault(first.sender, []).append(float(first.signal))
    rows = []
    for sender, powers in found.items():
        power = mean(powers)
        if power.low is not None and power.high is not None:
            # Powers are whole decibels.
            power = Interval(power.mean, power.low - 0.5, power.high + 0.5, power.n)
        rows.append(Quantity(f"signal of {network.names[sender]}", power, "dBm", "transmissions"))
    return rows
