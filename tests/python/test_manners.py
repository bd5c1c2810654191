"""What commands print and leave behind, and how Python's arguments are refused."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from conftest import COMMAND, HOP, environment
from lasthop.base.table import fitted
from lasthop.cli.author import LISTS, _cell
from lasthop.cli.main import COMMANDS, invoke, lasthop
from lasthop.figures import style
from lasthop.scenario import kept
from lasthop.study.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def names_in(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


# What is printed.


def test_run_names_its_point_and_prints_a_glance_or_all_metrics(small: Path, within: Cli) -> None:
    done = within("run", small, "--where", "flows.main.tcp.variant=newreno")
    assert done.stderr.splitlines()[0] == (
        "small: point 3 of 6 (flows.main.tcp.variant = newreno, links.path.loss.rate = 0 %), "
        "seed 1, replication 0"
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith("flow  goodput ")
    assert any(line.startswith("main  ") and "bit/s" in line for line in lines)
    assert "44 metrics; -v prints all" in done.stderr
    every = within("run", small, "-v").stdout.splitlines()
    assert sum("." in line.split("  ")[0] for line in every) >= 30
    assert any(line.startswith("links.path ") and line.endswith(" value") for line in every)
    assert "-v" not in within("run", small, "-v").stderr


def test_a_cell_fits_the_terminal_and_its_ledger_is_shown_with_v(within: Cli, tmp_path: Path) -> None:
    (tmp_path / "hop.toml").write_text(HOP)
    done = within("run", "hop.toml")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "wlan " in done.stdout
    assert "data payload " in done.stdout
    assert "interframe spaces" not in done.stdout
    assert "interframe spaces" in within("run", "hop.toml", "-v").stdout


def test_quiet_prints_errors_and_paths_alone(small: Path, within: Cli) -> None:
    for words in (("run", small), ("check", small), ("check", small, "--theory", "-r", "1")):
        done = within(*words, "-q")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    kept = within("run", small, "-q", "--trace", "cwnd", "-o", "out")
    assert (kept.stdout, kept.stderr) == ("", "out\n")
    assert within("run", small, "-q", "--json").stdout.startswith("{")
    assert within("list", "links", "-q").stdout.startswith("name")


def test_a_study_shows_judgements_when_asked(small: Path, within: Cli) -> None:
    swept = within("sweep", small, "-r", "1", "-s", "flows.main.tcp.variant=ejtcp", "-o", "s")
    assert "judge" not in swept.stdout
    assert "judge" not in within("show", "s").stdout
    judged = within("show", "s", "--judgements").stdout
    assert judged.startswith(swept.stdout.rstrip("\n"))
    assert "loss classification by laws" in judged
    assert (
        within("sweep", small, "-r", "1", "-s", "flows.main.tcp.variant=ejtcp", "-o", "s", "-v").stdout
        == judged
    )


@pytest.mark.parametrize("what", LISTS)
def test_everything_can_be_listed(within: Cli, what: str) -> None:
    done = within("list", what)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 2
    assert what in within("list").stdout


def test_the_schemes_are_those_of_the_papers_and_say_how_to_choose_them(within: Cli) -> None:
    text = within("list", "schemes").stdout
    for name in ("ejtcp", "lle-tcp", "proxy-tcp", "dynamic", "load-adaptive", "snoop", "hack"):
        assert re.search(rf"^{name}\t", text, re.MULTILINE)
    assert 'links.NAME.arq.kind = "dynamic"' in text
    assert {line.split()[0] for line in within("list", "channels").stdout.splitlines()[1:]} == {
        "cwnd", "rtt", "queue", "tcp", "jitter", "slots", "arq", "events"
    }  # fmt: skip


def test_a_list_has_titles_fits_the_terminal_and_is_not_padded_in_a_pipe(within: Cli) -> None:
    piped = within("list", "scenarios").stdout
    assert piped.splitlines()[0] == "id\tpoints\ttitle"
    assert "  " not in piped
    for what in LISTS:
        if what == "scenarios":
            continue
        entries = json.loads(within("list", what, "--json").stdout)
        columns = [name for name in entries[0] if name not in {"style", "title"}]
        rows = [[_cell(entry.get(name)) for name in columns] for entry in entries]
        text = fitted(columns, rows, 80)
        assert max(map(len, text.splitlines())) <= 80, what


@pytest.mark.parametrize(
    "command", ["run", "sweep", "check", "reproduce", "bench", "show", "plot", "export", "merge"]
)
def test_no_progress_is_accepted_wherever_work_is_long(command: str) -> None:
    found = lasthop.get_command(
        lasthop.make_context("lasthop", [command, "--help"], resilient_parsing=True), command
    )
    assert command in COMMANDS
    assert found is not None
    assert any("--no-progress" in param.opts for param in found.params)


# What is left behind.


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk on which a file is full after its first bytes."""

    def write_text(path: Path, text: str, *_: Any, **__: Any) -> int:
        path.write_bytes(text.encode()[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "write_text", write_text)


def test_a_full_disk_leaves_nothing_half_written(small: Path, tmp_path: Path, full: None) -> None:
    with pytest.raises(lh.StudyError, match="No space left on device; expected a writable directory"):
        lh.load(small).sweep(1, tmp_path / "s")
    # The ledger is complete; what could not be written is not there.
    assert names_in(tmp_path / "s") == {"study.sqlite"}


def test_a_trace_that_does_not_fit_leaves_no_directory(small: Path, tmp_path: Path) -> None:
    def write(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    done = lh.load(small).run(trace=["cwnd"])
    (folder := tmp_path / "o").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "write_csv", write)
        with pytest.raises(lh.StudyError, match="No space left on device; expected a writable directory"):
            kept.keep(done, folder)
    assert names_in(folder) == set()


def test_a_directory_that_has_been_removed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert invoke(["check", "ejtcp/fig10"]) == 2
    assert capfd.readouterr().err == (
        "error: the current directory has been removed; expected one that exists\n"
    )


def test_an_export_and_a_figure_that_do_not_fit_leave_nothing(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s").run()
    drawn = study.plot("goodput")
    before = names_in(tmp_path)

    def part(path: Path, *_: Any, **__: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(type(drawn), "savefig", lambda _, path, **__: part(path))
        with pytest.raises(lh.StudyError, match="No space left"):
            style.save(drawn, tmp_path / "x.svg")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", part)
        with pytest.raises(lh.StudyError, match="No space left"):
            study.to_csv(tmp_path / "x.csv")
    assert names_in(tmp_path) == before


def test_a_ledger_that_cannot_be_made_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(sqlite3.Connection):
        def commit(self) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite3, "connect", Full)
    with pytest.raises(lh.StudyError, match="database or disk is full; expected a writable directory"):
        Ledger.create(tmp_path / "s", {"seed": "1"})
    assert names_in(tmp_path) == set()


def test_a_finished_study_is_one_ledger_without_a_log(small: Path, within: Cli, tmp_path: Path) -> None:
    within("sweep", small, "-r", "1", "-o", "s")
    within("show", "s")
    within("export", "s", "-o", "runs.csv")
    files = {"study.sqlite", "scenario.toml", "resolved.json"}
    assert names_in(tmp_path / "s") == files
    with closing(sqlite3.connect(tmp_path / "s" / "study.sqlite")) as reader:
        reader.execute("begin")
        reader.execute("select * from runs").fetchone()
        lh.load(small).sweep(2, tmp_path / "s").run()
        assert len(list(lh.Study.open(tmp_path / "s").results())) == 12, "a reader holds nobody up"
    lh.Study.open(tmp_path / "s")
    assert names_in(tmp_path / "s") == files


def test_a_damaged_ledger_is_reported_in_one_line(small: Path, within: Cli, tmp_path: Path) -> None:
    within("sweep", small, "-o", "s")
    ledger = tmp_path / "s" / "study.sqlite"
    whole = bytearray(ledger.read_bytes())
    size = int.from_bytes(whole[16:18])
    for page in range(3, len(whole) // size):
        whole[page * size : page * size + 40] = b"\xff" * 40
    ledger.write_bytes(whole)
    done = within("show", "s")
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert re.match(r"error: s/study\.sqlite: (damaged|database disk image)", done.stderr)


@pytest.mark.parametrize(
    "change",
    [
        "update runs set metrics = x'00ff'",
        "update runs set metrics = 'text'",
        "update runs set metrics = 7",
        "update runs set names = null",
        "update runs set series = '{'",
        "update runs set error = cast(x'ff' as text)",
        "update names set names = 'no list'",
    ],
)
def test_damaged_numbers_in_a_ledger_are_reported_in_one_line_with_its_file(
    small: Path, within: Cli, tmp_path: Path, change: str
) -> None:
    within("sweep", small, "-o", "s", "-r", "1")
    with closing(sqlite3.connect(tmp_path / "s" / "study.sqlite")) as db:
        db.execute(change)
        db.commit()
    done = within("show", "s")
    assert done.returncode == 4
    assert re.fullmatch(r"error: s/study\.sqlite: damaged \(.+\); expected a complete ledger\n", done.stderr)


# Streams and text that used to end in a traceback.


def test_a_dollar_in_a_title_or_label_is_text(small: Path, within: Cli) -> None:
    text = small.read_text().replace(
        'id    = "goodput"', 'id = "goodput"\ntitle = "costs $^{$"\nx-label = "loss $_{$"\n'
    )
    small.write_text(text + 'names = { reno = "$re^$" }\n')
    within("sweep", small, "-r", "1", "-o", "s")
    drawn = within("plot", "s", "--format", "svg,png,pdf")
    assert drawn.returncode == 0, drawn.stderr


def test_a_dollar_is_drawn_as_it_stands(small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace('id    = "goodput"', 'id = "goodput"\ntitle = "$5 a $"'))
    drawn = lh.load(small).sweep(1, tmp_path / "s").run().plot("goodput")
    drawn.canvas.draw()
    assert drawn.axes[0].get_title() == "$5 a $"
    assert not drawn.axes[0].title.get_parse_math()


def test_powers_of_ten_on_an_axis_need_no_mathematics(small: Path, tmp_path: Path) -> None:
    text = small.read_text().replace('["0 %", "1 %", "3 %"]', '["0.0001 %", "0.1 %", "10 %"]')
    small.write_text(text)
    drawn = lh.load(small).sweep(1, tmp_path / "s").run().plot("goodput")
    drawn.canvas.draw()
    labels = [label.get_text() for label in drawn.axes[0].get_xticklabels()]
    assert {"10⁻³", "10⁰"} <= set(labels)
    assert not any("$" in label for label in labels)


def test_powers_of_ten_that_are_neither_small_nor_large_are_written_out(small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace('["0 %", "1 %", "3 %"]', '["0.01 %", "0.1 %", "10 %"]'))
    drawn = lh.load(small).sweep(1, tmp_path / "s").run().plot("goodput")
    drawn.canvas.draw()
    assert {"0.01", "1", "10"} <= {label.get_text() for label in drawn.axes[0].get_xticklabels()}


@pytest.mark.parametrize("words", [("run", "small.toml"), ("list", "tcp"), ("--help",)])
def test_a_closed_stdout_is_an_error_and_a_closed_stderr_is_none(
    small: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    command = " ".join([*COMMAND, *words])

    def run(closed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f"{command} {closed}"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    done = run(">&-")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: output: Bad file descriptor; expected it to be writable"
    assert "Traceback" not in done.stderr
    assert run("2>&-").returncode == 0
    assert run("<&-").returncode == 0


# Python.


def test_arguments_that_make_no_sense_are_named_as_python_names_them(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    study = sc.sweep(1, tmp_path / "s").run()
    wrong: dict[str, Callable[[], object]] = {
        "seed: -1; expected an integer from 0 to 999999999999999999": lambda: sc.run(seed=-1),
        "seed: '1'; expected an integer from 0 to 999999999999999999": (
            lambda: sc.run(seed="1")  # type: ignore[arg-type]
        ),
        f"seed: {10**18}; expected an integer from 0 to 999999999999999999": lambda: sc.run(seed=10**18),
        "replication: 0.5; expected an integer of at least 0": lambda: sc.run(replication=0.5),  # type: ignore[arg-type]
        "point: 6; expected an integer from 0 to 5, the points of small": lambda: sc.run(point=6),
        "point: {'links.path.loss.rate': '1 %'}; expected an integer from 0 to 5, the points of small; "
        "set() and where choose by value": lambda: sc.run(point={"links.path.loss.rate": "1 %"}),  # type: ignore[arg-type]
        "point: -1; expected an integer from 0 to 5, the points of small": lambda: sc.estimate(-1),
        'trace: "cwnd" is a string; expected a list such as ["cwnd"]': lambda: sc.run(trace="cwnd"),
        'trace: "arq" records nothing at point 0 of small; '
        'expected an 802.11 link with arq.kind = "dynamic"': (lambda: sc.run(trace=["arq"])),
        'name: "rtt" was not recorded; run(trace=["rtt"]) records it': lambda: sc.run().trace("rtt"),
        "max_events: 0; expected an integer of at least 1": lambda: sc.run(max_events=0),
        "max_wall_s: -1; expected a number of seconds above 0": lambda: sc.run(max_wall_s=-1),
        'where: "a=b" is a string; expected a list such as ["links.a.loss.rate<=2 %"]': (
            lambda: sc.sweep(1, tmp_path / "t", where="a=b")
        ),
        "where: a is not swept; expected one of flows.main.tcp.variant, links.path.loss.rate": (
            lambda: sc.sweep(1, tmp_path / "t", where=["a=b"])
        ),
        "replications: 0; expected an integer from 1 to 1000000": lambda: sc.sweep(0, tmp_path / "t"),
        "jobs: 0; expected an integer of at least 1": lambda: study.run(jobs=0),
        'set: \'run.seed=1\'; expected a mapping such as {"run.duration": "50 s"}': (
            lambda: sc.set("run.seed=1")  # type: ignore[arg-type]
        ),
        'set: 1 is not a key; expected one such as "run.duration"': lambda: sc.set({1: 2}),  # type: ignore[dict-item]
        '""; expected a scenario: a file, a directory or an id': lambda: lh.load(""),
    }
    for message, call in wrong.items():
        with pytest.raises(lh.UsageError) as raised:
            call()
        assert str(raised.value) == message
    assert not (tmp_path / "t").exists()


def test_settings_of_python_are_named_set_and_those_of_the_command_by_their_option(
    small: Path, within: Cli
) -> None:
    message = 'set links.path.rate=5 MB: "5 MB" is a size; expected a rate such as "5 Mbit/s"'
    with pytest.raises(lh.ScenarioError) as raised:
        lh.load(small).set({"links.path.rate": "5 MB"})
    assert str(raised.value) == message
    assert within("run", small, "-s", "links.path.rate=5 MB").stderr == f"error: --{message}\n"
    with pytest.raises(lh.ScenarioError, match=r"set run\.seed=-1: -1 is too small; expected at least 0"):
        lh.load(small).set({"run.seed": -1})
    quiet = lh.load(small).set({"links.path.queue": "500 B"})
    assert quiet.warnings == [
        "set links.path.queue=500 B: 500 B cannot hold a full packet of flows.main, 1040 B: "
        "all full packets are dropped"
    ]
