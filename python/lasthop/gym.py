"""A Gymnasium environment: an agent sets the congestion window of a flow, by ACK or round trip.

It needs the optional package `gymnasium` (`pip install lasthop[gym]`).

>>> env = make("ejtcp/fig10-baselines", every="round-trip", set={"run.duration": "2 s"})
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([1.0, 1.0])
>>> observation.shape, terminated
((12,), False)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from lasthop import _core
from lasthop.base.arguments import MOST_SEED, above_zero, instance, nonblank, whole
from lasthop.base.errors import UsageError
from lasthop.scenario.scenario import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

EVERY = ("ack", "round-trip")
FIELDS = tuple(_core.Steering.fields())
"""What is observed, in this order: the names end with the unit; windows and counts are segments and events.

`now_s`, `interval_s` (since the last decision), `cwnd`, `flight`, `rtt_s` (the newest), `srtt_s`,
`least_rtt_s`, and since the last decision `acks`, `delivered` (segments), `delivered_bytes`, `losses` (that
duplicates showed) and `timeouts`.
"""
_BYTES, _LOSSES = FIELDS.index("delivered_bytes"), FIELDS.index("losses")
MOST_FACTOR, MOST_SEGMENTS = 4.0, 64.0
"""The bounds of an action: the window becomes at most 4 times as large, and 64 segments larger or smaller."""
LOWEST, HIGHEST = np.array([0.0, -MOST_SEGMENTS]), np.array([MOST_FACTOR, MOST_SEGMENTS])


def make(
    scenario: Scenario | str | Path,
    *,
    every: str = "round-trip",
    flow: str = "main",
    point: int = 0,
    loss_cost: float = 0.0,
    set: Mapping[str, object] | None = None,  # noqa: A002
) -> LasthopEnv:
    """Make an environment of a point of a scenario.

    Args:
        scenario: A scenario, or what `lasthop.load` takes.
        every: When a decision is due: `"ack"` or `"round-trip"`.
        flow: The flow whose window the agent sets.
        point: The number of the point.
        loss_cost: What a lost segment costs, in Mbit of reward.
        set: Keys of the scenario to set, such as `{"run.duration": "10 s"}`.

    Returns:
        The environment.

    Raises:
        UsageError: An argument is invalid for this scenario.
        ScenarioError: The scenario cannot be run, or has no such flow over TCP.
    """
    return LasthopEnv(_chosen(scenario, set), every=every, flow=flow, point=point, loss_cost=loss_cost)


def make_vec(
    scenario: Scenario | str | Path,
    count: int,
    *,
    threads: int = 1,
    every: str = "round-trip",
    flow: str = "main",
    point: int = 0,
    loss_cost: float = 0.0,
    set: Mapping[str, object] | None = None,  # noqa: A002
) -> LasthopVectorEnv:
    """Make several environments of a point, which advance together on threads without Python's lock.

    Args:
        scenario: A scenario, or what `lasthop.load` takes.
        count: The number of environments.
        threads: The number of threads; with short steps one is as fast as several.
        every: When a decision is due: `"ack"` or `"round-trip"`.
        flow: The flow whose window the agent sets.
        point: The number of the point.
        loss_cost: What a lost segment costs, in Mbit of reward.
        set: Keys of the scenario to set.

    Returns:
        The environments.

    Raises:
        UsageError: An argument is invalid for this scenario.
        ScenarioError: The scenario cannot be run, or has no such flow over TCP.
    """
    chosen = _chosen(scenario, set)
    return LasthopVectorEnv(
        chosen, count, threads=threads, every=every, flow=flow, point=point, loss_cost=loss_cost
    )


def _chosen(scenario: Scenario | str | Path, values: Mapping[str, object] | None) -> Scenario:
    chosen = scenario if isinstance(scenario, Scenario) else load(scenario)
    return chosen.set(values) if values else chosen


def _spaces() -> tuple[Box, Box]:
    return (
        Box(0.0, np.inf, (len(FIELDS),), np.float64),
        Box(LOWEST, HIGHEST, (2,), np.float64),
    )


def _within(actions: Any, shape: tuple[int, ...], argument: str) -> Floats:
    """Actions of this shape; those outside the bounds are moved to them."""
    try:
        chosen = np.asarray(actions, np.float64)
    except (TypeError, ValueError):
        chosen = np.full((), np.nan)
    if chosen.shape != shape or not np.isfinite(chosen).all():
        if shape == (2,):
            what, expected = repr(actions), "a factor and segments such as [1.0, 1.0]"
        else:
            what, expected = f"an array of shape {chosen.shape}", f"finite numbers of shape {shape}"
        raise UsageError(f"{what}; expected {expected}", argument=argument)
    within: Floats = np.minimum(np.maximum(chosen, LOWEST), HIGHEST)
    return within


class _Runs:
    """The runs of one or several environments, and their rewards."""

    def __init__(
        self,
        scenario: Scenario,
        every: str,
        flow: str,
        point: int,
        loss_cost: float,
        count: int,
        threads: int,
    ) -> None:
        instance("scenario", scenario, Scenario, "a Scenario")
        if every not in EVERY:
            raise UsageError(f"{every!r}; expected {' or '.join(EVERY)}", argument="every")
        nonblank("flow", flow, "the name of a flow")
        self.place = (scenario, whole("point", point, 0, len(scenario.points()) - 1), flow, every)
        self.shape = (whole("count", count, 1, 100_000), whole("threads", threads, 1, 1024))
        self.loss_cost = above_zero("loss_cost", loss_cost, "cost in Mbit") if loss_cost else 0.0
        self.seed = scenario.seed
        self.next = 0
        # Made now, so that a mistake in an argument shows now.
        self.core = self._make()

    def _make(self) -> _core.Steering:
        scenario, point, flow, every = self.place
        core = scenario._core  # noqa: SLF001
        return _core.Steering(core, point, flow, every, self.seed, *self.shape)

    def reset(self, seed: int | None) -> tuple[Floats, list[dict[str, Any]]]:
        """A new run for each environment: of a seed its first ones, without a seed those that follow."""
        if seed is not None:
            self.seed = whole("seed", seed, 0, MOST_SEED)
            self.next = 0
            self.core = self._make()
        observations, _, metrics = self.core.reset(self.next)
        # Runs that environments begin by themselves have the numbers in between.
        self.next += 1 if self.shape[0] == 1 else 1_000_000
        return observations, metrics_of(metrics)

    def step(self, actions: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations, rewards, which runs have ended, and the metrics of those."""
        observations, over, metrics = self.core.step(np.ascontiguousarray(actions, np.float64))
        rewards = observations[:, _BYTES] * 8e-6 - self.loss_cost * observations[:, _LOSSES]
        return observations, rewards, over, metrics_of(metrics)


def metrics_of(found: list[list[tuple[str, float | None]] | None]) -> list[dict[str, Any]]:
    """For each environment the metrics of a run that has ended, under `metrics`."""
    return [{} if one is None else {"metrics": dict(one)} for one in found]


class LasthopEnv(gymnasium.Env[Any, Any]):
    """A run of a scenario in which an agent sets the congestion window of a flow.

    The observation is what `FIELDS` names. An action is a factor and a number of segments: the window
    becomes `factor * cwnd + segments`, at the next acknowledgement; what is outside the bounds of
    `action_space` acts as they do. A timeout leaves one segment. The
    reward of a step is the Mbit that were delivered in it, less `loss_cost` for each loss. An episode is a
    run: it ends, truncated, at `run.duration`, and its `info["metrics"]` has the metrics of the run. The
    same seed and actions give the same episode; `reset` without a seed begins the next replication.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario,
        *,
        every: str = "round-trip",
        flow: str = "main",
        point: int = 0,
        loss_cost: float = 0.0,
    ) -> None:
        self._runs = _Runs(scenario, every, flow, point, loss_cost, 1, 1)
        self.observation_space, self.action_space = _spaces()
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin a run, and bring it to its first decision."""
        super().reset(seed=seed)
        observations, infos = self._runs.reset(seed)
        self._over = False
        return observations[0], infos[0]

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Set the window, and bring the run to the next decision."""
        if self._over:
            raise UsageError("step: the run has ended; expected reset before it")
        chosen = _within(action, (2,), "action")
        observations, rewards, over, infos = self._runs.step(chosen[None, :])
        self._over = bool(over[0])
        return observations[0], float(rewards[0]), False, self._over, infos[0]


class LasthopVectorEnv(VectorEnv[Any, Any, Any]):
    """Several runs of a scenario at once, each as `LasthopEnv`; the step after its end begins another."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario,
        count: int,
        *,
        threads: int = 1,
        every: str = "round-trip",
        flow: str = "main",
        point: int = 0,
        loss_cost: float = 0.0,
    ) -> None:
        self._runs = _Runs(scenario, every, flow, point, loss_cost, count, threads)
        self.num_envs = count
        self.single_observation_space, self.single_action_space = _spaces()
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._were_over = np.zeros(count, np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin a run in each environment: replications of one seed."""
        if isinstance(seed, list):
            raise UsageError(f"{seed!r}; expected one seed, of which each has a replication", argument="seed")
        super().reset(seed=seed)
        self._were_over[:] = False
        return self._runs.reset(seed)[0], {}

    def step(
        self, actions: Any
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Set the windows, and bring each run to its next decision."""
        observations, rewards, over, found = self._runs.step(_within(actions, (self.num_envs, 2), "actions"))
        rewards[self._were_over] = 0.0
        self._were_over = over.copy()
        infos: dict[str, Any] = {}
        if over.any():
            infos = {"metrics": np.array([one.get("metrics") for one in found], dtype=object)}
            infos["_metrics"] = over.copy()
        return observations, rewards, np.zeros(self.num_envs, np.bool_), over, infos
