"""`lasthop sweep` and the commands on what it leaves behind."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import COMMAND, HOP, environment
from lasthop.cli.main import invoke
from lasthop.study import sweep as sweep_module
from studies import failing

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

STARTER = Path(__file__).resolve().parents[2] / "lasthop"
METRIC = "flows.main.goodput_bps"


def test_a_sweep_prints_its_tables_and_ends_with_its_path(small: Path, within: Cli) -> None:
    done = within("sweep", small, "-r", "2")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "studies/small"
    assert "12 runs in" in done.stderr
    assert "n = 2" in done.stdout
    assert done.stdout == within("show", "studies/small").stdout


def test_quiet_says_only_what_was_written(small: Path, within: Cli) -> None:
    done = within("sweep", small, "-r", "1", "-q")
    assert (done.stdout, done.stderr) == ("", "studies/small\n")
    assert within("sweep", small, "-r", "1", "-q", "--json").stdout.startswith("{")


def test_tables_as_json_are_the_same_for_any_number_of_workers(small: Path, within: Cli) -> None:
    one = within("sweep", small, "-j", "1", "-o", "1", "--json").stdout
    two = within("sweep", small, "-j", "2", "-o", "2", "--json").stdout
    assert one == two
    table = json.loads(one)["tables"][0]
    assert (table["metric"], table["unit"], len(table["rows"])) == (METRIC, "bit/s", 6)
    assert {"mean", "ci_low", "ci_high", "n"} <= table["rows"][0].keys()
    assert json.loads(within("show", "2", "--json").stdout) == json.loads(two)


def test_processes_give_what_threads_give(small: Path, within: Cli) -> None:
    threads = within("sweep", small, "-r", "1", "-o", "1", "--json").stdout
    processes = within("sweep", small, "-r", "1", "-o", "2", "--executor", "process", "-j", "2", "--json")
    assert processes.returncode == 0
    assert processes.stdout == threads


def test_runs_stopped_by_a_limit_are_left_out_of_means_and_reported_unless_quiet(
    small: Path, within: Cli
) -> None:
    within("sweep", small, "-r", "2")
    plotted = within("plot", "studies/small", "-q")
    assert "warning" not in plotted.stderr
    warning = (
        "warning: 6 of 18 runs stopped early at a limit and do not count in the means; see status in export"
    )
    swept = within("sweep", small, "-r", "3", "--max-events", "100", "-q")
    assert swept.stderr.splitlines() == ["studies/small"]
    assert "n = 2" in within("show", "studies/small").stdout
    for words in (("show",), ("plot",), ("export", "--summary")):
        for quiet in ((), ("-q",)):
            done = within(words[0], "studies/small", *words[1:], *quiet)
            assert done.returncode == 0
            assert (warning in done.stderr.splitlines()) == (not quiet)
    assert within("export", "studies/small").stderr == ""
    assert json.loads(within("show", "studies/small", "--json").stdout)["stopped"] == 6


def test_a_merge_into_a_study_of_another_plan_exits_4(small: Path, within: Cli) -> None:
    within("sweep", small, "-r", "2", "-o", "whole")
    within("sweep", small, "-r", "2", "-o", "part", "--where", "links.path.loss.rate=1 %")
    before = within("export", "whole").stdout
    done = within("merge", "whole", "part")
    assert done.returncode == 4
    assert done.stderr.startswith("error: whole: holds a study without the points of part; expected")
    assert within("export", "whole").stdout == before


def test_fresh_forgets_and_a_changed_scenario_says_so(
    edited: Callable[[str, str], Path], small: Path, within: Cli
) -> None:
    within("sweep", small, "-r", "1")
    assert "6 of 6 runs are stored already" in within("sweep", small, "-r", "1").stderr
    assert "stored already" not in within("sweep", small, "-r", "1", "--fresh").stderr
    edited('"3 %"]', '"4 %"]')
    assert "4 of 6 points have runs that can be reused" in within("sweep", small, "-r", "1").stderr


def test_a_failed_run_gives_exit_1_and_keeps_the_rest(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep_module, "execute", failing)
    assert invoke(["sweep", str(small), "-o", str(tmp_path / "s")]) == 1
    talk = capsys.readouterr().err.splitlines()
    point = ", ".join(f"{key} = {value}" for key, value in lh.load(small).points()[1].items())
    assert f"error: point 1 ({point}), replication 0: x: it failed; expected it to work" in talk
    assert talk[-1] == str(tmp_path / "s")
    assert invoke(["export", str(tmp_path / "s")]) == 0
    assert capsys.readouterr().out.count(",done,") == 17


def test_shards_and_merge_make_the_whole(small: Path, within: Cli) -> None:
    for i in (1, 2):
        within("sweep", small, "--shard", f"{i}/2")
    parts = ["studies/small.shard-1-of-2", "studies/small.shard-2-of-2"]
    merged = within("merge", "whole", *parts)
    assert merged.returncode == 0
    assert merged.stderr.splitlines() == ["18 of 18 runs", "whole"]
    within("sweep", small)
    assert within("export", "whole").stdout == within("export", "studies/small").stdout


def test_the_command_of_a_run_repeats_it(small: Path, within: Cli, tmp_path: Path) -> None:
    within("sweep", small, "-s", "run.duration=2 s", "--seed", "5")
    done = within("command", "studies/small", "--point", "4", "--replication", "2")
    words = shlex.split(done.stdout)
    assert words[:2] == [str(STARTER), "run"]
    repeated = subprocess.run(
        [*COMMAND, *words[1:], "--json"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    exported = json.loads(within("export", "studies/small", "--format", "json").stdout)
    row = next(r for r in exported["rows"] if (r["point"], r["replication"]) == (4, 2))
    run = json.loads(repeated.stdout)
    assert {name: row[name] for name in run["metrics"]} == run["metrics"]
    assert run["events"] == row["events"]


def repeat(command: str, where: Path, *more: str) -> dict[str, object]:
    """Carry out what `command` printed, with this test's interpreter instead of the starter."""
    starter, *words = shlex.split(command)
    assert starter == str(STARTER)
    done = subprocess.run(
        [*COMMAND, *words, *more], cwd=where, env=environment(), capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_command_of_every_point_runs_where_a_swept_key_has_no_meaning(
    tmp_path: Path, within: Cli
) -> None:
    swept = HOP.replace(
        '"agents.snoop.kind"     = ["none", "lle-tcp"]\n"flows.main.tcp.packet" = ["200 B", "1000 B"]',
        '[sweep.zip]\n"agents.snoop.kind" = ["none", "lle-tcp"]\n'
        '"agents.snoop.lle-tcp.mode" = ["paper", "safe"]',
    )
    (tmp_path / "hop.toml").write_text(swept[: swept.index("[[figure]]")])
    within("sweep", "hop.toml", "-r", "1")
    rows = json.loads(within("export", "studies/hop", "--format", "json").stdout)["rows"]
    for row in rows:
        run = repeat(within("command", "studies/hop", "--point", row["point"]).stdout, tmp_path, "--json")
        assert run["events"] == row["events"]


def test_the_command_of_a_kept_run_repeats_it_with_its_settings(
    small: Path, within: Cli, tmp_path: Path
) -> None:
    done = within(
        "run", "small.toml", "-s", "links.path.delay=7 ms", "--point", "2", "--seed", "9", "-o", "kept"
    )
    assert done.returncode == 0
    kept = json.loads((tmp_path / "kept" / "run.json").read_text())
    assert kept["overrides"] == [["links.path.delay", "7 ms"]]
    run = repeat(within("command", "kept").stdout, tmp_path, "--json")
    assert (run["metrics"], run["overrides"], run["seed"]) == (kept["metrics"], kept["overrides"], 9)
    small.unlink()
    gone = within("command", "kept")
    assert (gone.returncode, gone.stderr) == (
        2,
        "error: kept: small.toml does not exist; expected the scenario of the run\n",
    )


def test_a_run_that_was_stopped_is_repeated_to_the_same_event(
    small: Path, within: Cli, tmp_path: Path
) -> None:
    within("sweep", small, "-r", "1", "--max-events", "300")
    command = within("command", "studies/small", "--point", "1").stdout
    assert command.endswith("--max-events 300\n")
    run = repeat(command, tmp_path, "--json")
    assert (run["stopped"], run["events"]) == ("max-events", 300)


def test_command_asks_for_a_point_of_a_study_only(small: Path, within: Cli) -> None:
    within("sweep", small, "-r", "1")
    within("run", small, "-o", "kept")
    assert "is a study; expected --point" in within("command", "studies/small").stderr
    assert "is a single run; expected no --point" in within("command", "kept", "--point", "0").stderr


def test_a_dry_sweep_in_json_lists_its_points(small: Path, within: Cli, tmp_path: Path) -> None:
    done = within("sweep", small, "--dry-run", "--json", "-s", "run.duration=2 s", "-r", "4", "-o", "out")
    plan = json.loads(done.stdout)
    assert (plan["replications"], plan["out"], plan["dry_run"]) == (4, "out", True)
    assert plan["overrides"] == [["run.duration", "2 s"]]
    assert len(plan["points"]) == 6
    assert plan["events_max"] > 0
    assert plan["stored"] == 0
    assert not (tmp_path / "out").exists()


def test_a_dry_sweep_says_what_is_stored(small: Path, within: Cli) -> None:
    within("sweep", small, "-r", "1")
    assert "2 replications into studies/small, of which 6 runs are stored;" in (
        within("sweep", small, "-r", "2", "--dry-run").stderr
    )
    for other in (("--seed", "7"), ("--fresh",)):
        assert "stored" not in within("sweep", small, "-r", "2", "--dry-run", *other).stderr


def test_a_swept_key_that_changes_no_run_is_reported(small: Path, within: Cli) -> None:
    """A queue that never fills may be as long as it likes."""
    queue = "links.path.queue"
    long = within("sweep", small, "-r", "1", "-s", f'sweep.{queue}=["900 packets", "1000 packets"]').stderr
    assert f"note: {queue}: no run differs by its value" in long
    assert long.count("no run differs") == 1
    short = within("sweep", small, "-r", "1", "-s", f'sweep.{queue}=["2 packets", "1000 packets"]', "--fresh")
    assert "no run differs" not in short.stderr


def test_exports_agree_in_all_formats(small: Path, within: Cli, tmp_path: Path) -> None:
    import csv

    import pyarrow.parquet as pq

    within("sweep", small, "-r", "2")
    as_json = json.loads(within("export", "studies/small", "--format", "json").stdout)["rows"]
    lines = list(csv.DictReader(within("export", "studies/small").stdout.splitlines()))
    done = within("export", "studies/small", "-o", "runs.parquet")
    assert done.stderr == "runs.parquet\n"
    assert pq.read_table(tmp_path / "runs.parquet").to_pylist() == as_json
    assert [float(line[METRIC]) for line in lines] == [row[METRIC] for row in as_json]
    summary = json.loads(within("export", "studies/small", "--summary", "--format", "json").stdout)["rows"]
    assert [row[f"{METRIC}.n"] for row in summary] == [2] * 6


def test_plot_writes_the_same_bytes_again(small: Path, within: Cli, tmp_path: Path) -> None:
    within("sweep", small)
    done = within("plot", "studies/small", "--format", "svg,pdf,png")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "studies/small/figures/goodput.png"
    folder = tmp_path / "studies" / "small" / "figures"
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert set(before) == {"goodput.svg", "goodput.pdf", "goodput.png"}
    within("plot", "studies/small", "goodput", "--format", "svg,pdf,png")
    assert before == {p.name: p.read_bytes() for p in folder.iterdir()}
    assert within("plot", "studies/small", "godput").stderr.startswith("error: small: godput: no such figure")


def test_show_names_every_default_with_its_origin(small: Path, within: Cli) -> None:
    shown = within("show", small, "--point", "4").stdout
    assert "point 4 of 6" in shown
    assert "[flows.main]" in shown
    lines = {line.split()[0]: line for line in shown.splitlines() if line.startswith("  ")}
    assert "ns2-2004" in lines["tcp.initial-window"]
    assert "200 ms" in lines["tcp.min-rto"]
    assert "sweep" in lines["loss.rate"]
    values = json.loads(within("show", small, "--json").stdout)["values"]
    assert values["flows.main.tcp.packet"]["value"] == "1000 B"


def test_show_takes_any_metric_and_names_the_nearest(small: Path, within: Cli) -> None:
    within("sweep", small, "-r", "1")
    assert "flows.main.timeouts" in within("show", "studies/small", "--metric", "flows.main.timeouts").stdout
    wrong = within("show", "studies/small", "--metric", "flows.main.timeout")
    assert wrong.returncode == 2
    assert 'did you mean "flows.main.timeouts"' in wrong.stderr


def test_replications_follow_the_precision_asked_for(small: Path, within: Cli) -> None:
    done = within("sweep", small, "--ci", "30 %", "--max-replications", "8", "-r", "2", "--json")
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    for row in rows:
        narrow = (row["ci_high"] - row["ci_low"]) / 2 <= 0.3 * row["mean"]
        assert narrow or row["n"] == 8


def test_points_that_stay_wider_than_asked_for_are_counted(small: Path, cli: Cli) -> None:
    done = cli("sweep", small, "--ci", "0.001 %", "--max-replications", "2", "-o", "w")
    assert done.returncode == 0
    # Without loss both runs of a point are equal.
    assert "note: 4 of 6 points are not within ± 0.001 % after 2 runs (--max-replications)" in done.stderr
    met = cli("sweep", small, "--ci", "900 %", "--max-replications", "3", "-o", "v")
    assert "are not within" not in met.stderr
