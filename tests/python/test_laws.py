"""Congestion laws in Python: decisions, scenarios, studies, processes and failures."""

from __future__ import annotations

import json
import multiprocessing
import shlex
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from threading import Timer
from typing import TYPE_CHECKING, NoReturn

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.base.attended import attended
from lasthop.laws import Ack, Loss, Reno, Timeout, Window
from lasthop.laws.registered import named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MINE = """from lasthop.laws import Reno


class Mine(Reno):
    def on_loss(self, loss, window):
        window.ssthresh = max({share} * loss.base, 2.0)
        window.cwnd = window.ssthresh
"""


class Fails(Reno):
    def on_loss(self, loss: Loss, window: Window) -> bool | None:
        raise ZeroDivisionError("no half")


class Interrupts(Reno):
    def on_ack(self, ack: Ack, window: Window) -> None:
        raise KeyboardInterrupt


class Exits(Reno):
    def on_ack(self, ack: Ack, window: Window) -> None:
        raise SystemExit(0)


def hang(*_: object) -> NoReturn:
    """Catches what a law may catch, and never returns."""
    while True:
        with suppress(Exception):
            sum(range(100))


HANGS = [
    type(f"Hangs{method}", (Reno,), {method: hang})
    for method in ("__init__", "on_start", "on_ack", "on_loss", "on_timeout", "on_sent")
]


class Undecided(Reno):
    def on_ack(self, ack: Ack, window: Window) -> None:
        window.cwnd = float("nan")


class StandsStill(Reno):
    """Sets a pace of nothing."""

    paces = True

    def on_ack(self, ack: Ack, window: Window) -> None:
        window.pacing_bps = 0.0


class Keeps(Reno):
    """Takes each loss that duplicates show for random."""

    def on_loss(self, loss: Loss, window: Window) -> bool | None:
        return False


@pytest.fixture
def lossy(tmp_path: Path) -> lh.Scenario:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    sc = lh.load(file)
    link = sc.links()[0]
    return sc.set({"run.duration": "20 s", f"links.{link}.loss.rate": "1 %"})


def with_variant(sc: lh.Scenario, name: str) -> lh.Scenario:
    return sc.set({"flows.main.tcp.variant": name})


@pytest.mark.parametrize("profile", ["modern", "ns2-2004"])
def test_reno_in_python_is_reno_in_rust_bit_for_bit(lossy: lh.Scenario, profile: str) -> None:
    lh.law("python-reno", Reno, recovery="newreno")
    sc = lossy.set({"flows.main.tcp.profile": profile})
    rust, python = with_variant(sc, "newreno").run(), with_variant(sc, "python-reno").run()
    assert python.metrics == rust.metrics
    assert python.events == rust.events
    assert rust.laws == {}
    use = python.laws["python-reno"]
    assert use.acks > 500
    assert use.calls > use.acks
    assert 0 < use.us_per_ack < 1000


def test_a_comparison_finds_no_difference_of_a_port_and_the_first_one_of_another_law(
    lossy: lh.Scenario,
) -> None:
    lh.law("python-reno", Reno)
    for pair in (("python-reno", "reno"), ("reno", "python-reno")):
        same = lh.compare_laws(lossy, *pair)
        assert same
        assert same.events > 500
        assert str(same) == f"the same decisions at {same.events} events"
    other = lh.compare_laws(lossy, "python-reno", "cubic")
    assert not other
    assert other.number is not None
    assert other.first != other.second
    assert f"event {other.number} of {other.events}, {other.method} at" in str(other)
    lh.law("keeps", Keeps)
    kept = lh.compare_laws(lossy, "reno", "keeps")
    assert kept.method == "on_loss"


def test_a_law_that_keeps_its_window_at_losses_is_faster_than_reno_on_a_lossy_link(
    lossy: lh.Scenario,
) -> None:
    lh.law("keeps", Keeps, recovery="newreno")
    name = "flows.main.goodput_bps"
    sc = lossy.set({f"links.{lossy.links()[0]}.loss.rate": "4 %"})
    kept, halved = (with_variant(sc, law).run().metrics[name] for law in ("keeps", "newreno"))
    assert kept is not None
    assert halved is not None
    assert kept > halved


def test_an_exception_names_law_event_and_time_and_is_the_cause_of_the_error(lossy: lh.Scenario) -> None:
    lh.law("fails", Fails)
    with pytest.raises(lh.LawError, match=r'law "fails": on_loss at \d+\.\d+ s: ZeroDivisionError') as failed:
        with_variant(lossy, "fails").run()
    assert "test_laws.py:" in str(failed.value)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    assert failed.value.exit_code == 2
    lh.law("undecided", Undecided)
    with pytest.raises(lh.LawError, match=r"window.cwnd: NaN; expected a finite number") as undecided:
        with_variant(lossy, "undecided").run()
    assert str(undecided.value).count("expected") == 1
    lh.law("stands-still", StandsStill)
    with pytest.raises(lh.LawError, match=r"window.pacing_bps: 0; expected 1 or more, or None"):
        with_variant(lossy, "stands-still").run()


def test_an_interrupt_that_a_law_raises_is_an_error_of_its_run(lossy: lh.Scenario) -> None:
    """Ctrl-C reaches the main thread, and the run is on another one."""
    lh.law("interrupts", Interrupts)
    with pytest.raises(lh.LawError, match="KeyboardInterrupt"):
        with_variant(lossy, "interrupts").run()


@pytest.mark.parametrize("law", HANGS)
@pytest.mark.parametrize("waits", [attended, lambda work: work(lh.Cancel())])
def test_a_law_that_hangs_is_ended_by_the_limit_of_its_run(
    lossy: lh.Scenario, law: type[Reno], waits: Callable[[Callable[[lh.Cancel], lh.Run]], lh.Run]
) -> None:
    lh.law("hangs", law)
    lossy = lossy.set({f"links.{lossy.links()[0]}.loss.rate": "20 %"})
    done = waits(lambda cancel: with_variant(lossy, "hangs").run(max_wall_s=0.2, cancel=cancel))
    assert done.stopped == "max-wall"
    assert done.simulated_s < 20
    assert done.wall_s < 10
    # Nothing is left that would interrupt what this thread does next.
    assert sum(1 for _ in range(100_000)) == 100_000
    assert with_variant(lossy, "newreno").run().stopped is None


def test_a_law_that_hangs_is_ended_by_a_token(lossy: lh.Scenario) -> None:
    lh.law("hangs", HANGS[2])
    cancel = lh.Cancel()
    later = Timer(0.3, cancel.set)
    later.start()
    with pytest.raises(lh.Interrupted):
        with_variant(lossy, "hangs").run(cancel=cancel)
    later.join()


def test_a_law_that_exits_ends_its_run_and_not_the_process(lossy: lh.Scenario) -> None:
    lh.law("exits", Exits)
    with pytest.raises(lh.LawError, match=r'law "exits": on_ack at .* SystemExit: 0 \(.*\); expected no'):
        with_variant(lossy, "exits").run()


def test_events_of_a_test_need_only_what_the_law_reads() -> None:
    law, window = Reno(), Window(cwnd=2.0, ssthresh=4.0, limit=100.0)
    sizes = []
    for _ in range(4):
        law.on_ack(Ack(0.1), window)
        sizes.append(window.cwnd)
    assert sizes == [3.0, 4.0, 4.25, 4.25 + 1 / 4.25]
    law.on_ack(Ack(0.1, "duplicate", 0), window)
    assert window.cwnd == sizes[-1]
    law.on_timeout(Timeout(0.2, base=20.0), window)
    assert (window.cwnd, window.ssthresh) == (1.0, 10.0)
    law.on_timeout(Timeout(0.4, base=1.0, is_repeated=True), window)
    assert (window.cwnd, window.ssthresh) == (1.0, 10.0)


def test_a_whole_window_grows_as_in_rust() -> None:
    window = Window(cwnd=3.0, ssthresh=2.0, limit=20.0, credit=0)
    sizes = []
    for _ in range(7):
        window.grow(1, window.cwnd)
        sizes.append(window.cwnd)
    assert sizes == [3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 5.0]


def test_slow_start_goes_to_the_first_whole_step_at_or_above_the_threshold_as_in_rust() -> None:
    window = Window(2.0, 4.5, 100.0)
    assert (window.slow_start(4), window.cwnd) == (1, 5.0)
    assert (window.slow_start(2), window.cwnd) == (2, 5.0)


def test_a_changed_source_is_another_point(lossy: lh.Scenario, tmp_path: Path) -> None:
    keys = []
    goodput = []
    for number, share in enumerate((0.5, 0.5, 0.9)):
        file = tmp_path / f"v{number}" / "changing.py"
        file.parent.mkdir()
        file.write_text(MINE.format(share=share))
        named(f"changing={file}:Mine")
        if number == 0:
            # A scenario that was read before the law changes has the law that is registered when it runs.
            sc = with_variant(lossy, "changing")
        keys.append(sc.point_key())
        goodput.append(sc.run().metrics["flows.main.goodput_bps"])
    assert keys[0] == keys[1] != keys[2]
    assert goodput[0] == goodput[1] != goodput[2]
    plain = with_variant(lossy, "newreno")
    assert plain.point_key() == with_variant(lossy, "newreno").point_key()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_run_the_law_of_the_study(lossy: lh.Scenario, tmp_path: Path, method: str) -> None:
    file = tmp_path / "travels.py"
    file.write_text(MINE.format(share=0.8))
    named(f"travels={file}:Mine")
    sc = with_variant(lossy, "travels").set({"run.duration": "5 s"})
    here = sc.sweep(4, tmp_path / "threads").run()
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        there = sc.sweep(4, tmp_path / method).run(pool)
    assert not there.failures
    assert [r.row.metrics for r in there.results()] == [r.row.metrics for r in here.results()]


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "lasthop", *words]
    return subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command_line_takes_a_law_from_a_file_and_ends_with_2_where_it_fails(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "laws.py").write_text(MINE.format(share=0.7))
    law = ("--law", "laws.py:Mine", "-s", "flows.main.tcp.variant=mine")
    ran = command(tmp_path, "run", "small.toml", *law)
    assert ran.returncode == 0, ran.stderr
    assert 'law "mine" in Python is slow: ' in ran.stderr
    assert " us for each of " in ran.stderr
    swept = command(tmp_path, "sweep", "small.toml", *law, "--executor", "process", "--out", "study")
    assert swept.returncode == 0, swept.stderr
    assert 'law "mine" in Python is slow\n' in swept.stderr
    threads = command(tmp_path, "sweep", "small.toml", *law, "--out", "threads")
    assert "threads take turns with it (--executor process does not)" in threads.stderr
    document = json.loads(command(tmp_path, "run", "small.toml", *law, "--json").stdout)
    assert document["laws"]["mine"]["us_per_ack"] > 0
    assert command(tmp_path, "check", "small.toml", *law).returncode == 0
    (tmp_path / "bad.py").write_text(MINE.format(share=0.7).replace("on_loss", "on_ack"))
    failed = command(tmp_path, "run", "small.toml", "--law", "mine=bad.py:Mine", *law[2:])
    assert failed.returncode == 2
    assert 'law "mine": on_ack at 0.' in failed.stderr
    assert "AttributeError" in failed.stderr


def test_every_command_on_a_study_of_a_law_in_python_takes_the_law(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "laws.py").write_text(MINE.format(share=0.7))
    law = ("--law", "laws.py:Mine")
    short = ("-r", "6", "-s", "run.bin=100 ms")
    both = ("-s", "sweep.flows.main.tcp.variant=[mine, reno]")
    for number in (1, 2):
        shard = ("--shard", f"{number}/2", "-o", f"shard.{number}")
        assert command(tmp_path, "sweep", "small.toml", *both, *short, *shard, *law).returncode == 0
    goodput = "flows.main.goodput_bps"
    variant = ("small.toml", "-s", "flows.main.tcp.variant=mine", "-s", "run.duration=1 s")
    for words in (
        ("merge", "study", "shard.1", "shard.2"),
        ("plot", "study"),
        ("report", "study", "-o", "page.html"),
        ("export", "study"),
        ("contrast", "study", goodput, "flows.main.tcp.variant"),
        ("quantile", "study", goodput, "--share", "50 %"),
        ("steady", "study"),
        ("command", "study", "--point", "0"),
        ("archive", "study", "-o", "study.zip"),
        ("verify", "study.zip"),
        ("ladder", *variant),
        ("play", *variant, "-o", "play.html"),
    ):
        ended = command(tmp_path, *words, *law)
        assert ended.returncode == 0, (words, ended.stderr)
        refused = command(tmp_path, *words)
        assert "mine" in refused.stderr, words
        assert refused.returncode != 0, words
    refused = command(tmp_path, "plot", "study")
    assert refused.stderr.endswith(f"(the runs of study have --law mine={tmp_path / 'laws.py'}:Mine)\n")
    point = command(tmp_path, "command", "study", "--point", "0", *law).stdout
    assert " --law mine=laws.py:Mine " in point
    assert command(tmp_path, *shlex.split(point)[1:]).returncode == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mine", '--law: "mine"; expected [NAME=]MODULE:CLASS such as mine=laws.py:Mine'),
        ("a=none.py:Mine", "--law: none.py: no such file; expected a file with the class Mine"),
        ("a=json:Nothing", "--law: json:Nothing: AttributeError: "),
        ("a=json:dumps", "--law: json:dumps is not a class; expected one"),
        ("a=json:JSONDecoder", "--law: JSONDecoder has no on_ack, on_loss, on_timeout; expected"),
        ("reno=lasthop.laws:Reno", '--law: "reno" is a law or variant of lasthop; expected another name'),
        ("My_law=lasthop.laws:Reno", '--law: "My_law"; expected a name of lower-case letters'),
    ],
)
def test_an_option_that_names_no_law_says_why(text: str, found: str) -> None:
    with pytest.raises(lh.LasthopError) as refused:
        named(text)
    assert refused.value.as_option().startswith(found.replace("\\", ""))


def test_a_scenario_with_an_unknown_law_is_refused_with_the_known_ones(lossy: lh.Scenario) -> None:
    lh.law("known-here", Reno)
    with pytest.raises(lh.ScenarioError, match='did you mean "known-here"'):
        with_variant(lossy, "known-her")


class PacesInSecret(Reno):
    """Sets a pace, and does not say that it paces."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        window.pacing_bps = 1e6


def test_whether_a_law_paces_is_true_or_false() -> None:
    with pytest.raises(lh.UsageError, match=r"Half.paces: 'yes'; expected True or False"):
        lh.law("half", type("Half", (Reno,), {"paces": "yes"}))


def test_a_pace_of_a_law_that_does_not_pace_is_an_error(lossy: lh.Scenario) -> None:
    lh.law("paces-in-secret", PacesInSecret)
    with pytest.raises(lh.LawError, match=r"window.pacing_bps: set by a law .*; expected `paces = True`"):
        with_variant(lossy, "paces-in-secret").run()
