"""reproduce, check, and the commands that list and explain."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lasthop.base import paths
from lasthop.cli.main import invoke
from lasthop.papers import page, results
from lasthop.papers.claims import READING
from lasthop.papers.paper import known, paper
from lasthop.papers.results import Outcome, Results
from lasthop.papers.statements import MOST
from lasthop.papers.switches import switches

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

CLAIMS = """
title = "A paper about nothing"

[studies.main]
scenario = "paper/fig1"
replications = 3
quick = { replications = 1 }

[[claim]]
id = "paper/near"
text = "a flow fills a clean link"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
unit = "Mbit/s"
value = 1.8
tolerance = "15 %"

[[claim]]
id = "paper/far"
text = "a flow doubles a clean link"
metric = "flows.main.goodput_bps"
at = { "links.path.loss.rate" = "0 %" }
unit = "Mbit/s"
at-least = 4
"""


@pytest.fixture
def library(make_library: Callable[..., Path]) -> Path:
    return make_library(CLAIMS)


def test_reproduce_judges_every_claim_and_draws_the_figures(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce", "paper", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["paper"] == "paper"
    near, far = found["claims"]
    assert near.keys() == {"id", "claim", "paper", "ours", "verdict", "note"}
    assert near["ours"].keys() == {"mean", "ci_low", "ci_high", "n", "unit"}
    assert (near["verdict"], near["paper"], near["ours"]["unit"]) == ("agrees", 1.8, "Mbit/s")
    assert far["verdict"] == "differs"
    assert (library / "studies/reproduce/paper/main/figures/goodput.svg").stat().st_size > 1000


def test_reproduce_takes_the_shipped_scenario_whatever_the_current_directory_has_of_its_name(
    library: Path,
) -> None:
    (library / "paper" / "fig1").mkdir(parents=True)
    (library / "paper" / "fig1" / "scenario.toml").write_text('title = "of something else"\n')
    assert invoke(["reproduce", "--quick"]) == 0
    assert invoke(["check", "-q"]) == 0


def test_a_record_needs_a_checkout(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "checkout", lambda: None)
    assert invoke(["reproduce", "--record"]) == 2
    assert "--record: lasthop does not run from a checkout" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", ["list scenarios", "list papers", "check", "reproduce", "run x/fig1", "cite"]
)
def test_an_installation_without_its_files_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "papers").mkdir()
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path, tmp_path / "nowhere"):
        monkeypatch.setattr(paths, "DATA", place)
        assert invoke(words.split()) == 2
        assert "expected " in capsys.readouterr().err


def test_a_statement_has_a_row_with_what_is_said_published_and_ours(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce", "-v", "--no-pages"]) == 0
    out, err = capsys.readouterr()
    assert "a flow fills a clean link    1.8 Mbit/s" in out
    assert "studies/reproduce/paper/main" not in err
    assert all(len(line) <= 100 for line in out.splitlines())
    assert invoke(["reproduce", "-vv", "--no-pages"]) == 0
    out, err = capsys.readouterr()
    assert "paper/near  1.8 ± 15 % Mbit/s" in out
    assert "studies/reproduce/paper/main" in err


def on_record(library: Path, claim: str, verdict: str) -> None:
    one = Results(claims={claim: Outcome(1.0, 1.0, 1.0, 3, verdict)})
    results.write(library / "papers" / "paper.results.toml", one)


def test_reproduce_exits_3_when_a_verdict_is_worse_than_recorded(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on_record(library, "paper/far", "differs")
    assert invoke(["reproduce"]) == 0
    on_record(library, "paper/far", "agrees")
    capsys.readouterr()
    assert invoke(["reproduce"]) == 3
    captured = capsys.readouterr()
    assert "worse than recorded: paper/far" in captured.out
    assert "1 verdict is worse than recorded: paper/far" in captured.err


def test_reproduce_says_how_long_it_takes_first_and_what_came_out_last(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce", "--record"]) == 0
    out, err = capsys.readouterr()
    first, *_, last_but_one, last = err.strip().splitlines()
    # Nothing is known of the time before the first record.
    assert first.startswith("18 runs, expected to take 0.0 s or more with ")
    assert out == "paper: A paper about nothing\n████████████░░░░░░░░░░░░  1 agrees, 1 differs\n\n"
    assert last_but_one.startswith("1 paper reproduced in ")
    assert last == "studies/reproduce/index.html"
    assert invoke(["reproduce", "paper", "--quick"]) == 0
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("6 runs, expected to take ")
    assert "or more" not in first


def test_a_quick_run_that_cannot_tell_is_no_news(library: Path) -> None:
    on_record(library, "paper/near", "agrees")
    assert invoke(["reproduce", "--quick"]) == 0


def test_quick_runs_are_compared_with_those_of_other_seeds_on_record(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["reproduce", "--quick", "--record"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == str(paper("paper").data)
    recorded = paper("paper").results.quick
    assert [(ident, one.n) for ident, one in recorded.items()] == [("paper/near", 10), ("paper/far", 10)]
    assert 1 < recorded["paper/near"].mean < 2  # A clean link does not vary.
    assert recorded["paper/near"].spread == 0.0
    assert invoke(["reproduce", "--quick", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "2 of 2 confirmed" in shown
    data = paper("paper").data
    data.write_text(re.sub(r"(near.*mean = )[^,]+", r"\g<1>9.0", data.read_text()))
    invoke(["reproduce", "--quick"])
    assert "1 of 2 confirmed" in capsys.readouterr().out


def test_results_are_put_on_record_as_data_and_the_pages_made_from_them(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = library / "papers" / "paper.md"
    page.write_text("# A paper\n\nBy somebody.\n")
    assert invoke(["reproduce", "--record"]) == 0
    one = paper("paper")
    assert one.results.verdicts == {"paper/near": "agrees", "paper/far": "differs"}
    assert one.results.claims["paper/near"].n == 3
    assert one.results.cost["main"] > 0
    text, details = page.read_text(), one.details.read_text()
    assert text.startswith("# A paper\n\n<!-- statements")
    assert text.endswith("<!-- end of statements -->\n\nBy somebody.\n")
    (row,) = [line for line in text.splitlines() if "a flow doubles a clean link" in line]
    assert re.search(r" \| ≥ 4 Mbit/s \| goodput: 1\.[^|]+ Mbit/s \|", row)
    assert "2 statements: 1 agree, 0 by reading, 0 cannot be told, 1 differ." in text
    assert "| paper/far | ≥ 4 Mbit/s | 1." in details
    # Text written by hand is kept, and generated text comes from the data only.
    page.write_text(text.replace("differs", "agrees") + "\nAnd more prose.\n")
    capsys.readouterr()
    assert invoke(["reproduce", "--summary", "--record"]) == 0
    assert page.read_text() == text + "\nAnd more prose.\n"
    assert capsys.readouterr().out.splitlines()[1].split() == ["paper", "2", "1", "0", "0", "1"]


def test_what_another_build_simulated_or_is_damaged_is_not_taken_for_a_reproduction(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3

    assert invoke(["reproduce", "--json"]) == 0
    first = capsys.readouterr().out
    for statement in (
        "update meta set value = 'another' where key = 'build'",
        "update meta set value = 'another' where key = 'model_version'",
        "update meta set value = value where key = 'build'",
    ):
        db = sqlite3.connect(library / "studies/reproduce/paper/main/study.sqlite")
        with db:
            db.execute("update runs set metrics = zeroblob(length(metrics))")
            db.execute(statement)
        db.close()
        assert invoke(["reproduce", "--json"]) == 0
        assert capsys.readouterr().out == first


def test_reproduce_lists_its_ids(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["reproduce", "--list"]) == 0
    assert "paper  2           2       A paper about nothing" in capsys.readouterr().out


def test_the_shipped_claims_records_and_pages_belong_together(within: Cli) -> None:
    listed = json.loads(within("reproduce", "--list", "--json").stdout)
    assert "baselines" in [entry["id"] for entry in listed]
    for name in known():
        one = paper(name)
        assert list(one.results.claims) == [claim.id for claim in one.claims]
        assert all(statement.where for statement in one.statements), name
        assert len(one.statements) <= MOST
        assert set(one.results.cost) == set(one.studies)
        assert set(one.results.quick) <= {claim.id for claim in one.claims if claim.role != READING}
        switches(one)
        text = one.report.read_text(encoding="utf-8")
        stale = f"{name}: run ./lasthop reproduce {name} --summary --record"
        assert page.with_statements(text, one) == text, stale
        assert page.details(one) == one.details.read_text(encoding="utf-8"), stale


@pytest.mark.slow
def test_the_baselines_are_as_close_to_ns2_as_recorded(within: Cli) -> None:
    done = within("reproduce", "baselines", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    judged = [claim for claim in paper("baselines").claims if claim.role == "paper"]
    assert len(json.loads(done.stdout)["claims"]) == len(judged) == 69


def test_check_counts_points_and_bounds_the_cost(small: Path, within: Cli) -> None:
    done = within("check", small)
    assert done.returncode == 0
    assert done.stdout.startswith("ok: small: 6 points x 3 replications; a run has at most ")
    found = json.loads(within("check", small, "--json").stdout)
    assert found["points"] == 6
    assert found["events"] > 0
    assert found["memory_bytes"] > 0


def test_every_shipped_scenario_is_valid(within: Cli) -> None:
    done = within("check")
    assert done.returncode == 0
    # A link with a closed form has a line of its own.
    lines = [line for line in done.stdout.splitlines() if not line.startswith("links.")]
    assert len(lines) == len(paths.shipped())
    assert all(line.startswith("ok: ") for line in lines)


def test_check_theory_shows_closed_forms_beside_each_flow(small: Path, within: Cli) -> None:
    done = within(
        "check", small, "--theory", "--where", "links.path.loss.rate=3 %", "-s", "run.duration=60 s"
    )
    assert done.returncode in {0, 3}
    assert len(done.stdout.splitlines()) == 4
    assert "PFTK/s" in done.stdout


@pytest.mark.slow
def test_reno_follows_pftk_where_loss_alone_limits_it(within: Cli) -> None:
    done = within("check", "validation/pftk", "--theory", "--json", "-r", "5")
    assert done.returncode == 0, done.stderr
    reno = [line for line in json.loads(done.stdout)["theory"] if line["variant"] == "reno"]
    assert [line["tolerance"] for line in reno] == [0.1, 0.1, 0.1, 0.1, 0.15, 0.15]
    assert not any(line["missed"] for line in reno)


@pytest.mark.parametrize(
    "what", ["tcp", "recovery", "congestion", "links", "apps", "metrics", "scenarios", "papers"]
)
def test_list_names_what_there_is(within: Cli, what: str) -> None:
    entries = json.loads(within("list", what, "--json").stdout)
    assert entries
    text = within("list", what).stdout
    assert all(str(e.get("name", e.get("id"))) in text for e in entries)


def test_explain_tells_meaning_unit_and_default(within: Cli) -> None:
    text = within("explain", "links.r2-d.loss.rate").stdout
    assert "meaning" in text
    assert "0 %" in text
    wrong = within("explain", "links.r2-d.loss.rat")
    assert wrong.returncode == 2
    assert 'did you mean "' in wrong.stderr


def test_the_schema_is_a_json_schema_that_the_shipped_scenarios_meet(within: Cli) -> None:
    schema = json.loads(within("schema").stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")


def test_new_copies_a_scenario_and_replaces_nothing(within: Cli, tmp_path: Path) -> None:
    done = within("new", "mine", "--from", "ejtcp/fig10-baselines")
    assert done.stderr == "mine.toml\n"
    text = (tmp_path / "mine.toml").read_text()
    assert text.startswith("# Started from ejtcp/fig10-baselines.")
    assert text.endswith(paths.shipped()["ejtcp/fig10-baselines"].read_text())
    assert within("check", "mine.toml").returncode == 0
    again = within("new", "mine", "--from", "ejtcp/fig10-baselines")
    assert again.returncode == 2
    assert "already exists" in again.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(within: Cli, shell: str) -> None:
    done = within("completion", shell)
    assert done.returncode == 0
    assert "_LASTHOP_COMPLETE" in done.stdout


def test_the_readable_report_is_beside_the_claims() -> None:
    assert (paths.data("papers") / "baselines.md").is_file()
