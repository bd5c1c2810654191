"""The Gymnasium environment: spaces, episodes by seed, rewards, several at once, and a policy that learns."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import lasthop as lh
from conftest import SMALL

pytest.importorskip("gymnasium", reason="the optional package gymnasium is not installed")

from gymnasium.utils.env_checker import check_env

from lasthop.gym import FIELDS, LasthopEnv, LasthopVectorEnv, make, make_vec
from lasthop.tools import gymcost, learning

BYTES, CWND, LOSSES = (FIELDS.index(name) for name in ("delivered_bytes", "cwnd", "losses"))
SET = {"run.duration": "4 s"}


@pytest.fixture
def sc(tmp_path: Path) -> lh.Scenario:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    chosen = lh.load(file)
    return chosen.set({**SET, f"links.{chosen.links()[0]}.loss.rate": "1 %"})


def episode(
    env: LasthopEnv, seed: int | None, segments: float = 2.0
) -> tuple[list[object], dict[str, object]]:
    observation, _ = env.reset(seed=seed)
    seen: list[object] = [observation.tolist()]
    while True:
        observation, reward, terminated, truncated, info = env.step([0.5, segments])
        assert not terminated
        seen += [observation.tolist(), reward]
        if truncated:
            return seen, info["metrics"]


def test_the_environment_is_one_of_gymnasium(sc: lh.Scenario) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(make(sc))
    env = make(sc)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert observation.shape == (len(FIELDS),)


@pytest.mark.parametrize("every", ["ack", "round-trip"])
def test_an_episode_follows_from_seed_and_actions(sc: lh.Scenario, every: str) -> None:
    env = make(sc, every=every)
    first, again, other = (episode(env, seed) for seed in (1, 1, 2))
    assert first == again
    assert first[0] != other[0]
    # Without a seed the next replication follows: that of another environment, too.
    second = episode(env, None)
    assert second != other
    fresh = make(sc, every=every)
    episode(fresh, 2)
    assert episode(fresh, None) == second


def test_the_window_is_what_the_action_says_and_rewards_are_what_is_delivered(sc: lh.Scenario) -> None:
    env = make(sc, every="ack", loss_cost=0.25)
    env.reset(seed=1)
    total, delivered, losses = 0.0, 0.0, 0.0
    cwnd = 0.0
    steps = 0
    while True:
        observation, reward, _, truncated, info = env.step([0.0, 7.0])
        if truncated:
            break
        cwnd, steps = observation[CWND], steps + 1
        total += reward
        delivered += observation[BYTES]
        losses += observation[LOSSES]
    assert cwnd == 7.0
    assert steps > 100
    assert losses > 0
    assert total == pytest.approx(delivered * 8e-6 - 0.25 * losses)
    assert info["metrics"]["flows.main.goodput_bps"] > 0
    with pytest.raises(lh.UsageError, match="the run has ended; expected reset"):
        env.step([1.0, 0.0])


@pytest.mark.parametrize("threads", [1, 3])
def test_environments_together_do_what_each_does_alone(sc: lh.Scenario, threads: int) -> None:
    count = 5
    together = make_vec(sc, count, threads=threads)
    seen, _ = together.reset(seed=3)
    alone = make(sc)
    expected = [alone.reset(seed=3)[0], *(alone.reset()[0] for _ in range(count - 1))]
    assert np.array_equal(seen, np.array(expected))
    actions = np.tile([0.5, 3.0], (count, 1))
    ended = np.zeros(count, bool)
    for _ in range(2000):
        seen, _, terminated, truncated, infos = together.step(actions)
        assert not terminated.any()
        ended = truncated
        if truncated.any():
            assert [one is not None for one in infos["metrics"]] == truncated.tolist()
            break
    assert ended.any()
    # The step after the end begins the next run; its reward is zero.
    following, rewards, *_ = together.step(actions)
    assert (rewards[ended] == 0).all()
    assert (following[ended, BYTES] > 0).all()
    assert (following[ended, FIELDS.index("now_s")] < seen[ended, FIELDS.index("now_s")]).all()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda sc: make(sc, every="second"), "every: 'second'; expected ack or round-trip"),
        (lambda sc: make(sc, flow="mian"), 'flow: unknown flow over TCP "mian"; did you mean "main"?'),
        (lambda sc: make(sc, point=99), "point: 99; expected an integer from 0 to"),
        (lambda sc: make(sc, loss_cost=-1.0), "loss_cost: -1.0; expected a cost in Mbit above 0"),
        (lambda sc: make_vec(sc, 0), "count: 0; expected an integer from 1"),
        (lambda sc: make_vec(sc, 2, threads=0), "threads: 0; expected an integer from 1"),
        (lambda sc: LasthopEnv(5), "scenario: 5; expected a Scenario"),
        (lambda sc: LasthopVectorEnv(sc, 2).reset(seed=[1, 2]), "seed: [1, 2]; expected one seed"),
        (
            lambda sc: LasthopVectorEnv(sc, 2).step([[1.0, 0.0]]),
            "actions: an array of shape (1, 2); expected",
        ),
        (lambda sc: make(sc).reset(seed=1.5), "seed"),
    ],
)
def test_a_wrong_argument_is_named(sc: lh.Scenario, call: object, error: str) -> None:
    assert callable(call)
    with pytest.raises((lh.LasthopError, Exception)) as refused:
        call(sc)
    assert str(refused.value).startswith(error) or error == "seed"


def test_an_action_that_is_not_one_is_refused(sc: lh.Scenario) -> None:
    env = make(sc)
    env.reset(seed=1)
    for wrong in ([1.0], [float("nan"), 0.0], 5, "up", ["up", 1.0], None):
        with pytest.raises(lh.UsageError, match="expected a factor and segments"):
            env.step(wrong)


def test_an_action_outside_its_bounds_acts_as_they_do(sc: lh.Scenario) -> None:
    def windows(action: list[float]) -> list[float]:
        env = make(sc)
        env.reset(seed=1)
        return [float(env.step(action)[0][FIELDS.index("cwnd")]) for _ in range(4)]

    assert windows([9.0, 900.0]) == windows([4.0, 64.0])
    assert windows([-1.0, 5.0]) == windows([0.0, 5.0])
    assert windows([4.0, 0.0]) != windows([3.9, 0.0])


def test_an_episode_ends_at_the_limit_of_events_and_one_too_large_for_memory_begins_not(
    sc: lh.Scenario,
) -> None:
    env = make(sc.set({"run.max-events": "300"}))
    _, cut = episode(env, 1)
    _, whole = episode(make(sc), 1)
    sent = [float(str(one["flows.main.segments_sent"])) for one in (cut, whole)]
    assert 0 < sent[0] < sent[1] / 3
    with pytest.raises(lh.LasthopError, match="memory"):
        make(sc.set({"run.max-memory": "1 kB"})).reset(seed=1)


def test_a_search_of_few_steps_returns_weights_that_can_be_judged() -> None:
    pytest.importorskip("cma", reason="the package cma is not installed")
    chosen = learning.scenario().set({"run.duration": "4 s", "run.warmup": "1 s"})
    weights = learning.learn(chosen, generations=2)
    assert np.array_equal(weights, learning.learn(chosen, generations=2))
    found = learning.judged(chosen, weights, replications=2)
    assert len(found.policy) == 2
    assert "over 2 replications of seed 12" in str(found)


def test_the_bench_has_a_row_for_each_way_of_deciding_and_number_of_environments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gymcost, "_TIMES", 1)
    case = gymcost.GymCase("gym", "", "ejtcp/fig10-baselines", SET, ("ack", "round-trip"), (1, 3), 30)
    costs = list(case.measure())
    assert [(cost.every, cost.environments) for cost in costs] == [
        ("ack", 1),
        ("ack", 3),
        ("round-trip", 1),
        ("round-trip", 3),
    ]
    assert all(cost.as_dict()["steps_per_s"] > 0 for cost in costs)
    assert gymcost.text(costs).count("round-trip") == 2


PAGE = Path(__file__).resolve().parents[2] / "docs" / "learning.md"
SHOWN = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", SHOWN)
def test_python_of_the_page_runs(text: str) -> None:
    exec(compile(text, "learning.md", "exec"), {})


def test_the_page_lists_what_is_observed() -> None:
    page = PAGE.read_text("utf-8")
    assert len(SHOWN) == 2
    assert all(f"`{name}`" in page for name in FIELDS)
