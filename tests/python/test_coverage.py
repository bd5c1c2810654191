"""How often the intervals of 1 000 repeated studies hold the long-run value.

The seeds are fixed, so the counts are too. A share of 1 000 has a standard error of 0.7 %.
"""

from __future__ import annotations

import json
import math
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.stats.intervals import Interval, difference, interval
from lasthop.stats.quantiles import quantile
from lasthop.stats.steady import steady, warm_up
from lasthop.study.precision import LEAST, next_count
from lasthop.study.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

STUDIES = 1_000
MOST = 200
METRIC = "flows.main.goodput_bps"


def replicated(draw: Callable[[int], float], target: float, least: int = LEAST) -> Interval:
    """What one study with --ci reports at a point whose replications have these values."""
    values: list[float | None] = []
    count = least
    while True:
        values += [draw(k) for k in range(len(values), count)]
        it = interval(values)
        assert it.relative is not None
        more = next_count(count, it.relative, target, MOST)
        if more == count:
            return it
        count = more


def held(its: list[Interval], truth: float) -> float:
    """The share of intervals that hold the true value."""
    found = sum(it.low is not None and it.high is not None and it.low <= truth <= it.high for it in its)
    return found / len(its)


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.03, 0.05, 0.1])
@pytest.mark.parametrize("skewed", [False, True])
def test_intervals_that_ci_has_narrowed_hold_the_mean(spread: float, skewed: bool) -> None:
    rng = np.random.default_rng([int(1000 * spread), skewed])
    sigma = math.sqrt(math.log1p(spread**2))
    its = []
    for _ in range(STUDIES):
        drawn = rng.lognormal(-(sigma**2) / 2, sigma, MOST) if skewed else rng.normal(1, spread, MOST)
        its.append(replicated(lambda k, drawn=drawn: float(drawn[k]), 0.02))  # type: ignore[misc]
    assert 0.93 <= held(its, 1.0) <= 0.97


def test_looking_from_five_runs_on_holds_the_mean_less_often_than_from_twenty_on() -> None:
    rng = np.random.default_rng(7)
    drawn = rng.normal(1, 0.03, (4 * STUDIES, MOST))
    shares = {
        least: held([replicated(lambda k, x=x: float(x[k]), 0.02, least) for x in drawn], 1.0)  # type: ignore[misc]
        for least in (5, LEAST)
    }
    assert shares[5] < 0.93 <= shares[LEAST]


CROSS = """
app  = { kind = "poisson", poisson.rate = "1.5 Mbit/s", poisson.packet = "1000 B" }
udp  = {}
"""


@pytest.mark.parametrize(
    ("changes", "target", "low", "high"),
    [
        # Packets arrive and are lost independently: about symmetric.
        pytest.param({"links.path.loss.rate": "20 %", "run.duration": "300 ms"}, 0.04, 0.93, 0.97, id="udp"),
        # A timeout is a stall of many round trips, and rare: the spread of few runs is mostly too small.
        pytest.param({"links.path.loss.rate": "2 %", "run.duration": "500 ms"}, 0.1, 0.88, 0.95, id="stalls"),
    ],
)
def test_intervals_of_real_runs_hold_their_long_run_mean(
    tmp_path: Path, changes: dict[str, str], target: float, low: float, high: float
) -> None:
    file = tmp_path / "tiny.toml"
    text = SMALL[: SMALL.index("[sweep]")]
    if low > 0.9:
        text = text[: text.index("app  =")] + CROSS.lstrip()
    file.write_text(text)
    sc = lh.load(file).set(changes)

    def value(study: int, replication: int) -> float:
        found = sc.run(seed=study, replication=replication).metrics[METRIC]
        assert found is not None
        return found

    long_run = [value(0, k) for k in range(4_000)]
    # Half as many: a simulation takes a thousand times a draw. The standard error of the share is 1 %.
    studies = range(1, STUDIES // 2 + 1)
    its = [replicated(lambda k, s=s: value(s, k), target) for s in studies]  # type: ignore[misc]
    assert np.mean([it.n for it in its]) > 1.2 * LEAST
    assert low <= held(its, math.fsum(long_run) / len(long_run)) <= high


@pytest.mark.parametrize(("share", "n"), [(0.5, 10), (0.5, 60), (0.9, 60)])
def test_intervals_of_quantiles_hold_the_quantile_of_any_distribution(share: float, n: int) -> None:
    rng = np.random.default_rng(3)
    its = [quantile(rng.exponential(1.0, n).tolist(), share) for _ in range(STUDIES)]
    assert 0.94 <= held(its, -math.log1p(-share)) <= 0.985


def test_too_few_values_have_no_interval_of_a_quantile() -> None:
    values = [float(v) for v in range(40)]
    assert quantile(values[:5], 0.5).half is None
    assert quantile(values[:6], 0.5).half is not None
    assert quantile(values[:35], 0.9).half is None
    assert quantile(values[:36], 0.9).half is not None


def test_paired_differences_hold_the_difference_and_are_narrower_than_those_of_independent_runs() -> None:
    rng = np.random.default_rng(4)
    paired, apart = [], []
    for _ in range(STUDIES):
        common = rng.normal(10, 1, 10)
        a, b = common + rng.normal(0.5, 0.2, 10), common + rng.normal(0, 0.2, 10)
        paired.append(difference(dict(enumerate(a)), dict(enumerate(b))))
        apart.append(difference(dict(enumerate(a)), dict(enumerate(rng.permutation(b)))))
    assert 0.93 <= held(paired, 0.5) <= 0.97
    widths = [np.mean([it.half for it in its]) for its in (paired, apart)]
    assert widths[0] < widths[1] / 3


def autoregressive(rng: np.random.Generator, n: int, link: float) -> np.ndarray:
    noise = rng.normal(0, 1, n)
    values = np.empty(n)
    values[0] = noise[0] / math.sqrt(1 - link**2)
    for k in range(1, n):
        values[k] = link * values[k - 1] + noise[k]
    return 20 + values


def test_batch_means_of_one_run_hold_the_mean_where_its_bins_depend_on_each_other() -> None:
    rng = np.random.default_rng(5)
    runs = [autoregressive(rng, 2_000, 0.8).tolist() for _ in range(STUDIES)]
    assert 0.93 <= held([steady(run, 0).mean for run in runs], 20.0) <= 0.97
    # As if the bins were independent runs, which they are not.
    assert held([interval(run) for run in runs], 20.0) < 0.6
    assert np.mean([steady(run, 0).is_linked for run in runs]) < 0.1
    assert np.mean([steady(run[:100], 0).is_linked for run in runs]) > 0.5


def test_mser_5_finds_a_warm_up_and_none_where_there_is_none() -> None:
    rng = np.random.default_rng(6)
    cuts, none = [], []
    for _ in range(100):
        flat = autoregressive(rng, 1_000, 0.5)
        none.append(warm_up(flat.tolist()))
        flat[:200] -= np.linspace(20, 0, 200)
        cuts.append(warm_up(flat.tolist()))
    assert all(cut is not None and 100 <= cut <= 300 for cut in cuts)
    assert np.median([cut or 0 for cut in none]) <= 50


def test_ci_narrows_what_it_is_asked_for(small: Path, tmp_path: Path) -> None:
    wanted = {}
    for of in ("mean", "median", "links.path.loss.rate"):
        study = lh.load(small).set({"run.duration": "1 s"}).sweep(1, tmp_path / of)
        precision = lh.Precision(0.1, 120, of=of)
        Sweep(study, jobs=2, precision=precision).run()
        wanted[of] = [planned.replications for planned in study.plan]
        again = lh.Study.open(tmp_path / of)
        for row in again.quantile(METRIC, 0.5).rows if of == "median" else ():
            assert row["n"] == 120 or (row["ci_high"] - row["ci_low"]) / 2 <= 0.1 * row["quantile"]
        if of.startswith("links"):
            means = {row["flows.main.tcp.variant"]: row["mean"] for row in again.table(METRIC).rows[::3]}
            for row in again.contrast(METRIC, of).rows:
                half = (row["ci_high"] - row["ci_low"]) / 2
                assert row["n"] == 120 or half <= 0.1 * means[row["flows.main.tcp.variant"]]
    assert wanted["median"] != wanted["mean"] != wanted["links.path.loss.rate"]


def test_the_options_of_ci_are_checked(small: Path, within: Cli) -> None:
    done = within("sweep", small, "--ci-of", "median")
    assert (done.returncode, done.stderr) == (
        2,
        'error: --ci-of: "median" without --ci; expected --ci with it\n',
    )
    done = within("sweep", small, "--ci", "5 %", "--ci-of", "links.path.los.rate")
    assert done.returncode == 2
    assert "links.path.los.rate is not swept" in done.stderr
    assert 'did you mean "links.path.loss.rate"' in done.stderr


def test_quantile_and_steady_on_the_command_line(small: Path, within: Cli) -> None:
    assert within("sweep", small, "-r", "6", "-s", "run.bin=20 ms", "-o", "s").returncode == 0
    table = json.loads(within("quantile", "s", METRIC, "--json").stdout)
    assert table["share"] == 0.5
    assert [row["n"] for row in table["rows"]] == [6] * 6
    assert all(row["ci_low"] <= row["quantile"] <= row["ci_high"] for row in table["rows"])
    first = f"{METRIC}: 50 % quantile of the runs"
    assert within("quantile", "s", METRIC).stdout.splitlines()[0] == first
    shown = within("steady", "s", METRIC)
    assert within("steady", "s").stdout == shown.stdout
    assert shown.stdout.splitlines()[0] == f"{METRIC}: mean of each run"
    swept = within("contrast", "s", METRIC, "links.path.loss.rate").stdout
    assert swept.splitlines()[0] == f"{METRIC}: difference"
    assert swept.splitlines()[1].endswith("(kbit/s)  n  relative (%)")
    runs = json.loads(within("steady", "s", "--json").stdout)["rows"]
    assert len(runs) == 36
    longer = [row for row in runs if row["found_s"] is not None and row["found_s"] > 0]
    assert longer
    assert f"note: {len(longer)} of 36 runs warm up longer than run.warmup; --cut leaves" in shown.stderr
    cut = json.loads(within("steady", "s", "--cut", "--json").stdout)["rows"]
    changed = [(a["mean"], a["batch_s"]) != (b["mean"], b["batch_s"]) for a, b in zip(runs, cut, strict=True)]
    assert any(changed)
    assert all(row in longer for row, is_changed in zip(runs, changed, strict=True) if is_changed)
    within("sweep", small, "-r", "1", "-o", "bare")
    bare = within("steady", "bare")
    assert (bare.returncode, bare.stdout) == (2, "")
    assert "error: bare: no bins; expected finished runs with run.bin" in bare.stderr
    assert within("quantile", "s", METRIC, "--share", "2").returncode == 2
