"""Closed forms for the rate of a TCP flow that loses packets at random.

Rates are packets per second. `p` is loss indications per packet sent, `rtt` and `t0` (the first
timeout) are seconds, `b` is packets per ACK and `w_max` the window limit in packets.

Sources: Mathis, Semke, Mahdavi and Ott 1997 (`mathis`); Padhye, Firoiu, Towsley and Kurose 1998,
its full and its approximate model (`pftk`, `pftk_approximate`).
"""

from __future__ import annotations

import math


def mathis(p: float, rtt: float, b: float = 1.0) -> float:
    """The rate while losses are halvings only.

    >>> [round(mathis(p, 0.1), 1) for p in (0.001, 0.01, 0.02, 0.05, 0.1)]
    [387.3, 122.5, 86.6, 54.8, 38.7]
    """
    return math.sqrt(3 / (2 * b * p)) / rtt


def pftk(p: float, rtt: float, t0: float, b: float = 1.0, w_max: float = math.inf) -> float:
    """The full model: timeouts, their backoff, and the window limit.

    >>> [round(pftk(p, 0.1, 0.4), 1) for p in (0.001, 0.01, 0.02, 0.05, 0.1)]
    [381.6, 111.0, 72.5, 37.9, 21.1]
    >>> [round(pftk(p, 0.1, 0.4, b=2), 1) for p in (0.001, 0.01, 0.02, 0.05, 0.1)]
    [269.1, 77.8, 50.9, 26.7, 15.1]
    """
    base = (2 + b) / (3 * b)
    window = base + math.sqrt(8 * (1 - p) / (3 * b * p) + base * base)
    if window < w_max:
        rounds = b * window / 2 + 1
    else:
        window = w_max
        rounds = b * w_max / 8 + (1 - p) / (p * w_max) + 2
    first = _timeout_share(p, window)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    sent = (1 - p) / p + window + first / (1 - p)
    return sent / (rtt * rounds + first * t0 * backoff / (1 - p))


def _timeout_share(p: float, window: float) -> float:
    """The share of loss indications that are timeouts, at a window."""
    good = 1 - p
    top: float = (1 - good**3) * (1 + good**3 * (1 - good ** (window - 3)))
    bottom: float = 1 - good**window
    return min(1.0, top / bottom)


def pftk_approximate(p: float, rtt: float, t0: float, b: float = 1.0, w_max: float = math.inf) -> float:
    """The approximate model.

    >>> [round(pftk_approximate(p, 0.1, 0.4), 1) for p in (0.001, 0.01, 0.02, 0.05, 0.1)]
    [383.8, 112.3, 73.2, 36.9, 17.7]
    """
    halvings = rtt * math.sqrt(2 * b * p / 3)
    timeouts = t0 * min(1.0, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return min(w_max / rtt, 1 / (halvings + timeouts))
