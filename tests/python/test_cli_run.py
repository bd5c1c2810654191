"""`lasthop run`, and the common properties of all commands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import COMMAND, environment
from lasthop.cli.main import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def strict(text: str) -> dict[str, object]:
    """One JSON document without NaN or Infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    found = json.loads(text, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from lasthop.cli.main import invoke; invoke(['--help']); "
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'numpy','matplotlib','rich','sqlite3'}"
        " | {m for m in sys.modules if m == 'lasthop._core'}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stderr.strip() == "[]"


def test_without_arguments_there_is_help(cli: Cli) -> None:
    done = cli()
    assert done.returncode == 0
    assert done.stdout == cli("--help").stdout


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "test"])
def test_every_help_ends_with_two_examples_that_name_the_command(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.returncode == 0
    examples = done.stdout.split("Examples:\n")[1].strip().splitlines()
    assert len(examples) == 2
    assert all(f"lasthop {command}" in line for line in examples)


def test_the_version_is_the_one_of_the_core(cli: Cli) -> None:
    import lasthop

    assert cli("--version").stdout == f"lasthop {lasthop.__version__} (model {lasthop.model_version})\n"


def test_run_json_is_one_document_with_the_promised_fields(small: Path, cli: Cli) -> None:
    done = cli("run", small, "--json", "--seed", "7", "--replication", "2")
    assert done.returncode == 0
    run = strict(done.stdout)
    assert (run["scenario"], run["seed"], run["replication"]) == ("small", 7, 2)
    assert {"version", "metrics", "events", "wall_s"} <= run.keys()
    assert run["metrics"]["flows.main.goodput_bps"] > 0  # type: ignore[index]
    assert run["metrics"]["flows.main.completion_s"] is None  # type: ignore[index]


@pytest.mark.parametrize("seed", ["1000000000000000", "999999999999999999"])
def test_a_long_seed_is_the_same_by_its_key_and_by_its_option(small: Path, cli: Cli, seed: str) -> None:
    by_key = cli("run", small, "-q", "--json", "-s", f"run.seed={seed}", "-s", "run.duration=1 s")
    by_option = cli("run", small, "-q", "--json", "--seed", seed, "-s", "run.duration=1 s")
    ran = [strict(done.stdout) for done in (by_key, by_option)]
    assert [run["seed"] for run in ran] == [int(seed)] * 2
    assert ran[0]["metrics"] == ran[1]["metrics"]
    assert seed in cli("show", small, "-s", f"run.seed={seed}").stdout
    too_long = ("run.seed=1000000000000000000", "--seed=1000000000000000000")
    assert cli("run", small, "-s", too_long[0]).returncode == 2
    assert cli("run", small, too_long[1]).returncode == 2


def test_a_run_is_the_same_traced_captured_or_not(small: Path, cli: Cli) -> None:
    plain = strict(cli("run", small, "--json").stdout)
    watched = strict(
        cli("run", small, "--json", "--trace", "cwnd,rtt,queue,tcp", "--pcap", "x.pcap", "-o", "out").stdout
    )
    for run in (plain, watched):
        del run["wall_s"]
    assert plain == watched


def test_the_last_line_on_stderr_is_what_was_written(small: Path, cli: Cli, tmp_path: Path) -> None:
    done = cli("run", small, "--trace", "cwnd", "-o", "out")
    assert done.stderr.splitlines()[-1] == "out"
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"run.json", "traces"}
    head, first, *_ = (tmp_path / "out" / "traces" / "cwnd.csv").read_text().splitlines()
    assert head == "time_s,flow,cwnd,ssthresh"
    assert ",main," in first
    captured = cli("run", small, "-q", "--pcap", "path=x.pcap")
    assert captured.stderr.splitlines() == ["x.pcap"]
    assert (tmp_path / "x.pcap").stat().st_size > 24


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_reads_the_capture(small: Path, cli: Cli, tmp_path: Path) -> None:
    cli("run", small, "--pcap", "x.pcap")
    done = subprocess.run(
        ["tshark", "-r", "x.pcap", "-Y", "tcp", "-T", "fields", "-e", "tcp.len"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1000" in done.stdout.split()


EJTCP = ("-s", "flows.main.tcp.variant=ejtcp", "-s", "links.path.loss.rate=2 %")


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_reads_the_stamps_of_ejtcp(small: Path, cli: Cli, tmp_path: Path) -> None:
    cli("run", small, "--pcap", "x.pcap", *EJTCP, "-s", "flows.main.tcp.ejtcp.header=option")
    fields = ("tcp.len", "tcp.hdr_len", "tcp.options.experimental.exid", "tcp.options.experimental.data")
    done = subprocess.run(
        ["tshark", "-r", "x.pcap", "-Y", "tcp.flags.syn == 0", "-T", "fields"]
        + [word for field in fields for word in ("-e", field)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    stamped = [row for row in rows if row[2]]
    assert len(stamped) > len(rows) / 2
    assert all(row[2] == "0x4a54" and len(row[3]) == 26 for row in stamped)
    sent, received = (int(stamped[0][3][i : i + 8], 16) for i in (0, 8))
    assert sent == received > 0, "data leaves with the time it was sent in both places"


def test_no_capture_shows_the_header_as_the_paper_charges_it(small: Path, cli: Cli) -> None:
    done = cli("run", small, "--pcap", "x.pcap", *EJTCP, "-s", "flows.main.tcp.ejtcp.header=paper")
    assert done.returncode == 2
    assert 'flows.main; expected its law\'s header = "option"' in done.stderr


def test_run_prints_what_laws_took_losses_for_when_asked(small: Path, cli: Cli) -> None:
    words = ("run", small, *EJTCP, "-s", 'flows.main.tcp.judges=["jtcp"]')
    assert "judge" not in cli(*words).stdout
    done = cli(*words, "--judgements")
    (judged,) = (block for block in done.stdout.split("\n\n") if block.startswith("judge"))
    assert judged in cli(*words, "-v").stdout
    matrix = judged.splitlines()
    assert matrix[0].endswith("spurious")
    judges = [line.split("  ")[0] for line in matrix[1:]]
    assert judges == ["flows.main (law)"] * 2 + ["flows.main (jtcp, observing)"] * 2
    counts = [sum(int(word) for word in line.split()[-5:]) for line in matrix[1:]]
    assert counts[0] == counts[2] > 0, "both judge the same losses"


def test_a_set_value_fixes_a_swept_key_and_run_takes_the_first_point_left(small: Path, cli: Cli) -> None:
    done = cli("run", small, "--json", "-s", "links.path.loss.rate=2 %")
    assert strict(done.stdout)["point"] == {"flows.main.tcp.variant": "reno"}
    chosen = cli("run", small, "--json", "--where", "flows.main.tcp.variant=newreno")
    assert strict(chosen.stdout)["point"] == {
        "flows.main.tcp.variant": "newreno",
        "links.path.loss.rate": "0 %",
    }


def test_an_event_budget_stops_a_run_and_says_so(small: Path, cli: Cli) -> None:
    done = cli("run", small, "--json", "--max-events", "500")
    assert done.returncode == 0
    run = strict(done.stdout)
    assert run["stopped"] == "max-events"
    assert run["simulated_s"] < 3  # type: ignore[operator]
    assert "stopped by max-events" in done.stderr
    assert "the metrics cover this time" in done.stderr
    early = cli("run", small, "--max-events", "500", "-s", "run.warmup=2.9 s")
    assert "nothing is measured within the warm-up" in early.stderr


def test_a_dry_run_writes_nothing(small: Path, cli: Cli, tmp_path: Path) -> None:
    for command in ("run", "sweep"):
        done = cli(command, small, "--dry-run", "-o", "out")
        assert done.returncode == 0
        assert done.stdout == ""
        assert "would run" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]


def test_a_dry_run_in_json_tells_the_point_and_the_settings(small: Path, cli: Cli, tmp_path: Path) -> None:
    done = cli("run", small, "--dry-run", "--json", "-s", "links.path.delay=7 ms", "--seed", "3", "-o", "out")
    assert done.returncode == 0
    plan = strict(done.stdout)
    assert (plan["dry_run"], plan["seed"], plan["overrides"]) == (True, 3, [["links.path.delay", "7 ms"]])
    assert plan["point"] == {"flows.main.tcp.variant": "reno", "links.path.loss.rate": "0 %"}
    assert plan["memory_bytes_max"] > 0  # type: ignore[operator]
    assert [p.name for p in tmp_path.iterdir()] == ["small.toml"]


def test_a_scenario_is_found_by_id_from_anywhere(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "ejtcp/fig10-baselines", "-s", "run.duration=2 s", "--json")
    assert done.returncode == 0
    assert strict(done.stdout)["scenario"] == "ejtcp/fig10-baselines"


def test_colour_follows_no_color_and_the_option(small: Path, cli: Cli) -> None:
    assert "\x1b[" not in cli("run", "nothing").stderr
    assert re.fullmatch(r"[ -~±–≤≥µ\n]*", cli("run", small).stdout)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_in_one_sentence(small: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "show", str(small)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: output: No space left on device; expected it to be writable\n"


def test_a_closed_pipe_is_no_error(small: Path, tmp_path: Path) -> None:
    command = " ".join([*COMMAND, "show", str(small)])
    done = subprocess.run(
        ["sh", "-c", f"{command} | true"], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stderr == ""
