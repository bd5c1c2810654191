"""How far a run has come, while it lasts."""

from __future__ import annotations

import sys
from threading import Thread
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.study import progress

if TYPE_CHECKING:
    from collections.abc import Callable


class EnoughError(Exception):
    """Raised by what follows a run, to end it."""


def follow(cancel: lh.Cancel | None) -> list[float]:
    """Follow a run that would take hours until it has come on twice."""
    seen: list[float] = []

    def hear(reached_s: float) -> None:
        seen.append(reached_s)
        if len(set(seen)) == 3:
            raise EnoughError

    long = lh.load("validation/linux-bulk").set({"run.duration": "1000000 s"})
    with pytest.raises(EnoughError):
        long.run(cancel=cancel, progress=hear)
    return seen


def test_a_function_follows_the_simulated_time_and_its_exception_ends_the_run() -> None:
    seen = follow(None)
    assert seen == sorted(seen)
    assert 0 < seen[-1] < 1e6


def test_a_token_of_the_caller_shows_the_same_time() -> None:
    token = lh.Cancel()
    assert token.reached_s == 0
    assert token.reached_s < follow(token)[0] <= token.reached_s


def test_a_run_on_another_thread_is_followed_as_well() -> None:
    seen: list[float] = []
    thread = Thread(target=lambda: seen.extend(follow(None)))
    thread.start()
    thread.join()
    assert seen == sorted(seen)
    assert len(set(seen)) == 3


def test_what_follows_a_run_is_a_function_or_a_truth_value() -> None:
    with pytest.raises(lh.UsageError, match=r"progress: 3; expected True, False or a function of seconds"):
        lh.load("validation/linux-bulk").run(progress=3)  # type: ignore[arg-type]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the wall clock of the progress."""
    monkeypatch.setattr(progress.time, "monotonic", lambda: 0.0)
    return lambda now: monkeypatch.setattr(progress.time, "monotonic", lambda: now)


def test_without_a_terminal_a_line_follows_each_ten_seconds(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = progress.OneRun(400.0, plain=False)
    for now in (0.2, 9.9, 10.0, 10.2, 20.0):
        clock(now)
        shown.tick(10 * now)
    shown.end()
    assert capsys.readouterr().err.splitlines() == [
        "100 of 400 s simulated, ETA 30 s",
        "200 of 400 s simulated, ETA 20 s",
    ]


def test_a_terminal_shows_a_bar_after_a_second(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    shown = progress.OneRun(400.0, plain=False)
    clock(0.9)
    shown.tick(100.0)
    assert capsys.readouterr().err == ""
    clock(1.0)
    shown.tick(100.0)
    shown.end()
    assert "100 of 400 s simulated, ETA 3.0 s" in capsys.readouterr().err
