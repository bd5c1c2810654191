"""A signal-to-noise ratio that varies: drawn from a normal distribution in decibels, and kept for some time.

The ratio is hidden; what a capture shows is which frames were lost in which modes. Since rate control chooses
the modes by what it saw before, the likelihood is that of the whole sequence, by the forward recursion over a
grid of ratios. Mean, deviation and time make it greatest; their intervals are those of its curvature there,
the last two on a logarithmic scale, with Student's t for as many draws as the capture holds.

Source: L. R. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77(2), 1989, III.A; the jumps are
those of `propagation.shadowing` with `redraw`, at random times in place of equal ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasthop import _core
from lasthop.captures.exchanges import Fate
from lasthop.stats.intervals import Interval, t_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lasthop.captures.exchanges import Ppdu

    Array = npt.NDArray[np.float64]

# The grid of ratios around the constant one, in decibels.
_OFFSETS = np.arange(-15.0, 15.05, 0.1)
# The maximum number of steps into which a capture is divided.
_MOST_STEPS = 2000
# Points of the search in each direction, and how often its range narrows.
_POINTS, _NARROWINGS = 5, 7
# The steps of the second differences, in decibels and on logarithmic scales.
_STEPS = (0.1, 0.05, 0.1)
# How much likelier than a constant ratio a varying one has to be, as a logarithm.
_MARGIN = 10.0
# The largest deviation that a scenario can have, in decibels.
MOST_DB = 40.0


@dataclass(frozen=True)
class Varying:
    """How a ratio of signal to noise varies.

    Attributes:
        mean: Its mean in decibels.
        deviation: Its standard deviation in decibels.
        time: The mean time until it is drawn again, in seconds.
    """

    mean: Interval
    deviation: Interval
    time: Interval


@dataclass(frozen=True)
class _Chain:
    """The steps of a pair of stations: times in seconds, and the log-likelihood of each ratio in decibels."""

    ratios: Array
    times: Array
    likely: Array


def varying(ppdus: Sequence[Ppdu], constant_db: float) -> Varying | None:
    """How the ratio varies; `None` if a constant one explains the losses as well."""
    ratios = _OFFSETS + constant_db
    chains = _chains(ppdus, ratios)
    span = (ppdus[-1].start - ppdus[0].start) / 1e6
    still = sum(float(chain.likely[:, len(ratios) // 2].sum()) for chain in chains)
    best, value = _search(chains, constant_db, span)
    if value < still + _MARGIN:
        return None
    spread = _spread(chains, best)
    if spread is None:
        return None
    n = sum(len(ppdu.fates) for ppdu in ppdus)
    factor = t_factor(max(round(len(chains) * span / math.exp(best[2])), 2))
    low, high = best - factor * spread, best + factor * spread
    deviation, time = (
        Interval(math.exp(best[place]), math.exp(low[place]), math.exp(high[place]), n) for place in (1, 2)
    )
    return Varying(Interval(float(best[0]), float(low[0]), float(high[0]), n), deviation, time)


def _chains(ppdus: Sequence[Ppdu], ratios: Array) -> list[_Chain]:
    step = max((ppdus[-1].start - ppdus[0].start) / _MOST_STEPS, 1.0)
    tables: dict[tuple[int, int], tuple[Array, Array]] = {}
    found: dict[frozenset[bytes | None], dict[int, Array]] = {}
    for ppdu in ppdus:
        first = ppdu.first
        if first.mode.is_legacy:
            continue
        steps = found.setdefault(frozenset((first.sender, first.receiver)), {})
        likely = steps.setdefault(int(ppdu.start / step), np.zeros_like(ratios))
        for frame, fate in zip(ppdu.frames, ppdu.fates, strict=True):
            key = min(first.mode.mcs, 11), frame.size
            if key not in tables:
                tables[key] = _table(*key, ratios)
            if fate is not Fate.REPEATED:
                likely += tables[key][fate is Fate.LOST]
    return [
        _Chain(ratios, np.array(list(steps)) * step / 1e6, np.array(list(steps.values())))
        for steps in found.values()
    ]


def _table(mcs: int, size: int, ratios: Array) -> tuple[Array, Array]:
    """The logarithms of the probabilities that a frame arrives, and that it is lost, by the ratio."""
    lost = np.array([_core.mpdu_failure(mcs, size, 10 ** (db / 10)) for db in ratios])
    return np.log(np.maximum(1 - lost, 1e-12)), np.log(np.maximum(lost, 1e-12))


def _log_likely(chains: Sequence[_Chain], points: Array) -> Array:
    """The logarithm of the likelihood at each point: mean, and the logarithms of deviation and time."""
    mean, deviation, time = points[:, :1], np.exp(points[:, 1:2]), np.exp(points[:, 2])
    prior = np.exp(-(((chains[0].ratios - mean) / deviation) ** 2) / 2)
    prior /= prior.sum(axis=1, keepdims=True)
    total = np.zeros(len(points))
    for chain in chains:
        state, last = prior, chain.times[0]
        for now, likely in zip(chain.times, chain.likely, strict=True):
            kept = np.exp(-(now - last) / time)[:, None]
            top = likely.max()
            state = (kept * state + (1 - kept) * prior) * np.exp(likely - top)
            scale = state.sum(axis=1)
            total += np.log(np.maximum(scale, 1e-300)) + top
            state, last = state / np.maximum(scale, 1e-300)[:, None], now
    return total


def _search(chains: Sequence[_Chain], around_db: float, span: float) -> tuple[Array, float]:
    """The likeliest point, on grids that become narrower around the best one."""
    centre = np.array([around_db, math.log(2.0), math.log(span / 30)])
    reach = np.array([8.0, math.log(6.0), math.log(30.0)])
    value = -math.inf
    for _ in range(_NARROWINGS):
        axes = [np.linspace(c - r, c + r, _POINTS) for c, r in zip(centre, reach, strict=True)]
        axes[1] = np.minimum(axes[1], math.log(MOST_DB))
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        values = _log_likely(chains, points)
        centre, value = points[values.argmax()], float(values.max())
        reach = reach * 0.55
    return centre, value


def _spread(chains: Sequence[_Chain], best: Array) -> Array | None:
    """The standard errors by the curvature of the log-likelihood; `None` if it has no maximum there."""
    moves = np.diag(_STEPS)
    places = [(i, j, a, b) for i in range(3) for j in range(i, 3) for a in (1, -1) for b in (1, -1)]
    points = np.array([best + a * moves[i] + b * moves[j] for i, j, a, b in places])
    values = _log_likely(chains, points)
    curvature = np.zeros((3, 3))
    for (i, j, a, b), value in zip(places, values, strict=True):
        curvature[i, j] += a * b * value / (4 * _STEPS[i] * _STEPS[j])
        curvature[j, i] = curvature[i, j]
    try:
        variances = np.diag(np.linalg.inv(-curvature))
    except np.linalg.LinAlgError:
        return None
    return np.sqrt(variances) if bool((variances > 0).all()) else None
