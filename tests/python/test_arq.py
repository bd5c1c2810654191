"""What is shown of dynamic ARQ: services, and the label of the oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.base.errors import StudyError, UsageError
from lasthop.views import arq

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

    Cli = Callable[..., CompletedProcess[str]]

CELL = """\
title = "Two clients of an access point"

[run]
duration = "3 s"
replications = 2

[nodes]
host = {}
ap = {}
one = {}
two = {}

[links.wire]
kind = "wired"
nodes = ["host", "ap"]
rate = "10 Mbit/s"
delay = "20 ms"

[links.air]
kind = "wifi"
nodes = ["ap", "one", "two"]
access-point = "ap"
standard = "802.11a"
rate = "6 Mbit/s"
queue = "32 kB"
fragment-threshold = "320 B"
loss = { model = "bit", bit = { ber = 2e-4 } }
arq = { kind = "dynamic" }

[flows.a]
from = "host"
to = "one"
tcp = { variant = "reno", rto-floor = "timeout", growth = "acks", whole-window = false }

[flows.b]
from = "host"
to = "two"
tcp = { variant = "reno", rto-floor = "timeout", growth = "acks", whole-window = false }

[sweep]
"links.air.arq.timing" = ["oracle", "estimate"]

[[figure]]
id = "goodput"
x = "links.air.arq.timing"
y = "goodput_bps"
"""


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    path = tmp_path / "cell.toml"
    path.write_text(CELL, encoding="utf-8")
    return path


BY_ORACLE = "TCP timers by oracle"


def test_a_run_shows_its_services_and_says_that_it_had_the_oracle(cell: Path, within: Cli) -> None:
    out = cell.parent / "run"
    ran = within("run", str(cell), "--trace", "arq", "-o", str(out))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.rstrip().endswith(BY_ORACLE)
    shown = within("services", str(out), "--between", "1..1.2")
    assert shown.returncode == 0, shown.stderr
    head, *rows, blank, label = shown.stdout.rstrip("\n").split("\n")
    assert head.split() == ["time", "s", "Q1", "Q2", "Q3", "next", "timer", "served", "why", "outcome"]
    assert rows
    assert all(1.0 <= float(row.split()[0]) <= 1.2 for row in rows)
    assert all(row.endswith(("delivered", "failed", "given up")) for row in rows)
    assert any("urgent: less than two round trips left" in row for row in rows)
    assert (blank, label) == ("", BY_ORACLE)
    first = within("services", str(out))
    assert len(first.stdout.split("\n\n")[0].split("\n")) == arq.FIRST + 1
    assert "more with --between" in first.stderr


def test_an_estimate_has_no_label(cell: Path, within: Cli) -> None:
    settings = ["-s", "links.air.arq.timing=estimate"]
    ran = within("run", str(cell), *settings, "--json")
    assert json.loads(ran.stdout)["notes"] == []
    assert BY_ORACLE not in within("run", str(cell), *settings).stdout


def test_tables_and_figures_of_a_study_say_that_some_points_had_the_oracle(cell: Path) -> None:
    from lasthop.figures.draw import draw
    from lasthop.figures.page import caption_of
    from lasthop.views.tables import study_json, study_text

    study = lh.load(cell).sweep(out=cell.parent / "study")
    study.run()
    assert study_text(study).endswith(f"\n\n{BY_ORACLE}")
    assert json.loads(study_json(study))["notes"] == [BY_ORACLE]
    figure = draw(study, study.scenario.figures()[0])
    assert caption_of(figure).endswith(f"· {BY_ORACLE}")


def test_exceptions_are_data_of_the_scenario_and_of_each_point(cell: Path) -> None:
    scenario = lh.load(cell)
    [timing] = scenario.exceptions
    assert (timing.key, timing.label) == ("links.air.arq.timing", BY_ORACLE)
    assert "a real access point could not read" in timing.meaning
    at = [scenario.exceptions_at(point) for point in range(len(scenario.points()))]
    assert [bool(found) for found in at] == [
        point["links.air.arq.timing"] == "oracle" for point in scenario.points()
    ]


def test_a_header_without_a_form_on_the_wire_is_labelled_too(tmp_path: Path) -> None:
    from lasthop.views.tables import study_text

    scenario = lh.load("ejtcp/header")
    assert scenario.notes() == ["exact timestamps in two bytes"]
    assert scenario.set({"flows.main.tcp.ejtcp.header": "option"}).notes() == []
    short = scenario.set({"run.duration": "2 s", "run.replications": 1})
    study = short.sweep(out=tmp_path / "study")
    study.run()
    assert study_text(study).endswith("\n\nexact timestamps in two bytes")
    real = ["flows.main.tcp.ejtcp.header!=paper"]
    without = short.sweep(out=tmp_path / "without", where=real).run()
    assert (without.labels(), without.exceptions) == ([], [])
    assert "exact timestamps" not in study_text(without)
    assert "exact timestamps" not in figure_text(without)


def figure_text(study: lh.Study) -> str:
    return " ".join(text.get_text() for text in study.plot().texts)


def test_a_run_without_the_trace_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"arq\.csv: .*expected the output of lasthop run --trace arq"):
        arq.services_text(tmp_path, None)


@pytest.mark.parametrize("text", ["3", "2..1", "a..b", "-1..2"])
def test_a_window_is_two_times_in_order(text: str) -> None:
    with pytest.raises(UsageError, match="expected two times in seconds"):
        arq.between(text)


def test_the_kinds_of_arq_are_listed(within: Cli) -> None:
    listed = within("list", "arq", "--json")
    assert [entry["name"] for entry in json.loads(listed.stdout)] == ["fixed", "dynamic"]


def test_claims_judged_by_a_study_with_the_oracle_say_so(tmp_path: Path) -> None:
    from lasthop.papers.paper import Paper
    from lasthop.papers.reproduce import Reproduction
    from lasthop.papers.results import Results

    one = Paper("cell", "A cell", {}, [], [], Results(), tmp_path / "cell.claims.toml")
    assert BY_ORACLE not in Reproduction(one, quick=False, folder=Path()).text()
    labelled = Reproduction(one, quick=False, folder=Path(), exceptions={BY_ORACLE: ["rtt", "ber"]})
    assert labelled.text().endswith(f"\n\n{BY_ORACLE}: rtt, ber")
    assert labelled.as_dict()["notes"] == [f"{BY_ORACLE}: rtt, ber"]
