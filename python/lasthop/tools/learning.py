"""`lasthop test --learning`: a small policy learns to beat NewReno where one packet in a hundred is lost.

The policy is linear in three numbers of each round trip. These are the share of segments that were lost, by
how much the round trip exceeds the least one, and a constant. They give the logarithm of the factor of the
window, and the segments added to it. CMA-ES looks for the six weights that maximise `ln(goodput) - COST *
ln(round trip)`, so that a full queue does not win. The runs that judge it have a seed that no training used.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.base.errors import UsageError
from lasthop.scenario.scenario import Scenario, load
from lasthop.stats.intervals import Interval, interval

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SCENARIO = "ejtcp/fig10-baselines"
SET = {
    "flows.main.tcp.variant": "newreno",
    "links.r1-r2.rate": "5 Mbit/s",
    "links.r2-d.loss.rate": "1 %",
    "run.duration": "30 s",
    "run.warmup": "2 s",
}
TRAINED, JUDGED = 11, 12
"""The seeds."""
RUNS = 6
"""Replications of each candidate."""
GENERATIONS = 25
REPLICATIONS = 20
"""Replications of the judgement."""
COST = 0.5
GOODPUT = "flows.main.goodput_bps"
RTT = "flows.main.rtt_mean_s"


@dataclass(frozen=True)
class Learned:
    """What was learnt: goodput in Mbit/s and round trips in seconds of each replication."""

    weights: Floats
    policy: Floats
    newreno: Floats
    policy_rtt: Floats
    newreno_rtt: Floats

    @property
    def gain(self) -> Interval:
        """The paired difference of goodput, in Mbit/s."""
        return interval(list(self.policy - self.newreno))

    def __str__(self) -> str:
        def shown(values: Floats, unit: float = 1.0) -> str:
            it = interval([float(value) * unit for value in values])
            return f"{it.mean:.3f} ({it.low:.3f} to {it.high:.3f})"

        return (
            f"NewReno {shown(self.newreno)} Mbit/s at {shown(self.newreno_rtt, 1e3)} ms\n"
            f"the policy {shown(self.policy)} Mbit/s at {shown(self.policy_rtt, 1e3)} ms\n"
            f"difference {shown(self.policy - self.newreno)} Mbit/s over {len(self.policy)} replications "
            f"of seed {JUDGED}\n"
            f"weights {np.array2string(self.weights, precision=3, separator=', ')}"
        )


def scenario() -> Scenario:
    """The path on which the policy learns."""
    return load(SCENARIO).set(SET)


def act(weights: Floats, seen: Floats) -> Floats:
    """The action of the policy at each observation."""
    from lasthop.gym import FIELDS

    rtt, least, delivered, losses = (
        seen[:, FIELDS.index(name)] for name in ("rtt_s", "least_rtt_s", "delivered", "losses")
    )
    queue = np.where(least > 0, rtt / np.maximum(least, 1e-9) - 1, 0.0)
    lost = losses / np.maximum(delivered, 1.0)
    features = np.stack([lost, queue, np.ones_like(lost)], axis=1)
    factor = np.exp(np.clip(features @ weights[:3], -2.0, 1.0))
    return np.stack([factor, np.clip(features @ weights[3:], -16.0, 16.0)], axis=1)


def runs(chosen: Scenario, weights: Floats, seed: int, count: int) -> list[dict[str, Any]]:
    """The metrics of a run of the policy for each replication."""
    from lasthop.gym import make_vec

    env = make_vec(chosen, count, threads=2)
    seen, _ = env.reset(seed=seed)
    found: list[dict[str, Any] | None] = [None] * count
    while any(one is None for one in found):
        seen, _, _, over, infos = env.step(act(weights, seen))
        for place in np.flatnonzero(over):
            found[place] = found[place] or infos["metrics"][place]
    return [one for one in found if one is not None]


def value(found: list[dict[str, Any]]) -> float:
    """What is maximised, over the runs of a candidate."""
    goodput, rtt = (np.array([float(run[name] or 0.0) for run in found]) for name in (GOODPUT, RTT))
    each: Floats = np.log(np.maximum(goodput, 1e3)) - COST * np.log(np.maximum(rtt, 1e-3))
    return float(each.mean())


def learn(chosen: Scenario, generations: int = GENERATIONS) -> Floats:
    """The weights that CMA-ES finds."""
    import cma  # type: ignore[import-untyped]

    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    options = {"seed": TRAINED, "verbose": -9, "popsize": 12, "maxiter": generations}
    search = cma.CMAEvolutionStrategy(start, 0.5, options)
    while not search.stop():
        candidates = search.ask()
        search.tell(candidates, [-value(runs(chosen, one, TRAINED, RUNS)) for one in candidates])
    return np.asarray(search.result.xfavorite, np.float64)


def judged(chosen: Scenario, weights: Floats, replications: int = REPLICATIONS) -> Learned:
    """The policy against NewReno, on runs of another seed."""
    policy = runs(chosen, weights, JUDGED, replications)
    newreno = [chosen.run(JUDGED, replication).metrics for replication in range(replications)]

    def column(found: list[dict[str, Any]], name: str, unit: float) -> Floats:
        return np.array([float(run[name] or 0.0) for run in found]) / unit

    return Learned(
        weights,
        column(policy, GOODPUT, 1e6),
        column(newreno, GOODPUT, 1e6),
        column(policy, RTT, 1.0),
        column(newreno, RTT, 1.0),
    )


def main() -> int:
    """Learn and judge; 0 if the policy delivers more than NewReno."""
    for package in ("cma", "gymnasium"):
        if find_spec(package) is None:
            raise UsageError(f"test: --learning: {package} is not installed; expected pip install {package}")
    chosen = scenario()
    learned = judged(chosen, learn(chosen))
    print(learned)
    return 0 if (learned.gain.low or 0.0) > 0 else 1
