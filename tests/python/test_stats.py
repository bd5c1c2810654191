"""Intervals, contrasts and fairness against scipy and against their definitions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from lasthop.stats.intervals import Interval, difference, interval, jain, ratio

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@given(st.lists(NUMBERS, min_size=2, max_size=40))
def test_the_interval_is_scipys_t_interval(values: list[float]) -> None:
    ours = interval(values)
    assert ours.mean is not None
    assert ours.low is not None
    assert ours.high is not None
    sem = float(scipy_stats.sem(values))
    assert ours.mean == pytest.approx(math.fsum(values) / len(values), rel=1e-9, abs=1e-6)
    if sem > 1e-6:
        low, high = scipy_stats.t.interval(0.95, len(values) - 1, loc=ours.mean, scale=sem)
        assert ours.low == pytest.approx(low, rel=1e-6, abs=1e-5)
        assert ours.high == pytest.approx(high, rel=1e-6, abs=1e-5)
    assert ours.n == len(values)


def test_missing_values_are_left_out_and_not_counted() -> None:
    assert interval([None, 2.0, None, 4.0]).n == 2
    assert interval([None]) == Interval(None, None, None, 0)


def test_one_value_has_a_mean_and_no_interval() -> None:
    assert interval([3.0]) == Interval(3.0, None, None, 1)


def test_equal_values_have_an_interval_of_no_width() -> None:
    ours = interval([0.0, 0.0])
    assert (ours.low, ours.high, ours.relative) == (0.0, 0.0, 0.0)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=20))
def test_a_paired_difference_is_scipys_paired_t_interval(pairs: list[tuple[float, float]]) -> None:
    a = {k: x for k, (x, _) in enumerate(pairs)}
    b = {k: y for k, (_, y) in enumerate(pairs)}
    ours = difference(a, b)
    gaps = [x - y for x, y in pairs]
    assert ours.mean == pytest.approx(math.fsum(gaps) / len(gaps), rel=1e-9, abs=1e-6)
    if float(scipy_stats.sem(gaps)) > 1e-6:
        theirs = scipy_stats.ttest_rel(list(a.values()), list(b.values())).confidence_interval(0.95)
        assert ours.low == pytest.approx(theirs.low, rel=1e-6, abs=1e-4)
        assert ours.high == pytest.approx(theirs.high, rel=1e-6, abs=1e-4)


def test_a_common_swing_cancels_in_contrasts_and_ratios() -> None:
    swing = [1.0, 5.0, 2.0, 9.0]
    a = {k: 3 * s for k, s in enumerate(swing)}
    b = dict(enumerate(swing))
    assert ratio([(a, b)]).half == pytest.approx(0.0)
    assert ratio([(a, b)]).mean == pytest.approx(3.0)
    shifted = {k: s + 2 for k, s in enumerate(swing)}
    assert difference(shifted, b) == Interval(2.0, 2.0, 2.0, 4)


def test_the_interval_of_a_ratio_covers_the_truth_as_often_as_it_says() -> None:
    import numpy as np

    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(1000):
        top = rng.normal(10.0, 1.0, 12)
        bottom = rng.normal(4.0, 0.4, 12)
        ours = ratio([(dict(enumerate(top)), dict(enumerate(bottom)))])
        assert ours.low is not None
        assert ours.high is not None
        hits += ours.low <= 2.5 <= ours.high
    assert 925 <= hits <= 975


def test_a_ratio_over_nothing_is_no_number() -> None:
    assert ratio([({0: 1.0, 1: 2.0}, {0: 0.0, 1: 0.0})]) == Interval(None, None, None, 0)
    assert ratio([]) == Interval(None, None, None, 0)


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=20))
def test_jains_index_lies_between_one_nth_and_one(rates: list[float]) -> None:
    index = jain(rates)
    assert index is not None
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9
