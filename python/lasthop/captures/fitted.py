"""A scenario fitted to a capture, and how well half of the capture predicts the other.

The quantities are compared as a capture shows them: the scenario that was fitted to the first half runs, its
own capture is read in the same way, and compared with the second half.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from lasthop.base.arguments import place
from lasthop.base.errors import UsageError
from lasthop.base.files import put
from lasthop.base.table import Table
from lasthop.captures.exchanges import Fate
from lasthop.captures.network import FEWEST, Network, network
from lasthop.captures.quantities import Measured, measured
from lasthop.captures.traffic import traffic
from lasthop.captures.varying import MOST_DB
from lasthop.captures.written import WARMUP_S, scenario_text
from lasthop.scenario.scenario import Scenario
from lasthop.stats.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Callable

_RUNS = 5
# The minimum length of a run of the fitted scenario, and its minimum number of transmissions, unless
# the half is shorter.
_LEAST_S, _ENOUGH = 5.0, 200
_MOST_SENDERS = 7
# With more losses nothing would arrive that shows them.
_MOST_LOST = 0.99
# Standard errors in half of a 95 % interval.
_INTERVAL = 1.96


class Fit:
    """What a capture says of its Wi-Fi link, and a scenario like it.

    Attributes:
        text: The scenario as text, in which each measured value has its interval.
        scenario: The same as a scenario.
    """

    _scenario_class = Scenario

    def __init__(self, path: Path) -> None:
        self._network = network(path)
        self._title = _plain(path.name)
        self._measured = measured(self._network)
        self.text = _text(self._title, self._network, self._measured)
        self.scenario = self._scenario_class.from_text(self.text, "fit.toml")

    def parameters(self) -> Table:
        """What was measured.

        Returns:
            For each quantity its estimate, the bounds of its 95 % interval, its unit, and from how much it
            was found.
        """
        return self._measured.table()

    def predict(self) -> Table:
        """Fit the first half of the capture, and compare what it predicts with the second half.

        Returns:
            For each quantity its value in the first half, the prediction with its 95 % interval, and the
            value in the second half.

        Raises:
            UsageError: A half has too few transmissions of data.
            ScenarioError: The first half is of a link that no scenario can have.
            RunError: The fitted scenario could not be run.
            StudyError: The captures of its runs cannot be written.
        """
        half = self._network.span_s / 2
        first = self._network.between(0.0, half)
        second = self._network.between(half, 2 * half)
        for which, part in (("first", first), ("second", second)):
            if len(part.data) < FEWEST:
                text = f"{len(part.data)} transmissions of data in the {which} half"
                raise UsageError(f"{text}; expected at least {FEWEST}, or no prediction", argument="capture")
        length = min(half, max(_LEAST_S, _ENOUGH * half / len(first.data)))
        found, runs = measured(first), []
        for seed in range(1, _RUNS + 1):
            scenario = Scenario.from_text(_text(self._title, first, _plausible(found, seed)), "fit.toml")
            scenario = scenario.set({"run.duration": f"{WARMUP_S + length:.6f} s"})
            runs.append(_simulated(scenario, seed, first.names))
        rows = [
            _row(name, unit, of, (first, second), runs)
            for name, unit, of in (*_QUANTITIES, *_deliveries(first.names))
        ]
        rows = [row for row in rows if row["predicted"] or row["second half"]]
        columns = ["quantity", "first half", "predicted", "low", "high", "second half", "difference (%)"]
        return Table(columns, rows)

    def save(self, path: str | Path) -> None:
        """Write the scenario to a file.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist, or the file belongs to a study.
            StudyError: The file cannot be written.
        """
        put(place("path", path, "a file to write"), self.text)

    def __repr__(self) -> str:
        return f"<Fit of {self._network.seen.frames} frames>"


def _plain(name: str) -> str:
    """A name that can be a part of a text of TOML."""
    return "".join(c if c.isprintable() and c not in '"\\' else "?" for c in name)


def _text(title: str, seen: Network, found: Measured) -> str:
    return scenario_text(title, seen, found, traffic(seen))


def _plausible(found: Measured, seed: int) -> Measured:
    """The same with loss and signal drawn from their intervals: the true values are not known."""
    draw = Random(f"fit {seed}")  # noqa: S311 - nothing secret

    def drawn(value: Interval, *, is_level: bool = False, most: float = math.inf) -> Interval:
        if value.mean is None or value.low is None or value.high is None:
            return value
        times = draw.gauss(0, 1) / _INTERVAL
        bound = value.high if times > 0 else value.low
        if is_level:
            return replace(value, mean=value.mean + abs(times) * (bound - value.mean))
        # Shares and times are above 0, and their errors are factors.
        factor = bound / value.mean if bound > 0 and value.mean > 0 else 1.0
        return replace(value, mean=min(value.mean * factor ** abs(times), most))

    moves = found.varying and replace(
        found.varying,
        mean=drawn(found.varying.mean, is_level=True),
        deviation=drawn(found.varying.deviation, most=MOST_DB),
        time=drawn(found.varying.time),
    )
    signal = found.ratio and drawn(found.ratio, is_level=True)
    return replace(found, loss=drawn(found.loss, most=_MOST_LOST), ratio=signal, varying=moves)


def _simulated(scenario: Scenario, seed: int, names: dict[bytes, str]) -> Network:
    """The capture of a run after its warm-up, with the names of the scenario's stations."""
    with tempfile.TemporaryDirectory(prefix="lasthop-") as folder:
        file = Path(folder) / "air.pcap"
        scenario.run(seed=seed, pcap={"air": file})
        found = network(file, fewest=1)
    # The addresses of nodes are their numbers.
    found = replace(
        found, names={b"\2\0" + n.to_bytes(4, "big"): name for n, name in enumerate(names.values(), 1)}
    )
    return found.between(WARMUP_S - found.ppdus[0].start / 1e6, 1e9)


def _row(
    name: str,
    unit: str,
    of: Callable[[Network], float],
    halves: tuple[Network, Network],
    runs: list[Network],
) -> dict[str, object]:
    before, after = (of(half) for half in halves)
    values: list[float | None] = [of(run) for run in runs]
    found = interval(values)
    low, high = found.low, found.high
    if found.half is not None and found.mean is not None:
        # A run differs from the mean of runs by its own spread, too.
        wider = found.half * (len(runs) + 1) ** 0.5
        low, high = max(found.mean - wider, 0.0), found.mean + wider
    difference = (found.mean - after) / after * 100 if found.mean is not None and after else None
    return {
        "quantity": f"{name} ({unit})" if unit else name,
        "first half": before,
        "predicted": found.mean,
        "low": low,
        "high": high,
        "second half": after,
        "difference (%)": difference,
    }


def _per_second(count: Callable[[Network], float]) -> Callable[[Network], float]:
    return lambda seen: count(seen) / seen.span_s


def _share(part: Callable[[Network], float], whole: Callable[[Network], float]) -> Callable[[Network], float]:
    return lambda seen: 100 * part(seen) / max(whole(seen), 1)


def _attempts(seen: Network) -> int:
    return sum(len(ppdu.frames) for ppdu in seen.data)


def _lost(seen: Network) -> int:
    return sum(ppdu.fates.count(Fate.LOST) for ppdu in seen.data)


def _retries(seen: Network) -> int:
    return sum(frame.is_retry for ppdu in seen.data for frame in ppdu.frames)


def _busy_us(seen: Network) -> float:
    total = last = 0.0
    for ppdu in seen.ppdus:
        total += max(ppdu.end - max(ppdu.start, last), 0)
        last = max(last, ppdu.end)
    return total


_QUANTITIES: tuple[tuple[str, str, Callable[[Network], float]], ...] = (
    ("transmissions of data", "1/s", _per_second(lambda seen: len(seen.data))),
    ("attempts of frames of data", "1/s", _per_second(_attempts)),
    ("attempts that fail", "%", _share(_lost, _attempts)),
    ("attempts that repeat one", "%", _share(_retries, _attempts)),
    ("airtime", "%", lambda seen: _busy_us(seen) / seen.span_s / 1e4),
)


def _deliveries(names: dict[bytes, str]) -> list[tuple[str, str, Callable[[Network], float]]]:
    """The bytes that arrive of all senders, and of each of the first ones."""
    found = [("delivered", "Mbit/s", _per_second(_delivered_by(None)))]
    senders = list(names.values())[:_MOST_SENDERS]
    return found + [(f"delivered by {name}", "Mbit/s", _per_second(_delivered_by(name))) for name in senders]


def _delivered_by(name: str | None) -> Callable[[Network], float]:
    def megabits(seen: Network) -> float:
        size = 0
        for ppdu in seen.data:
            if name in (None, seen.names.get(ppdu.first.sender or b"")):
                pairs = zip(ppdu.frames, ppdu.fates, strict=True)
                size += sum(frame.body for frame, fate in pairs if fate is Fate.ARRIVED)
        return size * 8 / 1e6

    return megabits
