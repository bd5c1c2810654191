"""Every mistake gets one sentence: where, what was found, what was expected; and nothing is left behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SMALL

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

# What is changed in the small scenario, the line it is on, the key, and what the message says.
MISTAKES = {
    "an unknown key": ("duration     =", "duratoin     =", 4, "run.duratoin", 'did you mean "duration"'),
    "an unknown table": ("[links.path]", "[link.path]", 11, "link", 'did you mean "links"'),
    "a misspelt variant": ('variant = "reno"', 'variant = "renno"', 22, "flows.main.tcp.variant", '"reno"'),
    "a misspelt swept variant": (
        '["reno", "newreno"]',
        '["reno", "newrenno"]',
        25,
        "flows.main.tcp.variant",
        '"newreno"',
    ),
    "a misspelt swept key": ('"links.path.loss.rate"', '"links.path.los.rate"', 26, "links.path.los", "loss"),
    "a missing unit": ('"10 ms"', '"10"', 16, "links.path.delay", 'expected a time such as "'),
    "a bare number": ('"10 ms"', "10", 16, "links.path.delay", "expected"),
    "a wrong unit": ('"2 Mbit/s"', '"5 MB"', 15, "links.path.rate", "expected a rate"),
    "a negative value": ('"10 ms"', '"-10 ms"', 16, "links.path.delay", "expected"),
    "an absurd value": ('"0 %" }', '"140 %" }', 17, "links.path.loss.rate", "expected"),
    "an absurd duration": ('"3 s"', '"1e30 s"', 4, "run.duration", "expected"),
    "a node that is not there": ('to   = "b"', 'to   = "c"', 21, "flows.main.to", "expected"),
    "a figure of a metric that is not there": ("goodput_bps", "godput_bps", 31, "y", "goodput_bps"),
    "a missing duration": ('duration     = "3 s"\n', "", 3, "run.duration", "expected"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_scenario_is_named_with_file_line_key_and_expectation(
    mistake: str, edited: Callable[[str, str], Path], within: Cli, tmp_path: Path
) -> None:
    old, new, line, key, expected = MISTAKES[mistake]
    edited(old, new)
    done = within("sweep", "small.toml")
    assert done.returncode == 2
    assert done.stdout == ""
    message = done.stderr.splitlines()[0]
    assert all(line.startswith("error: small.toml:") for line in done.stderr.splitlines())
    where = re.match(r"error: small\.toml:(\d+): ([^ ]+): ", message)
    assert where, message
    assert abs(int(where[1]) - line) <= 1, message
    assert key in message
    assert expected in message
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]


def test_nodes_that_no_path_joins_are_named(edited: Callable[[str, str], Path], within: Cli) -> None:
    edited("b = {}", "b = {}\nc = {}\nd = {}")
    edited(
        "[flows.main]",
        '[links.island]\nkind = "wired"\nnodes = ["c", "d"]\nrate = "1 Mbit/s"\n\n[flows.main]',
    )
    edited('to   = "b"', 'to   = "c"')
    done = within("check", "small.toml")
    assert done.returncode == 2
    assert re.search(r"error: small\.toml:\d+: flows\.main", done.stderr)
    assert '"c"' in done.stderr


def test_a_parameter_of_a_variant_no_point_uses_is_refused(
    edited: Callable[[str, str], Path], within: Cli
) -> None:
    edited('min-rto = "200 ms" }', 'newreno = { retransmit-timer = "impatient" } }')
    assert within("check", "small.toml").returncode == 0
    edited('["reno", "newreno"]', '["reno", "sack"]')
    done = within("check", "small.toml")
    assert done.returncode == 2
    assert re.match(r"error: small\.toml:22: flows\.main\.tcp\.newreno", done.stderr), done.stderr
    assert "expected" in done.stderr


@pytest.mark.parametrize("keep", [30, 120, 300, len(SMALL) - 15])
def test_a_truncated_scenario_is_refused(small: Path, within: Cli, keep: int) -> None:
    small.write_text(SMALL[:keep])
    done = within("run", "small.toml")
    assert done.returncode == 2
    assert re.match(r"error: small\.toml:\d+: .+; .+", done.stderr)


def test_a_scenario_that_is_not_text_is_refused(small: Path, within: Cli) -> None:
    small.write_bytes(b"\xff\xfe\x00binary")
    done = within("run", "small.toml")
    assert done.returncode == 2
    assert done.stderr.startswith("error: small.toml:")


def test_a_wrong_setting_is_named(small: Path, within: Cli) -> None:
    for setting, expected in (
        ("flows.main.tcp.variant=renno", '"reno"'),
        ("links.path.rate=5 MB", "expected a rate"),
        ("links.pth.rate=5 Mbit/s", "path"),
        ("run.duration", "expected KEY=VALUE"),
    ):
        done = within("run", "small.toml", "-s", setting)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert expected in done.stderr


def test_a_scenario_that_is_not_there_names_the_nearest_one(within: Cli) -> None:
    done = within("run", "ejtcp/fig10-baselin")
    assert done.returncode == 2
    assert 'did you mean "ejtcp/fig10-baselines"' in done.stderr


@pytest.mark.parametrize("command", ["sweep", "run"])
def test_an_output_directory_that_cannot_be_written_is_found_out_before_the_run(
    small: Path, within: Cli, tmp_path: Path, command: str
) -> None:
    done = within(command, "small.toml", "-o", "small.toml/below")
    assert done.returncode == 4
    assert done.stdout == ""
    assert done.stderr.startswith("error: small.toml/below: Not a directory; expected")
    assert small.read_text() == SMALL
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]


def test_a_capture_that_cannot_be_written_is_found_out_before_the_run(small: Path, within: Cli) -> None:
    done = within("run", "small.toml", "--pcap", "small.toml/x.pcap")
    assert done.returncode == 4
    assert done.stderr.startswith("error: small.toml: ")


def test_a_capture_into_a_directory_that_is_not_there_makes_none(
    small: Path, within: Cli, tmp_path: Path
) -> None:
    done = within("run", "small.toml", "--pcap", "deep/er/x.pcap")
    assert done.returncode == 2
    assert done.stderr == "error: --pcap: deep/er: no such directory; expected an existing directory\n"
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]
    assert within("run", "small.toml", "-o", "out", "--pcap", "out/x.pcap").returncode == 0


def test_a_file_goes_into_a_directory_that_is_there(small: Path, within: Cli, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "made" / "by" / "itself").run()
    run = lh.load(small).run(trace=["cwnd"])
    before = sorted(tmp_path.rglob("*"))
    missing = tmp_path / "deep" / "er"
    for write in (study.to_csv, study.to_json, study.to_parquet, run.trace("cwnd").to_csv):
        with pytest.raises(lh.UsageError, match="deep/er: no such directory; expected an existing directory"):
            write(missing / "x")
    assert within("export", study.path, "-o", "deep/er/x.csv").returncode == 2
    assert within("plot", study.path, "-o", "deep/er").returncode == 2
    assert sorted(tmp_path.rglob("*")) == before
    assert within("plot", study.path, "-o", "figures").returncode == 0


@pytest.mark.parametrize("capture", ["small.toml", "path=small.toml", "path=./below/../small.toml"])
def test_a_capture_does_not_replace_the_scenario(
    small: Path, within: Cli, tmp_path: Path, capture: str
) -> None:
    (tmp_path / "below").mkdir()
    done = within("run", "small.toml", "--pcap", capture)
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*small\.toml: an input of this command; expected .+\n", done.stderr)
    assert done.stdout == ""
    assert small.read_text() == SMALL


@pytest.mark.parametrize("name", ["study.sqlite", "scenario.toml", "resolved.json"])
def test_nothing_is_written_over_the_files_of_a_study(
    small: Path, within: Cli, tmp_path: Path, name: str
) -> None:
    within("sweep", "small.toml", "-r", "1", "-o", "s")
    before = (tmp_path / "s" / name).read_bytes()
    for done in (
        within("export", "s", "-o", f"s/{name}"),
        within("export", "s", "--summary", "--format", "json", "-o", tmp_path / "s" / name),
        within("run", "small.toml", "--pcap", f"s/{name}"),
    ):
        assert done.returncode == 2
        assert re.fullmatch(r"error: .+: a file of a study; expected another file to write\n", done.stderr)
    assert (tmp_path / "s" / name).read_bytes() == before
    assert within("export", "s", "-o", "s/runs.csv").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("swep",),
        ("run",),
        ("run", "small.toml", "--seed", "x"),
        ("run", "small.toml", "--seed", "-1"),
        ("run", "small.toml", "--point", "6"),
        ("run", "small.toml", "--trace", "cwmd"),
        ("run", "small.toml", "--pcap", "pth=x.pcap"),
        ("run", "small.toml", "--max-wall", "soon"),
        ("run", "small.toml", "--nonsense"),
        ("sweep", "small.toml", "-r", "0"),
        ("sweep", "small.toml", "-j", "0"),
        ("sweep", "small.toml", "--ci", "200 %"),
        ("sweep", "small.toml", "--shard", "3/2"),
        ("sweep", "small.toml", "--shard", "1/2", "--ci", "2 %"),
        ("sweep", "small.toml", "--where", "links.path.loss.rate"),
        ("sweep", "small.toml", "--where", "links.path.los.rate=1 %"),
        ("sweep", "small.toml", "--where", "flows.main.tcp.variant<sack"),
        ("sweep", "small.toml", "--executor", "slurm"),
        ("list", "tpc"),
        ("explain", "flows.main.tcp.min-rot"),
        ("reproduce", "baseline"),
        ("bench", "newreno-9pct"),
        ("new", "x", "--from", "nothing"),
        ("completion", "tcsh"),
        ("check", "small.toml", "ejtcp/fig10-baselines", "--theory"),
        ("show", "small.toml", "--metric", "flows.main.goodput_bps"),
    ],
)
def test_a_usage_error_is_one_sentence_and_exit_2(
    small: Path, within: Cli, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = within(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]


@pytest.mark.parametrize("command", [("show",), ("plot",), ("export",), ("command", "--point", "0")])
def test_what_is_no_study_is_refused(
    small: Path, within: Cli, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    for argument in ("nowhere", "empty", "small.toml"):
        if command == ("show",) and argument == "small.toml":
            continue
        done = within(command[0], argument, *command[1:])
        assert done.returncode in {2, 4}
        assert done.stderr.startswith("error: ")


def test_a_run_that_would_need_more_memory_than_allowed_says_so_first(small: Path, within: Cli) -> None:
    done = within("run", "small.toml", "-s", "run.max-memory=1 kB")
    assert done.returncode == 2
    assert "max-memory" in done.stderr
    assert done.stdout == ""
