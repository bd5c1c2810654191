"""Names of files and values with any signs: results, or one sentence and exit code 2."""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import lasthop as lh
from conftest import COMMAND, SMALL, environment

Cli = Callable[..., subprocess.CompletedProcess[str]]

NAMES = [
    "a\udcff",
    "x" * 300,
    "a\nb",
    "a'b\"c",
    "é",
    "-x",
    "a%b?c#d",
    "$(x)",
    "<b>&",
    "x" * 250,
    "a\x1b[2J",
    " a ",
]


def commands(name: str) -> list[tuple[str, ...]]:
    """The commands that read or write something with a name, as far as that is possible."""
    here = f"./{name}"
    period = ("--between", "0..0.1")
    return [
        ("new", here, "--from", "examples/udp-cross"),
        ("check", f"{here}.toml"),
        ("run", "small.toml", "-q", "--pcap", f"{here}.pcap", "--trace", "cwnd", "-o", f"./r{name}"),
        ("plot", f"./r{name}"),
        ("command", f"./r{name}"),
        (
            "sweep",
            "small.toml",
            "-r",
            "1",
            "-q",
            "-o",
            here,
            "-s",
            f"title={name}",
            "--where",
            "links.path.loss.rate=0 %",
        ),
        ("show", here),
        ("report", here),
        ("archive", here),
        ("archive", here, "-o", f"{here}.zip", "--licence", name),
        ("verify", f"{here}.zip", "--json", "--sample", "1"),
        ("export", here, "-o", f"{here}.csv"),
        ("export", here, "--format", "json"),
        ("cite", here),
        ("command", here, "--point", "0"),
        ("merge", f"./m{name}", here),
        ("ladder", "small.toml", *period, "-o", f"{here}.html"),
        ("play", "small.toml", *period, "-o", f"{here}.html"),
        *(("run", name), ("explain", name), ("list", name), ("report", name), ("contrast", here, name, name)),
        *(("run", "small.toml", "-s", f"{name}=1"), ("run", "small.toml", "--where", name)),
        ("run", "small.toml", "--law", f"{name}.py:X"),
    ]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_of_any_signs_gives_results_or_one_sentence(
    small: Path, within: Cli, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in commands(name):
        done = within(*words)
        assert done.returncode in {0, 2} or (done.returncode == 4 and "no study.sqlite" in done.stderr), (
            words,
            done.stderr,
        )
        if done.returncode:
            assert "; " in done.stderr, done.stderr
    assert small.read_text() == SMALL
    # Too long for the system too.
    if len(name) < 300 and os.path.exists(f"{name}.toml"):  # noqa: PTH110
        assert within("check", f"./{name}.toml").returncode == 0


def test_a_word_that_is_not_text_is_refused_by_the_command_line(small: Path, tmp_path: Path) -> None:
    for words in ([b"run", b"small.toml", b"-s", b"title=\xff"], [b"show", b"\xff"], [b"\xff"], [b"--\xff"]):
        done = subprocess.run(
            [*map(os.fsencode, COMMAND), *words],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ")
        assert b"not UTF-8; expected names and values in UTF-8" in done.stderr


def test_a_directory_whose_name_is_not_text_can_be_worked_in(
    tmp_path: Path, within: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a\udcff"
    folder.mkdir()
    (folder / "small.toml").write_text(SMALL)
    monkeypatch.chdir(folder)
    for words in (
        ("run", "small.toml", "--json", "--trace", "cwnd", "-o", "r", "--pcap", "x.pcap"),
        ("sweep", "small.toml", "-r", "1", "-o", "s"),
        *(
            ("report", "s"),
            ("archive", "s"),
            ("verify", "s.lasthop.zip"),
            ("show", "s", "--json"),
            ("plot", "r"),
        ),
        *(("command", "s", "--point", "0"), ("command", "r"), ("export", "s", "--format", "json")),
    ):
        done = within(*words)
        assert done.returncode == 0, (words, done.stderr)
        done.stdout.encode()
    assert zipfile.ZipFile("s.lasthop.zip").testzip() is None


@pytest.mark.parametrize("name", ["a\udcff", "x" * 300, "a\0b", "x/" + "y" * 256])
def test_a_path_in_python_is_checked_by_its_argument(small: Path, name: str, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s")
    calls: list[Callable[[], object]] = [
        *(lambda: lh.Study.open(name), lambda: study.to_csv(name), lambda: study.report(name)),
        *(lambda: lh.load(small).sweep(1, name), lambda: lh.load(small).run(pcap=name)),
    ]
    for call in calls:
        with pytest.raises(lh.UsageError, match=r"^(path|out|pcap): .*; expected "):
            call()


def test_a_name_that_cannot_be_one_is_refused_by_the_functions_of_scenarios(small: Path) -> None:
    sc, odd = lh.load(small), "a\udcff"
    calls: list[Callable[[], object]] = [
        *(lambda: sc.set({"title": odd}), lambda: sc.set({odd: 1}), lambda: sc.set({"title": [odd]})),
        *(lambda: lh.load(small, [("title", odd)]), lambda: sc.vary({"run.duration": [odd]})),
        *(lambda: lh.from_dict({"title": odd}), lambda: lh.from_dict({odd: {"a": 1}})),
        *(lambda: lh.load("x" * 300), lambda: lh.load(f"{'x' * 300}.toml")),
    ]
    for call in calls:
        with pytest.raises(lh.UsageError, match=r"not UTF-8; expected|too long; expected"):
            call()


def test_a_name_that_is_too_long_is_an_error_of_its_option(cli: Cli) -> None:
    done = cli("sweep", "examples/udp-cross", "-o", "x" * 301)
    assert done.returncode == 2
    assert "--out: a name of 301 bytes; expected at most 255" in done.stderr


def test_a_terminal_obeys_no_sign_of_a_name(cli: Cli) -> None:
    done = cli("run", "a\x1b[31mb.toml")
    assert done.returncode == 2
    assert r"error: a\x1b[31mb.toml: no such file" in done.stderr
